"""Take one step of a path: record its target first, then make what is missing, and only once.

    is the source unchanged? -> which path? -> begin -> make what is missing -> done
                                                `--> failed: recorded, and BLOCKED is sent

After a crash `make` is called again and must find what it made before. If the first record of the
new stream belongs to another path, someone else took that id, and the step gets another target.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec
from filelock import FileLock, Timeout

from moot.api.bridges.damage import require_unchanged
from moot.api.mail.outgoing import OutgoingMessage, post_message
from moot.core.errors import Conflict, MootError, Refused, StoreFailed, Unavailable
from moot.core.machine import Command, KeyClass
from moot.core.names import SYSTEM
from moot.core.record import Record
from moot.core.sha256 import sha256
from moot.engine.job import Job, Link
from moot.engine.signers import find_signatory
from moot.protocols.mail.body_writer import write_blocked_body
from moot.protocols.path import stream_of
from moot.protocols.path.machine import ITEMS, SESSION_PROTOCOLS, STEPS
from moot.protocols.path.machine import MACHINE as PATH
from moot.protocols.path.model import (
    MAX_TEXT,
    MAX_TITLE,
    BeginPath,
    BeginStep,
    FailStep,
    FinishStep,
    MadeThing,
    MoveStep,
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


__all__ = ["BridgeStep", "StepView", "name_of_asker", "require_own_name", "step_fields"]


class BridgeStep(msgspec.Struct, frozen=True):
    """A finished step; `again` if an earlier call had finished it."""

    path: str
    again: bool
    step: StepView


def name_of_asker(session: Session) -> str:
    """Return the acting name, whose key must be at hand; `system` if no name acts."""
    return require_own_name(session) if session.acting else SYSTEM


def require_own_name(session: Session, agent: str | None = None) -> str:
    """Return the acting name, whose key must be at hand: a step names only who really asked."""
    workspace = session.workspace
    name = session.actor(agent)
    find_signatory(workspace.engine.registry(), workspace.keys, name)
    return name


def step_fields(taken: TakenStep) -> tuple[str, bool, StepView]:
    """Return the fields of a `BridgeStep`, from which a subclass is built."""
    return taken.path, taken.again, describe_step(taken.step)


MAX_SUBJECT: Final = 200


def send_blocked(
    workspace: Workspace, flow: str, flow_source: FlowSource, asked_by: str, error: MootError
) -> str:
    """Send BLOCKED to the asker, the source's author and the people; return its message id."""
    path = path_of(workspace, flow, flow_source)
    to = list_readers(workspace, flow_source.origin, asked_by)
    if not to:
        return ""
    what = f"{flow} {flow_source.source.id}"
    body = write_blocked_body(
        item=path,
        blocker=f"{what}: {error}",
        kind="Dependency",
        attempted=f"moot flow {what}",
        needed=error.hint or "run it again after this is fixed",
    )
    subject = f"BLOCKED: {' '.join(what.split())}"[:MAX_SUBJECT]
    digest = sha256(f"{to}\n{subject}\n{body}".encode()).hexdigest()[:12]
    outgoing = OutgoingMessage(
        to=to,
        subject=subject,
        body=body,
        thread=path,
        importance="high",
        key=f"failed-{digest}",
        cause=flow_source.source.hash,
        corr=path,
    )
    try:
        return str(post_message(workspace, SYSTEM, outgoing).message.event.id)
    except MootError:
        return ""


def list_readers(workspace: Workspace, *names: str) -> tuple[str, ...]:
    """Return those of the names whose key is still valid, and every person."""
    registry = workspace.engine.registry()
    people = [key.name for key in registry.human_keys()]
    readers = []
    for name in dict.fromkeys((*names, *people)):
        agent = registry.agents.get(name)
        known = agent is not None and agent.kind in (KeyClass.AGENT, KeyClass.HUMAN)
        if agent is not None and known and registry.keys[agent.kid].ending is None:
            readers.append(name)
    return tuple(readers)


MAX_TARGETS: Final = 20
LOCK_FOLDER: Final = "paths"
LOCK_SECONDS: Final = 60


Make = Callable[[StepTarget, Link], tuple[MadeThing, ...]]


class StepPlan(NamedTuple):
    """A step to take.

    `needs_new_stream`: its target must be a new stream; `target_was_named`: the asker named the
    target, and a repeat must name the same one; `file`: the target's file, if the asker chose it.
    """

    flow: str
    flow_source: FlowSource
    asked_by: str
    target: Callable[[], StepTarget]
    make: Make
    needs_new_stream: bool = False
    target_was_named: bool = False
    file: str = ""
    standing: ResultStanding | None = None
    parts: tuple[PlayedPart, ...] = ()
    approvers: tuple[str, ...] = ()


class TakenStep(NamedTuple):
    """A finished step; `again`: an earlier call had finished it."""

    path: str
    step: PathStep
    again: bool


def take_step(workspace: Workspace, plan: StepPlan) -> TakenStep:
    """Take this step, or return the one taken before; Refused if the rules forbid it."""
    path = path_of(workspace, plan.flow, plan.flow_source)
    with _lock_path(workspace, path):
        known = state_of(workspace, path).find_step(plan.flow, plan.flow_source.source)
        if known is not None and known.stage is Stage.DONE:
            return TakenStep(path, known, again=True)
        require_undamaged(workspace, plan.flow, plan.flow_source, plan.asked_by)
        return _make_step(workspace, path, plan)


def require_undamaged(
    workspace: Workspace, flow: str, flow_source: FlowSource, asked_by: str
) -> None:
    """Refuse to start from a changed source, and send BLOCKED about it (FLO-08)."""
    try:
        require_unchanged(workspace, flow_source.source, flow_source.file)
    except MootError as error:
        send_blocked(workspace, flow, flow_source, asked_by, error)
        raise


