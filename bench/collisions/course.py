"""One course of events: a fresh repository, the agents as processes, the merge, the tests."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

import msgspec

from bench.collisions.agent import AgentPlan, AgentResult, Refusal
from bench.collisions.arms import TOLD_HEEDED, Arm
from bench.collisions.merging import merge_branch, run_git, would_merge
from bench.collisions.work import Change, choose_changes, write_repository, write_tests
from bench.loss.repository import MOOT, Repository, write_file
from bench.loss.world import AGENTS, TOOL_NAMES

_CODE: Final = Path(__file__).parents[2]
_SECONDS: Final = 300.0
_FAILED: Final = re.compile(r"FAILED \((.*)\)")


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """What came of one course. Seconds are those of agents at work, as without the scale.

    `lost` are changes that their agents took for done and that are not there at the end. `noticed`
    are writes that were found stale or gone in time, and done again. `needless` are refusals of
    edits that git would have merged by itself, of `refused`. `put_off` are changes that an agent
    left for later because it was told, when it read the file, that another holds it;
    `needlessly_put_off` are those of them that git would have merged.
    """

    arm: str
    agents: int
    overlap: float
    seed: int
    heeded: float | None
    changes: int
    lost: int
    noticed: int
    conflicts: int
    failing: int
    thrown_away: float
    waited: float
    wall: float
    hook_millis_per_edit: float
    refused: int
    needless: int
    needless_tellings: int
    given_up: int
    put_off: int = 0
    needlessly_put_off: int = 0


class Course(Repository):
    """`template` is a repository to copy: it is the same for all."""

    def __init__(
        self, top: Path, template: Path, arm: Arm, *, agents: int, overlap: float, seed: int
    ) -> None:
        super().__init__(top, "main")
        self.arm, self.agents, self.overlap, self.seed = arm, agents, overlap, seed
        self.changes = choose_changes(seed, agents, overlap)
        shutil.copytree(template, self.main)
        write_tests(self.main, self.changes)
        if arm.has_moot and arm.has_worktrees:
            write_file(self.main / "moot.toml", '[protect]\nunmerged = "block"\n')
        self.git("add", "-A")
        self.git("commit", "--quiet", "--message=tests of what is to be done")
        self.base = self.git("rev-parse", "HEAD").strip()
        if arm.has_worktrees:
            for number in range(agents):
                branch = f"agent-{number}"
                self.git("worktree", "add", "--quiet", "-b", branch, str(self.root(branch)))
        if arm.has_moot:
            self.require_moot("init", "--tools", ",".join(TOOL_NAMES))
            self.require_moot("hook", "install", "git")

    def run(self, scale: float) -> Row:
        results = self.run_agents(scale)
        conflicts, thinking, merging = self._merge_all()
        wall = max(result.took for result in results) + merging
        return self._count(results, conflicts, thinking, wall)

    def run_agents(self, scale: float) -> list[AgentResult]:
        folder = self.top / "course"
        folder.mkdir()
        running = [self._start(number, folder, scale) for number in range(self.agents)]
        try:
            _wait_for_files([folder / f"ready-{number}" for number in range(self.agents)], running)
            (folder / "go").touch()
            for process in running:
                if process.wait(_SECONDS):
                    raise RuntimeError(f"an agent failed: see {folder}")
        finally:
            for process in running:
                process.kill()
                process.wait(_SECONDS)
        files = [folder / f"result-{number}.json" for number in range(self.agents)]
        return [msgspec.json.decode(file.read_bytes(), type=AgentResult) for file in files]

    def make_plan(self, number: int, folder: Path, scale: float) -> AgentPlan:
        root = self.root(f"agent-{number}") if self.arm.has_worktrees else self.main
        return AgentPlan(
            number=number,
            name=AGENTS[number],
            tool=TOOL_NAMES[number % len(TOOL_NAMES)],
            main=str(self.main),
            root=str(root),
            folder=str(folder),
            changes=self.changes,
            scale=scale,
            seed=self.seed,
            heeded=self.arm.heeded,
            told_heeded=TOLD_HEEDED,
            has_moot=self.arm.has_moot,
        )

    def _start(self, number: int, folder: Path, scale: float) -> subprocess.Popen[bytes]:
        plan = self.make_plan(number, folder, scale)
        file = folder / f"plan-{number}.json"
        file.write_bytes(msgspec.json.encode(plan))
        words = [sys.executable, "-m", "bench.collisions.agent", str(file)]
        if self.arm.has_moot:
            words = [*MOOT, "run", "--name", plan.name, "--", *words]
        env = {**self.env, "PYTHONPATH": str(_CODE)}
        with (folder / f"output-{number}.txt").open("wb") as out:
            return subprocess.Popen(
                words, cwd=plan.root, env=env, stdin=subprocess.DEVNULL, stdout=out, stderr=out
            )

    def _merge_all(self) -> tuple[int, float, float]:
        """Conflicts, the thinking they cost, and how long it would take with that thinking."""
        if not self.arm.has_worktrees:
            return 0, 0.0, 0.0
        began = time.monotonic()
        conflicts, thinking = 0, 0.0
        for number in range(self.agents):
            merged = merge_branch(self.main, self.env, f"agent-{number}", self.changes)
            if not merged.is_done:
                raise RuntimeError(f"branch {number} was not merged")
            conflicts += merged.conflicts
            thinking += merged.thinking
        return conflicts, thinking, thinking + time.monotonic() - began

    def _count(
        self, results: Sequence[AgentResult], conflicts: int, thinking: float, wall: float
    ) -> Row:
        given_up = {number for result in results for number in result.given_up}
        missing = [change for change in self.changes if not self._is_there(change)]
        refused = _pairs(refusal for result in results for refusal in result.refusals)
        put_off = _pairs(refusal for result in results for refusal in result.put_off)
        edits = sum(result.edits for result in results)
        return Row(
            arm=self.arm.name,
            agents=self.agents,
            overlap=self.overlap,
            seed=self.seed,
            heeded=self.arm.heeded,
            changes=len(self.changes),
            lost=sum(change.number not in given_up for change in missing),
            noticed=sum(result.noticed for result in results),
            conflicts=conflicts + sum(result.conflicts for result in results),
            failing=self._count_failing(),
            thrown_away=round(thinking + sum(result.thrown_away for result in results), 1),
            waited=round(sum(result.waited for result in results), 1),
            wall=round(wall, 1),
            hook_millis_per_edit=round(sum(one.hook_millis for one in results) / max(1, edits), 1),
            refused=len(refused),
            needless=sum(self._is_needless(number, holder) for number, holder in refused),
            needless_tellings=sum(result.needless_tellings for result in results),
            given_up=len(given_up),
            put_off=len(put_off),
            needlessly_put_off=sum(self._is_needless(number, holder) for number, holder in put_off),
        )

    def _is_there(self, change: Change) -> bool:
        return change.is_in((self.main / change.path).read_text("utf-8"))

    def _is_needless(self, number: int, holder: str) -> bool:
        """Of one file, what the holder was to change and what was refused: would it merge?"""
        change = self.changes[number]
        theirs = [
            other
            for other in self.changes
            if other.agent == AGENTS.index(holder) and other.path == change.path
        ]
        base = run_git(self.main, self.env, "show", f"{self.base}:{change.path}").stdout
        return would_merge(base, [change], theirs)

    def _count_failing(self) -> int:
        done = subprocess.run(
            [sys.executable, "-B", "-m", "unittest", "-q", "tests.test_changes"],
            cwd=self.main,
            env=self.env,
            capture_output=True,
            encoding="utf-8",
            check=False,
            timeout=_SECONDS,
        )
        failed = _FAILED.search(done.stderr)
        return sum(map(int, re.findall(r"\d+", failed[1]))) if failed else 0


def _pairs(refusals: Iterable[Refusal]) -> set[tuple[int, str]]:
    """Each change and holder once, however often it was tried."""
    return {(refusal.change, refusal.holder) for refusal in refusals}


def make_template(folder: Path) -> None:
    """The repository before any work, with one commit."""
    repository = Repository(folder.parent, folder.name)
    write_repository(folder)
    repository.git("init", "--quiet", "--initial-branch=main")
    repository.git("config", "gc.auto", "0")
    repository.git("add", "-A")
    repository.git("commit", "--quiet", "--message=first")


def _wait_for_files(files: Sequence[Path], running: Sequence[subprocess.Popen[bytes]]) -> None:
    end = time.monotonic() + _SECONDS
    while not all(file.exists() for file in files):
        if time.monotonic() > end or any(process.poll() is not None for process in running):
            raise RuntimeError(f"an agent did not start: see {os.fspath(files[0].parent)}")
        time.sleep(0.01)
