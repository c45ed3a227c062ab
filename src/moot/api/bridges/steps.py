"""One step of a path: its target is on record before it is made, and nothing is made twice.

    is the source whole? -> which path? -> begin -> make what is missing -> done
                                             `--> failed: on record, and BLOCKED is sent

`make` is called again after a crash and must find what it had made before; a new stream whose
first record does not belong to this path is someone else's, and the step gets another target.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec
from filelock import FileLock, Timeout

from moot.api.bridges.damage import require_whole
from moot.api.mail.letters import Letter, send_letter
from moot.core.errors import Conflict, MootError, Refused, StoreFailed, Unavailable
from moot.core.machine import Command, KeyClass
from moot.core.names import SYSTEM
from moot.core.record import Record
from moot.core.sha256 import sha256
from moot.engine.job import Job, Link
from moot.engine.signers import find_signatory
from moot.protocols.mail.body_writer import write_blocked_body
from moot.protocols.path import model as ask
from moot.protocols.path import stream_of
from moot.protocols.path.machine import ITEMS, SESSION_PROTOCOLS, STEPS
from moot.protocols.path.machine import MACHINE as PATH
from moot.protocols.path.model import (
    MAX_TEXT,
    MAX_TITLE,
    MadeThing,
    PathStep,
    PlayedPart,
    ResultStanding,
    SourceRecord,
    Stage,
    State,
    StepTarget,
    make_step_key,
)
from moot.protocols.path.views import StepView, describe_step
from moot.workspace.workspace import Workspace

if TYPE_CHECKING:
    from moot.api.bridges.sources import FlowSource
    from moot.api.session import Session


__all__ = ["BridgeStep", "StepView", "asker_of", "own_name", "step_fields"]


class BridgeStep(msgspec.Struct, frozen=True):
    """A step that is done; `again` if it had been done before."""

    path: str
    again: bool
    step: StepView


def asker_of(session: Session) -> str:
    """Return who asks for a step, proved by their key; without a name, the workspace itself."""
    return own_name(session) if session.acting else SYSTEM


def own_name(session: Session, named: str | None = None) -> str:
    """Who acts, with their key at hand: a step names nobody who could not have asked for it."""
    workspace = session.workspace
    name = session.actor(named)
    find_signatory(workspace.engine.registry(), workspace.keys, name)
    return name


def step_fields(taken: TakenStep) -> tuple[str, bool, StepView]:
    """The fields of a `BridgeStep`, for a subclass to be made with."""
    return taken.path, taken.again, describe_step(taken.step)


_LINE: Final = 200


def tell_blocked(
    workspace: Workspace, path: str, flow: str, found: FlowSource, asked_by: str, error: MootError
) -> str:
    """Send BLOCKED to the asker, to those concerned and to the people; return its message id."""
    to = concerned(workspace, found.origin, asked_by)
    if not to:
        return ""
    what = f"{flow} {found.source.id}"
    body = write_blocked_body(
        item=path,
        blocker=f"{what}: {error}",
        kind="Dependency",
        attempted=f"moot flow {what}",
        needed=error.hint or "run it again once this is mended",
    )
    subject = f"BLOCKED: {' '.join(what.split())}"[:_LINE]
    said = sha256(f"{to}\n{subject}\n{body}".encode()).hexdigest()[:12]
    letter = Letter(
        to=to,
        subject=subject,
        body=body,
        thread=path,
        importance="high",
        key=f"failed-{said}",
        cause=found.source.hash,
        corr=path,
    )
    try:
        return str(send_letter(workspace, SYSTEM, letter).message.event.id)
    except MootError:
        return ""


def concerned(workspace: Workspace, *names: str) -> tuple[str, ...]:
    """Those of the names who can still read, and every person."""
    registry = workspace.engine.registry()
    people = [key.name for key in registry.human_keys()]
    found = []
    for name in dict.fromkeys((*names, *people)):
        agent = registry.agents.get(name)
        known = agent is not None and agent.kind in (KeyClass.AGENT, KeyClass.HUMAN)
        if agent is not None and known and registry.keys[agent.kid].ending is None:
            found.append(name)
    return tuple(found)


TRIES: Final = 20
LOCKS: Final = "paths"
LOCK_SECONDS: Final = 60


Make = Callable[[StepTarget, Link], tuple[MadeThing, ...]]


class StepPlan(NamedTuple):
    """A step that is asked for.

    `fresh`: its target is a stream of its own; `named`: the asker named the target,
    and a repeat must name the same one; `file`: where the target shall be, if the asker said so.
    """

    flow: str
    flow_source: FlowSource
    asked_by: str
    target: Callable[[], StepTarget]
    make: Make
    fresh: bool = True
    named: bool = False
    file: str = ""
    standing: ResultStanding | None = None
    parts: tuple[PlayedPart, ...] = ()
    approvers: tuple[str, ...] = ()


class TakenStep(NamedTuple):
    """A step that is done; `again`: it had been done before."""

    path: str
    step: PathStep
    again: bool


def take_step(workspace: Workspace, plan: StepPlan) -> TakenStep:
    """Take this step, or find that it was taken; Refused if the rules forbid it."""
    path = path_of(workspace, plan.flow, plan.flow_source)
    with _one_at_a_time(workspace, path):
        known = state_of(workspace, path).find_step(plan.flow, plan.flow_source.source)
        if known is not None and known.stage is Stage.DONE:
            return TakenStep(path, known, again=True)
        require_undamaged(workspace, plan.flow, plan.flow_source, plan.asked_by)
        return _make_step(workspace, path, plan)


def require_undamaged(
    workspace: Workspace, flow: str, flow_source: FlowSource, asked_by: str
) -> None:
    """Refuse to start from something that was changed, and tell those concerned (FLO-08)."""
    try:
        require_whole(workspace, flow_source.source, flow_source.file)
    except MootError as error:
        tell_blocked(
            workspace, path_of(workspace, flow, flow_source), flow, flow_source, asked_by, error
        )
        raise


@contextmanager
def _one_at_a_time(workspace: Workspace, path: str) -> Iterator[None]:
    """Two processes that take the same step would get in each other's way."""
    folder = workspace.path / LOCKS
    folder.mkdir(exist_ok=True)
    try:
        with FileLock(folder / f"{path}.lock", timeout=LOCK_SECONDS):
            yield
    except Timeout:
        raise StoreFailed(
            "lock_timeout", f"another program goes on with {path}", hint="try again"
        ) from None