@contextmanager
def _lock_path(workspace: Workspace, path: str) -> Iterator[None]:
    """Let only one process at a time take a step of this path."""
    folder = workspace.path / LOCK_FOLDER
    folder.mkdir(exist_ok=True)
    try:
        with FileLock(folder / f"{path}.lock", timeout=LOCK_SECONDS):
            yield
    except Timeout:
        raise StoreFailed(
            "lock_timeout", f"another program is taking a step of {path}", hint="try again"
        ) from None


def _make_step(workspace: Workspace, path: str, plan: StepPlan) -> TakenStep:
    step = _begin_step(workspace, path, plan)
    link = Link(plan.flow_source.source.hash, path)
    try:
        target = _find_free_target(workspace, path, plan, step.target)
        made = plan.make(target, link)
    except MootError as error:
        _record_failure(workspace, path, plan, error)
        raise
    except OSError as error:
        problem = Unavailable(
            "unwritable_file",
            f"{error.filename or 'a file'}: {error.strerror or error}",
            hint="fix the folder, then run it again",
        )
        _record_failure(workspace, path, plan, problem)
        raise problem from None
    command = FinishStep(flow=plan.flow, source=plan.flow_source.source, made=made)
    _execute(workspace, path, command, plan.flow_source.source)
    done = state_of(workspace, path).find_step(plan.flow, plan.flow_source.source)
    assert done is not None
    return TakenStep(path, done, again=False)


def list_records_by_cause(
    workspace: Workspace, streams: Iterable[str], cause: str | None, *kinds: str
) -> list[Record]:
    """List what an interrupted run had recorded: records of these types with this cause."""
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
    """Return the path that a record belongs to, or the id of a new one, made from its hash."""
    source = flow_source.source
    with workspace.store.read() as view:
        # `corr` names the path, in this record or in the first one of a session a flow opened.
        is_session = source.protocol in SESSION_PROTOCOLS
        first = next(view.records(source.stream), None) if is_session else None
        for mark in (flow_source.corr, first.body.corr if first is not None else None):
            if mark is not None and view.head(stream_of(mark)) is not None:
                return mark
        keys = [(STEPS, make_step_key(flow, source)), (ITEMS, source.id)]
        if is_session:
            keys.append((ITEMS, source.stream))
        rows = (view.row(index, key) for index, key in keys)
        row = next(filter(None, rows), None)
    if row is not None:
        return str(msgspec.json.decode(row.value)["path"])
    return f"p-{source.hash[:12]}"


def _begin_step(workspace: Workspace, path: str, plan: StepPlan) -> PathStep:
    """Record the step before anything is made (XPR-02); a retry is checked by the rules again."""
    source = plan.flow_source.source
    state = state_of(workspace, path)
    step = state.find_step(plan.flow, source)
    target = plan.target() if step is None or plan.target_was_named else step.target
    first = BeginStep(
        flow=plan.flow,
        source=source,
        target=target,
        asked_by=plan.asked_by,
        standing=plan.standing,
        parts=plan.parts,
        approvers=plan.approvers,
    )
    jobs = [_make_job(path, first, source)]
    if not state.is_begun:
        title = " ".join(plan.flow_source.title.split())[:MAX_TITLE] or plan.flow
        begin_path = BeginPath(title=title, origin=plan.flow_source.origin, source=source)
        jobs.insert(0, _make_job(path, begin_path, source))
    workspace.engine.execute_chain(jobs[0], *((lambda _, job=job: job) for job in jobs[1:]))
    begun_step = state_of(workspace, path).find_step(plan.flow, source)
    assert begun_step is not None
    return begun_step


def _make_job(path: str, command: Command, source: SourceRecord) -> Job:
    # XPR-01, XPR-05: each record names its cause and its path, and Moot signs it.
    return Job(stream_of(path), command, SYSTEM, cause=source.hash, corr=path)


def _execute(workspace: Workspace, path: str, command: Command, source: SourceRecord) -> None:
    """Record the command; it is no error if another process finished the step meanwhile."""
    try:
        workspace.engine.execute(stream_of(path), command, SYSTEM, cause=source.hash, corr=path)
    except Refused as refused:
        if refused.code != "step_done":
            raise


def _find_free_target(
    workspace: Workspace, path: str, plan: StepPlan, target: StepTarget
) -> StepTarget:
    """Return a target that is unused or of this path; until it is made, its file may change."""
    for _ in range(MAX_TARGETS):
        with workspace.store.read() as view:
            first = next(view.records(target.stream), None)
        if first is None and plan.file not in ("", target.file):
            target = _move_target(
                workspace, path, plan, msgspec.structs.replace(target, file=plan.file)
            )
        if not plan.needs_new_stream or first is None or first.body.corr == path:
            return target
        target = _move_target(workspace, path, plan, plan.target())
    raise Conflict("id_taken", "other programs took every id first", hint="run it again")


def _move_target(workspace: Workspace, path: str, plan: StepPlan, target: StepTarget) -> StepTarget:
    command = MoveStep(flow=plan.flow, source=plan.flow_source.source, target=target)
    _execute(workspace, path, command, plan.flow_source.source)
    return target


def _record_failure(workspace: Workspace, path: str, plan: StepPlan, error: MootError) -> None:
    """Record what went wrong and send BLOCKED about it (XPR-06)."""
    message_id = send_blocked(workspace, plan.flow, plan.flow_source, plan.asked_by, error)
    command = FailStep(
        flow=plan.flow,
        source=plan.flow_source.source,
        code=error.code,
        why=str(error)[:MAX_TEXT] or error.code,
        told=message_id,
    )
    with suppress(MootError):  # the failure itself is what the caller must see
        _execute(workspace, path, command, plan.flow_source.source)
