"""Run a parliament: participants take the seats, Moot conducts the procedure, a person decides.

A run continues from the session's record alone; a decision under the session's id records costs
and endings.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec

from moot.agents.brief import AuthorTrust, Brief, QuotedText
from moot.agents.outcome import CallEnding, CallFailure
from moot.agents.participant import Participant, Spec
from moot.agents.participant_kinds import RunSurroundings
from moot.agents.runnable import PassOverResult, RunWatcher
from moot.api.parliaments.convening import SeatRequest, convene
from moot.api.parliaments.incoming import merge_into_bill
from moot.api.parliaments.ruling import (
    SETTLED,
    decisions_argued_in,
    require_undecided,
    ruling_at_end,
    vote_result_command,
)
from moot.api.parliaments.session import ParliamentSession, submit_message
from moot.api.runs.parliament_procedure import (
    INCORPORATE,
    REPLY_REQUESTS,
    SCHEMAS,
    SPEECHES,
    AmendmentReply,
    conduct_procedure,
    list_amendments_to_word,
    list_dues,
    list_seat_dues,
    silence_seat,
)
from moot.api.runs.seats import describe_seats, seat_participants
from moot.api.runs.turns import (
    DEFAULT_LIMITS,
    FinishedRun,
    Limits,
    RecordedRun,
    RunRecord,
    begin_decision,
    make_run_record,
    run_seats,
)
from moot.core.errors import Conflict, Malformed, NotFound, Refused
from moot.core.machine import Due
from moot.core.names import OPERATOR, SYSTEM
from moot.protocols.decision import stream_of
from moot.protocols.decision.commands import AskQuestion, OpenSession
from moot.protocols.decision.machine import MACHINE as DECISION
from moot.protocols.decision.model import MAX_QUESTION, ChamberKind
from moot.protocols.decision.model import State as DecisionState
from moot.protocols.parliament import round_clock, votes
from moot.protocols.parliament.commands import CloseBallot, Incorporate, ReportUnreadable
from moot.protocols.parliament.messages.contents import Kind, SessionStatus
from moot.protocols.parliament.messages.message import LedgerMessage, to_document
from moot.protocols.parliament.model import MAX_ISSUES, Amendment, OpenQuestion, Seat, State
from moot.protocols.parliament.turns import PRIME_MINISTER
from moot.workspace.workspace import Workspace

MAX_MESSAGES: Final = 80
UNREADABLE: Final = "not_json"
# The reply was no valid message: the protocol counts that against the seat. A message that the
# rules refuse does not count (S-03).
OFFENCES: Final = frozenset({CallEnding.MALFORMED, CallEnding.TOO_LONG})
# The program itself failed: it is started again once, as the protocol says. If a provider or a
# person is missing, the run waits for the seat.
FAILURES: Final = frozenset(
    {CallEnding.REFUSED, CallEnding.SILENT, CallEnding.TIMED_OUT, CallEnding.CRASHED}
)
# AGT-064: statements and votes are asked for at once.
TOGETHER: Final = frozenset({Kind.OPENING_STATEMENT, Kind.VOTE})


class RunnableParliament(RecordedRun):
    """A session as the runner drives it; its whole state is in the record.

    A parliament limits its own exchanges and rounds, so it needs no check for repetition.
    """

    def __init__(self, session: ParliamentSession, record: RunRecord) -> None:
        super().__init__(record)
        self._session = session

    def advance(self) -> None:
        conduct_procedure(self._session)  # AGT-064

    def dues(self) -> Sequence[Due]:
        """Return what a seat can answer; else what a person must do."""
        dues = [*list_amendments_to_word(self._session), *list_seat_dues(self._session)]
        answerable = [due for due in dues if due.what in REPLY_REQUESTS]
        waits = [due for due in list_dues(self._session) if due.command is None]
        return answerable or [  # AGT-064: a person ends it
            due if due.who == PRIME_MINISTER else msgspec.structs.replace(due, who=OPERATOR)
            for due in waits
        ]

    def may_be_asked_together(self, due: Due) -> bool:
        return REPLY_REQUESTS[due.what].kind in TOGETHER

    def brief(self, due: Due) -> Brief:
        state, request = self._session.state, REPLY_REQUESTS[due.what]
        seat = _seat_of(state, due)
        messages = self._session.read_proceedings().messages
        kinds = (request.kind, Kind.AMENDMENT) if request.kind is Kind.QUESTION else (request.kind,)
        own = [
            message for message in messages if message.sender == seat.id and message.type in kinds
        ]
        return Brief(
            agent=due.who,
            role=f"{seat.id}, a representative in a parliament that is recorded",
            what=request.kind.value.lower(),
            task=request.task,
            schema=SCHEMAS[due.what],
            view=_describe_turn(state, seat, due),
            quotes=(*_quote_material(state), *_quote_messages(state, messages, due)),
            number=len(own),
        )

    def submit(self, due: Due, reply_fields: dict[str, Any]) -> None:
        state, request = self._session.state, REPLY_REQUESTS[due.what]
        reply_fields = {name: value for name, value in reply_fields.items() if value is not None}
        if due.what == INCORPORATE:
            draft = merge_into_bill(state, reply_fields)  # AGT-068: in the drafter's words
            command = Incorporate(amendment_id=_amendment_id(due), draft=draft)
            self._session.execute(command, due.who)
            return
        amendment = _read_amendment(reply_fields.pop("amendment", None))  # AGT-068
        # The first of the two takes the turn: only that is asked for again.
        if amendment is None or due.what not in SPEECHES or reply_fields.get("question"):
            address = _MESSAGE_BUILDERS.get(due.what)
            rest = address(state, due, reply_fields) if address else {"content": reply_fields}
            self._send(due, request.kind, rest)
        if amendment is not None:
            name = votes.next_amendment_id(self._session.state)
            content = {"amendment_id": name, **amendment}
            self._send(due, Kind.AMENDMENT, {"content": content})

    def _send(self, due: Due, kind: Kind, rest: dict[str, Any]) -> None:
        """Submit one message with the key of its seat."""
        seat = _seat_of(self._session.state, due)
        data = json.dumps({"type": kind.value, "from": seat.id, **rest}).encode()
        submit_message(self._session, data, due.who, lambda signer, _is_person: signer or due.who)

    def pass_over(self, due: Due, failure: CallFailure) -> PassOverResult:
        """Wait for an absent seat; ask a failing one again, then expel it (AGT-065).

        A missing vote or speech is not waited for: the ballot is closed, the seat made quiet.
        """
        ending, request = failure.ending, REPLY_REQUESTS.get(due.what)
        if request is None or due.what == INCORPORATE:
            return PassOverResult.NEVER
        seat = _seat_of(self._session.state, due)
        if ending in OFFENCES:
            return self._report(due, ending, times=2)
        if request.kind is Kind.VOTE:
            self._session.execute(CloseBallot(), SYSTEM, "speaker")
            return PassOverResult.DONE
        if request.kind is Kind.QUESTION:
            why = f"{seat.id} is not heard this round: {ending.value}."
            silence_seat(self._session, seat.id, why)
            return PassOverResult.DONE
        return self._report(due, ending, times=1) if ending in FAILURES else PassOverResult.NEVER

    def _report(self, due: Due, ending: CallEnding, times: int) -> PassOverResult:
        """Report unreadable replies: two expel a seat, including those counted before (AGT-065)."""
        for _ in range(times):
            if due not in self.dues():
                break
            try:
                self._session.execute(ReportUnreadable(problem=ending.value), due.who)
            except Refused as error:  # the report is refused with this code, and counted
                if error.code != UNREADABLE:
                    raise
        return PassOverResult.DONE if times == 1 or due not in self.dues() else PassOverResult.NEVER

    def standing(self) -> dict[str, Any]:
        state = self._session.state
        bill = state.bill.version if state.bill is not None else 0
        return {"state": str(state.status), "round": state.round.number, "bill": bill}


def _seat_of(state: State, due: Due) -> Seat:
    return next(seat for seat in state.seats_in_order() if seat.agent == due.who)


def _describe_turn(state: State, seat: Seat, due: Due) -> dict[str, Any]:
    """Return facts only: the convener chose the names of seats and motives."""
    turn: dict[str, Any] = {
        "phase": str(state.status),
        "round": state.round.number,
        "of_rounds": state.max_rounds,
        "you": seat.id,
        "motives": dict(seat.scores_by_motive()),
        "seats": {
            other.id: list(other.motives)
            for other in state.seats_in_order()
            if not other.expelled and not other.is_quiet
        },
        "bill_version": state.bill.version if state.bill is not None else 0,
    }
    if state.status is SessionStatus.DEBATE:
        turn["response_budget"] = round_clock.sentence_budget(state)
        turn["amendments"] = {
            amendment.amendment_id: _describe_amendment(amendment)
            for amendment in state.pending_amendments()
        }
    suggested = _SUGGESTED.fullmatch(due.subject) if due.what == "ask" else None
    turn |= {"ask": {"seat": suggested[1], "motive": suggested[2]}} if suggested else {}
    turn |= {"amendment": _amendment_id(due)} if due.what == INCORPORATE else {}
    return turn


_SUGGESTED: Final = re.compile(r"\S+ asks (\S+) about (.*)", re.DOTALL)


def _describe_amendment(amendment: Amendment) -> dict[str, Any]:
    """Describe an amendment without its text, which is quoted in its message."""
    return {
        "by": amendment.proposed_by,
        "section": amendment.target_section.value,
        "action": amendment.action.value,
        "positions": {row.agent_id: row.position.value for row in amendment.endorsements},
    }


def _amendment_id(due: Due) -> str:
    return due.subject.partition(":")[0]


def _quote_material(state: State) -> list[QuotedText]:
    """Quote the problem, the current bill, and the prime minister's guidance."""
    material = [("the problem", AuthorTrust.MATERIAL, state.problem_statement)]
    material += [("the issues", AuthorTrust.MATERIAL, "\n".join(state.constituent_issues))]
    if state.bill is not None:
        text = json.dumps(msgspec.to_builtins(state.bill), ensure_ascii=False, indent=1)
        material.append((f"the bill, drafted by {state.drafter}", AuthorTrust.AGENT, text))
    if state.guidance:
        material.append(("the prime minister", AuthorTrust.PERSON, state.guidance))
    return [QuotedText(author=who, trust=trust, text=text) for who, trust, text in material]