def _make_step(workspace: Workspace, path: str, plan: StepPlan) -> TakenStep:
    step = _begin(workspace, path, plan)
    link = Link(plan.flow_source.source.hash, path)
    try:
        target = _free(workspace, path, plan, step.target)
        made = plan.make(target, link)
    except MootError as error:
        _fail(workspace, path, plan, error)
        raise
    except OSError as error:
        problem = Unavailable(
            "unwritable_file",
            f"{error.filename or 'a file'}: {error.strerror or error}",
            hint="fix the folder, then run it again",
        )
        _fail(workspace, path, plan, problem)
        raise problem from None
    command = ask.FinishStep(flow=plan.flow, source=plan.flow_source.source, made=made)
    _run(workspace, path, command, plan.flow_source.source)
    done = state_of(workspace, path).find_step(plan.flow, plan.flow_source.source)
    assert done is not None
    return TakenStep(path, done, again=False)


def list_caused(
    workspace: Workspace, streams: Iterable[str], cause: str | None, *kinds: str
) -> list[Record]:
    """What a run that was cut short had put on record already: records of these types."""
    with workspace.store.read() as view:
        return [
            record
            for stream in streams
            for record in view.records(stream)
            if record.body.type in kinds and record.body.cause == cause
        ]


def state_of(workspace: Workspace, path: str) -> State:
    return workspace.engine.state(PATH, stream_of(path))


