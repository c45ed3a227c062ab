"""One agent, a process of its own: it reads, thinks, edits through its tool, commits, and goes on.

A refused agent goes on with another file. If it has nothing else to do, it commits what is done,
gives it back, and looks again every half minute, so that no two wait for each other for ever.
"""

from __future__ import annotations

import os
import sys
import time
from collections import deque
from pathlib import Path
from typing import Final

import msgspec

from bench.collisions import tool
from bench.collisions.coordination import Coordination, Heeding, MootHook, PromptLock, Unasked
from bench.collisions.merging import merge_branch, run_git
from bench.collisions.work import Change
from bench.loss.world import Agent

TOGETHER: Final = 2  # so many changes are one commit
LOOKS_EVERY: Final = 30.0  # seconds of an agent at work, before they are scaled
TRIES: Final = 20
_LONGEST_WAIT: Final = 90.0  # really


class AgentPlan(msgspec.Struct, frozen=True):
    """What one agent needs to know. `changes` are those of all; `scale` divides thinking times."""

    number: int
    name: str
    tool: str
    main: str
    root: str
    folder: str
    changes: list[Change]
    scale: float
    seed: int
    heeded: float | None = None
    told_heeded: float = 0.0
    has_moot: bool = False


class Refusal(msgspec.Struct, frozen=True):
    """A change that was held back, or put off, because `holder` has the file."""

    change: int
    holder: str


class AgentResult(msgspec.Struct):
    """Seconds are those of an agent at work: thinking and waiting as they would be without the
    scale, and what programs really took, which is never scaled."""

    took: float = 0.0
    edits: int = 0
    hook_millis: float = 0.0
    waited: float = 0.0
    thrown_away: float = 0.0
    noticed: int = 0
    conflicts: int = 0
    needless_tellings: int = 0
    refusals: list[Refusal] = []
    put_off: list[Refusal] = []
    given_up: list[int] = []


