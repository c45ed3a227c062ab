"""A parliament for the runner: seats state, draft, ask, answer and vote; the rest is procedure."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from typing import Any, Final

import msgspec

from moot.agents.brief import Brief
from moot.agents.budget import Spent
from moot.agents.desk import Passed
from moot.agents.outcome import Ended, Ending, Outcome
from moot.agents.quoting import Quote, Trust
from moot.agents.repeats import Said
from moot.core.errors import Malformed, Refused
from moot.core.machine import Due
from moot.core.names import OPERATOR, SYSTEM
from moot.flows.parliament import chamber
from moot.flows.parliament.bills import merged
from moot.flows.parliament.speaking import agenda, conduct, quiet, seats_dues, to_be_worded
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
from moot.protocols.parliament.model import Amendment, Seat, State
from moot.protocols.parliament.turns import PRIME_MINISTER

MOST_SAID: Final = 80
UNREADABLE: Final = "not_json"
# It spoke, and what it said is no message: the protocol counts that. What the rules refuse is
# none of that (S-03).
OFFENCES: Final = frozenset({Ending.MALFORMED, Ending.TOO_LONG})
# The program itself failed: it is started again once, as the protocol has it. Where a provider or
# a person is missing, nobody can know what the seat would have said; it is waited for.
FAILURES: Final = frozenset({Ending.REFUSED, Ending.SILENT, Ending.TIMED_OUT, Ending.CRASHED})
TOGETHER: Final = frozenset({Kind.OPENING_STATEMENT, Kind.VOTE})


class ParliamentDesk:
    def __init__(self, room: chamber.Room, record: RunRecord) -> None:
        self._room = room
        self._record = record

    def advance(self) -> None:
        conduct(self._room)

    def dues(self) -> Sequence[Due]:
        """What a seat can answer; for the rest a person is waited for."""
        found = [*to_be_worded(self._room), *seats_dues(self._room)]
        found = [due for due in found if due.what in WANTED]
        waits = [due for due in agenda(self._room) if due.command is None]
        return found or [msgspec.structs.replace(due, who=_person(due)) for due in waits]

    def together(self, due: Due) -> bool:
        return WANTED[due.what].kind in TOGETHER

    # What a seat is told --------------------------------------------------------------------------

    def brief(self, due: Due) -> Brief:
        state, wanted = self._room.state, WANTED[due.what]
        seat = _seat_of(state, due)
        said = self._room.proceedings().messages
        kinds = (wanted.kind, Kind.AMENDMENT) if wanted.kind is Kind.QUESTION else (wanted.kind,)
        mine = [one for one in said if one.sender == seat.id and one.type in kinds]
        return Brief(
            agent=due.who,
            role=f"{seat.id}, a representative in a parliament that is recorded",
            what=wanted.kind.value.lower(),
            task=wanted.task,
            schema=SCHEMAS[due.what],
            view=_view(state, seat, due),
            quotes=(*_matter(state), *_said(state, said, due)),
            number=len(mine),
        )

    # What comes of it -----------------------------------------------------------------------------

    def submit(self, due: Due, said: dict[str, Any]) -> None:
        state, wanted = self._room.state, WANTED[due.what]
        said = {name: value for name, value in said.items() if value is not None}
        if due.what == INCORPORATE:
            draft = merged(state, said)
            command = ask.Incorporate(amendment_id=_amendment(due), draft=draft)
            self._room.run(command, due.who)
            return
        amendment = _amending(said.pop("amendment", None))
        # Its turn is taken with the first of the two: only that is asked for again.
        if amendment is None or due.what not in SPEECHES or said.get("question"):
            self._say(due, wanted.kind, _ADDRESS.get(due.what, _plain)(state, due, said))
        if amendment is not None:
            content = {"amendment_id": amendments.next_amendment_id(self._room.state), **amendment}
            self._say(due, Kind.AMENDMENT, {"content": content})

    def _say(self, due: Due, kind: Kind, rest: dict[str, Any]) -> None:
        """One message, under the key of its seat."""
        seat = _seat_of(self._room.state, due)
        data = json.dumps({"type": kind.value, "from": seat.id, **rest}).encode()
        chamber.submit(self._room, data, due.who, lambda needed, _person: needed or due.who)

    def pass_over(self, due: Due, ending: Ending, detail: str) -> Passed:
        """A seat that is not there is waited for; one that fails is asked again, then expelled.

        A vote or a word in the round is not waited for: the ballot is closed, the seat is quiet.
        """
        del detail
        wanted = WANTED.get(due.what)
        if wanted is None or due.what == INCORPORATE:
            return Passed.NEVER
        seat = _seat_of(self._room.state, due)
        if ending in OFFENCES:
            return self._reported(due, ending, times=2)
        if wanted.kind is Kind.VOTE:
            self._room.run(ask.CloseBallot(), SYSTEM, "speaker")
            return Passed.DONE
        if wanted.kind is Kind.QUESTION:
            quiet(self._room, seat.id, f"{seat.id} is not heard this round: {ending.value}.")
            return Passed.DONE
        return self._reported(due, ending, times=1) if ending in FAILURES else Passed.NEVER

    def _reported(self, due: Due, ending: Ending, times: int) -> Passed:
        """Two malformed replies expel a seat; what the chamber counted itself counts."""
        for _ in range(times):
            if due not in self.dues():
                break
            try:
                self._room.run(ask.ReportUnreadable(problem=ending.value), due.who)
            except Refused as error:  # a reply that cannot be read is refused, and counted
                if error.code != UNREADABLE:
                    raise
        return Passed.DONE if times == 1 or due not in self.dues() else Passed.NEVER

    def history(self) -> Sequence[Said]:
        """A parliament bounds its own exchanges and rounds: nobody can go in circles."""
        return ()

    def standing(self) -> dict[str, Any]:
        state = self._room.state
        bill = state.bill.version if state.bill is not None else 0
        return {"state": str(state.status), "round": state.round.number, "bill": bill}

    def spent(self) -> Spent:
        return self._record.spent()

    def note(self, outcome: Outcome) -> None:
        self._record.note(outcome)

    def ended(self, ended: Ended) -> None:
        self._record.ended(ended)


def _person(due: Due) -> str:
    return due.who if due.who == PRIME_MINISTER else OPERATOR


def _seat_of(state: State, due: Due) -> Seat:
    return next(seat for seat in state.seats_in_order() if seat.agent == due.who)


def _view(state: State, seat: Seat, due: Due) -> dict[str, Any]:
    """Facts only: names of seats and motives were given by whoever convened the session."""
    found: dict[str, Any] = {
        "phase": str(state.status),
        "round": state.round.number,
        "of_rounds": state.max_rounds,
        "you": seat.id,
        "motives": dict(seat.scores_by_motive()),
        "seats": {
            one.id: list(one.motives)
            for one in state.seats_in_order()
            if not one.expelled and not one.is_quiet
        },
        "bill_version": state.bill.version if state.bill is not None else 0,
    }
    if state.status is SessionStatus.DEBATE:
        found["response_budget"] = clock.sentence_budget(state)
        found["amendments"] = {
            one.amendment_id: _pending(one) for one in state.pending_amendments()
        }
    told = _SUGGESTED.fullmatch(due.subject) if due.what == "ask" else None
    found |= {"ask": {"seat": told[1], "motive": told[2]}} if told else {}
    found |= {"amendment": _amendment(due)} if due.what == INCORPORATE else {}
    return found


_SUGGESTED: Final = re.compile(r"\S+ asks (\S+) about (.*)", re.DOTALL)


def _pending(amendment: Amendment) -> dict[str, Any]:
    """Its words stand in its message, which is quoted."""
    return {
        "by": amendment.proposed_by,
        "section": amendment.target_section.value,
        "action": amendment.action.value,
        "positions": {row.agent_id: row.position.value for row in amendment.endorsements},
    }


def _amendment(due: Due) -> str:
    return due.subject.partition(":")[0]


def _matter(state: State) -> list[Quote]:
    """The problem, the bill as it stands, and the prime minister's guidance."""
    matter = [("the problem", Trust.MATERIAL, state.problem_statement)]
    matter += [("the issues", Trust.MATERIAL, "\n".join(state.constituent_issues))]
    if state.bill is not None:
        text = json.dumps(msgspec.to_builtins(state.bill), ensure_ascii=False, indent=1)
        matter.append((f"the bill, drafted by {state.drafter}", Trust.AGENT, text))
    if state.guidance:
        matter.append(("the prime minister", Trust.PERSON, state.guidance))
    return [Quote(author=who, trust=trust, text=text) for who, trust, text in matter]