def _quote_messages(state: State, messages: Sequence[LedgerMessage], due: Due) -> list[QuotedText]:
    """Quote the newest messages; for an answer, the question comes last."""
    question = _find_question(state, due)
    latest = [message for message in messages if message.type is not Kind.SPEAKER_RULING][
        -MAX_MESSAGES:
    ]
    asked = [message for message in messages if question is not None and message.id == question.id]
    others = [message for message in latest if message not in asked]
    return [_quote_message(state, message) for message in (*others, *asked)]


def _quote_message(state: State, message: LedgerMessage) -> QuotedText:
    seat = state.seats.get(message.sender)
    to = f" to {message.to}" if message.to else ""
    return QuotedText(
        author=message.sender if seat is None else f"{message.sender} ({seat.agent})",
        trust=AuthorTrust.SYSTEM if seat is None else AuthorTrust.AGENT,
        place=f"{message.id}, {message.type.value}{to}, round {message.round}",
        text=json.dumps(to_document(message)["content"], ensure_ascii=False),
    )


def _find_question(state: State, due: Due) -> OpenQuestion | None:
    """Return the open question that this due step is about."""
    words = due.subject.split()
    known = (state.round.questions.get(word) for word in words[1:2])
    return next(known, None) if due.what == "answer" else None


# How a reply becomes a message ------------------------------------------------------------------


