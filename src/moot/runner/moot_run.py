"""Keep a name present while something works under it: a program, or this process.

`present` is the block in which a name is present; `run` starts a program in such a block.
"""

from __future__ import annotations

import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

from moot.api.operation import operation
from moot.api.presence import arrival
from moot.api.presence.exited_agents import explaining_exited_holders, note_run
from moot.api.presence.scopes import reserve_command
from moot.api.session import settings_for
from moot.core.clock import SECOND, Millis
from moot.core.errors import Malformed, MootError
from moot.core.names import require_agent_name
from moot.protocols.presence import STREAM
from moot.protocols.presence.machine import MACHINE as PRESENCE
from moot.runner.lending import lent_settings
from moot.runner.run_watch import UNWATCHED, RunWatch
from moot.runner.taken_names import MayAdopt, NameRequest, take_name
from moot.usage.totals import UsageView, view_usage

if TYPE_CHECKING:
    from moot.api.presence.arrival import JoinDetails
    from moot.api.session import Session
    from moot.keys.running_names import NameLock
    from moot.protocols.presence.case import Reserving
    from moot.runner.run_usage import MeasuredStart
    from moot.usage.meter import RunUsage
    from moot.workspace.workspace import Workspace

LONGEST_PAUSE: Final[Millis] = 60 * SECOND
SHORTEST_PAUSE: Final[Millis] = 50
# How often a run signs checkpoints and snapshots for its program; when it ends it does so, too.
SIGN_EVERY_SECONDS: Final = 60.0
# What a program must not inherit: a person's passphrase is no business of an agent's.
WITHHELD: Final = ("MOOT_PASSPHRASE_FILE",)
ENDED: Final = "its program ended"
# Stands for the newcomer while it is checked whether it may come in: names are never given twice,
# so none is made up before.
_NEWCOMER: Final = "some-body"

# Is told what did not work at the edges, and why. It never ends what goes on.
Failed = Callable[[str, Exception], None]


class Ran(msgspec.Struct, frozen=True):
    """Under which agent the program ran, and its exit status; 128 and more: by a signal.

    `tools` are the coding tools that it started, `unguarded` those whose hook would not run;
    `usage` is what they reported, None if unknown.
    """

    agent: str
    exit_status: int
    tools: tuple[str, ...] = ()
    unguarded: tuple[str, ...] = ()
    usage: UsageView | None = None


@contextmanager
def present(
    session: Session,
    name: str | None = None,
    *,
    scopes: Sequence[str] = (),
    work: str | None = None,
    adopt: bool = False,
    may_adopt: MayAdopt | None = None,
    reason: str = ENDED,
    process: str | None = None,
    failed: Failed = UNWATCHED.failed,
) -> Iterator[Session]:
    """Keep an agent present during the block, which gets the session that acts as it.

    The agent is registered (`name`, or a generated one), locked so that no other process adopts it,
    joined, and holds `scopes`; a thread sends signs of life. However the block ends, everything is
    released and the name retired, with `reason` on record. A refusal before the block (a bad name,
    a scope outside of the worktree) leaves nothing behind; if another agent holds a scope, the
    agent is refused and ends. If the release fails, `failed` is called, and what is held becomes
    stale.

    A registered `name` that never worked starts as it is. If it has unfinished work that may be
    continued, `may_adopt` decides; otherwise it becomes the next of its family: alice-2. With
    `adopt` that work is continued, or the call is refused.

    `process` is the key of the coding tool's process above us. If its hooks have joined under the
    same name by the end, the name is theirs and stays.
    """
    place, first = _require_can_join(session, name, scopes, work)
    place = place._replace(process_key=process)
    request = NameRequest(name, place, tuple(scopes), adopt, may_adopt)
    with _working(session, request, first, reason, failed) as (acting, _lock):
        yield acting


@contextmanager
def _working(
    session: Session, request: NameRequest, first: Sequence[Reserving], reason: str, failed: Failed
) -> Iterator[tuple[Session, NameLock]]:
    """The block of `present`, with the lock of the name, which a program may inherit."""
    from moot.api.mail.lapsed_duties import lapse_duties
    from moot.api.presence.tool_processes import is_in_session

    taken = take_name(session, request)
    agent = taken.agent
    session, name = agent.session, agent.name
    workspace = session.workspace
    try:
        if not taken.has_adopted:
            arrival.join(workspace, name, request.place)
        for command in first:
            with explaining_exited_holders(session, command, name):
                workspace.engine.execute(STREAM, command, name)
        epoch = workspace.engine.registry().agents[name].epoch
        with suppress(OSError):  # a disk without room for it: then nobody can tell from the lock
            note_run(workspace, taken.lock, epoch)
        with _heartbeat(workspace, name, _least_patience(session)):
            yield session.acting_as(name, epoch), taken.lock
    finally:  # every reservation is released when `moot run` ends, however it ends
        with _never_raising(
            failed, "could not release and retire; what it holds goes stale by itself"
        ):
            if request.place.process_key is None or not is_in_session(workspace, name):
                arrival.release_and_retire(workspace, name, reason)
                lapse_duties(workspace)
                agent.end(reason)
                taken.lock.remove()
        taken.lock.release()


