"""How an agent asks for a file: not at all, by a lock if it heeds the prompt, or by Moot's hook."""

from __future__ import annotations

import os
import random
import re
import subprocess
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Final, NamedTuple, Protocol

from bench.collisions.work import Change
from bench.loss import tool_calls
from bench.loss.asking import Hooks
from bench.loss.repository import MOOT
from bench.loss.tool_calls import Call
from bench.loss.world import Agent

HOLDER: Final = re.compile(r" is held by (\S+)")
_BRANCH: Final = re.compile(r"\bagent-\d+\b")
_SECONDS: Final = 60


class Answer(NamedTuple):
    """Why an edit may not be made now, if so: another holds the file, branches must be merged
    first, or the file is not what the agent has seen."""

    is_allowed: bool = True
    holder: str = ""
    branches: tuple[str, ...] = ()


class Coordination(Protocol):
    """What an agent does beside its work, in one of the arms."""

    millis: float

    def claim(self, change: Change) -> bool:
        """Before the file is read. False: somebody else has it."""

    def read(self, change: Change) -> str:
        """After the file was read: who holds it, if the agent was told and heeds that."""

    def ask(self, change: Change, call: Call) -> Answer:
        """Before the file is written."""

    def tell(self, call: Call) -> None:
        """After it was written."""

    def is_free(self, change: Change) -> bool:
        """Asked now and then by an agent that waits."""

    def may_run(self, command: str) -> bool:
        """Before a shell command."""

    def give_back(self, paths: Iterable[str]) -> None:
        """After the commit of these files."""


class Unasked:
    """Nobody is asked."""

    millis = 0.0

    def claim(self, change: Change) -> bool:  # noqa: ARG002
        return True

    def read(self, change: Change) -> str:  # noqa: ARG002
        return ""

    def ask(self, change: Change, call: Call) -> Answer:  # noqa: ARG002
        return Answer()

    def tell(self, call: Call) -> None:
        pass

    def is_free(self, change: Change) -> bool:  # noqa: ARG002
        return True

    def may_run(self, command: str) -> bool:  # noqa: ARG002
        return True

    def give_back(self, paths: Iterable[str]) -> None:
        pass


class Heeding:
    """Whether an agent does what it was told to do before a change: in every arm alike, from the
    seed alone."""

    def __init__(self, heeded: float, seed: str) -> None:
        self._heeded, self._seed = heeded, seed

    def is_heeded(self, change: Change) -> bool:
        return random.Random(f"{self._seed} {change.number}").random() < self._heeded


class PromptLock(Unasked):
    """A lock file, taken in one step. An agent that does not heed it just writes."""

    def __init__(self, folder: Path, name: str, heeding: Heeding) -> None:
        self._folder, self._name, self._heeding = folder, name, heeding
        folder.mkdir(parents=True, exist_ok=True)

    def claim(self, change: Change) -> bool:
        if not self._heeding.is_heeded(change):
            return True
        try:
            with self._lock(change.path).open("x", encoding="utf-8") as file:
                file.write(self._name)
        except FileExistsError:
            return self._is_own(change.path)
        return True

    def is_free(self, change: Change) -> bool:
        return not self._is_anothers(change.path)

    def give_back(self, paths: Iterable[str]) -> None:
        for path in paths:
            if self._lock(path).exists() and not self._is_anothers(path):
                self._lock(path).unlink()

    def _is_anothers(self, path: str) -> bool:
        try:
            return self._lock(path).read_text("utf-8") != self._name
        except FileNotFoundError:
            return False

    def _is_own(self, path: str) -> bool:
        try:
            return self._lock(path).read_text("utf-8") == self._name
        except FileNotFoundError:
            return False

    def _lock(self, path: str) -> Path:
        return self._folder / path.replace("/", "--")


class MootHook(Unasked):
    """The installed hook, as the tool starts it, under `moot run`. Who was told to, and heeds it,
    reserves a file before reading it. Who reads a held file is told by the hook, and may heed that
    (`told`)."""

    def __init__(
        self, agent: Agent, main: Path, root: Path, heeding: Heeding, told: Heeding
    ) -> None:
        self._agent, self._root, self._heeding, self._told = agent, root, heeding, told
        self._hooks = Hooks(main, os.environ, process_every=1)
        self._number = 0
        self.millis = 0.0
        self._hooks.ask(agent, tool_calls.start_message(agent, str(root)))

    def claim(self, change: Change) -> bool:
        return not self._heeding.is_heeded(change) or self._run("reserve", change.path) == 0

    def read(self, change: Change) -> str:
        call = tool_calls.read_call(self._agent.tool, str(self._root), change.path)
        if call.name == tool_calls.shell_call(self._agent.tool, "").name:
            self._ask_before(call)  # a shell's hook runs before it, too
        holder = HOLDER.search(self._tell_after(call))
        return holder[1] if holder and self._told.is_heeded(change) else ""

    def ask(self, change: Change, call: Call) -> Answer:  # noqa: ARG002
        reason = self._ask_before(call)
        if not reason:
            return Answer()
        holder = HOLDER.search(reason)
        branches = () if holder else tuple(sorted(set(_BRANCH.findall(reason))))
        return Answer(False, holder[1] if holder else "", branches)

    def tell(self, call: Call) -> None:
        self._tell_after(call)

    def is_free(self, change: Change) -> bool:
        return self._run("guard", "check", change.path) == 0

    def may_run(self, command: str) -> bool:
        return not self._ask_before(tool_calls.shell_call(self._agent.tool, command))

    def give_back(self, paths: Iterable[str]) -> None:
        self._run("release", *paths)

    def _ask_before(self, call: Call) -> str:
        self._number += 1
        message = tool_calls.message_before(self._agent, call, str(self._root), self._number)
        asked = self._hooks.ask(self._agent, message)
        self.millis += asked.millis
        return asked.reason

    def _tell_after(self, call: Call) -> str:
        message = tool_calls.message_after(self._agent, call, str(self._root), self._number)
        asked = self._hooks.ask(self._agent, message)
        self.millis += asked.millis
        return asked.told

    def _run(self, *words: str) -> int:
        began = time.monotonic()
        done = subprocess.run(
            [*MOOT, *words],
            cwd=self._root,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            timeout=_SECONDS,
        )
        self.millis += (time.monotonic() - began) * 1_000
        return done.returncode
