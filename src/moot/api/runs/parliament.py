"""Run a parliament: participants take the seats, the machine does procedure, a person decides.

A run continues from the session's own record alone; costs and endings are recorded in a decision
under the session's id.
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
    SCHEMAS,
    SPEECHES,
    WANTED,
    AmendmentReply,
    conduct_procedure,
    list_amendments_to_word,
    list_dues,
    list_seat_dues,
    silence_seat,
)
from moot.api.runs.seats import recorded_seats, seat_participants
from moot.api.runs.turns import (
    USUAL,
    FinishedRun,
    Limits,
    RecordedRun,
    RunRecord,
    begin_decision,
    record_of,
    run_seats,
)
from moot.core.errors import Conflict, Malformed, NotFound, Refused
from moot.core.machine import Due
from moot.core.names import OPERATOR, SYSTEM
from moot.protocols.decision import commands as decision_commands
from moot.protocols.decision import stream_of
from moot.protocols.decision.machine import MACHINE as DECISION
from moot.protocols.decision.model import MAX_QUESTION, ChamberKind
from moot.protocols.decision.model import State as DecisionState
from moot.protocols.parliament import commands as ask
from moot.protocols.parliament import round_clock, votes
from moot.protocols.parliament.messages.contents import Kind, SessionStatus
from moot.protocols.parliament.messages.message import LedgerMessage, to_document
from moot.protocols.parliament.model import MAX_ISSUES, Amendment, OpenQuestion, Seat, State
from moot.protocols.parliament.turns import PRIME_MINISTER
from moot.workspace.workspace import Workspace

MOST_SAID: Final = 80
UNREADABLE: Final = "not_json"
# It spoke, and what it said is no message: the protocol counts that. What the rules refuse is
# none of that (S-03).
OFFENCES: Final = frozenset({CallEnding.MALFORMED, CallEnding.TOO_LONG})
# The program itself failed: it is started again once, as the protocol has it. Where a provider or
# a person is missing, nobody can know what the seat would have said; it is waited for.
FAILURES: Final = frozenset(
    {CallEnding.REFUSED, CallEnding.SILENT, CallEnding.TIMED_OUT, CallEnding.CRASHED}
)
# AGT-064: statements and votes are asked for at once.
TOGETHER: Final = frozenset({Kind.OPENING_STATEMENT, Kind.VOTE})


class RunnableParliament(RecordedRun):
    """A session as the runner drives it; all it knows is in the record.

    A parliament bounds its own exchanges and rounds: nobody can go in circles.
    """

    def __init__(self, session: ParliamentSession, record: RunRecord) -> None:
        super().__init__(record)
        self._session = session

    def advance(self) -> None:
        conduct_procedure(self._session)  # AGT-064: by the machine

    def dues(self) -> Sequence[Due]:
        """What a seat can answer; for the rest a person is waited for."""
        dues = [*list_amendments_to_word(self._session), *list_seat_dues(self._session)]
        answerable = [due for due in dues if due.what in WANTED]
        waits = [due for due in list_dues(self._session) if due.command is None]
        return answerable or [  # AGT-064: a person ends it
            due if due.who == PRIME_MINISTER else msgspec.structs.replace(due, who=OPERATOR)
            for due in waits
        ]

    def may_be_asked_together(self, due: Due) -> bool:
        return WANTED[due.what].kind in TOGETHER

    # What a seat is told --------------------------------------------------------------------------

    def brief(self, due: Due) -> Brief:
        state, wanted = self._session.state, WANTED[due.what]
        seat = _seat_of(state, due)
        messages = self._session.read_proceedings().messages
        kinds = (wanted.kind, Kind.AMENDMENT) if wanted.kind is Kind.QUESTION else (wanted.kind,)
        own = [
            message for message in messages if message.sender == seat.id and message.type in kinds
        ]
        return Brief(
            agent=due.who,
            role=f"{seat.id}, a representative in a parliament that is recorded",
            what=wanted.kind.value.lower(),
            task=wanted.task,
            schema=SCHEMAS[due.what],
            view=_describe_moment(state, seat, due),
            quotes=(*_quote_matter(state), *_quote_messages(state, messages, due)),
            number=len(own),
        )

    # What comes of it -----------------------------------------------------------------------------

    def submit(self, due: Due, reply_fields: dict[str, Any]) -> None:
        state, wanted = self._session.state, WANTED[due.what]
        reply_fields = {name: value for name, value in reply_fields.items() if value is not None}
        if due.what == INCORPORATE:
            draft = merge_into_bill(state, reply_fields)  # AGT-068: in the drafter's words
            command = ask.Incorporate(amendment_id=_amendment_id(due), draft=draft)
            self._session.execute(command, due.who)
            return
        amendment = _read_amendment(reply_fields.pop("amendment", None))  # AGT-068
        # Its turn is taken with the first of the two: only that is asked for again.
        if amendment is None or due.what not in SPEECHES or reply_fields.get("question"):
            address = _ADDRESS.get(due.what)
            rest = address(state, due, reply_fields) if address else {"content": reply_fields}
            self._send(due, wanted.kind, rest)
        if amendment is not None:
            name = votes.next_amendment_id(self._session.state)
            content = {"amendment_id": name, **amendment}
            self._send(due, Kind.AMENDMENT, {"content": content})

    def _send(self, due: Due, kind: Kind, rest: dict[str, Any]) -> None:
        """One message, under the key of its seat."""
        seat = _seat_of(self._session.state, due)
        data = json.dumps({"type": kind.value, "from": seat.id, **rest}).encode()
        submit_message(self._session, data, due.who, lambda signer, _is_person: signer or due.who)

    def pass_over(self, due: Due, failure: CallFailure) -> PassOverResult:
        """A seat that is not there is waited for; one that fails is asked again, then expelled
        (AGT-065).

        A vote or a word in the round is not waited for: the ballot is closed, the seat is quiet.
        """
        ending, wanted = failure.ending, WANTED.get(due.what)
        if wanted is None or due.what == INCORPORATE:
            return PassOverResult.NEVER
        seat = _seat_of(self._session.state, due)
        if ending in OFFENCES:
            return self._report(due, ending, times=2)
        if wanted.kind is Kind.VOTE:
            self._session.execute(ask.CloseBallot(), SYSTEM, "speaker")
            return PassOverResult.DONE
        if wanted.kind is Kind.QUESTION:
            why = f"{seat.id} is not heard this round: {ending.value}."
            silence_seat(self._session, seat.id, why)
            return PassOverResult.DONE
        return self._report(due, ending, times=1) if ending in FAILURES else PassOverResult.NEVER

    def _report(self, due: Due, ending: CallEnding, times: int) -> PassOverResult:
        """Two malformed replies expel a seat; what the chamber counted itself counts (AGT-065)."""
        for _ in range(times):
            if due not in self.dues():
                break
            try:
                self._session.execute(ask.ReportUnreadable(problem=ending.value), due.who)
            except Refused as error:  # a reply that cannot be read is refused, and counted
                if error.code != UNREADABLE:
                    raise
        return PassOverResult.DONE if times == 1 or due not in self.dues() else PassOverResult.NEVER

    def standing(self) -> dict[str, Any]:
        state = self._session.state
        bill = state.bill.version if state.bill is not None else 0
        return {"state": str(state.status), "round": state.round.number, "bill": bill}


def _seat_of(state: State, due: Due) -> Seat:
    return next(seat for seat in state.seats_in_order() if seat.agent == due.who)


def _describe_moment(state: State, seat: Seat, due: Due) -> dict[str, Any]:
    """Return facts only: the convener chose the names of seats and motives."""
    moment: dict[str, Any] = {
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
        moment["response_budget"] = round_clock.sentence_budget(state)
        moment["amendments"] = {
            amendment.amendment_id: _describe_amendment(amendment)
            for amendment in state.pending_amendments()
        }
    suggested = _SUGGESTED.fullmatch(due.subject) if due.what == "ask" else None
    moment |= {"ask": {"seat": suggested[1], "motive": suggested[2]}} if suggested else {}
    moment |= {"amendment": _amendment_id(due)} if due.what == INCORPORATE else {}
    return moment


_SUGGESTED: Final = re.compile(r"\S+ asks (\S+) about (.*)", re.DOTALL)


def _describe_amendment(amendment: Amendment) -> dict[str, Any]:
    """Its words stand in its message, which is quoted."""
    return {
        "by": amendment.proposed_by,
        "section": amendment.target_section.value,
        "action": amendment.action.value,
        "positions": {row.agent_id: row.position.value for row in amendment.endorsements},
    }


def _amendment_id(due: Due) -> str:
    return due.subject.partition(":")[0]


def _quote_matter(state: State) -> list[QuotedText]:
    """The problem, the bill as it stands, and the prime minister's guidance."""
    matter = [("the problem", AuthorTrust.MATERIAL, state.problem_statement)]
    matter += [("the issues", AuthorTrust.MATERIAL, "\n".join(state.constituent_issues))]
    if state.bill is not None:
        text = json.dumps(msgspec.to_builtins(state.bill), ensure_ascii=False, indent=1)
        matter.append((f"the bill, drafted by {state.drafter}", AuthorTrust.AGENT, text))
    if state.guidance:
        matter.append(("the prime minister", AuthorTrust.PERSON, state.guidance))
    return [QuotedText(author=who, trust=trust, text=text) for who, trust, text in matter]


