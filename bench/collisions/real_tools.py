"""The same course of events with the four coding tools themselves, each under a scripted model.

The model does what an agent of the other arms does: it reads, thinks, edits, commits. Everything
between it and the file is the tool's own: its calls, its checks, its hooks.
"""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

from tests.real_tools.scripted_model import Use
from tests.real_tools.tools import TOOLS, installed

from bench.collisions import tool as tool_model
from bench.collisions.agent import TRIES, AgentPlan, AgentResult, Refusal, Worker
from bench.collisions.coordination import HOLDER, Heeding, Unasked
from bench.collisions.course import Course
from bench.collisions.directed_model import DirectedModel
from bench.collisions.work import Change
from bench.loss.repository import MOOT, write_file

_SECONDS: Final = 600.0
_MORE_FIELDS: Final = {"replace": {"instruction": "as asked"}}


class ToolWorker(Worker):
    """An agent's work, done by a coding tool."""

    def __init__(self, plan: AgentPlan, model: DirectedModel) -> None:
        self._model, self._tool = model, TOOLS[plan.tool]
        self._known_refusals = 0
        self._heeding = Heeding(plan.told_heeded, f"{plan.seed} {plan.number} told")
        super().__init__(plan, _GivingBack(self._shell) if plan.has_moot else Unasked())

    def work(self) -> None:
        try:
            super().work()
        finally:
            self._model.end()

    def _attempt(self, change: Change) -> bool:
        file = self.root / change.path
        for _ in range(TRIES):
            seen, told = self._read(file)
            if change.is_in(seen):
                return True
            if (holder := self._find_holder(told)) and self._heeding.is_heeded(change):
                self.result.put_off.append(Refusal(change.number, holder))
                return False
            self._think_about(change, seen)
            told = self._model.use(self._make_use(change, seen))
            if change.is_in(file.read_text("utf-8")):
                self.result.edits += 1
                return True
            if holder := self._find_holder(told):
                self.result.refusals.append(Refusal(change.number, holder))
                return False
            self._note_stale(change, seen)
        return False

    def _read(self, file: Path) -> tuple[str, str]:
        """What the tool was shown, read again if the file changed meanwhile; all it was told."""
        for _ in range(TRIES):
            before = file.read_text("utf-8")
            told = self._model.use(self._tool.read(str(file)))
            if file.read_text("utf-8") == before:
                break
        return before, told

    def _make_use(self, change: Change, seen: str) -> Use:
        call = tool_model.make_call(self.plan.tool, self.root, change, seen)
        if call.name == "apply_patch":
            return Use(call.name, {}, call.input["command"])
        return Use(call.name, {**call.input, **_MORE_FIELDS.get(call.name, {})})

    def _find_holder(self, told: str) -> str:
        """Who holds the file, if that was said since the last look."""
        refusals = HOLDER.findall(told)
        is_new = len(refusals) > self._known_refusals
        self._known_refusals = max(self._known_refusals, len(refusals))
        return str(refusals[-1]) if is_new else ""

    def _commit(self, paths: list[str]) -> None:
        names = shlex.join(paths)
        self._shell(f"git add -- {names} && git commit -qm work -- {names}")

    def _shell(self, command: str) -> None:
        self._model.use(self._tool.shell(command))


class _GivingBack(Unasked):
    """As Moot's manual asks: after a commit its files are given back. A refused edit is tried again
    now and then, as an agent does that has nothing else to do."""

    def __init__(self, shell: Callable[[str], None]) -> None:
        self._shell = shell

    def give_back(self, paths: Iterable[str]) -> None:
        self._shell(f"moot release {shlex.join(paths)}")


class ToolCourse(Course):
    """Every agent is a coding tool, started as a person starts it."""

    def run_agents(self, scale: float) -> list[AgentResult]:
        folder = self.top / "course"
        folder.mkdir()
        self._write_command()
        plans = [self.make_plan(number, folder, scale) for number in range(self.agents)]
        with ThreadPoolExecutor(self.agents) as pool:
            return list(pool.map(self._run_tool, plans))

    def _run_tool(self, plan: AgentPlan) -> AgentResult:
        with DirectedModel() as model, ThreadPoolExecutor(1) as pool:
            worker = ToolWorker(plan, model)
            process = self._start_tool(plan, model.url)
            try:
                pool.submit(worker.work).result(_SECONDS)
                process.wait(_SECONDS)
            finally:
                process.kill()
                process.wait(_SECONDS)
        return worker.result

    def _start_tool(self, plan: AgentPlan, url: str) -> subprocess.Popen[bytes]:
        tool, home = TOOLS[plan.tool], self.top / f"home-{plan.number}"
        home.mkdir()
        tool.prepare(self.main, home, url)
        env = {**self.env, **tool.env(url), "HOME": str(home), "NO_PROXY": "127.0.0.1"}
        env["PATH"] = os.pathsep.join((str(self.top / "bin"), str(installed()), env["PATH"]))
        words = list(tool.command)
        if plan.has_moot:
            words = [*MOOT, "run", "--name", plan.name, "--", *words]
        with (Path(plan.folder) / f"output-{plan.number}.txt").open("wb") as out:
            return subprocess.Popen(
                words, cwd=plan.root, env=env, stdin=subprocess.DEVNULL, stdout=out, stderr=out
            )

    def _write_command(self) -> None:
        """The command `moot`, as tools and their shells find it."""
        command = self.top / "bin" / "moot"
        write_file(command, f'#!/bin/sh\nexec {shlex.join(MOOT)} "$@"\n')
        command.chmod(0o755)
