"""The four session files as bytes: `ledger.json`, `session.json`, `bill.json` and
`round-summaries.json`.

They are exports of the signed record; the same record gives the same bytes. In the ledger file
each message is on its own line, so that new ones can be added without encoding the others.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

import msgspec

from moot.core.errors import Malformed
from moot.core.findings import Finding, select_errors
from moot.core.machine import Event, fill_from
from moot.core.names import AGENT, RESERVED
from moot.protocols.parliament import events as did
from moot.protocols.parliament import round_clock
from moot.protocols.parliament.commands import Import
from moot.protocols.parliament.evolution import apply_event
from moot.protocols.parliament.files.file_checks import read_satisfaction
from moot.protocols.parliament.files.file_shapes import (
    BILL_FILE,
    LEDGER_FILE,
    SESSION_FILE,
    SETTLED,
    SHAPES,
    SUMMARIES_FILE,
    AmendmentRow,
    BillFile,
    BillScope,
    BillSections,
    CastVoteRow,
    DebateClock,
    EndorsementRow,
    Representative,
    SessionFile,
    TemperatureRow,
)
from moot.protocols.parliament.files.inspection import compare_files
from moot.protocols.parliament.messages.contents import (
    AmendmentStatus,
    BillDraft,
    Kind,
    NextAction,
    PrimeMinisterChoice,
    RulingAction,
    Sections,
    SessionStatus,
)
from moot.protocols.parliament.messages.message import (
    LedgerMessage,
    encode_message,
    read_message,
    to_document,
)
from moot.protocols.parliament.messages.shapes import make_finding, show_value
from moot.protocols.parliament.model import BILL_NUMBER, Amendment, Seat, State
from moot.protocols.parliament.summaries import list_pending, make_vote_result

Document = dict[str, Any]

_END: Final = b"\n  ]\n}\n"
_EMPTY_END: Final = b"]\n}\n"
_LINE: Final = b"\n    "


def encode_ledger(state: State, messages: Iterable[LedgerMessage]) -> bytes:
    """PAR-003: the whole ledger file."""
    head = b'{\n  "parliament_id": %s,\n  "problem_statement": %s,\n  "messages": [' % (
        msgspec.json.encode(state.parliament_id),
        msgspec.json.encode(state.problem_statement),
    )
    return _append_lines(head, [_LINE + encode_message(message) for message in messages])


def append_to_ledger(file: bytes, messages: Iterable[LedgerMessage]) -> bytes:
    """Return a ledger file of ours with more messages at its end (PAR-012)."""
    lines = [_LINE + encode_message(message) for message in messages]
    if not lines:
        return file
    if file.endswith(_END):
        return _append_lines(file[: -len(_END)] + b",", lines)
    if file.endswith(b"[" + _EMPTY_END):
        return _append_lines(file[: -len(_EMPTY_END)], lines)
    raise Malformed("this is not a ledger file as we write it", code="foreign_file")


def _append_lines(start: bytes, lines: list[bytes]) -> bytes:
    return start + (b",".join(lines) + _END if lines else _EMPTY_END)


def encode_session(state: State) -> bytes:
    return _indented_json(make_session_file(state))


def encode_bill(state: State) -> bytes:
    return _indented_json(make_bill_file(state))


def encode_summaries(rows: Iterable[Document]) -> bytes:
    """PAR-120 and PAR-121: one row a round, keys in the order of the protocol."""
    return _indented_json(
        [{name: row[name] for name in _SUMMARY_KEYS if name in row} for row in rows]
    )


_SUMMARY_KEYS: Final = (
    *("round", "summary", "positions", "key_shifts", "amendments_actioned", "vote_result"),
    "open_issues",
)


def _indented_json(document: Any) -> bytes:
    return msgspec.json.format(msgspec.json.encode(document), indent=2) + b"\n"


def make_session_file(state: State) -> SessionFile:
    """PAR-086: the status of the session."""
    return fill_from(
        SessionFile,
        state,
        current_round=state.round.number,
        bill_version=state.bill.version if state.bill else 0,
        status=str(state.status or ""),
        representatives=tuple(_representative(seat) for seat in state.seats_in_order()),
        debate_clock=DebateClock(
            max_exchanges_per_round=round_clock.exchange_cap(state),
            response_budget=round_clock.sentence_budget(state),
            exchanges_this_round=state.round.exchanges,
        ),
        vote_history=tuple(map(make_vote_result, state.vote_history)),
    )


def _representative(seat: Seat) -> Representative:
    return fill_from(
        Representative,
        seat,
        agent_id=seat.id,
        temperature_history=tuple(
            TemperatureRow(row.round, row.temperature) for row in seat.temperature_history
        ),
        motive_satisfaction=dict(seat.scores_by_motive()),
        voting_record=tuple(
            CastVoteRow(row.round, row.bill_version, row.vote) for row in seat.voting_record
        ),
    )


def make_bill_file(state: State) -> BillFile:
    """PAR-109: the current bill; before the first draft a file without a bill."""
    bill = state.bill
    return BillFile(
        bill_id=BILL_NUMBER if bill else None,
        title=bill.title if bill else None,
        version=bill.version if bill else 0,
        drafter=state.drafter,
        sections=_bill_sections(bill.sections) if bill else BillSections(),
        amendments=tuple(_amendment_row(amendment) for amendment in state.amendments_in_order()),
    )


def _bill_sections(sections: Sections) -> BillSections:
    return fill_from(BillSections, sections, scope=fill_from(BillScope, sections.scope))


def _amendment_row(amendment: Amendment) -> AmendmentRow:
    return fill_from(
        AmendmentRow,
        amendment,
        endorsements=tuple(
            EndorsementRow(row.agent_id, row.position, row.round) for row in amendment.endorsements
        ),
    )


# Files from elsewhere become a session here: each message becomes its events.
#
# Only the messages are trusted: the session and the bill that follow from them must be those in
# the files (PAR-085). The clerk signs what is imported, not the seats; the first event of the
# record says so and cites the files.

_NAMED_IN_FILES: Final = "named in the imported files"
# Nothing is taken from a bill file before the first draft, whatever a script put there.
_FREE_BEFORE_A_BILL: Final = ("bill_id", "title", "drafter", "sections")
_FOLLOWS: Final[dict[str, Callable[[], Event]]] = {
    NextAction.ADVANCE_TO_PM: did.BillPassed,
    NextAction.CONTINUE_DEBATE: did.BillDefeated,
    NextAction.END_WITHOUT_PASSAGE: did.PassageFailed,
}


def import_findings(command: Import) -> tuple[Finding, ...]:
    """Return everything that keeps the files from becoming a session here."""
    documents = {
        LEDGER_FILE: command.ledger,
        SESSION_FILE: command.session,
        BILL_FILE: command.bill,
        SUMMARIES_FILE: command.summaries,
    }
    found = [finding for name in documents for finding in SHAPES[name](documents[name], f"{name}#")]
    found = found or [*compare_files(documents), *_agent_findings(command)]
    if select_errors(found):
        return tuple(found)
    return (*found, *_differences(command))


def _agent_findings(command: Import) -> Iterator[Finding]:
    """One key, one seat: each seat needs an agent that can sign for it from here on."""
    named = [rep["agent_id"] for rep in command.session["representatives"]]
    given = [command.agents[seat] for seat in named if seat in command.agents]
    sound = all(AGENT.match(agent) and agent not in RESERVED for agent in given)
    if len(set(given)) != len(named) or not sound:
        hint = "name a different agent for each seat, or none"
        yield make_finding("S-02", "bad_agent", "every seat needs its own agent", "agents", hint)


def _differences(command: Import) -> Iterator[Finding]:
    """Yield where the files differ from what follows from their messages."""
    state = FilesAsEvents(command).state
    pairs = (
        (SESSION_FILE, command.session, to_document(make_session_file(state))),
        (BILL_FILE, command.bill, to_document(make_bill_file(state))),
    )
    for name, given, follows in pairs:
        free = _FREE_BEFORE_A_BILL if name == BILL_FILE and given["version"] == 0 else ()
        for key, value in follows.items():
            if key not in free and _normalize(key, given.get(key)) != _normalize(key, value):
                yield _unexplained(name, key, given.get(key), value)


def _unexplained(name: str, key: str, given: Any, follows: Any) -> Finding:
    why = f"{key} does not follow from the messages: these lead to {show_value(follows)}"
    hint = (
        f"it is {show_value(given)} in {name}: if that is right, a message is missing from "
        f"{LEDGER_FILE}; if not, correct it there"
    )
    return make_finding("PAR-085", "not_explained", why, f"{name}#{key}", hint)


def _normalize(key: str, value: Any) -> Any:
    """Return a value without the parts that the document leaves to the program."""
    if key == "debate_clock":  # C-05, C-06: its limits are checked, and from here on they are ours
        return value["exchanges_this_round"]
    if key == "representatives":
        return [
            {
                **rep,
                "temperature_history": _list_changes(rep),
                "motive_satisfaction": read_satisfaction(rep),
            }
            for rep in value
        ]
    return _with_forced(value)


def _list_changes(rep: Document) -> list[Document]:
    """C-09: the rows in which the temperature changes; others repeat the one before."""
    rows: list[Document] = []
    for row in rep["temperature_history"]:
        if not rows or rows[-1]["temperature"] != row["temperature"]:
            rows.append(row)
    return rows


def _with_forced(value: Any) -> Any:
    """Votes in files from elsewhere may not say whether they were forced (C-32)."""
    if isinstance(value, list):
        return [_with_forced(item) for item in value]
    if isinstance(value, dict) and "passed" in value:
        return {**value, "forced": value.get("forced", False)}
    return value


def _temperature_changes(rep: Document) -> tuple[list[int], list[int]]:
    """Return when a seat's temperature changed, and to what."""
    rows = rep["temperature_history"]
    return [row["round"] for row in rows], [row["temperature"] for row in rows]


