"""The automaton of a session.

    setup -> opening_statements -> evaluating_statements -> drafting -> debate
    debate -> voting                         the speaker calls it: gate, cap or last round
    voting -> debate | pm_review | synthesis defeated; passed; defeated in the last round
    pm_review -> debate | synthesis          vetoed with a round left; approved, or vetoed at last
    synthesis -> complete                    the final document is written

    evaluating_statements, drafting -> synthesis   everyone was expelled: no one can draft

The table is in `phases.py`, the rules in `rules.py`, the events to record in `command_events.py`,
the state after them in `evolution.py`, whose turn it is in `turns.py`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from moot.core.findings import Finding, check_all, select_errors
from moot.core.machine import (
    Command,
    Context,
    Decision,
    Drop,
    Machine,
    Put,
    Recorded,
    RowChange,
    Words,
    accept,
    refusal,
    refuse,
)
from moot.core.record import ArtifactRef
from moot.protocols.parliament import command_events, discipline
from moot.protocols.parliament import commands as ask
from moot.protocols.parliament import events as did
from moot.protocols.parliament.case import MessageCase, ParliamentCase, case_of
from moot.protocols.parliament.evolution import evolve
from moot.protocols.parliament.files.file_shapes import summary_findings
from moot.protocols.parliament.messages.shapes import make_finding
from moot.protocols.parliament.model import Seat, State
from moot.protocols.parliament.phases import TRANSITIONS
from moot.protocols.parliament.rules import RULES
from moot.protocols.parliament.summaries import contradictions_in
from moot.protocols.parliament.turns import agenda, timeouts

__all__ = ["MACHINE", "TRANSITIONS", "agenda", "decide", "evolve", "index", "timeouts"]

SUMMARIES, SESSIONS = "parliament.summaries", "parliament.sessions"


def decide(state: State, command: Command, context: Context) -> Decision:
    case = case_of(state, command, context)
    if isinstance(command, ask.ReportUnreadable):
        return _refuse_unreadable(case, command)
    malformed = (*case.malformed, *_document_findings(state, command))
    if isinstance(command, ask.Submit) and not isinstance(case, MessageCase):
        return _refuse_malformed(case, case.seat, malformed, command.raw)
    rules = RULES.get(case.response.type if isinstance(case, MessageCase) else type(command))
    if rules is None:
        if select_errors(malformed):
            return refuse(malformed)
        return refusal("C-22", "unknown_command", "parliament knows no such command")
    findings = (*malformed, *check_all(rules, case))
    return (
        refuse(findings)
        if select_errors(findings)
        else accept(*command_events.record_command(case), findings=findings)
    )


def _document_findings(state: State, command: Command) -> tuple[Finding, ...]:
    """Return what is wrong with the summary or the files that a command brings."""
    if isinstance(command, ask.Summarize):
        wrong = summary_findings(command.summary, "summary")
        return wrong or tuple(contradictions_in(state, command.summary))
    if isinstance(command, ask.Import):
        from moot.protocols.parliament.session_files import import_findings  # heavy, and rare

        return import_findings(command)
    return ()


def _refuse_malformed(
    case: ParliamentCase[Command],
    seat: Seat | None,
    findings: tuple[Finding, ...],
    raw: ArtifactRef | None,
) -> Decision:
    """PAR-084: not appended; counted where it is a seat's reply."""
    if seat is None or not discipline.counts_against(case.state, seat):
        return refuse(findings)
    events = command_events.record_malformed_reply(case, seat, findings, raw)
    return refuse((*findings, discipline.warn_of_expulsion(seat)), *events)


def _refuse_unreadable(case: ParliamentCase[Command], command: ask.ReportUnreadable) -> Decision:
    """Refuse a reply that is no JSON, and count it for its seat."""
    findings = check_all(RULES[ask.ReportUnreadable], case)
    if select_errors(findings):
        return refuse(findings)
    seat = case.state.seats.get(command.seat) if command.seat is not None else case.seat
    why = f"the reply cannot be read: {command.problem}"[:300]
    not_json = make_finding("PAR-084", "not_json", why, "", "send exactly one JSON object")
    return _refuse_malformed(case, seat, (not_json,), command.raw)


def index(recorded: Recorded[Any]) -> Iterable[RowChange]:
    """Sessions by their id and problem, and the summaries, which the state does not hold."""
    event, stream = recorded.event, recorded.stream
    if isinstance(event, did.RoundSummarized):
        number = event.summary.get("round")
        if isinstance(number, int):
            yield Put(SUMMARIES, f"{stream} {number:06d}", event.summary)
    elif isinstance(event, did.ParliamentConvened):
        yield Put("open", stream, {})
        row = {"stream": stream, "problem_statement": event.problem_statement, "status": "open"}
        yield Put(SESSIONS, event.parliament_id, row)
        yield Words(SESSIONS, event.parliament_id, event.problem_statement)
    elif isinstance(event, did.SessionCompleted):
        yield Drop("open", stream)


MACHINE: Machine[State] = Machine(
    name="parliament",
    version=4,
    initial=State(),
    events=did.EVENTS,
    commands=ask.COMMANDS,
    decide=decide,
    evolve=evolve,
    agenda=agenda,
    index=index,
    timeouts=timeouts,
    guarded=frozenset({ask.Decide, ask.CountVotes, ask.Announce, ask.Complete}),
)
