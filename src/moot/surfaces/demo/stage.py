"""Where the demonstration plays: a folder of its own, its own keys, and real processes."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Literal, NamedTuple

from moot.api import opening
from moot.core.errors import Refused, StoreFailed
from moot.store.files import unwritable_file
from moot.surfaces.web.server import Listening, make_server

# How a person calls the programs that the demonstration runs: by name if that finds them.

PYTHON: Final = Path(sys.executable).name
_HERE: Final = Path(sys.executable).parent


def moot() -> str:
    """What to type for `moot` in a shell of one's own."""
    if shutil.which("moot"):
        return "moot"
    if (_HERE / "moot").exists():
        return shlex.quote(str(_HERE / "moot"))
    return f"{shlex.quote(sys.executable)} -m moot"


def by_name() -> list[str]:
    """Commands after which `moot`, and the Python that has its libraries, are found by name."""
    found = [f"export PATH={shlex.quote(str(_HERE))}:$PATH"]
    if moot().endswith(" -m moot"):
        found.append(f'moot() {{ {PYTHON} -m moot "$@"; }}')
    return found


Kind = Literal["act", "say", "run", "out", "wait", "end"]
Words = tuple[str, ...]
MOOT: Final[Words] = (sys.executable, "-P", "-m", "moot")
CHECKER: Final = Path(__file__).parents[2] / "verify" / "standalone.py"
# Short, so that nobody has to wait long for a dead agent to count as one.
STALE_MINUTES: Final = "0.05"
USUAL_MINUTES: Final = "15"


class Line(NamedTuple):
    """One line: an act's title, a remark, a command, what it printed, or what is waited for.

    Those with a `point` say what came of it; the others are shown with all commands.
    """

    kind: Kind
    text: str
    point: bool = False


Lines = Iterator[Line]


def say(text: str, point: bool = False) -> Line:
    return Line("say", text, point)


def wait(text: str) -> Line:
    """What takes its time now; it stands only as long as that takes."""
    return Line("wait", text)


class Part(NamedTuple):
    """A part of a long answer, as `shown` takes it: the line that is run says so."""

    shown: str
    pattern: re.Pattern[str]

    def of(self, lines: list[str]) -> list[str]:
        found = (match[0] for line in lines for match in self.pattern.finditer(line))
        return [text for text in found if text]


def grep(expression: str) -> Part:
    """Those lines that match."""
    return Part(f" | grep -E {shlex.quote(expression)}", re.compile(f".*(?:{expression}).*"))


def only(expression: str) -> Part:
    """Only what matches."""
    return Part(f" | grep -oE {shlex.quote(expression)}", re.compile(expression))


WHOLE: Final = Part("", re.compile(r".*"))
FIRST: Final = Part(" | head -1", re.compile(r".*"))


class DemoCall(NamedTuple):
    """How a program is run: as whom, in which settings, with what on its standard input.

    What it prints that matches `point` is what came of it.
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
        if self.git is None:  # a plain folder will do, and nothing above the stage is looked at
            self.settings["MOOT_HOME"] = str(self.repository)
        self._here = self.repository
        self._env = _clean_environment(self.out)

    def prepare(self) -> None:
        try:
            self.repository.mkdir(parents=True)
            shutil.copy(CHECKER, self.out)
        except FileExistsError:
            raise Refused(
                "demo_exists", f"{self.out} holds a demonstration already", hint="use another --out"
            ) from None
        except OSError as error:
            raise unwritable_file(self.out, error) from None

    def beside(self, repository: str) -> DemoStage:
        """Another repository in the same folder, where agents go stale as late as usual."""
        other = DemoStage(self.out, repository)
        other.repository.mkdir()
        other.settings["BB_AGENT_STALE_MINUTES"] = USUAL_MINUTES
        return other

    def begin(self) -> Lines:
        """With these lines before them, the others can be typed as they are shown."""
        yield Line("run", f"cd {shlex.quote(str(self.repository))}")
        yield from (Line("run", line) for line in by_name())
        yield self._export(self.settings)

    def enter(self, before: DemoStage) -> Lines:
        """From one repository to another, with the settings that differ there."""
        yield from before.go(self.repository)
        known = before.settings.items()
        yield self._export({n: v for n, v in self.settings.items() if (n, v) not in known})
        self._here = self.repository

    def _export(self, settings: Mapping[str, str]) -> Line:
        named = (f"{name}={shlex.quote(value)}" for name, value in settings.items())
        return Line("run", f"export {' '.join(named)}")

    def title(self, act: str, text: str) -> Line:
        """From here on a failure is told as one of this act."""
        self.act = act
        return Line("act", f"{act} · {text}")

    def go(self, place: Path) -> Lines:
        yield Line("run", f"cd {os.path.relpath(place, self._here)}")
        self._here = place

    def write(self, name: str, text: str) -> Path:
        """A file of the story, in the repository unless the name leads out of it."""
        file = self.repository / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return file

    def moot(self, *words: str, how: DemoCall = USUAL) -> Lines:
        """`moot ...` as its own process; the exit code must be the expected one."""
        yield from self.run("moot", MOOT, words, how)

    def standalone(self, *words: str, how: DemoCall = USUAL) -> Lines:
        """The checker that is one file and shares nothing with the rest."""
        yield from self.run(f"{PYTHON} {CHECKER.name}", self.alone, words, how)

    def in_git(self, *words: str) -> Lines:
        """Without git a plain folder does, and these steps are left out."""
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
        """What a program says as JSON, whatever its exit code; not shown."""
        done = self._process(words, USUAL)
        try:
            answer: dict[str, Any] = json.loads(done.stdout)
        except ValueError:
            raise self.failed(f"`{shlex.join(words[3:])}` gave no answer") from None
        return answer

    def data(self, *words: str) -> Any:
        """The data of a `moot` command, not shown."""
        envelope = self.answer(*MOOT, "--json", *words)
        if not envelope["ok"]:
            raise self.failed(f"`moot {shlex.join(words)}`: {envelope['error']['message']}")
        return envelope["data"]

    def background(self, *words: str) -> subprocess.Popen[bytes]:
        """A process that goes on; it ends when its standard input is closed."""
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
        """The setting under which the person's own key opens, as shown."""
        return {"MOOT_PASSPHRASE_FILE": os.path.relpath(self.passphrase, self._here)}


def _clean_environment(out: Path) -> dict[str, str]:
    """Nothing of the user's own workspace, keys or git settings takes part."""
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


# The page beside the demonstration: a newcomer opens one address and sees it move.

_ENDING_SECONDS: Final = 10.0


class LivePage:
    """A server for the demonstration's own workspace, which may not be there yet."""

    def __init__(self, stage: DemoStage, env: Mapping[str, str]) -> None:
        session = opening.open(stage.repository, keys=stage.keys)
        running = make_server(session, Listening(), env={**env, **stage.settings})
        self.address = running.address
        self._server = running.server
        self._thread = threading.Thread(target=running.run, daemon=True)
        self._thread.start()

    def wait(self) -> None:
        """Until somebody presses Ctrl-C; then it is closed."""
        with suppress(KeyboardInterrupt):
            self._thread.join()
        self._server.should_exit = True
        self._thread.join(_ENDING_SECONDS)
