"""Where the demonstration plays: a folder of its own, its own keys, and real processes.

Every `$ ...` line that is shown is what was run, and what follows it is what it printed.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from moot.core.errors import Refused, StoreFailed
from moot.surfaces.cli.page import unwritable

if TYPE_CHECKING:
    from moot.core.machine import Command
    from moot.engine.engine import Engine

LIST = "example/today"
MOOT = (sys.executable, "-P", "-m", "moot")
ALONE = (sys.executable, "-P", str(Path(__file__).parents[2] / "verify" / "standalone.py"))
FIRST, PLACE = "head -1", "grep -E '^(verdict|first_bad)'"
Words = tuple[str, ...]

# Long answers are shown in part, and the line that was run says so.
_PIPES: dict[str, Callable[[list[str]], list[str]]] = {
    "": lambda lines: lines,
    FIRST: lambda lines: lines[:1],
    PLACE: lambda lines: [line for line in lines if line.startswith(("verdict", "first_bad"))],
}


class Stage:
    def __init__(self, out: Path) -> None:
        self.out = out.absolute()
        self.repository = self.out / "repository"
        self._here = self.repository
        self.keys = self.out / "keys"
        self.git = shutil.which("git")
        self._env = _clean_environment(self.out)

    def prepare(self) -> None:
        try:
            self.repository.mkdir(parents=True)
        except FileExistsError:
            raise Refused(
                "demo_exists", f"{self.out} holds a demonstration already", hint="use another --out"
            ) from None
        except OSError as error:
            raise unwritable(self.out, error) from None

    def set_up(self) -> Iterator[str]:
        """A repository; without git a plain folder does, and nothing above it is touched."""
        if self.git is None:
            self._env["MOOT_HOME"] = str(self.repository)
            yield "(git is not installed: a plain folder will do)"
        else:
            yield from self.run("git", (self.git,), "init", "--quiet")

    def go(self, place: Path) -> Iterator[str]:
        yield f"$ cd {os.path.relpath(place, self._here)}"
        self._here = place

    def moot(self, *arguments: str, expect: int = 0, pipe: str = "") -> Iterator[str]:
        """`moot ...` as its own process; the exit code must be the expected one."""
        yield from self.run("moot", MOOT, *arguments, expect=expect, pipe=pipe)

    def standalone(self, *arguments: str, expect: int = 0) -> Iterator[str]:
        """The checker that is one file and shares nothing with the rest."""
        yield from self.run("python standalone.py", ALONE, *arguments, expect=expect, pipe=PLACE)

    def run(
        self, shown: str, program: Words, *arguments: str, expect: int = 0, pipe: str = ""
    ) -> Iterator[str]:
        command = f"{shown} {shlex.join(arguments)}"
        yield f"$ {command} | {pipe}" if pipe else f"$ {command}"
        done = self._process((*program, *arguments))
        yield from _PIPES[pipe](done.stdout.splitlines() + done.stderr.splitlines())
        if done.returncode != expect:
            raise StoreFailed(
                "demo_failed",
                f"`{command}` ended with {done.returncode}",
                hint=f"look into {self.out}",
            )

    def answer(self, *words: str) -> dict[str, Any]:
        """What a program says as JSON, whatever its exit code."""
        said: dict[str, Any] = json.loads(self._process(words).stdout)
        return said

    def verdicts(self, file: str) -> tuple[dict[str, Any], dict[str, Any]]:
        """Both checkers' verdicts on one file, as data."""
        trust = ("--trust", "trust.json", "--json")
        ours = self.answer(*MOOT, "verify", file, *trust)["data"]
        theirs = self.answer(*ALONE, file, *trust)
        return ours, theirs

    def _process(self, words: Words) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            words,
            cwd=self._here,
            env=self._env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            check=False,
        )

    @contextmanager
    def engine(self) -> Iterator[Engine]:
        """The same workspace from Python; its checkpoint is made at the end."""
        from moot.keys.folder import KeyFolder
        from moot.workspace.workspace import Workspace

        with Workspace(self.repository / ".moot", KeyFolder(self.keys)) as space:
            yield space.engine


def execute(engine: Engine, actor: str, command: Command) -> Iterator[str]:
    """One command of the example protocol, as a library call; a refusal is shown as one."""
    yield f">>> engine.execute({LIST!r}, {command!r}, {actor!r})"
    try:
        outcome = engine.execute(LIST, command, actor)
    except Refused as refused:
        yield f"refused [{refused.code}] {refused}"
    else:
        yield from (repr(recorded.event) for recorded in outcome.recorded)


def _clean_environment(out: Path) -> dict[str, str]:
    """Nothing of the user's own workspace, keys or git settings takes part."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("MOOT_", "GIT_", "_MOOT"))
    }
    return kept | {
        "HOME": str(out),
        "MOOT_KEYS": str(out / "keys"),
        "GIT_CONFIG_NOSYSTEM": "1",
        "PYTHONUTF8": "1",
    }