@contextmanager
def present_in_tool(
    session: Session,
    process: str | None,
    *,
    reason: str,
    failed: Failed = UNWATCHED.failed,
) -> Iterator[Session]:
    """A block for a server that a coding tool started, below the process with this key.

    If hooks have joined for the tool's session, their agent acts, and stays theirs. Otherwise a new
    agent is `present`; a later server below the same process gets the next name of its family
    (`amber-otter-2`).
    """
    from moot.api.presence.tool_processes import next_name_for_server

    shared = in_tool_session(session, process)
    if shared is not None:
        yield shared
        return
    name = next_name_for_server(session.workspace, process)
    with present(session, name, reason=reason, process=process, failed=failed) as agent:
        yield agent


def in_tool_session(session: Session, process: str | None) -> Session | None:
    """Return the session as the agent that hooks below this process joined for; None without one.

    A process may start another session later, so a long-lived caller must ask again.
    """
    from moot.api.presence.tool_processes import agent_for_server

    found = agent_for_server(session.workspace, process)
    return None if found is None else session.acting_as(*found)


@operation("run", writes=True, runs_programs=True)
def run(
    session: Session,
    words: Sequence[str],
    *,
    name: str | None = None,
    adopt: bool = False,
    scopes: Sequence[str] = (),
    work: str | None = None,
    unguarded: bool = False,
    mcp: bool = True,
    usage: bool | None = None,
    output: int | None = None,
    watch: RunWatch = UNWATCHED,
) -> Ran:
    """Run a program as an agent, which is `present` until the program ends.

    `words` is the program and its arguments. It runs in the session's folder with the session's
    `env` and its name in MOOT_AGENT; a person's passphrase is withheld. `output` is the descriptor
    that it prints to (default: ours). The caller passes signals on (`watch.started`). `name`
    (default: the session's, or a generated one) and `adopt` are as for `present`;
    `watch.consents_to_adoption` decides about unfinished work.

    Missing hooks of a coding tool are installed, also behind wrappers such as `env` or `npx`; with
    `mcp` it can then start `moot mcp` too. If its hook would still not run, the tool is not
    started: Refused (`guard_off`), with the fix; `unguarded` starts it, which is recorded. A
    missing program is Unavailable (`command_not_run`). Both happen before an agent is registered;
    other refusals are those of `present`. Every call starts its program: there is no repeat of a
    run.

    With `usage` (None: as the user's own settings say) coding tools report their usage to this run,
    on loopback; `docs/how-to/measure-usage.md` explains how, and which tools are left alone.
    """
    from moot.runner.guard_proof import proving_guard
    from moot.runner.launching import prepare_start
    from moot.runner.run_usage import is_usage_wanted

    if not words:
        raise Malformed("no program is named", code="no_program", hint="name one behind `--`")
    name = name if name is not None else _own_name(session)
    if adopt and name is None:
        raise Malformed("adopt whom?", code="no_name", hint="`moot run --adopt NAME -- COMMAND`")
    place, first = _require_can_join(session, name, scopes, work)
    starts = prepare_start(session, words, unguarded=unguarded, mcp=mcp, watch=watch)
    tools = tuple(dict.fromkeys(start.tool for start in starts))
    request = NameRequest(name, place, tuple(scopes), adopt, watch.consents_to_adoption)
    with _working(session, request, first, ENDED, watch.failed) as (agent, lock):
        acting = agent.actor()
        watch.arrived(acting)
        with (
            proving_guard(agent, starts, watch) as prove,
            lent_settings(agent, watch.answer_hook) as lent,
            _watching_others(agent, watch),
        ):
            watch.starting(acting, tools)
            takes = is_usage_wanted(session, watch) if usage is None else usage
            with _usage(agent, words, lent, place.work, watch, takes) as measured:
                program = _Program(measured.words, output, lock)
                found = {**lent, **measured.env}
                exit_status = _run_program(program, agent, found, watch, prove)
    unguarded_tools = tuple(one.tool for one in starts if one.problems)
    return Ran(acting, exit_status, tools, unguarded_tools, _view(measured.total))


@contextmanager
def _usage(
    agent: Session,
    words: Sequence[str],
    lent: Mapping[str, str],
    work: str | None,
    watch: RunWatch,
    takes: bool,
) -> Iterator[MeasuredStart]:
    """Yield the command and its environment: with the agent's name for its telemetry, and our
    trace."""
    from moot.runner.run_usage import (
        ATTRIBUTES_VARIABLE,
        MeasuredStart,
        attributes_naming,
        measuring_usage,
    )

    inherited = agent.env.get(ATTRIBUTES_VARIABLE, "")
    named = {ATTRIBUTES_VARIABLE: attributes_naming(agent.actor(), inherited)}
    named |= watch.trace_variables()
    if not takes:
        yield MeasuredStart(words, named)
        return
    with measuring_usage(agent, words, lent, work, watch) as measured:
        yield measured._replace(env={**named, **measured.env})


