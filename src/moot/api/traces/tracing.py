"""Find traces by name, the agents in their roles, and single events by their ids.

The state holds only open items. An id is looked up in the index and its event read from the ledger,
so the cost does not grow with the trace. The index is a hint: the event itself must match.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Final, TypeVar

from moot.api.rehearsal import require_allowed
from moot.core.errors import Malformed, MootError, NotFound, Refused, Tampered
from moot.core.ledger import View
from moot.core.machine import Command, Event, Recorded, is_kind
from moot.core.names import SYSTEM
from moot.core.record import ArtifactRef
from moot.engine.job import NO_LINK, Link
from moot.engine.registry_commands import find_agent
from moot.engine.replay import read_record
from moot.engine.signers import find_signatory
from moot.protocols.trace import events as did
from moot.protocols.trace.command_events import DRAFTS
from moot.protocols.trace.commands import Cited, IssueClaim, OpenTrace, ReportForgery
from moot.protocols.trace.lifecycle import ROLE_OF_EVENT
from moot.protocols.trace.machine import ITEM_SPACE, MACHINE
from moot.protocols.trace.model import Role, RoleBinding, State
from moot.protocols.trace.policy import DEFAULT_POLICY, Policy

if TYPE_CHECKING:
    from moot.api.session import Session
    from moot.engine.job import JobOutcome
    from moot.workspace.workspace import Workspace


PROTOCOL: Final = "trace"
UNKNOWN_BYTES: Final = "application/octet-stream"
_NAME: Final = re.compile(r"[A-Za-z0-9._:@+~-]{1,200}\Z")
_OUTPUT: Final = re.compile(r"(x[0-9]{1,15})/([A-Za-z0-9._-]{1,64})\Z")
_PREFIX: Final = re.compile(r"[0-9a-f]{8,64}\Z")
_FULL_LENGTH: Final = 64
TRIES: Final = 100

E = TypeVar("E", bound=Event)


def stream_of(name: str) -> str:
    """Return the stream `trace/t1` for `t1` or `trace/t1`."""
    short = name.removeprefix(f"{PROTOCOL}/")
    if not _NAME.match(short):
        raise Malformed(
            f"{name!r} is no name of a trace", code="bad_id", hint="such as t1; `moot trace list`"
        )
    return f"{PROTOCOL}/{short}"


def short_name(stream: str) -> str:
    return stream.removeprefix(f"{PROTOCOL}/")


def require_trace(workspace: Workspace, name: str) -> str:
    """Return the stream of an existing trace."""
    stream = stream_of(name)
    with workspace.store.read() as view:
        if view.head(stream) is None:
            raise NotFound(
                "trace_not_found",
                f"there is no trace {short_name(stream)}",
                hint="`moot trace list` shows all",
            )
    return stream


def open_trace(
    workspace: Workspace,
    task: str,
    agents: dict[Role, str],
    actor: str = SYSTEM,
    policy: Policy = DEFAULT_POLICY,
    follows: str | None = None,
    key: str | None = None,
) -> JobOutcome:
    """Open a trace under the next free number; retry if another process takes that number.

    If this actor has already opened a trace with this key, return that trace.
    """
    command = opening_command(workspace, task, agents, policy, follows)
    for attempt in range(TRIES):
        stream = _find_opened_with_key(workspace, actor, key) or next_free_stream(workspace)
        try:
            return workspace.engine.execute(stream, command, actor, key=key)
        except Refused as refused:
            if refused.code != "wrong_state" or attempt == TRIES - 1:
                raise
    raise AssertionError("unreachable")


def opening_command(
    workspace: Workspace,
    task: str,
    agents: dict[Role, str],
    policy: Policy = DEFAULT_POLICY,
    follows: str | None = None,
) -> OpenTrace:
    """Return the command that opens a trace, each role bound to its agent's current key."""
    found = {role: find_agent(workspace.engine, name) for role, name in agents.items()}
    roles = tuple(RoleBinding(role, one.name, one.epoch, one.kid) for role, one in found.items())
    return OpenTrace(task=task, roles=roles, policy=policy, follows=follows)


def next_free_stream(workspace: Workspace) -> str:
    """Return the stream that the next trace would get."""
    with workspace.store.read() as view:
        return f"{PROTOCOL}/t{_first_free_number(view)}"