def _as_due_question(_state: State, due: Due, reply: dict[str, Any]) -> dict[str, Any]:
    """Address a question that is due to the seat it must go to."""
    suggested = _SUGGESTED.fullmatch(due.subject)
    seat, topic = (suggested[1], suggested[2]) if suggested else ("", "")
    if reply.get("to") not in (None, "", seat):
        raise Refused("other_seat", f"the question must go to {seat}", hint=f"ask {seat}")
    about = str(reply.get("topic") or topic)
    reply["topic"] = about if topic.casefold() in about.casefold() else f"{topic}: {about}"
    return _with_address({**reply, "to": seat})


def _read_amendment(document: Any) -> dict[str, Any] | None:
    """Check an amendment before anything is submitted: both parts are submitted, or neither."""
    if document is None:
        return None
    try:
        reply = msgspec.convert(document, AmendmentReply)
    except msgspec.ValidationError as error:
        why = f"amendment: {error}"
        raise Malformed(
            why, code="bad_reply", where="amendment", hint="follow the schema"
        ) from None
    data: dict[str, Any] = msgspec.to_builtins(reply)
    return data


def _as_answer(state: State, due: Due, reply: dict[str, Any]) -> dict[str, Any]:
    question = _find_question(state, due)
    address = {"to": question.asker, "in_reply_to": question.id} if question is not None else {}
    return {**_with_address(reply), **address}


def _with_address(reply: dict[str, Any]) -> dict[str, Any]:
    """Move `to` and `motion` out of the content, next to it (AGT-068)."""
    names = [name for name in ("to", "motion") if name in reply]
    return {**{name: reply.pop(name) for name in names}, "content": reply}


_MESSAGE_BUILDERS: Final[dict[str, Callable[[State, Due, dict[str, Any]], dict[str, Any]]]] = {
    "ask": _as_due_question,
    "be heard": lambda _state, _due, reply: _with_address(reply),
    "speak": lambda _state, _due, reply: _with_address(reply),
    "answer": _as_answer,
    "draft the bill": lambda _state, _due, reply: {"content": {"bill_version": 1, **reply}},
}


