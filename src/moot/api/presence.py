"""Being there: a name for as long as something works under it, for a program or for this process.

`present` is the block in which a name is alive; `run` starts a program in such a block.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Final

import msgspec

from moot.api.operation import operation
from moot.api.scopes import reserve_command
from moot.api.session import settings_for
from moot.core.clock import SECOND, Millis
from moot.core.errors import Malformed, MootError, Unavailable

if TYPE_CHECKING:
    import subprocess

    from moot.api.session import Session
    from moot.workspace.workspace import Workspace

LONGEST_PAUSE: Final[Millis] = 60 * SECOND
SHORTEST_PAUSE: Final[Millis] = 50
# What a program must not inherit: a person's passphrase is no business of an agent's.
WITHHELD: Final = ("MOOT_PASSPHRASE_FILE",)
# Stands for the newcomer while it is checked whether it may come in: names are never given twice,
# so none is made up before.
_NEWCOMER: Final = "some-body"

# Is told what did not work at the edges, and why. It never ends what goes on.
Failed = Callable[[str, Exception], None]


class RunWatch:
    """What may be of interest while `run` goes on; override what you want to know."""

    def arrived(self, name: str) -> None:
        """The agent has joined and holds its scopes; no hook and no program has started."""

    def installed_hooks(self, tool: str) -> None:
        """Hooks of a coding tool were missing, and were installed."""

    def starting(self, name: str) -> None:
        """The program is about to be started."""

    def started(self, program: subprocess.Popen[bytes]) -> None:
        """The program runs: from now on signals can be passed on to it."""

    def failed(self, what: str, error: Exception) -> None:
        """Something beside the program did not work; the run goes on."""


UNWATCHED: Final = RunWatch()


class Ran(msgspec.Struct, frozen=True):
    """As whom the program ran, and how it ended; 128 and more: by a signal."""

    agent: str
    exit_status: int


@contextmanager
def present(
    session: Session,
    name: str | None = None,
    *,
    scopes: Sequence[str] = (),
    work: str | None = None,
    reason: str = "its program ended",
    process: str | None = None,
    failed: Failed = UNWATCHED.failed,
) -> Iterator[Session]:
    """A block in which a new agent is present; it gets the session that acts as this agent.

    The agent is registered (`name`, else one is made up), locked so that nobody adopts it, joined,
    and holds `scopes`; a thread says that it is alive. However the block ends, everything is given
    back and the name retired, with `reason` on record. What is refused before the block (a bad or
    taken name, a scope outside the worktree) leaves nothing behind; a scope that another holds is
    refused to the agent, which then ends. If giving back fails, `failed` is told: what is held goes
    stale by itself.

    `process` is the key of the coding tool's process below which we run. If its hooks have joined
    under the same name by the end, the name is theirs and goes on.
    """
    from moot.flows.presence import arrival
    from moot.flows.presence.tool_processes import is_in_session
    from moot.keys.running_names import hold_name
    from moot.protocols.presence import STREAM

    workspace, branch = session.workspace, session.place.branch
    place = arrival.ArrivalPlace(
        session.place.worktree, branch, work or branch, process_key=process
    )
    first = [reserve_command(session, scopes, work)] if scopes else []
    arrival.require_welcome(workspace, name or _NEWCOMER, place, *first)
    name = _register(workspace, name)
    lock = hold_name(workspace.folder, workspace.trust.origin, name)
    try:
        arrival.join(workspace, name, place)
        for command in first:
            workspace.engine.execute(STREAM, command, name)
        epoch = workspace.engine.registry().agents[name].epoch
        with _heartbeat(workspace, name, _least_patience(session)):
            yield session.acting_as(name, epoch)
    finally:  # every reservation is released when `moot run` ends, however it ends
        with _never_raising(
            failed, "could not release and retire; what it holds goes stale by itself"
        ):
            if process is None or not is_in_session(workspace, name):
                arrival.depart(workspace, name, reason)
        lock.release()


@contextmanager
def present_in_tool(
    session: Session,
    process: str | None,
    *,
    reason: str,
    failed: Failed = UNWATCHED.failed,
) -> Iterator[Session]:
    """A block for a server that a coding tool started, below the process with this key.

    The session of the tool that hooks have joined for is the agent, and stays theirs. Without one a
    new agent is `present`; a server that comes again below the same process gets the next name of
    its family (`amber-otter-2`): the earlier one has ended, or lives on beside it.
    """
    from moot.flows.presence.tool_processes import next_name_below

    shared = in_tool_session(session, process)
    if shared is not None:
        yield shared
        return
    name = next_name_below(session.workspace, process)
    with present(session, name, reason=reason, process=process, failed=failed) as agent:
        yield agent


def in_tool_session(session: Session, process: str | None) -> Session | None:
    """The same session as the agent that hooks below this process joined for; None without one.

    A process may begin another session later, so whoever lives longer asks again.
    """
    from moot.flows.presence.tool_processes import agent_for_server

    found = agent_for_server(session.workspace, process)
    return None if found is None else session.acting_as(*found)


@operation("run", writes=True, runs_programs=True)
def run(
    session: Session,
    words: Sequence[str],
    *,
    name: str | None = None,
    scopes: Sequence[str] = (),
    work: str | None = None,
    hooks: bool = True,
    output: int | None = None,
    watch: RunWatch = UNWATCHED,
) -> Ran:
    """Run a program as a new agent, which is `present` until the program ends.

    `words` is the program and its arguments. It runs in the session's folder and finds the
    session's `env`, with its name in MOOT_AGENT; a person's passphrase is withheld. `output` is the
    descriptor that it prints to (default: ours). Unless `hooks` is off, missing hooks of a known
    coding tool are installed. Signals are the caller's to pass on (`watch.started`).

    Refused like `present`; a program that cannot be started is Unavailable (`command_not_run`).
    Every call starts its program: there is no repeat of a run.
    """
    if not words:
        raise Malformed("no program is named", code="no_program", hint="name one behind `--`")
    with present(session, name, scopes=scopes, work=work, failed=watch.failed) as agent:
        acting = agent.actor()
        watch.arrived(acting)
        if hooks:
            _install_missing_hooks(agent, words[0], watch)
        watch.starting(acting)
        since = session.workspace.engine.clock()
        exit_status = _run_program(words, agent, output, watch)
        _end_watched_sessions(agent, words[0], since, watch)
    return Ran(acting, exit_status)


def environment_of(session: Session) -> dict[str, str]:
    """What a program finds that works as whoever the session acts as."""
    inherited = {key: value for key, value in session.env.items() if key not in WITHHELD}
    name = session.actor()
    identity = settings_for(name, session.require_agent(name).epoch)
    return {**inherited, **identity, "MOOT_HOME": str(session.workspace.path)}


def _register(workspace: Workspace, name: str | None) -> str:
    from moot.flows.presence import arrival

    if name is None:
        return arrival.enter_fresh(workspace)
    arrival.enter(workspace, name)
    return name


def _least_patience(session: Session) -> Millis:
    """How soon the least patient may call us stale: the workspace, or whoever started us."""
    from moot.protocols.presence import STREAM
    from moot.protocols.presence.machine import MACHINE as PRESENCE

    usual = session.workspace.engine.state(PRESENCE, STREAM).stale_millis
    return usual if session.stale_millis is None else min(session.stale_millis, usual)


@contextmanager
def _heartbeat(workspace: Workspace, name: str, stale: Millis) -> Iterator[None]:
    """A sign of life every quarter of the stale time; a failed one is tried again, no more."""
    pause = max(SHORTEST_PAUSE, min(stale // 4, LONGEST_PAUSE)) / SECOND
    over = threading.Event()

    def beat() -> None:
        while not over.is_set():
            with suppress(MootError, OSError):
                workspace.engine.beat(name)
            over.wait(pause)

    thread = threading.Thread(target=beat, name="moot-heartbeat", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _install_missing_hooks(session: Session, program: str, watch: RunWatch) -> None:
    """Failing to is told, not fatal."""
    from moot.api.tools import ensure_hooks_for

    with _never_raising(watch.failed, "hooks were not installed"):
        tool = ensure_hooks_for(session, program)
        if tool is not None:
            watch.installed_hooks(tool)


def _run_program(
    words: Sequence[str], session: Session, output: int | None, watch: RunWatch
) -> int:
    """Run it to its end and give its exit status, as a shell would say it."""
    import subprocess

    try:
        program = subprocess.Popen(
            words, env=environment_of(session), stdout=output, cwd=session.folder
        )
    except OSError as error:
        raise Unavailable(
            "command_not_run",
            f"{words[0]}: {error.strerror or error}",
            hint="check the command behind `--`",
        ) from None
    watch.started(program)
    code = program.wait()
    return 128 - code if code < 0 else code


def _end_watched_sessions(session: Session, program: str, since: Millis, watch: RunWatch) -> None:
    """What was watched of a known tool is over; if its hook never spoke, that is on record."""
    from moot.flows.observed.sessions import end_sessions_of_run
    from moot.flows.tools import HOOK_TOOLS

    tool = os.path.basename(program)
    if tool in HOOK_TOOLS:
        with _never_raising(watch.failed, "what was watched of it is not closed"):
            end_sessions_of_run(session.workspace, session.actor(), f"{tool}:run", since)


@contextmanager
def _never_raising(failed: Failed, what: str) -> Iterator[None]:
    """Trouble at the edges is told; it never replaces what goes on, or how it ended."""
    try:
        yield
    except (MootError, OSError) as error:
        failed(what, error)