def _view(usage: RunUsage | None) -> UsageView | None:
    return None if usage is None else view_usage(usage.cost, so_far=False)


def environment_of(session: Session, lent: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of a program that works as the session's agent, with what is `lent` to
    it."""
    inherited = {key: value for key, value in session.env.items() if key not in WITHHELD}
    name = session.actor()
    identity = settings_for(name, session.require_agent(name).epoch)
    return {**inherited, **identity, "MOOT_HOME": str(session.workspace.path), **lent}


def _own_name(session: Session) -> str | None:
    """Return the session's name, if a program may have it: not a person's, and not the name of the
    program that asks."""
    if session.acting is None or session.keys.loan is not None or session.acts_as_person():
        return None
    return session.acting


def _require_can_join(
    session: Session, name: str | None, scopes: Sequence[str], work: str | None
) -> tuple[JoinDetails, list[Reserving]]:
    """Return where a new agent works and what it reserves first; Refused if it may not join."""
    branch = session.place.branch
    place = arrival.JoinDetails(session.place.worktree, branch, work or branch)
    first = [reserve_command(session, scopes, work)] if scopes else []
    # As whom it will work is not known yet if somebody was called so before.
    is_known = name in session.workspace.engine.registry().agents
    newcomer = _NEWCOMER if name is None or is_known else require_agent_name(name)
    arrival.require_can_join(session.workspace, newcomer, place, *first)
    return place, list(first)


def _least_patience(session: Session) -> Millis:
    """Return the shortest time after which we may count as stale."""
    usual = session.workspace.engine.state(PRESENCE, STREAM).stale_millis
    return usual if session.stale_millis is None else min(session.stale_millis, usual)


@contextmanager
def _heartbeat(workspace: Workspace, name: str, stale: Millis) -> Iterator[None]:
    """Send a sign of life every quarter of the stale time; errors are ignored until the next
    one."""
    pause = max(SHORTEST_PAUSE, min(stale // 4, LONGEST_PAUSE)) / SECOND
    over = threading.Event()

    def beat() -> None:
        signed = time.monotonic()
        while not over.is_set():
            with suppress(MootError, OSError):
                workspace.engine.beat(name)
            if time.monotonic() >= signed + SIGN_EVERY_SECONDS:
                signed = time.monotonic()
                with suppress(MootError, OSError):  # the program has no key for these
                    workspace.engine.take_late_snapshots()
                    workspace.engine.checkpoint()
            over.wait(pause)

    thread = threading.Thread(target=beat, name="moot-heartbeat", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
        with suppress(MootError, OSError):  # the checkpoint is made when the workspace closes
            workspace.engine.take_late_snapshots()


@contextmanager
def _watching_others(session: Session, watch: RunWatch) -> Iterator[None]:
    """Notice changes of what others hold, while the program runs."""
    from moot.api.guard.person_notices import PersonMoment, notify_person
    from moot.api.guard.watcher import WatchingRun, watching

    def tell_person(once: str, sentence: str) -> None:
        path = session.workspace.path
        notify_person(path, session.env, PersonMoment.INCURSION, once, sentence)

    beat = max(SHORTEST_PAUSE, min(_least_patience(session) // 4, LONGEST_PAUSE)) / SECOND
    run_of = WatchingRun(session.actor(), session.place.worktree, beat, tell_person)
    with watching(session.workspace, run_of, watch.noticed):
        yield


class _Program(NamedTuple):
    """What to start, where it prints to (None: as we do), and the lock that it inherits."""

    words: Sequence[str]
    output: int | None
    lock: NameLock

    @property
    def inherited(self) -> tuple[int, ...]:
        return () if self.lock.descriptor is None else (self.lock.descriptor,)


def _run_program(
    started: _Program,
    session: Session,
    lent: Mapping[str, str],
    watch: RunWatch,
    prove: Callable[[subprocess.Popen[bytes]], None],
) -> int:
    """Run the program to its end and return its exit status, as a shell would."""
    from moot.runner.launching import cannot_run
    from moot.system.programs import wait_for_end

    try:
        program = subprocess.Popen(
            started.words,
            env=environment_of(session, lent),
            stdout=started.output,
            cwd=session.folder,
            pass_fds=started.inherited,
        )
    except OSError as error:
        raise cannot_run(started.words[0], error.strerror or str(error)) from None
    watch.started(program)
    prove(program)
    wait_for_end(program)
    code = program.wait()
    return 128 - code if code < 0 else code


@contextmanager
def _never_raising(failed: Failed, what: str) -> Iterator[None]:
    """Report errors instead of raising them: they must not replace the result of the run."""
    try:
        yield
    except (MootError, OSError) as error:
        failed(what, error)