def _said(state: State, messages: Sequence[LedgerMessage], due: Due) -> list[Quote]:
    """What was said, to a bound; for an answer, the question that is asked comes last."""
    question = _question(state, due)
    latest = [one for one in messages if one.type is not Kind.SPEAKER_RULING][-MOST_SAID:]
    asked = [one for one in messages if question is not None and one.id == question.id]
    rest = [one for one in latest if one not in asked]
    return [_quoted(state, one) for one in (*rest, *asked)]


def _quoted(state: State, message: LedgerMessage) -> Quote:
    seat = state.seats.get(message.sender)
    to = f" to {message.to}" if message.to else ""
    return Quote(
        author=message.sender if seat is None else f"{message.sender} ({seat.agent})",
        trust=Trust.SYSTEM if seat is None else Trust.AGENT,
        place=f"{message.id}, {message.type.value}{to}, round {message.round}",
        text=json.dumps(to_document(message)["content"], ensure_ascii=False),
    )


def _question(state: State, due: Due) -> Any:
    """The open question that this due is about."""
    words = due.subject.split()
    known = (state.round.questions.get(word) for word in words[1:2])
    return next(known, None) if due.what == "answer" else None


# How a reply becomes a message ------------------------------------------------------------------


def _plain(_state: State, _due: Due, said: dict[str, Any]) -> dict[str, Any]:
    return {"content": said}