def _quote_messages(state: State, messages: Sequence[LedgerMessage], due: Due) -> list[QuotedText]:
    """What was said, to a bound; for an answer, the question that is asked comes last."""
    question = _find_question(state, due)
    latest = [one for one in messages if one.type is not Kind.SPEAKER_RULING][-MOST_SAID:]
    asked = [one for one in messages if question is not None and one.id == question.id]
    others = [one for one in latest if one not in asked]
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
    """The open question that this due is about."""
    words = due.subject.split()
    known = (state.round.questions.get(word) for word in words[1:2])
    return next(known, None) if due.what == "answer" else None


# How a reply becomes a message ------------------------------------------------------------------


def _as_due_question(_state: State, due: Due, reply: dict[str, Any]) -> dict[str, Any]:
    """A question that is due goes to the seat it is due to."""
    suggested = _SUGGESTED.fullmatch(due.subject)
    seat, topic = (suggested[1], suggested[2]) if suggested else ("", "")
    if reply.get("to") not in (None, "", seat):
        raise Refused("other_seat", f"the question is due to {seat}", hint=f"ask {seat}")
    about = str(reply.get("topic") or topic)
    reply["topic"] = about if topic.casefold() in about.casefold() else f"{topic}: {about}"
    return _with_address({**reply, "to": seat})


