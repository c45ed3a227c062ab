"""One invocation of `moot hook TOOL`: stdin in, the tool's own JSON out, within a deadline.

    inside a workspace    trouble before an edit holds the edit back, with one line of reason
    outside of one        nothing is said

What cannot even be read has no known moment: exit 2 with one line on stderr. The settings we
install turn that into a refusal before an edit and into nothing at all other moments. A tool that
waits too long writes anyway, so a watchdog answers before that, whatever the rest is doing.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, NamedTuple, NoReturn

from moot.flows.tools.coding_tools import TOOLS, Moment
from moot.surfaces.hooks import answers
from moot.surfaces.hooks.call import MAX_BYTES, Call, Unreadable, read_call

SECONDS: Final = 8.0
SECONDS_VARIABLE: Final = "MOOT_HOOK_SECONDS"
UNREADABLE: Final = 2

Handler = Callable[[Call, Mapping[str, str], Path | None], str]
Heard = Callable[[Moment], None]


def _nobody(_moment: Moment) -> None:
    """Nobody needs to know at which moment this is."""


class Reply(NamedTuple):
    out: str = ""
    err: str = ""
    code: int = 0


def main(tool: str) -> NoReturn:
    """Read, answer, leave at once: nothing that hangs at the end may keep the tool waiting."""
    env, here = dict(os.environ), _here()
    if env.get("MOOT_DEBUG"):
        import moot.system.debug  # noqa: F401 - its clock starts when it is loaded
    voice = _Voice(env, here)
    watchdog = threading.Timer(deadline(env), voice.too_late)
    watchdog.daemon = True
    watchdog.start()
    data = sys.stdin.buffer.read(MAX_BYTES + 1) if sys.stdin is not None else b""
    voice.say(answer(tool, data, env, here, voice.heard))


def answer(
    tool: str, data: bytes, env: Mapping[str, str], here: str, heard: Heard = _nobody
) -> Reply:
    """What to print and how to exit. The outermost function of hooks: it catches everything."""
    home = _home(env)
    moment: Moment | None = None
    try:
        call = read_call(TOOLS[tool], data, here)
        moment = call.moment
        heard(moment)
        return Reply(_handler(moment)(call, env, home))
    except Unreadable as problem:
        return _unreadable(problem, moment or problem.moment, here, home)
    except Exception as error:  # noqa: BLE001 - never a traceback, never silently open
        return _in_trouble(error, moment)


def _here() -> str:
    """A working directory that was removed is nowhere in particular."""
    try:
        return os.getcwd()
    except OSError:
        return os.sep


def _home(env: Mapping[str, str]) -> Path | None:
    return Path(env["MOOT_HOME"]) if env.get("MOOT_HOME") else None


def _handler(moment: Moment) -> Handler:
    """Only the module of this moment is loaded."""
    if moment is Moment.BEFORE:
        from moot.surfaces.hooks.before import before

        return before
    if moment is Moment.AFTER:
        from moot.surfaces.hooks.after import after

        return after
    if moment is Moment.STOP:
        from moot.surfaces.hooks.stop import stop

        return stop
    from moot.surfaces.hooks import start

    return start.start if moment is Moment.START else start.end


def _unreadable(problem: Unreadable, moment: Moment | None, here: str, home: Path | None) -> Reply:
    from moot.core.errors import MootError
    from moot.flows.guard.guarded_paths import session_spot

    try:
        inside = session_spot(here, home) is not None
    except MootError:
        inside = True
    if not inside:
        return Reply()
    said = (
        f"moot: {problem}. What cannot be checked is held back; try again, and if it stays so,"
        " update moot or see `moot ledger doctor`."
    )
    if moment is Moment.BEFORE:
        return Reply(answers.block(said))
    return Reply(err=said, code=UNREADABLE if moment is None else 0)


def _in_trouble(error: Exception, moment: Moment | None) -> Reply:
    from moot.core.errors import MootError
    from moot.surfaces.hooks import reasons

    if not isinstance(error, MootError):
        error = MootError("internal_error", f"{type(error).__name__}: {error}")
    said = reasons.failed(error)
    return Reply(answers.block(said)) if moment is Moment.BEFORE else Reply(err=said)


def deadline(env: Mapping[str, str]) -> float:
    """Below the tool's own; only whoever gave the tool another one should change it."""
    try:
        seconds = float(env.get(SECONDS_VARIABLE, ""))
    except ValueError:
        return SECONDS
    return seconds if 0 < seconds <= 3600 else SECONDS


class _Voice:
    """Speaks once, and ends the process: whoever comes second finds nothing to do."""

    def __init__(self, env: Mapping[str, str], here: str) -> None:
        self._env = env
        self._here = here
        self._moment: Moment | None = None
        self._first = threading.Lock()

    def heard(self, moment: Moment) -> None:
        self._moment = moment

    def say(self, reply: Reply) -> NoReturn:
        if not self._first.acquire(blocking=False):
            threading.Event().wait()  # the other one is about to end the process
        _write(1, reply.out)
        _write(2, reply.err)
        os._exit(reply.code)

    def too_late(self) -> None:
        """The tool would soon give up on us and write."""
        problem = Unreadable("the check took too long (is the ledger busy?)", self._moment)
        self.say(_unreadable(problem, self._moment, self._here, _home(self._env)))


def _write(stream: int, text: str) -> None:
    data = f"{text}\n".encode("utf-8", "replace") if text else b""
    try:
        while data:
            data = data[os.write(stream, data) :]
    except OSError:
        return  # the reader has gone
