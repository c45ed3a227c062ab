"""Handle one invocation of `moot hook TOOL`: stdin in, the tool's own JSON out, within a deadline.

    inside a workspace    an error before an edit refuses the edit, with one line of reason
    outside of one        nothing is printed

"Inside" refers to the folder and files of the call, not only to the folder of this process. If they
are unknown, because the input is too long or does not end, the call counts as inside.

Input that cannot be read has no known moment: exit 2 with one line on stderr. The settings we
install turn that into a refusal before an edit and into nothing at all other moments. A tool that
waits too long writes anyway, so a watchdog thread answers before that. If the thread cannot run,
because a call in C holds the interpreter, the system ends the process a second later (`set_alarm`
in `thin.py`). The settings treat that like exit 2.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final, NoReturn

import msgspec

from moot.api.session import Session, ToolSession
from moot.coding_tools import NAMES, all_tools, find_tool
from moot.coding_tools.tool import ALLOW, READING_HEARD, TEST_SESSION, HookMoment, block
from moot.core.errors import MootError, Unavailable
from moot.core.text import OwnText, one_line, say
from moot.surfaces.environment import read_epoch, read_stale_time
from moot.surfaces.hooks.call import MAX_BYTES, HookCall, Unreadable, read_call, session_key
from moot.surfaces.hooks.thin import GRACE_SECONDS, cancel_alarm, set_alarm

if TYPE_CHECKING:
    from moot.api.opening import OpenWorkspaces
    from moot.core.debug import DebugLog
    from moot.keys.folder import KeyFolder

SECONDS: Final = 8.0
READING_SECONDS: Final = 1.0  # a notice about a file that was read may take this long
SECONDS_VARIABLE: Final = "MOOT_HOOK_SECONDS"
UNREADABLE: Final = 2
REFUSED: Final = 2  # tells a tool to keep the settings it has
# Moments with time for a checkpoint. After an edit the next command makes it.
CHECKPOINTED: Final = frozenset({HookMoment.START, HookMoment.STOP, HookMoment.END})

# A longer input is not parsed again when time has run out.
MOST_CHARACTERS_REREAD: Final = 1_000_000

OnCall = Callable[[HookCall], None]


def _ignore_call(_call: HookCall) -> None:
    """Do nothing: this caller does not need to know which call it is."""


class Reply(msgspec.Struct, frozen=True):
    out: str = ""
    err: str = ""
    code: int = 0


Leave = Callable[[Reply], None]


def _stay(_reply: Reply) -> None:
    """Do nothing: the process continues after the answer."""


def main(tool: str) -> NoReturn:
    """Read, answer and exit at once: nothing that hangs at exit may keep the tool waiting."""
    env, here = dict(os.environ), _here()
    set_alarm(deadline(env) + GRACE_SECONDS)
    if env.get("MOOT_DEBUG"):
        import moot.system.debug  # noqa: F401 - its clock starts when it is loaded
    writer = _AnswerWriter(env, here)
    _start_watchdog(deadline(env), writer.too_late)
    data = sys.stdin.buffer.read(MAX_BYTES + 1) if sys.stdin is not None else b""
    if env.get("MOOT_OTEL"):
        writer.after_answer = _prepare_export(tool, data, env)
    writer.say(answer(tool, data, env, here, writer.on_call, leave=writer.say))


def _start_watchdog(seconds: float, too_late: Callable[[], None]) -> None:
    watchdog = threading.Timer(seconds, too_late)
    watchdog.daemon = True
    watchdog.start()


def _prepare_export(tool: str, data: bytes, env: Mapping[str, str]) -> Callable[[Reply], None]:
    """Return the function that exports this call after it is answered; it imports nothing before
    that."""
    began = time.time_ns()

    def export(reply: Reply) -> None:
        from moot.usage.telemetry.spans import HookReport, export_hook
        from moot.usage.telemetry.switch import is_hook_export_on

        if is_hook_export_on(env):
            agent, ended = env.get("MOOT_AGENT", ""), time.time_ns()
            export_hook(env, HookReport(tool, agent, data, reply.out.encode(), began, ended))

    return export


def answer(
    tool: str,
    data: bytes,
    env: Mapping[str, str],
    here: str,
    on_call: OnCall = _ignore_call,
    stays_open: OpenWorkspaces | None = None,
    leave: Leave = _stay,
) -> Reply:
    """Return what to print and the exit code. Catches every exception, because a hook must answer.

    `leave` may end the process with the answer, before Python frees its memory.
    """
    call: HookCall | None = None
    try:
        call = read_call(find_tool(tool), data, here)
        on_call(call)
        if call.session == TEST_SESSION and call.moment is not HookMoment.BEFORE:
            return Reply(_answer_trial(call, env))
        from moot.surfaces.hooks.moments import HANDLERS

        session = session_for(env, call.cwd, call.tool_session, stays_open)
        try:
            said = HANDLERS[call.moment](call, session)
            refuses = bool(said) and call.moment is HookMoment.CONFIG_CHANGE
            reply = Reply(err=said, code=REFUSED) if refuses else Reply(said)
        finally:
            session.close(checkpoint=call.moment in CHECKPOINTED)
            if call.session != TEST_SESSION:
                _note_hook_ran(call, session)
        leave(reply)
        return reply
    except Exception as error:  # noqa: BLE001 - never a traceback, never silently open
        return (
            Reply()
            if call is not None and call.is_reading
            else _answer_error(error, call, env, here)
        )


def _answer_error(
    error: Exception, call: HookCall | None, env: Mapping[str, str], here: str
) -> Reply:
    if isinstance(error, Unreadable):
        folders = (here,) if call is None else (here, call.cwd)
        return _answer_unreadable(error, call, env, folders)
    return _explain_error(error, None if call is None else call.moment)


def _answer_trial(call: HookCall, env: Mapping[str, str]) -> str:
    """Answer `moot hook test`: only a file that was read gets an answer, if such notices are on."""
    if not call.is_reading:
        return ALLOW
    from moot.workspace.settings import shows_readers_holders

    is_told = shows_readers_holders(Path(call.cwd), env)
    return call.tool.tell_model(HookMoment.AFTER, OwnText(READING_HEARD if is_told else ""))


def answer_within(
    seconds: float,
    tool: str,
    data: bytes,
    env: Mapping[str, str],
    here: str,
    stays_open: OpenWorkspaces,
) -> Reply:
    """Answer for another process that waits: in time, whatever the worker is doing."""
    replies: list[Reply] = []
    calls: list[HookCall] = []

    def work() -> None:
        replies.append(answer(tool, data, env, here, calls.append, stays_open))

    worker = threading.Thread(target=work, daemon=True)
    worker.start()
    worker.join(min(seconds, READING_SECONDS))
    if not replies and not (calls and calls[0].is_reading):
        worker.join(max(0.0, seconds - READING_SECONDS))
    return replies[0] if replies else too_late(calls[0] if calls else None, env, here)


def knows_tool(name: str) -> bool:
    return name in NAMES


def too_late(call: HookCall | None, env: Mapping[str, str], here: str) -> Reply:
    """Refuse, because the tool would soon stop waiting and write. A call that only read is not
    refused."""
    if call is not None and call.is_reading:
        return Reply()
    problem = Unreadable(
        "the check took too long (is the ledger busy?)",
        says_where=call is not None and _can_be_read_quickly(call),
    )
    return _answer_unreadable(problem, call, env, (here, *_folders_of(call)))


def _note_hook_ran(call: HookCall, session: Session) -> None:
    """Note that this tool's hook has run here. Nothing depends on it, so errors are ignored."""
    from moot.api.guard.guarded_paths import find_guarded_folder
    from moot.api.hook_setup.hook_stamps import stamp_hook_ran

    with suppress(MootError, OSError):
        guarded = find_guarded_folder(session.folder, session.home)
        if guarded is not None:
            root, at_start = guarded.worktree_root, call.moment is HookMoment.START
            stamp_hook_ran(guarded.workspace, call.tool.name, root, at_start=at_start)