class FilesAsEvents:
    """Sound files as `events`, and the `state` that these lead to."""

    def __init__(self, command: Import) -> None:
        self.state = State()
        self.events: list[Event] = []
        self._command = command
        self._session: Document = command.session
        self._summaries = {row["round"]: row for row in command.summaries}
        self._votes = list(self._session["vote_history"])
        self._histories = [_temperature_changes(rep) for rep in self._session["representatives"]]
        self._retell()

    def _retell(self) -> None:
        messages = self._command.ledger["messages"]
        name = self._session["parliament_id"]
        self._add(did.SessionImported(parliament_id=name, messages=len(messages)))
        self._convene()
        for place, message in enumerate(messages):
            self._prepare(message)
            self._add(did.MessageLogged(message=to_document(read_message(message))))
            self._follow_up(message, last=place == len(messages) - 1)
        self._settle(None)
        self._begin_announced_round()
        self._replace_drafter()
        self._advance_to(SessionStatus(self._session["status"]))
        for row in self._command.summaries:
            self._add(did.RoundSummarized(summary=row))

    def _add(self, event: Event) -> None:
        self.events.append(event)
        self.state = apply_event(self.state, event)

    def _convene(self) -> None:
        seats = tuple(
            did.Seated(
                rep["agent_id"],
                rep["name"],
                tuple(rep["motives"]),
                self._command.agents[rep["agent_id"]],
                rep["agent_id"] in self._command.bound,
                rep["temperature_history"][0]["temperature"],
                self._command.epochs.get(rep["agent_id"], 1),
            )
            for rep in self._session["representatives"]
        )
        self._add(
            did.ParliamentConvened(
                parliament_id=self._session["parliament_id"],
                problem_statement=self._session["problem_statement"],
                issues=tuple(self._session["constituent_issues"]),
                seats=seats,
                max_rounds=self._session["max_rounds"],
            )
        )
        if self._session["status"] != SessionStatus.SETUP:
            self._add(did.StatementsOpened())

    def _begin_announced_round(self) -> None:
        """A script counts the round and assigns temperatures before anybody says so."""
        number = self._session["current_round"]
        announced = any(rounds[-1] == number for rounds, _heat in self._histories)
        is_next = number == self.state.round.number + 1 and not self.state.round.running
        if announced and is_next and self.state.status is SessionStatus.DEBATE:
            self._add(did.RoundStarted(round=number, temperatures=self._temperatures_in(number)))

    def _prepare(self, message: Document) -> None:
        """Add the events without which this message could not have been sent."""
        kind = message["type"]
        if kind == Kind.BILL_DRAFT and self.state.bill is None:
            self._advance_to(SessionStatus.DRAFTING, message["from"])
        if message["round"] > self.state.round.number:
            self._add(
                did.RoundStarted(
                    round=message["round"], temperatures=self._temperatures_in(message["round"])
                )
            )
        if kind == Kind.VOTE and self.state.poll is None:
            self._call_vote()

    def _follow_up(self, message: Document, last: bool) -> None:
        """Add the events that this message leads to."""
        kind, content = message["type"], message["content"]
        if kind == Kind.BILL_DRAFT and self.state.status is SessionStatus.DRAFTING:
            self._add(did.DebateOpened())
        elif kind == Kind.SPEAKER_RULING and content["action"] == RulingAction.ROUND_END:
            self._end_round()
        elif kind == Kind.SPEAKER_RULING and content["action"] == RulingAction.CALL_VOTE:
            self._call_vote()
        elif kind == Kind.VOTE_TALLY:
            self._settle(self.state.round.number)
            self._add(_FOLLOWS[content["next_action"]]())
        elif kind == Kind.PM_DECISION:
            self._decide(content["decision"], last)

    def _temperatures_in(self, number: int) -> tuple[int, ...]:
        """Return the temperature of each seat in a round: its last change up to then."""
        return tuple(
            heat[max(0, bisect_right(rounds, number) - 1)] for rounds, heat in self._histories
        )

    def _end_round(self) -> None:
        number = self.state.round.number
        self._settle(number)
        if self.state.round.running:
            row = self._summaries.get(number, {})
            pending = set(list_pending(self.state))  # the clerk adds them to each summary
            issues = tuple(text for text in row.get("open_issues", ()) if text not in pending)
            self._add(did.RoundEnded(round=number, open_issues=issues))

    def _call_vote(self) -> None:
        self._end_round()
        version = self.state.bill.version if self.state.bill else 1
        row = self._votes.pop(0) if self._votes else {}
        self._add(did.VoteCalled(bill_version=version, forced=row.get("forced", False)))

    def _decide(self, word: str, last: bool) -> None:
        ended = last and self._session["status"] in (
            SessionStatus.SYNTHESIS,
            SessionStatus.COMPLETE,
        )
        if word == PrimeMinisterChoice.APPROVE:
            self._add(did.BillApproved())
        elif word == PrimeMinisterChoice.AMEND_AND_APPROVE:
            self._add(did.BillAmended(draft=self._amended_draft()))
        elif word == PrimeMinisterChoice.VETO and ended:
            self._add(did.BillRejected())
        elif word == PrimeMinisterChoice.VETO:
            self._add(did.BillReturned(max_rounds=self._session["max_rounds"]))

    def _amended_draft(self) -> BillDraft:
        bill = self._command.bill
        summary = self.state.bill.summary if self.state.bill else ""
        sections = msgspec.convert(bill["sections"], Sections)
        return BillDraft(bill["version"], bill["title"] or "", summary, sections)

    def _settle(self, number: int | None) -> None:
        """Settle the amendments that this round's summary names; without a round, all the rest."""
        row = self._summaries.get(number or 0, {})
        settled = {action["amendment_id"] for action in row.get("amendments_actioned", ())}
        for amendment in self._command.bill["amendments"]:
            name, status = amendment["amendment_id"], AmendmentStatus(amendment["status"])
            open_here = name in self.state.amendments and self.state.amendments[name].pending
            if status in SETTLED and open_here and (number is None or name in settled):
                self._add(did.AmendmentSettled(amendment_id=name, status=status))

    def _replace_drafter(self) -> None:
        """An expelled drafter was replaced by a seat that only the session file names."""
        drafter = self._session["drafter"]
        if self.state.drafter is not None and drafter not in (None, self.state.drafter):
            self._add(did.DrafterReplaced(seat=drafter, why=_NAMED_IN_FILES))

    def _advance_to(self, status: SessionStatus, drafter: str | None = None) -> None:
        """Add the events of phases that no message opens, up to this status."""
        chosen = drafter or self._session["drafter"]
        order = list(SessionStatus)
        while self.state.status is not None and self.state.status is not status:
            ahead = order.index(status) > order.index(self.state.status)
            event = self._next_phase_event(self.state.status, chosen) if ahead else None
            if event is None:
                return
            self._add(event)

    def _next_phase_event(self, status: SessionStatus, drafter: str | None) -> Event | None:
        if status is SessionStatus.OPENING_STATEMENTS:
            return did.StatementsClosed()
        if status is SessionStatus.EVALUATING_STATEMENTS and drafter is not None:
            return did.DrafterChosen(seat=drafter, why=_NAMED_IN_FILES)
        if status in (SessionStatus.EVALUATING_STATEMENTS, SessionStatus.DRAFTING):
            return did.PassageFailed()  # beyond them, and there is no bill
        if status is SessionStatus.SYNTHESIS:
            return did.SessionCompleted()
        return None
