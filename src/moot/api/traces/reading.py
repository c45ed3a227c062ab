"""Read-only views of traces, and of work that hooks only observed."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec
from msgspec.structs import replace

from moot.api.operation import operation
from moot.core.clock import to_text
from moot.core.text import Quoted
from moot.pages import Report
from moot.protocols.observed.views import WatchedSessionView, count_work, view_session
from moot.protocols.trace.events import ClaimIssued, ToolExecutionCompleted
from moot.protocols.trace.machine import MACHINE as TRACE
from moot.protocols.trace.views import ClaimView, EndedRunView, IntentView, TraceStatus, view_status

if TYPE_CHECKING:
    from moot.api.session import Session
    from moot.protocols.trace.model import State
    from moot.workspace.workspace import Workspace

__all__ = [
    "IntentView",
    "ObservedWork",
    "TraceLine",
    "TraceList",
    "TraceReport",
    "TraceStatus",
    "list_traces",
    "observed",
    "report",
    "status",
]
MOST_LISTED: Final = 1_000
# `status` reads the details of only so many open items and ended runs, the newest ones.
MOST_SHOWN: Final = 20


class TraceReport(msgspec.Struct, frozen=True):
    """A trace as a page; if it was written to `file`, `report` is unset.

    `counted` says how much work the trace governed, and how much was only observed meanwhile.
    """

    trace: str
    file: str | msgspec.UnsetType
    counted: str
    report: Report | msgspec.UnsetType = msgspec.UNSET


class TraceLine(msgspec.Struct, frozen=True):
    trace: str
    task: Quoted
    since: str
    open: bool


class TraceList(msgspec.Struct, frozen=True):
    traces: tuple[TraceLine, ...]


class ObservedWork(msgspec.Struct, frozen=True):
    """What hooks of coding tools saw: a one-line total, and each session with its gaps."""

    counted: str
    sessions: tuple[WatchedSessionView, ...]


class _IndexedTrace(msgspec.Struct, frozen=True):
    task: str
    at: int


@operation("trace.status")
def status(session: Session, trace: str) -> TraceStatus:
    """Where a trace stands, what is open, what the last runs left, and who is to act."""
    from moot.api.observed.sessions import count_work_during_trace
    from moot.api.traces import running, tracing

    workspace = session.workspace
    stream = tracing.require_trace(workspace, trace)
    state = workspace.engine.state(TRACE, stream)
    known = view_status(state, tracing.short_name(stream), workspace.engine.clock())
    return replace(
        known,
        intents=_add_commands(workspace, stream, known.intents),
        running=tuple(
            replace(run, alive=running.is_running(workspace.path, stream, run.intent))
            for run in known.running
        ),
        claims=_add_claim_texts(workspace, stream, known.claims),
        ended=_read_ended_runs(workspace, stream, state),
        counted=count_work_during_trace(workspace, state),
    )


def _add_commands(
    workspace: Workspace, stream: str, intents: tuple[IntentView, ...]
) -> tuple[IntentView, ...]:
    """Add the exact command to the newest intents: a critic cannot approve an id alone."""
    from moot.api.traces import tracing

    shown = []
    for intent in intents[-MOST_SHOWN:]:
        signed = tracing.read_intent(workspace, stream, intent.id)
        command = tuple(map(Quoted, signed.command))
        why = Quoted(signed.justification)
        shown.append(replace(intent, command=command, cwd=Quoted(signed.cwd), why=why))
    return (*intents[:-MOST_SHOWN], *shown)


def _add_claim_texts(
    workspace: Workspace, stream: str, claims: tuple[ClaimView, ...]
) -> tuple[ClaimView, ...]:
    from moot.api.traces import tracing

    shown = []
    for claim in claims[-MOST_SHOWN:]:
        issued = tracing.read_event_of(workspace, stream, claim.id, ClaimIssued).event
        shown.append(replace(claim, text=Quoted(issued.text)))
    return (*claims[:-MOST_SHOWN], *shown)


def _read_ended_runs(workspace: Workspace, stream: str, state: State) -> tuple[EndedRunView, ...]:
    """Return the last runs that ended, with the outputs that a claim can cite."""
    from moot.api.traces import tracing

    names = (f"x{number}" for number in range(state.execution_count, 0, -1))
    newest_first = []
    for name in islice((name for name in names if name not in state.running), MOST_SHOWN):
        event = tracing.read_end_of_run(workspace, stream, name).event
        well = isinstance(event, ToolExecutionCompleted)
        left = {output.name: output.sha256 for output in event.outputs}
        outputs = {"input": event.input_artifact, **left}
        newest_first.append(EndedRunView(name, event.intent_id, well, outputs))
    return tuple(reversed(newest_first))


@operation("trace.report")
def report(session: Session, trace: str, *, file: Path | None = None) -> TraceReport:
    """A trace as a page: its story, what rests on what, and every check, as it stands now.

    With `file` (FILE.html, FILE.md or FILE.json) the page is written there.
    """
    from moot.api.observed.sessions import count_work_during_trace
    from moot.api.page.files import write_page
    from moot.api.traces import inspection, tracing
    from moot.protocols.trace.audit.page import trace_page
    from moot.workspace.integrity_check import CheckOptions

    workspace = session.workspace
    stream = tracing.require_trace(workspace, trace)
    counted = count_work_during_trace(workspace, workspace.engine.state(TRACE, stream))
    inspected = inspection.inspect_live(workspace.path, CheckOptions(session.keys), stream)
    page = trace_page(inspected.events[stream], inspected.reports[0], counted)
    if file is None:
        return TraceReport(tracing.short_name(stream), msgspec.UNSET, counted, page)
    write_page(file, page)
    return TraceReport(tracing.short_name(stream), str(file), counted)


@operation("trace.list")
def list_traces(session: Session) -> TraceList:
    """All traces, oldest first, and which of them are open."""
    with session.workspace.store.read() as view:
        rows = view.rows("trace.traces", limit=MOST_LISTED)
        ended = {row.key for row in view.rows("trace.ended", limit=MOST_LISTED)}
    lines = []
    for row in rows:
        begun = msgspec.json.decode(row.value, type=_IndexedTrace)
        name, task = row.key.removeprefix("trace/"), Quoted(begun.task)
        lines.append(TraceLine(name, task, to_text(begun.at), row.key not in ended))
    return TraceList(tuple(sorted(lines, key=lambda line: line.since)))


@operation("trace.observed")
def observed(session: Session, *, agent: str | None = None) -> ObservedWork:
    """Work that was only watched by a hook, and when nobody watched; of all, or of one agent.

    None of this work was planned, approved or proved: a coding tool's hook saw it.
    """
    from moot.api.observed.sessions import list_sessions

    watched = list_sessions(session.workspace, agent)
    counted = count_work(0, [record.state for record in watched]).removeprefix("governed 0, ")
    return ObservedWork(
        counted, tuple(view_session(record.stream, record.state) for record in watched)
    )