def check_commit(
    env: Mapping[str, str], here: str, hook: str = "pre-commit", arguments: Sequence[str] = ()
) -> Reply:
    """Answer one of git's hooks, in a shell that may be an agent's or a person's.

    It has a deadline as well: a person who has to interrupt it would start to skip it.
    """
    answered: list[Reply | BaseException] = []

    def check() -> None:
        try:
            answered.append(_check_commit(_commit_session(env, here), hook, arguments))
        except BaseException as error:  # noqa: BLE001 - raised again where it belongs
            answered.append(error)

    worker = threading.Thread(target=check, daemon=True)
    worker.start()
    worker.join(deadline(env))
    if not answered:
        return _late_commit(_commit_session(env, here))
    if isinstance(answered[0], BaseException):
        raise answered[0]
    return answered[0]


def _commit_session(env: Mapping[str, str], here: str) -> Session:
    keys = [env.get("MOOT_SESSION")]
    keys += [
        session_key(tool.name, env.get(name, ""))
        for tool in all_tools()
        for name in tool.session_variables
    ]
    return session_for(env, here, ToolSession("git", tuple(key for key in keys if key)))


def _check_commit(session: Session, hook: str, arguments: Sequence[str]) -> Reply:
    from moot.surfaces.hooks.commit import COMMIT_MESSAGE, answer_commit, answer_message

    answer = answer_message if hook == COMMIT_MESSAGE else answer_commit
    try:
        text, code = answer(session, hook, arguments)
    finally:
        session.close(checkpoint=False)
    return Reply(err=text, code=code)


def _late_commit(session: Session) -> Reply:
    from moot.surfaces.hooks.commit import explain_unchecked, is_agents_shell

    late = Unavailable("check_too_late", "the check took too long", hint="try again")
    return Reply(err=explain_unchecked(late), code=1 if is_agents_shell(session) else 0)