def _read_amendment(document: Any) -> dict[str, Any] | None:
    """An amendment is judged before anything is said: both are said, or it is asked again."""
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
    """To whom, and what is moved, stand beside the content (AGT-068)."""
    names = [name for name in ("to", "motion") if name in reply]
    return {**{name: reply.pop(name) for name in names}, "content": reply}


_ADDRESS: Final[dict[str, Callable[[State, Due, dict[str, Any]], dict[str, Any]]]] = {
    "ask": _as_due_question,
    "be heard": lambda _state, _due, reply: _with_address(reply),
    "speak": lambda _state, _due, reply: _with_address(reply),
    "answer": _as_answer,
    "draft the bill": lambda _state, _due, reply: {"content": {"bill_version": 1, **reply}},
}


def run_parliament(
    session: ParliamentSession,
    specs: Mapping[str, Spec],
    room: RunSurroundings,
    limits: Limits = USUAL,
    watch: RunWatcher | None = None,
) -> FinishedRun:
    """Run it with these participants until a person is asked, or nobody here can go on."""
    for name in specs:
        require_seated_agent(session, name)
    participants = seat_participants(specs, room, session.workspace)
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
    """Run it with those who sit there. There is no decision where a person has ruled already: then
    nothing is left to decide."""
    engine = session.workspace.engine
    require_undecided(engine, session.stream)  # before an answer costs anything
    session.files.require_unchanged()
    runnable = RunnableParliament(session, record_of(engine, decision))
    name = decision or session.id
    finished = run_seats(runnable, participants, engine.clock, name, limits, watch)
    if decision is not None:
        record_vote(session, decision)
    return finished


