"""Open and past decisions: questions, debates, parliaments and traces in one list.

A single one is shown as the report that `moot report` writes, with what is due in it now.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import msgspec

from moot.api.debates.record import read_recorded_bytes
from moot.api.operation import operation
from moot.api.page.reports import ReportPage, report
from moot.api.page.requested_rulings import RequestedRuling, find_requested_ruling
from moot.api.presence.agenda import DueItem, list_due
from moot.core.errors import NotFound
from moot.core.names import STREAM
from moot.core.text import Quoted
from moot.protocols.debate.checker import check_session
from moot.protocols.debate.machine import MACHINE as DEBATE
from moot.protocols.debate.views import StatusView
from moot.protocols.debate.views import view_status as view_debate_status
from moot.protocols.decision.machine import MACHINE as DECISION
from moot.protocols.decision.views import DecisionView, describe_decision, shorten_question
from moot.protocols.parliament.machine import MACHINE as PARLIAMENT
from moot.protocols.parliament.views import SessionView, view_session
from moot.protocols.trace.machine import MACHINE as TRACE
from moot.protocols.trace.views import TraceStatus
from moot.protocols.trace.views import view_status as view_trace_status

if TYPE_CHECKING:
    from moot.api.session import Session
    from moot.core.ledger import Head, View
    from moot.engine.engine import Engine


class DecisionStanding(msgspec.Struct, frozen=True, kw_only=True):
    """The present state: whose turn it is and until when, what it waits for, who has answered.

    Exactly one field is set, that of its protocol; none for a debate with unreadable settings.
    """

    decision: DecisionView | None = None
    debate: StatusView | None = None
    parliament: SessionView | None = None
    trace: TraceStatus | None = None


def describe_standing(session: Session, stream: str) -> DecisionStanding:
    """Return the present state of the decision, debate, parliament or trace of this stream."""
    return _STANDING_BY_KIND[stream.partition("/")[0]](session, stream)


def _decision_standing(session: Session, stream: str) -> DecisionStanding:
    state = session.workspace.engine.state(DECISION, stream)
    return DecisionStanding(decision=describe_decision(stream.partition("/")[2], state))


def _debate_standing(session: Session, stream: str) -> DecisionStanding:
    """Read the recorded text: later changes of the file do not count."""
    checked = check_session(read_recorded_bytes(session.workspace, stream))
    if checked.course is None:
        return DecisionStanding()
    return DecisionStanding(debate=view_debate_status(checked, session.clock()))


def _parliament_standing(session: Session, stream: str) -> DecisionStanding:
    return DecisionStanding(
        parliament=view_session(session.workspace.engine.state(PARLIAMENT, stream))
    )


def _trace_standing(session: Session, stream: str) -> DecisionStanding:
    from moot.api.traces.reading import status

    return DecisionStanding(trace=status(session, stream.partition("/")[2]))


_STANDING_BY_KIND: Final[dict[str, Callable[[Session, str], DecisionStanding]]] = {
    "decision": _decision_standing,
    "debate": _debate_standing,
    "parliament": _parliament_standing,
    "trace": _trace_standing,
}


NEWEST: Final = 100


class DecisionLine(msgspec.Struct, frozen=True, kw_only=True):
    """`kind` is the protocol; `state` is that protocol's name for the present stage; `open`: it can
    still change. `by` is the next time limit."""

    id: str
    kind: str
    title: Quoted
    state: str
    open: bool
    last_at: str | None
    waits_for: tuple[str, ...]
    by: str | None


class DecisionLines(msgspec.Struct, frozen=True):
    """Open ones first, then by their newest event; `more` counts those that are not listed."""

    decisions: tuple[DecisionLine, ...]
    more: int


class ShownDecision(msgspec.Struct, frozen=True, kw_only=True):
    """One of them: its line, its present state, what is due in it, and its report.

    `word` is the ruling that a person is asked for, if it waits for one.
    """

    line: DecisionLine
    standing: DecisionStanding
    due: tuple[DueItem, ...]
    report: ReportPage
    word: RequestedRuling | None


@operation("decision.list")
def list_decisions(session: Session, *, limit: int = NEWEST) -> DecisionLines:
    """List the newest decisions, debates, parliaments and traces, and who has to act in each."""
    workspace = session.workspace
    due = _due_by_stream(list_due(workspace))
    with workspace.store.read() as view:
        heads = [each for each in view.streams() if _kind_of(each[0]) in _DESCRIBE]
        newest = heads[-limit:]
        unlisted = dict(heads[:-limit])
        newest += [(name, head) for name, head in unlisted.items() if name in due]
        lines = [_line(workspace.engine, view, name, head, due) for name, head in newest]
    lines.sort(key=lambda line: (line.open, line.last_at or ""), reverse=True)
    return DecisionLines(tuple(lines), len(heads) - len(newest))


@operation("decision.show")
def show_decision(session: Session, name: str) -> ShownDecision:
    """Show one decision, debate, parliament or trace: its state, what is due, and its report.

    `name` is its id, with or without the protocol before it. Raises NotFound for another name.
    """
    workspace = session.workspace
    stream, head = _find(session, name)
    due = tuple(item for item in list_due(workspace) if item.id == stream)
    with workspace.store.read() as view:
        line = _line(workspace.engine, view, stream, head, {stream: list(due)})
    return ShownDecision(
        line=line,
        standing=describe_standing(session, stream),
        due=due,
        report=report(session, stream),
        word=find_requested_ruling(session, stream),
    )


def _find(session: Session, name: str) -> tuple[str, Head]:
    names = [name] if _kind_of(name) in _DESCRIBE else [f"{kind}/{name}" for kind in _DESCRIBE]
    with session.workspace.store.read() as view:
        for stream in names:
            head = view.head(stream) if STREAM.match(stream) else None
            if head is not None:
                return stream, head
    raise NotFound(
        "not_found", f"nothing here has the id {name[:80]}", hint="`moot ledger log` lists all"
    )


def _kind_of(stream: str) -> str:
    return stream.partition("/")[0] if "/" in stream else ""


def _due_by_stream(items: tuple[DueItem, ...]) -> dict[str, list[DueItem]]:
    by_stream: dict[str, list[DueItem]] = {}
    for item in items:
        by_stream.setdefault(item.id, []).append(item)
    return by_stream


def _line(
    engine: Engine, view: View, stream: str, head: Head, due: dict[str, list[DueItem]]
) -> DecisionLine:
    kind = _kind_of(stream)
    title, state = _DESCRIBE[kind](engine, stream)
    waiting = due.get(stream, [])
    limits = sorted(item.by for item in waiting if item.by is not None)
    return DecisionLine(
        id=stream,
        kind=kind,
        title=Quoted(title),
        state=state,
        open=view.row("open", stream) is not None,
        last_at=_last_at(view, stream, head),
        waits_for=tuple(dict.fromkeys(item.who for item in waiting)),
        by=limits[0] if limits else None,
    )


def _last_at(view: View, stream: str, head: Head) -> str | None:
    record = next(view.records(stream, after=head.seq - 1), None)
    return None if record is None else record.body.at


def _decision(engine: Engine, stream: str) -> tuple[str, str]:
    state = engine.state(DECISION, stream)
    result = f": {state.result}" if state.result else ""
    return shorten_question(state.question), f"{state.stage}{result}"


def _debate(engine: Engine, stream: str) -> tuple[str, str]:
    state = engine.state(DEBATE, stream)
    return state.title or stream, str(state.phase)


def _parliament(engine: Engine, stream: str) -> tuple[str, str]:
    state: Any = engine.state(PARLIAMENT, stream)
    outcome = f": {state.outcome}" if state.outcome else ""
    return state.problem_statement or stream, f"{state.status or 'new'}{outcome}"


def _trace(engine: Engine, stream: str) -> tuple[str, str]:
    known = view_trace_status(engine.state(TRACE, stream), stream, engine.clock())
    return known.task, known.state


_DESCRIBE: Final[dict[str, Callable[[Engine, str], tuple[str, str]]]] = {
    "decision": _decision,
    "debate": _debate,
    "parliament": _parliament,
    "trace": _trace,
}