def _find_opened_with_key(workspace: Workspace, actor: str, key: str | None) -> str | None:
    """Find the trace this actor opened with this key. Keys are stored by trace: search them all."""
    if key is None:
        return None
    with workspace.store.read() as view:
        for number in range(
            _first_free_number(view) - 1, 0, -1
        ):  # a retry comes soon: newest first
            stream = f"{PROTOCOL}/t{number}"
            if any(seq == 0 for _, seq in view.keys(stream, f"{actor}/{key}/")):
                return stream
    return None


def _first_free_number(view: View) -> int:
    """Return the first free number, by exponential and binary search."""
    step = 1
    while view.head(f"{PROTOCOL}/t{step}") is not None:
        step *= 2
    low, high = step // 2, step
    while high - low > 1:
        middle = (low + high) // 2
        if view.head(f"{PROTOCOL}/t{middle}") is None:
            high = middle
        else:
            low = middle
    return high


def execute_step(
    workspace: Workspace,
    stream: str,
    command: Command,
    actor: str,
    link: Link = NO_LINK,
    key: str | None = None,
) -> JobOutcome:
    """Execute the command; if a record of the trace proves forged, report that first.

    The policy decides what follows from the report (E-21); the command is refused either way.
    """
    try:
        return workspace.engine.execute(
            stream,
            command,
            actor,
            key=key,
            role=_role_for(command),
            cause=link.cause,
            corr=link.corr,
        )
    except Tampered as error:
        if error.code == "unproved_record" and error.stream == stream:
            _report_forgery(workspace, stream, error)
        raise


def rehearse(workspace: Workspace, stream: str, command: Command, actor: str) -> None:
    """Raise what `execute` would raise for this command now; record nothing."""
    signatory = find_signatory(
        workspace.engine.registry(), workspace.keys, actor, _role_for(command)
    )
    require_allowed(workspace, MACHINE, stream, command, signatory.acting)


def _role_for(command: Command) -> str | None:
    role = ROLE_OF_EVENT.get(DRAFTS[type(command)][0])
    return None if role is None else str(role)


def report_if_forged(workspace: Workspace, stream: str) -> None:
    """Verify the whole history of a trace, and report a forged record in it."""
    try:
        workspace.engine.load(stream, proved=True)
    except Tampered as error:
        if error.code == "unproved_record" and error.stream == stream:
            _report_forgery(workspace, stream, error)


def _report_forgery(workspace: Workspace, stream: str, error: Tampered) -> None:
    with suppress(MootError):
        if workspace.ask_runner_to(b"forged", stream.encode()):
            return
    with workspace.store.read() as view:
        record = next(view.records(stream, after=error.seq - 1), None)
    kid = record.kid if record is not None else ""
    with suppress(MootError):  # always raises; its record is kept
        workspace.engine.execute(stream, ReportForgery(kid=kid, detail=str(error)), SYSTEM)


def agent_in_role(state: State, role: Role) -> str:
    """Return the agent that has this role."""
    bound = state.binding_of(role)
    if bound is None:
        raise NotFound("role_empty", f"nobody is the {role}", hint="open a trace with all roles")
    return bound.agent


def read_intent(workspace: Workspace, stream: str, intent_id: str) -> did.ToolIntentSigned:
    return read_event_of(workspace, stream, intent_id, did.ToolIntentSigned).event


def read_event_of(workspace: Workspace, stream: str, item: str, *kinds: type[E]) -> Recorded[E]:
    """Return the event that an id names: the one that created it; for a run, its end."""
    with workspace.store.read() as view:
        row = view.row(ITEM_SPACE, f"{stream} {item}")
        record = next(view.records(stream, after=row.seq - 1), None) if row else None
    if record is None:
        raise NotFound(
            "unknown_id",
            f"there is no {item!r} in {short_name(stream)}",
            hint=f"`moot trace status {short_name(stream)}` shows what there is",
        )
    recorded = read_record(MACHINE, record)
    if not is_kind(recorded, *kinds) or item not in _ids_in(recorded.event):
        raise Tampered(f"{stream} event {record.seq} is not {item}", stream=stream, seq=record.seq)
    return recorded