class Worker:
    """The course of one agent's work."""

    def __init__(self, plan: AgentPlan, coordination: Coordination) -> None:
        self.plan, self.root = plan, Path(plan.root)
        self.result = AgentResult(refusals=[], put_off=[], given_up=[])
        self.coordination = coordination
        self._thought: dict[int, str] = {}
        self._made: list[Change] = []
        self._slept = 0.0

    def work(self) -> None:
        began = time.monotonic()
        pending = deque(one for one in self.plan.changes if one.agent == self.plan.number)
        blocked = set[int]()
        while pending:
            change = pending.popleft()
            if self._attempt(change):
                self._made.append(change)
                if len(self._made) >= TOGETHER:
                    self._finish()
                continue
            pending.append(change)
            blocked.add(change.number)
            if all(one.number in blocked for one in pending):
                self._finish()
                if not self._wait_for(pending):
                    self.result.given_up += [one.number for one in pending]
                    break
                blocked.clear()
        self._finish()
        self.result.hook_millis = self.coordination.millis
        self.result.took = self._at_work(time.monotonic() - began, self._slept)

    def _attempt(self, change: Change) -> bool:
        """Read, think, write. False: another has the file."""
        if not self.coordination.claim(change):
            return False
        for _ in range(TRIES):
            seen = (self.root / change.path).read_text("utf-8")
            holder = self.coordination.read(change)
            if change.is_in(seen):  # it is there after all
                return True
            if holder:
                self.result.put_off.append(Refusal(change.number, holder))
                return False
            self._think_about(change, seen)
            call = tool.make_call(self.plan.tool, self.root, change, seen)
            answer = self.coordination.ask(change, call)
            if answer.holder:
                self.result.refusals.append(Refusal(change.number, answer.holder))
                return False
            if answer.branches and not self._merge(answer.branches):
                return False
            if answer.is_allowed and tool.write_change(self.plan.tool, self.root, change, seen):
                self.coordination.tell(call)
                self.result.edits += 1
                return True
            if not answer.branches:
                self._note_stale(change, seen)
        return False

    def _think_about(self, change: Change, seen: str) -> None:
        """What was thought about a file that is another one now was in vain."""
        known = self._thought.get(change.number)
        if known == seen:
            return
        if known is not None:
            self.result.thrown_away += change.thinking
        self._sleep(change.thinking)
        self._thought[change.number] = seen

    def _note_stale(self, change: Change, seen: str) -> None:
        if (self.root / change.path).read_text("utf-8") == seen:
            self.result.needless_tellings += 1
        else:
            self.result.noticed += 1

    def _merge(self, branches: tuple[str, ...]) -> bool:
        self._finish()
        for branch in branches:
            merged = merge_branch(self.root, os.environ, branch, self.plan.changes)
            if not merged.is_done:
                return False
            self._pay(merged.conflicts, merged.thinking)
        return True

    def _pay(self, conflicts: int, thinking: float) -> None:
        self.result.conflicts += conflicts
        self.result.thrown_away += thinking
        self._sleep(thinking)

    def _finish(self) -> None:
        """Look whether all of it is still there, commit it, give it back."""
        made, self._made = self._made, []
        if not made:
            return
        for change in made:
            if not any(self._is_kept(change) for _ in range(TRIES)):
                self.result.given_up.append(change.number)
        paths = sorted({change.path for change in made})
        self._commit(paths)
        self.coordination.give_back(paths)

    def _is_kept(self, change: Change) -> bool:
        """Whether it is still there; if not, it is done again."""
        if change.is_in((self.root / change.path).read_text("utf-8")):
            return True
        self.result.noticed += 1
        if not self._attempt(change):
            self._wait_for([change])
        return False

    def _commit(self, paths: list[str]) -> None:
        names = " ".join(paths)
        if not self.coordination.may_run(f"git add -- {names} && git commit -qm work -- {names}"):
            return
        for _ in range(TRIES):  # another's git may be at work in the same checkout
            run_git(self.root, os.environ, "add", "--", *paths)
            run_git(self.root, os.environ, "commit", "--quiet", "--message=work", "--", *paths)
            if run_git(self.root, os.environ, "diff", "--quiet", "HEAD", "--", *paths).returncode:
                time.sleep(0.05)
            else:
                return

    def _wait_for(self, changes: deque[Change] | list[Change]) -> bool:
        """Until one of these files is free."""
        began, slept = time.monotonic(), self._slept
        is_free = False
        while not is_free and time.monotonic() - began < _LONGEST_WAIT:
            self._sleep(LOOKS_EVERY)
            is_free = any(self.coordination.is_free(change) for change in changes)
        self.result.waited += self._at_work(time.monotonic() - began, self._slept - slept)
        return is_free

    def _at_work(self, took: float, slept: float) -> float:
        """What the same would have taken without the scale."""
        return slept * self.plan.scale + took - slept

    def _sleep(self, seconds: float) -> None:
        began = time.monotonic()
        time.sleep(seconds / self.plan.scale)
        self._slept += time.monotonic() - began


def _coordinate(plan: AgentPlan) -> Coordination:
    heeding = Heeding(plan.heeded or 0.0, f"{plan.seed} {plan.number}")
    if plan.has_moot:
        name = os.environ["MOOT_AGENT"]
        agent = Agent(name, plan.tool, Path(plan.root).name)
        told = Heeding(plan.told_heeded, f"{plan.seed} {plan.number} told")
        return MootHook(agent, Path(plan.main), Path(plan.root), heeding, told)
    if plan.heeded is not None:
        return PromptLock(Path(plan.folder) / "locks", plan.name, heeding)
    return Unasked()


def main() -> None:
    plan = msgspec.json.decode(Path(sys.argv[1]).read_bytes(), type=AgentPlan)
    worker = Worker(plan, _coordinate(plan))
    folder = Path(plan.folder)
    (folder / f"ready-{plan.number}").touch()
    while not (folder / "go").exists():
        time.sleep(0.005)
    worker.work()
    (folder / f"result-{plan.number}.json").write_bytes(msgspec.json.encode(worker.result))


if __name__ == "__main__":
    main()