def require_seated_agent(session: ParliamentSession, named: str) -> str:
    """The agent of a seat that is named by its own id (`rep_1`) or by its agent."""
    seats = {seat.id: seat.agent for seat in session.state.seats_in_order()}
    if named in seats:
        return seats[named]
    if named not in seats.values():
        raise Refused(
            "unknown_seat",
            f"{named} has no seat in this session",
            hint=f"seats: {', '.join(f'{seat} ({agent})' for seat, agent in seats.items())}",
        )
    return named


def _begin_decision(
    session: ParliamentSession, specs: Mapping[str, Spec], participants: Mapping[str, Participant]
) -> str:
    """The decision that records the runs of this session: begun once, under its own id."""
    state = session.state
    names = tuple(seat.agent for seat in state.seats_in_order())
    question = decision_commands.AskQuestion(
        question=state.problem_statement[:MAX_QUESTION],
        seats=recorded_seats(session.workspace, names, specs, participants),
        chamber=ChamberKind.PARLIAMENT,
        rule="majority",
        rounds=max(1, min(100, state.max_rounds)),
    )

    def require_no_ruling(_done: object) -> None:
        if ruling_at_end(session.state) is not None:
            raise Conflict("busy", "a person decided at this moment", hint="look at it again")

    engine = session.workspace.engine
    return begin_decision(
        engine, session.id, question, make_opening(session), before_commit=require_no_ruling
    )


def make_opening(session: ParliamentSession) -> decision_commands.OpenSession:
    """What the decision records of the session: its folder, relative to the project if inside."""
    folder, root = session.folder.resolve(), session.workspace.root.resolve()
    recorded = folder.relative_to(root) if folder.is_relative_to(root) else folder
    return decision_commands.OpenSession(session=session.stream, file=recorded.as_posix())


def open_session_of(workspace: Workspace, decision: str, state: DecisionState) -> ParliamentSession:
    """The parliament in which a decision is argued."""
    opened = state.session
    if opened is None or state.chamber is not ChamberKind.PARLIAMENT:
        raise NotFound("session_not_found", f"{decision} is in no parliament", hint="`moot agenda`")
    return ParliamentSession.open_by_id(
        workspace, workspace.root / opened.file, opened.id.partition("/")[2]
    )


def record_vote(session: ParliamentSession, decision: str) -> None:
    """Record in the decision what the last vote came to, once the parliament has done its part."""
    engine, stream, state = session.workspace.engine, stream_of(decision), session.state
    if state.status not in SETTLED:
        return
    command, clerk, key = vote_result_command(state)
    recorded = engine.state(DECISION, stream)
    if recorded.word is None:
        engine.execute(stream, command, clerk, key=key)


# For a question -----------------------------------------------------------------------------------

# What a seat stands for if nobody said, itself included: each looks from another side.
MOTIVES: Final = ("quality", "cost", "speed", "safety", "simplicity")


def convene_for_question(
    workspace: Workspace, folder: Path, problem: str, state: DecisionState
) -> ParliamentSession:
    """A parliament about a question, with a seat for everybody who was asked (AGT-078)."""
    requests = tuple(
        SeatRequest(f"Rep. {seat.agent}", _motives(state, place, seat.agent), seat.agent)
        for place, seat in enumerate(state.seats)
    )
    known = {motive.casefold(): motive for seat in reversed(requests) for motive in seat.motives}
    issues = tuple(reversed(known.values()))[:MAX_ISSUES]
    return convene(workspace, folder, problem, issues, requests, state.rounds)


def _motives(state: DecisionState, place: int, agent: str) -> tuple[str, ...]:
    """Return each motive once; a seat that named none gets one of the usual ones."""
    own = {motive.casefold(): motive for motive in state.motives_of(agent)}
    return tuple(own.values()) or (MOTIVES[place % len(MOTIVES)],)