def path_of(workspace: Workspace, flow: str, flow_source: FlowSource) -> str:
    """The path a record belongs to; a new one is called after the record it begins with."""
    source = flow_source.source
    with workspace.store.read() as view:
        # By its own mark, or that of the flow which opened where it stands, finished or not.
        first = (
            next(view.records(source.stream), None)
            if source.protocol in SESSION_PROTOCOLS
            else None
        )
        for mark in (flow_source.corr, first.body.corr if first is not None else None):
            if mark is not None and view.head(stream_of(mark)) is not None:
                return mark
        keys = [(STEPS, make_step_key(flow, source)), (ITEMS, source.id)]
        if source.protocol in SESSION_PROTOCOLS:
            keys.append((ITEMS, source.stream))
        rows = (view.row(index, key) for index, key in keys)
        row = next(filter(None, rows), None)
    if row is not None:
        return str(msgspec.json.decode(row.value)["path"])
    return f"p-{source.hash[:12]}"


def _begin(workspace: Workspace, path: str, plan: StepPlan) -> PathStep:
    """XPR-02: on record before anything is made; what is tried again obeys the rules again."""
    source = plan.flow_source.source
    state = state_of(workspace, path)
    step = state.find_step(plan.flow, source)
    target = plan.target() if step is None or plan.named else step.target
    first = ask.BeginStep(
        flow=plan.flow,
        source=source,
        target=target,
        asked_by=plan.asked_by,
        standing=plan.standing,
        parts=plan.parts,
        approvers=plan.approvers,
    )
    jobs = [_job(path, first, source)]
    if not state.is_begun:
        title = " ".join(plan.flow_source.title.split())[:MAX_TITLE] or plan.flow
        begun = ask.BeginPath(title=title, origin=plan.flow_source.origin, source=source)
        jobs.insert(0, _job(path, begun, source))
    workspace.engine.execute_chain(jobs[0], *((lambda _, job=job: job) for job in jobs[1:]))
    begun_step = state_of(workspace, path).find_step(plan.flow, source)
    assert begun_step is not None
    return begun_step


def _job(path: str, command: Command, source: SourceRecord) -> Job:
    # XPR-01, XPR-05: each record names its cause and its path, and is signed by the machine.
    return Job(stream_of(path), command, SYSTEM, cause=source.hash, corr=path)


def _run(workspace: Workspace, path: str, command: Command, source: SourceRecord) -> None:
    """Done by another process in the meantime is done."""
    try:
        workspace.engine.execute(stream_of(path), command, SYSTEM, cause=source.hash, corr=path)
    except Refused as refused:
        if refused.code != "step_done":
            raise


def _free(workspace: Workspace, path: str, plan: StepPlan, target: StepTarget) -> StepTarget:
    """A target that is ours or nobody's yet; until it is made it may go to another file."""
    for _ in range(TRIES):
        with workspace.store.read() as view:
            first = next(view.records(target.stream), None)
        if first is None and plan.file not in ("", target.file):
            target = _moved(workspace, path, plan, msgspec.structs.replace(target, file=plan.file))
        if not plan.fresh or first is None or first.body.corr == path:
            return target
        target = _moved(workspace, path, plan, plan.target())
    raise Conflict("id_taken", "others take every id first", hint="run it again")


def _moved(workspace: Workspace, path: str, plan: StepPlan, target: StepTarget) -> StepTarget:
    command = ask.MoveStep(flow=plan.flow, source=plan.flow_source.source, target=target)
    _run(workspace, path, command, plan.flow_source.source)
    return target


def _fail(workspace: Workspace, path: str, plan: StepPlan, error: MootError) -> None:
    """XPR-06: what went wrong is on record, and someone is told."""
    told = tell_blocked(workspace, path, plan.flow, plan.flow_source, plan.asked_by, error)
    command = ask.FailStep(
        flow=plan.flow,
        source=plan.flow_source.source,
        code=error.code,
        why=str(error)[:MAX_TEXT] or error.code,
        told=told,
    )
    with suppress(MootError):  # the failure itself is what the caller must see
        _run(workspace, path, command, plan.flow_source.source)
