"""A parliament for the runner: seats state, draft, ask, answer and vote; the rest is procedure."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from typing import Any, Final

import msgspec

from moot.agents.brief import Brief
from moot.agents.budget import Spent
from moot.agents.outcome import CallEnding, CallFailure, CallOutcome, RunEnd
from moot.agents.quoting import AuthorTrust, QuotedText
from moot.agents.repeats import Utterance
from moot.agents.runnable import PassOverResult
from moot.core.errors import Malformed, Refused
from moot.core.machine import Due
from moot.core.names import OPERATOR, SYSTEM
from moot.flows.parliament.bills import merge_into_bill
from moot.flows.parliament.parliament_session import ParliamentSession
from moot.flows.parliament.procedure import (
    conduct_procedure,
    list_amendments_to_word,
    list_dues,
    list_seat_dues,
    silence_seat,
)
from moot.flows.parliament.submitting import submit as submit_message
from moot.flows.runs.parliament_prompts import (
    INCORPORATE,
    SCHEMAS,
    SPEECHES,
    WANTED,
    AmendmentReply,
)
from moot.flows.runs.run_record import RunRecord
from moot.protocols.parliament import amendments, clock
from moot.protocols.parliament import commands as ask
from moot.protocols.parliament.messages.message import LedgerMessage, to_document
from moot.protocols.parliament.messages.words import Kind, SessionStatus
from moot.protocols.parliament.model import Amendment, OpenQuestion, Seat, State
from moot.protocols.parliament.turns import PRIME_MINISTER

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


class RunnableParliament:
    """A session as the runner drives it; all it knows is in the record."""

    def __init__(self, session: ParliamentSession, record: RunRecord) -> None:
        self._session = session
        self._record = record

    def advance(self) -> None:
        conduct_procedure(self._session)  # AGT-064: by the machine

    def dues(self) -> Sequence[Due]:
        """What a seat can answer; for the rest a person is waited for."""
        dues = [*list_amendments_to_word(self._session), *list_seat_dues(self._session)]
        answerable = [due for due in dues if due.what in WANTED]
        waits = [due for due in list_dues(self._session) if due.command is None]
        return answerable or [
            msgspec.structs.replace(due, who=_waited_person(due)) for due in waits
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
            self._send(
                due, wanted.kind, _ADDRESS.get(due.what, _as_content)(state, due, reply_fields)
            )
        if amendment is not None:
            name = amendments.next_amendment_id(self._session.state)
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

    def history(self) -> Sequence[Utterance]:
        """A parliament bounds its own exchanges and rounds: nobody can go in circles."""
        return ()

    def standing(self) -> dict[str, Any]:
        state = self._session.state
        bill = state.bill.version if state.bill is not None else 0
        return {"state": str(state.status), "round": state.round.number, "bill": bill}

    def spent(self) -> Spent:
        return self._record.spent()

    def record_outcome(self, outcome: CallOutcome) -> None:
        self._record.record_outcome(outcome)

    def record_end(self, ended: RunEnd) -> None:
        self._record.record_end(ended)


def _waited_person(due: Due) -> str:
    return due.who if due.who == PRIME_MINISTER else OPERATOR  # AGT-064: a person ends it


def _seat_of(state: State, due: Due) -> Seat:
    return next(seat for seat in state.seats_in_order() if seat.agent == due.who)


def _describe_moment(state: State, seat: Seat, due: Due) -> dict[str, Any]:
    """Facts only: names of seats and motives were given by whoever convened the session."""
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
        moment["response_budget"] = clock.sentence_budget(state)
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


def _as_content(_state: State, _due: Due, reply: dict[str, Any]) -> dict[str, Any]:
    return {"content": reply}


def _as_due_question(_state: State, due: Due, reply: dict[str, Any]) -> dict[str, Any]:
    """A question that is due goes to the seat it is due to."""
    suggested = _SUGGESTED.fullmatch(due.subject)
    seat, topic = (suggested[1], suggested[2]) if suggested else ("", "")
    if reply.get("to") not in (None, "", seat):
        raise Refused("other_seat", f"the question is due to {seat}", hint=f"ask {seat}")
    about = str(reply.get("topic") or topic)
    reply["topic"] = about if topic.casefold() in about.casefold() else f"{topic}: {about}"
    return _with_address({**reply, "to": seat})


def _as_speech(_state: State, _due: Due, reply: dict[str, Any]) -> dict[str, Any]:
    return _with_address(reply)


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


def _as_draft(_state: State, _due: Due, reply: dict[str, Any]) -> dict[str, Any]:
    return {"content": {"bill_version": 1, **reply}}


_ADDRESS: Final[dict[str, Callable[[State, Due, dict[str, Any]], dict[str, Any]]]] = {
    "ask": _as_due_question,
    "be heard": _as_speech,
    "speak": _as_speech,
    "answer": _as_answer,
    "draft the bill": _as_draft,
}
