"""What is being decided, and what was: questions, debates, parliaments and traces in one list.

One of them is shown as its report, which is the same that `moot report` writes, with what is due
in it now.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import msgspec

from moot.api.agenda import DueItem, list_due
from moot.api.operation import operation
from moot.api.page.asked_words import AskedWord, find_asked_word
from moot.api.page.standing import DecisionStanding, describe_standing
from moot.api.reports import ReportPage, report
from moot.core.errors import NotFound
from moot.core.quoted import Quoted

if TYPE_CHECKING:
    from moot.api.session import Session
    from moot.core.ledger import Head, View
    from moot.engine.engine import Engine

__all__ = [
    "DecisionLine",
    "DecisionLines",
    "ShownDecision",
    "list_decisions",
    "show_decision",
]
NEWEST: Final = 100


class DecisionLine(msgspec.Struct, frozen=True, kw_only=True):
    """`kind` is the protocol; `state` its own word for how far it came; `open`: somebody may still
    act. `by` is the next time limit."""

    id: str
    kind: str
    title: Quoted
    state: str
    open: bool
    last_at: str | None
    waits_for: tuple[str, ...]
    by: str | None


class DecisionLines(msgspec.Struct, frozen=True):
    """What is open first, then by the newest act; `more` counts those that are not listed."""

    decisions: tuple[DecisionLine, ...]
    more: int


class ShownDecision(msgspec.Struct, frozen=True, kw_only=True):
    """One of them: its line, how it stands now, what is due in it, and its report.

    `word` is what a person is asked for, if a ruling is waited for.
    """

    line: DecisionLine
    standing: DecisionStanding
    due: tuple[DueItem, ...]
    report: ReportPage
    word: AskedWord | None


@operation("decision.list")
def list_decisions(session: Session, *, limit: int = NEWEST) -> DecisionLines:
    """The newest decisions, debates, parliaments and traces, and who has to act in each."""
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
    """One decision, debate, parliament or trace: how it stands, what is due, and its report.

    `name` is its id, with or without the protocol before it. NotFound if nothing is called so.
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
        word=find_asked_word(session, stream),
    )


def _find(session: Session, name: str) -> tuple[str, Head]:
    from moot.core.names import STREAM

    names = [name] if _kind_of(name) in _DESCRIBE else [f"{kind}/{name}" for kind in _DESCRIBE]
    with session.workspace.store.read() as view:
        for stream in names:
            head = view.head(stream) if STREAM.match(stream) else None
            if head is not None:
                return stream, head
    raise NotFound(
        "not_found", f"nothing here is called {name[:80]}", hint="`moot ledger log` lists all"
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
    from moot.protocols.decision.machine import MACHINE
    from moot.protocols.decision.views import shorten_question

    state = engine.state(MACHINE, stream)
    result = f": {state.result}" if state.result else ""
    return shorten_question(state.question), f"{state.stage}{result}"


def _debate(engine: Engine, stream: str) -> tuple[str, str]:
    from moot.protocols.debate.machine import MACHINE

    state = engine.state(MACHINE, stream)
    return state.title or stream, str(state.phase)


def _parliament(engine: Engine, stream: str) -> tuple[str, str]:
    from moot.protocols.parliament.machine import MACHINE

    state: Any = engine.state(MACHINE, stream)
    outcome = f": {state.outcome}" if state.outcome else ""
    return state.problem_statement or stream, f"{state.status or 'new'}{outcome}"


def _trace(engine: Engine, stream: str) -> tuple[str, str]:
    from moot.protocols.trace.machine import MACHINE
    from moot.protocols.trace.views import view_status

    known = view_status(engine.state(MACHINE, stream), stream, engine.clock())
    return known.task, known.state


_DESCRIBE: Final[dict[str, Callable[[Engine, str], tuple[str, str]]]] = {
    "decision": _decision,
    "debate": _debate,
    "parliament": _parliament,
    "trace": _trace,
}
