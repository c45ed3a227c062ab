"""The folder, keys and processes of the demonstration."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Literal, NamedTuple

from moot.api import opening
from moot.core.errors import Refused, StoreFailed
from moot.store.files import unwritable_file
from moot.surfaces.web.server import Listening, make_server

PYTHON: Final = Path(sys.executable).name
_HERE: Final = Path(sys.executable).parent


def moot() -> str:
    """Return what the user types for `moot` in their own shell."""
    if shutil.which("moot"):
        return "moot"
    if (_HERE / "moot").exists():
        return shlex.quote(str(_HERE / "moot"))
    return f"{shlex.quote(sys.executable)} -m moot"


def path_commands() -> list[str]:
    """Return commands after which `moot` and its Python are found by name."""
    found = [f"export PATH={shlex.quote(str(_HERE))}:$PATH"]
    if moot().endswith(" -m moot"):
        found.append(f'moot() {{ {PYTHON} -m moot "$@"; }}')
    return found


Kind = Literal["act", "say", "run", "out", "wait", "end"]
Words = tuple[str, ...]
MOOT: Final[Words] = (sys.executable, "-P", "-m", "moot")
CHECKER: Final = Path(__file__).parents[2] / "verify" / "standalone.py"
# Short, so that a killed agent soon counts as stale.
STALE_MINUTES: Final = "0.05"
USUAL_MINUTES: Final = "15"
_LONGEST_WAIT: Final = 60.0


class Line(NamedTuple):
    """One line: an act's title, a remark, a command, its output, or what it waits for.

    Lines with a `point` are results; the others are shown only with --commands.
    """

    kind: Kind
    text: str
    point: bool = False


Lines = Iterator[Line]


def say(text: str, point: bool = False) -> Line:
    return Line("say", text, point)


def wait(text: str) -> Line:
    """Say what takes time now; shown only as long as that takes."""
    return Line("wait", text)


class Part(NamedTuple):
    """A filter of a long output: `shown` is the shell command for it, `pattern` does the same."""

    shown: str
    pattern: re.Pattern[str]

    def of(self, lines: list[str]) -> list[str]:
        found = (match[0] for line in lines for match in self.pattern.finditer(line))
        return [text for text in found if text]


def grep(expression: str) -> Part:
    """Keep the lines that match."""
    return Part(f" | grep -E {shlex.quote(expression)}", re.compile(f".*(?:{expression}).*"))


def only(expression: str) -> Part:
    """Keep only the text that matches."""
    return Part(f" | grep -oE {shlex.quote(expression)}", re.compile(expression))


WHOLE: Final = Part("", re.compile(r".*"))
FIRST: Final = Part(" | head -1", re.compile(r".*"))


class DemoCall(NamedTuple):
    """How a program is run: its environment, its standard input, the expected exit code.

    Output that matches `point` is a result.
    """

    expect: int = 0
    part: Part = WHOLE
    settings: Mapping[str, str] = MappingProxyType({})
    read: str = ""
    quiet: bool = False
    point: str = ""


USUAL: Final = DemoCall()


class DemoStage:
    def __init__(self, out: Path, repository: str = "repository") -> None:
        self.out = out.absolute()
        self.repository = self.out / repository
        self.keys = self.out / "keys"
        self.passphrase = self.out / "passphrase"
        self.git = shutil.which("git")
        self.act = ""
        self.settings = {"MOOT_KEYS": str(self.keys), "BB_AGENT_STALE_MINUTES": STALE_MINUTES}
        if self.git is None:  # use a plain folder, and do not search in the folders above it
            self.settings["MOOT_HOME"] = str(self.repository)
        self._here = self.repository
        self._env = _clean_environment(self.out)

    def prepare(self) -> None:
        try:
            self.repository.mkdir(parents=True)
            shutil.copy(CHECKER, self.out)
        except FileExistsError:
            raise Refused(
                "demo_exists", f"{self.out} has a demonstration already", hint="use another --out"
            ) from None
        except OSError as error:
            raise unwritable_file(self.out, error) from None

    def make_sibling(self, repository: str) -> DemoStage:
        """Make another repository in the same folder, with the usual stale time."""
        other = DemoStage(self.out, repository)
        other.repository.mkdir()
        other.settings["BB_AGENT_STALE_MINUTES"] = USUAL_MINUTES
        return other

    def begin(self) -> Lines:
        """Show the commands after which the others can be typed as shown."""
        yield Line("run", f"cd {shlex.quote(str(self.repository))}")
        yield from (Line("run", line) for line in path_commands())
        yield self._export(self.settings)

    def enter(self, before: DemoStage) -> Lines:
        """Change from one repository to another, with the settings that differ there."""
        yield from before.go(self.repository)
        known = before.settings.items()
        yield self._export({n: v for n, v in self.settings.items() if (n, v) not in known})
        self._here = self.repository

    def _export(self, settings: Mapping[str, str]) -> Line:
        named = (f"{name}={shlex.quote(value)}" for name, value in settings.items())
        return Line("run", f"export {' '.join(named)}")

    def title(self, act: str, text: str) -> Line:
        """Start an act; failures name it from here on."""
        self.act = act
        return Line("act", f"{act} · {text}")

    def go(self, place: Path) -> Lines:
        yield Line("run", f"cd {os.path.relpath(place, self._here)}")
        self._here = place

    def write(self, name: str, text: str) -> Path:
        """Write a file, relative to the repository."""
        file = self.repository / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return file

    def moot(self, *words: str, how: DemoCall = USUAL) -> Lines:
        """Run `moot ...` as a process; the exit code must be the expected one."""
        yield from self.run("moot", MOOT, words, how)

    def ask_hook(self, agent: str, file: str) -> Lines:
        """Ask Claude Code's hook whether the agent may write the file, and show its decision."""
        call = {
            "hook_event_name": "PreToolUse",
            "session_id": "1",
            "cwd": str(self.repository),
            "tool_name": "Write",
            "tool_input": {"file_path": file, "content": "LIMIT = 5\n"},
        }
        self.write("../edit.json", json.dumps(call) + "\n")
        decision = only('"permissionDecision": "[a-z]+"|"reason": "[^(]*')
        how = DemoCall(
            part=decision, settings={"MOOT_AGENT": agent}, read="../edit.json", point="."
        )
        yield from self.moot("hook", "claude", how=how)

    def wait_until(self, is_done: Callable[[], bool], failure: str) -> None:
        """Poll until `is_done`; after a minute, fail with this message."""
        end = time.monotonic() + _LONGEST_WAIT
        while not is_done():
            if time.monotonic() > end:
                raise self.failed(failure)
            time.sleep(0.1)

    def standalone(self, *words: str, how: DemoCall = USUAL) -> Lines:
        """Run the verifier that is one file and shares nothing with the rest."""
        yield from self.run(f"{PYTHON} {CHECKER.name}", self.alone, words, how)

    def in_git(self, *words: str) -> Lines:
        """Run git; without git these steps are skipped."""
        if self.git is not None:
            yield from self.run("git", (self.git,), words, USUAL)

    def run(self, shown: str, program: Words, words: Words, how: DemoCall) -> Lines:
        settings = "".join(f"{name}={value} " for name, value in how.settings.items())
        command = f"{settings}{shown} {shlex.join(words)}"
        command += f" < {how.read}" if how.read else ""
        command += " 2>/dev/null" if how.quiet else " 2>&1" if how.expect and how.part.shown else ""
        yield Line("run", command + how.part.shown)
        done = self._process((*program, *words), how)
        printed = done.stdout.splitlines() + ([] if how.quiet else done.stderr.splitlines())
        shown_lines = printed[:1] if how.part is FIRST else how.part.of(printed)
        point = re.compile(how.point) if how.point else None
        for text in shown_lines:
            yield Line("out", text, bool(point and point.search(text)))
        if done.returncode != how.expect:
            complaints = done.stderr.strip().splitlines()
            raise self.failed(
                f"`{command}` ended with {done.returncode}, not {how.expect}"
                + (f": {complaints[-1]}" if complaints else "")
            )

    def failed(self, what: str) -> StoreFailed:
        place = self.act or "before the first act"
        return StoreFailed("demo_failed", f"{place}: {what}", hint=f"look into {self.out}")

    def answer(self, *words: str) -> dict[str, Any]:
        """Return the JSON that a program prints, whatever its exit code; not shown."""
        done = self._process(words, USUAL)
        try:
            answer: dict[str, Any] = json.loads(done.stdout)
        except ValueError:
            raise self.failed(f"`{shlex.join(words[3:])}` gave no answer") from None
        return answer

    def data(self, *words: str) -> Any:
        """Return the data of a `moot` command; not shown."""
        envelope = self.answer(*MOOT, "--json", *words)
        if not envelope["ok"]:
            raise self.failed(f"`moot {shlex.join(words)}`: {envelope['error']['message']}")
        return envelope["data"]

    def background(self, *words: str) -> subprocess.Popen[bytes]:
        """Start a process that runs until its standard input is closed."""
        return subprocess.Popen(
            (*MOOT, *words),
            cwd=self._here,
            env={**self._env, **self.settings},
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def _process(self, words: Words, how: DemoCall) -> subprocess.CompletedProcess[str]:
        typed = (self._here / how.read).read_text("utf-8") if how.read else ""
        return subprocess.run(
            words,
            cwd=self._here,
            env={**self._env, **self.settings, **how.settings},
            input=typed,
            capture_output=True,
            encoding="utf-8",
            check=False,
        )

    @property
    def alone(self) -> Words:
        return (sys.executable, "-P", str(self.out / CHECKER.name))

    @property
    def person(self) -> dict[str, str]:
        """The environment variable that unlocks the person's key, as shown."""
        return {"MOOT_PASSPHRASE_FILE": os.path.relpath(self.passphrase, self._here)}


def _clean_environment(out: Path) -> dict[str, str]:
    """Return the environment without the user's own workspace, keys and git settings."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("MOOT_", "GIT_", "_MOOT", "BB_"))
    }
    return {
        **kept,
        "HOME": str(out),
        "GIT_CONFIG_NOSYSTEM": "1",
        "PYTHONUTF8": "1",
        "COLUMNS": "100",
    }


_ENDING_SECONDS: Final = 10.0


class LivePage:
    """A server for `--page`: shows the demonstration's workspace, which may not exist yet."""

    def __init__(self, stage: DemoStage, env: Mapping[str, str]) -> None:
        session = opening.open(stage.repository, keys=stage.keys)
        running = make_server(session, Listening(), env={**env, **stage.settings})
        self.address = running.address
        self._server = running.server
        self._thread = threading.Thread(target=running.run, daemon=True)
        self._thread.start()

    def wait(self) -> None:
        """Wait until Ctrl-C, then close the server."""
        with suppress(KeyboardInterrupt):
            self._thread.join()
        self._server.should_exit = True
        self._thread.join(_ENDING_SECONDS)