def session_for(
    env: Mapping[str, str],
    folder: str,
    tool_session: ToolSession | None = None,
    stays_open: OpenWorkspaces | None = None,
) -> Session:
    """Build the session: who calls, and from where. Hooks read their environment only here."""

    def keys() -> KeyFolder:
        from moot.workspace.workspace import key_folder

        return key_folder(env)

    acting = env.get("MOOT_AGENT") or None
    stale_millis, remarks = read_stale_time(env)
    return Session(
        Path(folder),
        acting=acting,
        epoch=read_epoch(env, acting),
        tool_session=tool_session,
        home=Path(env["MOOT_HOME"]) if env.get("MOOT_HOME") else None,
        keys=keys,
        stale_millis=stale_millis,
        remarks=remarks,
        clock=env.get("MOOT_CLOCK", ""),
        env=env,
        debug=_debug_log(env),
        stays_open=stays_open,
    )


def _debug_log(env: Mapping[str, str]) -> DebugLog | None:
    """Return the debug log, or None. It is imported only if it is on: a hook runs before every
    edit."""
    if env.get("MOOT_OTEL"):
        from moot.usage.telemetry.spans import COUNTS

        return COUNTS
    if not env.get("MOOT_DEBUG"):
        return None
    from moot.system.debug import DebugLines

    return DebugLines()


def _here() -> str:
    """Return the working directory; the root if it was removed."""
    try:
        return os.getcwd()
    except OSError:
        return os.sep


def _answer_unreadable(
    problem: Unreadable, call: HookCall | None, env: Mapping[str, str], folders: Iterable[str]
) -> Reply:
    """Refuse if one of the call's folders may be in a workspace; else answer nothing."""
    if problem.says_where and not _may_be_guarded(problem, env, folders):
        return Reply()
    moment = problem.moment if call is None else call.moment
    text = say(
        "moot: {problem}. Moot refuses what it cannot check; try again, and if it happens again,"
        " update moot or see `moot ledger doctor`.",
        problem=one_line(str(problem)),
    )
    if problem.code:
        from moot.surfaces.hooks.reasons import explain_error

        text = explain_error(MootError(problem.code, str(problem), hint=problem.hint))
    if moment is HookMoment.BEFORE:
        return Reply(block(text))
    return Reply(err=text, code=UNREADABLE if moment is None else 0)


def _may_be_guarded(problem: Unreadable, env: Mapping[str, str], folders: Iterable[str]) -> bool:
    """True if a folder is in a workspace, or an agent does not say where it writes."""
    from moot.api.guard.checks import may_be_guarded

    if problem.code and env.get("MOOT_AGENT"):
        return True
    return any(may_be_guarded(session_for(env, folder)) for folder in dict.fromkeys(folders))


def _explain_error(error: Exception, moment: HookMoment | None) -> Reply:
    from moot.surfaces.hooks.reasons import explain_error

    if not isinstance(error, MootError):
        error = MootError("internal_error", f"{type(error).__name__}: {error}")
    text = explain_error(error)
    return Reply(block(text)) if moment is HookMoment.BEFORE else Reply(err=text)


def deadline(env: Mapping[str, str]) -> float:
    """Return the deadline in seconds. It must be below the tool's own deadline."""
    try:
        seconds = float(env.get(SECONDS_VARIABLE, ""))
    except ValueError:
        return SECONDS
    return seconds if 0 < seconds <= 3600 else SECONDS


class _AnswerWriter:
    """Write the first answer and end the process; a second thread that answers waits for the
    end."""

    def __init__(self, env: Mapping[str, str], here: str) -> None:
        self._env = env
        self._here = here
        self._call: HookCall | None = None
        self.after_answer: Callable[[Reply], None] | None = None
        self._first = threading.Lock()

    def on_call(self, call: HookCall) -> None:
        self._call = call
        if call.is_reading:
            _start_watchdog(READING_SECONDS, self.too_late)

    def say(self, reply: Reply) -> NoReturn:
        if not self._first.acquire(blocking=False):
            threading.Event().wait()  # the other one is about to end the process
        _write(1, to_bytes(reply.out))
        _write(2, to_bytes(reply.err))
        try:
            if self.after_answer is not None:
                cancel_alarm()  # else it stays, in case the other thread is stuck
                self.after_answer(reply)
        finally:
            os._exit(reply.code)

    def too_late(self) -> None:
        self.say(too_late(self._call, self._env, self._here))


def _can_be_read_quickly(call: HookCall) -> bool:
    return (
        sum(len(text) for text in call.input.values() if isinstance(text, str))
        <= MOST_CHARACTERS_REREAD
    )


def _folders_of(call: HookCall | None) -> Iterator[str]:
    """Yield the folders of a call: its own, and those of the files it names."""
    if call is None or not _can_be_read_quickly(call):
        return
    from moot.surfaces.hooks.written_files import find_written_files

    yield call.cwd
    try:
        yield from map(os.path.dirname, find_written_files(call))
    except Unreadable:
        return  # its own folder is enough


def to_bytes(text: str) -> bytes:
    return f"{text}\n".encode("utf-8", "replace") if text else b""


def _write(stream: int, data: bytes) -> None:
    try:
        while data:
            data = data[os.write(stream, data) :]
    except OSError:
        return  # the reader has exited