def _ids_in(event: Event) -> list[str]:
    names = ("intent_id", "execution_id", "claim_id", "proposal_id")
    return [getattr(event, name, "") for name in names]


def resolve_evidence(workspace: Workspace, stream: str, named: str) -> Cited:
    """Resolve `x1/stdout`, a hash or 8 digits of one; note if its bytes are missing or differ."""
    sha256 = _evidence_hash(workspace, stream, named)
    size = workspace.artifacts.size(sha256)
    if size is None:
        return Cited(sha256)
    try:
        for _ in workspace.artifacts.chunks(sha256):
            pass
    except Tampered:
        return Cited(sha256, differs=True)
    return Cited(sha256, ArtifactRef(sha256, size, UNKNOWN_BYTES))


def claim_command(
    workspace: Workspace,
    stream: str,
    text: str,
    confidence: str,
    evidence: Sequence[str],
    runs: Iterable[str] = (),
    supersedes: str | None = None,
) -> IssueClaim:
    """Return the command for a claim about `runs` and the runs whose outputs it cites."""
    cited_runs = (named.partition("/")[0] for named in evidence if "/" in named)
    return IssueClaim(
        text=text,
        confidence=confidence,
        evidence=tuple(resolve_evidence(workspace, stream, named) for named in evidence),
        execution_ids=tuple(dict.fromkeys((*runs, *cited_runs))),
        supersedes=supersedes,
    )


def _evidence_hash(workspace: Workspace, stream: str, named: str) -> str:
    output = _OUTPUT.match(named)
    if output is not None:
        return _output_hash(workspace, stream, *output.groups())
    if not _PREFIX.match(named):
        raise Malformed(
            f"{named!r} names no evidence",
            code="bad_hash",
            hint="an output such as x1/stdout, or the hash of a stored file (8 digits are enough)",
        )
    if len(named) == _FULL_LENGTH:
        return named
    matches = list(workspace.artifacts.hashes_with_prefix(named))
    if len(matches) > 1:
        raise Refused(
            "ambiguous_hash", f"{len(matches)} files begin with {named}", hint="give more digits"
        )
    if not matches:
        raise NotFound(
            "artifact_not_found", f"no stored file begins with {named}", hint="give all 64 digits"
        )
    return matches[0]


def _output_hash(workspace: Workspace, stream: str, execution: str, name: str) -> str:
    ended = read_end_of_run(workspace, stream, execution).event
    outputs = {output.name: output.sha256 for output in ended.outputs}
    known = {"input": ended.input_artifact, **outputs}
    if name not in known:
        raise NotFound(
            "unknown_output",
            f"{execution} left no {name}",
            hint=f"it left {', '.join(known)}",
        )
    return known[name]


def read_end_of_run(
    workspace: Workspace, stream: str, execution: str
) -> Recorded[did.ExecutionEnded]:
    """Return the event that ended an execution; NotFound while it runs."""
    kinds: tuple[type[did.ExecutionEnded], ...] = (
        did.ToolExecutionCompleted,
        did.ToolExecutionFailed,
    )
    return read_event_of(workspace, stream, execution, *kinds)


def take_step(
    session: Session, trace: str, role: Role, command: Command, key: str | None
) -> JobOutcome:
    """Record a step of this role, after recording runs that died with their process."""
    from moot.api.traces import running

    workspace = session.workspace
    stream = require_trace(workspace, trace)
    actor = actor_in_role(session, stream, role)
    running.recover(workspace, stream)
    return execute_step(workspace, stream, command, actor, key=key)


def actor_in_role(session: Session, stream: str, role: Role) -> str:
    """Return the name that the session acts under, or else the agent that has this role.

    If the session has another agent's name, the trace's own rules refuse it and record that.
    """
    if session.acting:
        return session.actor()
    return session.actor(agent_in_role(session.workspace.engine.state(MACHINE, stream), role))


def actor_in_charge(session: Session) -> str:
    """Return the session's own name, else the workspace itself. The rules refuse agents."""
    return session.actor() if session.acting else SYSTEM


def stage_after(outcome: JobOutcome) -> str:
    return str(MACHINE.require_state(outcome.state).stage)


def trace_of(outcome: JobOutcome) -> str:
    """Return the short name (`t1`) of the trace that an outcome is about."""
    return short_name(outcome.stream)