def run_parliament(
    session: ParliamentSession,
    specs: Mapping[str, Spec],
    surroundings: RunSurroundings,
    limits: Limits = DEFAULT_LIMITS,
    watch: RunWatcher | None = None,
) -> FinishedRun:
    """Run a parliament until a person must act or no participant can continue."""
    for name in specs:
        require_seated_agent(session, name)
    participants = seat_participants(specs, surroundings, session.workspace)
    argued = decisions_argued_in(session.workspace.engine, session.stream)
    decision = session.id if session.id in argued else next(iter(argued), None)
    if decision is None and ruling_at_end(session.state) is None:
        decision = _begin_decision(session, specs, participants)
    return run_seated(session, decision, participants, limits, watch)


def run_seated(
    session: ParliamentSession,
    decision: str | None,
    participants: Mapping[str, Participant],
    limits: Limits,
    watch: RunWatcher | None,
) -> FinishedRun:
    """Run a parliament with its participants; `decision` is None if a person has ruled already."""
    engine = session.workspace.engine
    require_undecided(engine, session.stream)  # before any call costs money
    session.files.require_unchanged()
    runnable = RunnableParliament(session, make_run_record(engine, decision))
    name = decision or session.id
    finished = run_seats(runnable, participants, engine.clock, name, limits, watch)
    if decision is not None:
        record_vote(session, decision)
    return finished


def require_seated_agent(session: ParliamentSession, name: str) -> str:
    """Return the agent of a seat that is named by its id (`rep_1`) or by its agent."""
    seats = {seat.id: seat.agent for seat in session.state.seats_in_order()}
    if name in seats:
        return seats[name]
    if name not in seats.values():
        raise Refused(
            "unknown_seat",
            f"{name} has no seat in this session",
            hint=f"seats: {', '.join(f'{seat} ({agent})' for seat, agent in seats.items())}",
        )
    return name


def _begin_decision(
    session: ParliamentSession, specs: Mapping[str, Spec], participants: Mapping[str, Participant]
) -> str:
    """Begin the decision that records this session's runs, once, under the session's id."""
    state = session.state
    names = tuple(seat.agent for seat in state.seats_in_order())
    question = AskQuestion(
        question=state.problem_statement[:MAX_QUESTION],
        seats=describe_seats(session.workspace, names, specs, participants),
        chamber=ChamberKind.PARLIAMENT,
        rule="majority",
        rounds=max(1, min(100, state.max_rounds)),
    )

    def require_no_ruling(_done: object) -> None:
        if ruling_at_end(session.state) is not None:
            raise Conflict("busy", "a person ruled at this moment", hint="read it again")

    engine = session.workspace.engine
    return begin_decision(
        engine, session.id, question, make_opening(session), before_commit=require_no_ruling
    )


def make_opening(session: ParliamentSession) -> OpenSession:
    """Return the command that records the session and its folder, relative to the project."""
    folder, root = session.folder.resolve(), session.workspace.root.resolve()
    recorded = folder.relative_to(root) if folder.is_relative_to(root) else folder
    return OpenSession(session=session.stream, file=recorded.as_posix())


def open_session_of(workspace: Workspace, decision: str, state: DecisionState) -> ParliamentSession:
    """Open the parliament in which a decision is argued."""
    opened = state.session
    if opened is None or state.chamber is not ChamberKind.PARLIAMENT:
        raise NotFound(
            "session_not_found", f"{decision} has no parliament", hint="see `moot agenda`"
        )
    return ParliamentSession.open_by_id(
        workspace, workspace.root / opened.file, opened.id.partition("/")[2]
    )


def record_vote(session: ParliamentSession, decision: str) -> None:
    """Record the last vote's result in the decision, after the parliament's last vote."""
    engine, stream, state = session.workspace.engine, stream_of(decision), session.state
    if state.status not in SETTLED:
        return
    command, clerk, key = vote_result_command(state)
    recorded = engine.state(DECISION, stream)
    if recorded.word is None:
        engine.execute(stream, command, clerk, key=key)


# For a question -----------------------------------------------------------------------------------

# The motives of seats without any: each gets another point of view.
MOTIVES: Final = ("quality", "cost", "speed", "safety", "simplicity")


def convene_for_question(
    workspace: Workspace, folder: Path, problem: str, state: DecisionState
) -> ParliamentSession:
    """Convene a parliament about a question, with a seat for each participant (AGT-078)."""
    requests = tuple(
        SeatRequest(f"Rep. {seat.agent}", _motives(state, place, seat.agent), seat.agent)
        for place, seat in enumerate(state.seats)
    )
    known = {motive.casefold(): motive for seat in reversed(requests) for motive in seat.motives}
    issues = tuple(reversed(known.values()))[:MAX_ISSUES]
    return convene(workspace, folder, problem, issues, requests, state.rounds)


def _motives(state: DecisionState, place: int, agent: str) -> tuple[str, ...]:
    """Return each motive once; a seat without any gets one of `MOTIVES`."""
    own = {motive.casefold(): motive for motive in state.motives_of(agent)}
    return tuple(own.values()) or (MOTIVES[place % len(MOTIVES)],)