def _asked(_state: State, due: Due, said: dict[str, Any]) -> dict[str, Any]:
    """A question that is due goes to the seat it is due to."""
    told = _SUGGESTED.fullmatch(due.subject)
    seat, topic = (told[1], told[2]) if told else ("", "")
    if said.get("to") not in (None, "", seat):
        raise Refused("other_seat", f"the question is due to {seat}", hint=f"ask {seat}")
    about = str(said.get("topic") or topic)
    said["topic"] = about if topic.casefold() in about.casefold() else f"{topic}: {about}"
    return _addressed({**said, "to": seat})


def _spoke(_state: State, _due: Due, said: dict[str, Any]) -> dict[str, Any]:
    return _addressed(said)


def _amending(said: Any) -> dict[str, Any] | None:
    """An amendment is judged before anything is said: both are said, or it is asked again."""
    if said is None:
        return None
    try:
        reply = msgspec.convert(said, AmendmentReply)
    except msgspec.ValidationError as error:
        why = f"amendment: {error}"
        raise Malformed(
            why, code="bad_reply", where="amendment", hint="follow the schema"
        ) from None
    data: dict[str, Any] = msgspec.to_builtins(reply)
    return data


def _answered(state: State, due: Due, said: dict[str, Any]) -> dict[str, Any]:
    question = _question(state, due)
    reply = {"to": question.asker, "in_reply_to": question.id} if question is not None else {}
    return {**_addressed(said), **reply}


def _addressed(said: dict[str, Any]) -> dict[str, Any]:
    """To whom, and what is moved, stand beside the content."""
    names = [name for name in ("to", "motion") if name in said]
    return {**{name: said.pop(name) for name in names}, "content": said}


def _drafted(_state: State, _due: Due, said: dict[str, Any]) -> dict[str, Any]:
    return {"content": {"bill_version": 1, **said}}


_ADDRESS: Final[dict[str, Callable[[State, Due, dict[str, Any]], dict[str, Any]]]] = {
    "ask": _asked,
    "be heard": _spoke,
    "speak": _spoke,
    "answer": _answered,
    "draft the bill": _drafted,
}
