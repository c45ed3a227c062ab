"""A parliament for the runner: seats state, draft, ask, answer and vote; the rest is procedure."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

import msgspec

from moot.agents.brief import Brief, schema_of
from moot.agents.budget import Spent
from moot.agents.desk import Passed
from moot.agents.outcome import Ended, Ending, Outcome
from moot.agents.quoting import Quote, Trust
from moot.agents.repeats import Said
from moot.core.errors import Refused
from moot.core.machine import Due
from moot.core.names import OPERATOR, SYSTEM
from moot.flows import chamber
from moot.flows.books import Books
from moot.flows.speaking import agenda, conduct, quiet, seats_dues
from moot.parliament import clock, contents, motives
from moot.parliament import commands as ask
from moot.parliament.messages import Message, as_document
from moot.parliament.model import Seat, State
from moot.parliament.turns import PRIME_MINISTER
from moot.parliament.words import Kind, Status

MOST_SAID: Final = 80
UNREADABLE: Final = "not_json"
# It spoke, and what it said is no message: the protocol counts that. Silence is no offence.
OFFENCES: Final = frozenset({Ending.MALFORMED, Ending.REFUSED, Ending.TOO_LONG})


class BillReply(msgspec.Struct, forbid_unknown_fields=True):
    """The first version of the bill."""

    title: str
    summary: str
    sections: contents.Sections


class QuestionReply(msgspec.Struct, forbid_unknown_fields=True):
    """A question to one other seat."""

    to: str
    topic: str
    question: str
    motive_context: str


class Wanted(NamedTuple):
    """What a due asks for: the kind of message, its shape, and the task in words."""

    kind: Kind
    shape: type[msgspec.Struct]
    task: str


_BOUND: Final = " Keep every text within the number of sentences that `response_budget` names."
_ASK: Final = Wanted(
    Kind.QUESTION,
    QuestionReply,
    "Ask one other seat a question that serves what you stand for. If `ask` names a seat and a "
    "motive, ask that seat about that motive." + _BOUND,
)
WANTED: Final[dict[str, Wanted]] = {
    "make an opening statement": Wanted(
        Kind.OPENING_STATEMENT,
        contents.OpeningStatement,
        "Make your opening statement on the problem: what you know, and which direction you would "
        "take, from the point of view of your motives. The approach has three to five sentences.",
    ),
    "draft the bill": Wanted(
        Kind.BILL_DRAFT,
        BillReply,
        "You draft the bill. Write its first version from the problem and the opening statements, "
        "so that it serves every motive as far as it can.",
    ),
    "answer": Wanted(
        Kind.ANSWER,
        contents.Answer,
        "Answer the question quoted last. Say what you concede, your stance, and score from 1 to "
        "5 how well the bill serves each of your own motives." + _BOUND,
    ),
    "ask": _ASK,
    "be heard": _ASK,
    "speak": _ASK,
    "vote": Wanted(
        Kind.VOTE,
        contents.Vote,
        "Vote YES or NO on the bill, with your reasons and a score from 1 to 5 for each of your "
        "own motives. A NO names the conditions under which you would agree.",
    ),
}
_SCHEMAS: Final = {wanted.kind: schema_of(wanted.shape) for wanted in WANTED.values()}
TOGETHER: Final = frozenset({Kind.OPENING_STATEMENT, Kind.VOTE})


class ParliamentDesk:
    def __init__(self, room: chamber.Room, books: Books) -> None:
        self._room = room
        self._books = books

    def advance(self) -> None:
        conduct(self._room)

    def dues(self) -> Sequence[Due]:
        """What a seat can answer; for the rest a person is waited for."""
        found = [due for due in seats_dues(self._room) if due.what in WANTED]
        waits = [due for due in agenda(self._room) if due.command is None]
        return found or [msgspec.structs.replace(due, who=_person(due)) for due in waits]

    def together(self, due: Due) -> bool:
        return WANTED[due.what].kind in TOGETHER

    # What a seat is told --------------------------------------------------------------------------

    def brief(self, due: Due) -> Brief:
        state, wanted = self._room.state, WANTED[due.what]
        seat = _seat_of(state, due)
        said = self._room.proceedings().messages
        mine = [one for one in said if one.sender == seat.id and one.type is wanted.kind]
        return Brief(
            agent=due.who,
            role=f"{seat.id}, a representative in a parliament that is recorded",
            what=wanted.kind.value.lower(),
            task=wanted.task,
            schema=_SCHEMAS[wanted.kind],
            view=_view(state, seat),
            quotes=(*_matter(state), *_said(state, said, due)),
            number=len(mine),
        )

    # What comes of it -----------------------------------------------------------------------------

    def submit(self, due: Due, said: dict[str, Any]) -> None:
        state, wanted = self._room.state, WANTED[due.what]
        document = {
            "type": wanted.kind.value,
            "from": _seat_of(state, due).id,
            **_ADDRESS.get(wanted.kind, _plain)(state, due, dict(said)),
        }
        data = json.dumps(document).encode()
        chamber.submit(self._room, data, due.who, lambda needed, _person: needed or due.who)

    def pass_over(self, due: Due, ending: Ending, detail: str) -> Passed:
        """An offence counts as the protocol counts it; whoever is merely silent is not expelled."""
        wanted, seat = WANTED.get(due.what), None
        if wanted is not None:
            seat = _seat_of(self._room.state, due)
        if wanted is None or seat is None:
            return Passed.NEVER
        if ending in OFFENCES:
            return self._reported(due, ending)
        if wanted.kind is Kind.VOTE:
            self._room.run(ask.CloseBallot(), SYSTEM, "speaker")
            return Passed.DONE
        if wanted.kind is Kind.QUESTION:
            quiet(self._room, seat.id, f"{seat.id} is not heard this round: {ending.value}.")
            return Passed.DONE
        del detail
        return Passed.NEVER

    def _reported(self, due: Due, ending: Ending) -> Passed:
        """Two malformed replies expel a seat; what the chamber counted itself counts."""
        for _ in range(2):
            if due not in self.dues():
                break
            try:
                self._room.run(ask.ReportUnreadable(problem=ending.value), due.who)
            except Refused as error:  # a reply that cannot be read is refused, and counted
                if error.code != UNREADABLE:
                    raise
        return Passed.DONE if due not in self.dues() else Passed.NEVER

    def history(self) -> Sequence[Said]:
        """A parliament bounds its own exchanges and rounds: nobody can go in circles."""
        return ()

    def standing(self) -> dict[str, Any]:
        state = self._room.state
        bill = state.bill.version if state.bill is not None else 0
        return {"state": str(state.status), "round": state.round.number, "bill": bill}

    def spent(self) -> Spent:
        return self._books.spent()

    def note(self, outcome: Outcome) -> None:
        self._books.note(outcome)

    def ended(self, ended: Ended) -> None:
        self._books.ended(ended)


def _person(due: Due) -> str:
    return due.who if due.who == PRIME_MINISTER else OPERATOR


def _seat_of(state: State, due: Due) -> Seat:
    return next(seat for seat in state.in_order() if seat.agent == due.who)


def _view(state: State, seat: Seat) -> dict[str, Any]:
    """Facts only: names of seats and motives were given by whoever convened the session."""
    found: dict[str, Any] = {
        "phase": str(state.status),
        "round": state.round.number,
        "of_rounds": state.max_rounds,
        "you": seat.id,
        "motives": dict(seat.satisfaction()),
        "seats": {
            one.id: list(one.motives)
            for one in state.in_order()
            if not one.expelled and not one.is_quiet
        },
        "bill_version": state.bill.version if state.bill is not None else 0,
    }
    if state.status is Status.DEBATE:
        found["response_budget"] = clock.budget(state)
        mine = [one for one in motives.suggestions(state) if one.asker == seat.id]
        found |= {"ask": {"seat": mine[0].asked, "motive": mine[0].motive}} if mine else {}
    return found


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


def _said(state: State, messages: Sequence[Message], due: Due) -> list[Quote]:
    """What was said, to a bound; for an answer, the question that is asked comes last."""
    question = _question(state, due)
    latest = [one for one in messages if one.type is not Kind.SPEAKER_RULING][-MOST_SAID:]
    asked = [one for one in messages if question is not None and one.id == question.id]
    rest = [one for one in latest if one not in asked]
    return [_quoted(state, one) for one in (*rest, *asked)]


def _quoted(state: State, message: Message) -> Quote:
    seat = state.seats.get(message.sender)
    to = f" to {message.to}" if message.to else ""
    return Quote(
        author=message.sender if seat is None else f"{message.sender} ({seat.agent})",
        trust=Trust.SYSTEM if seat is None else Trust.AGENT,
        place=f"{message.id}, {message.type.value}{to}, round {message.round}",
        text=json.dumps(as_document(message)["content"], ensure_ascii=False),
    )


def _question(state: State, due: Due) -> Any:
    """The open question that this due is about."""
    words = due.subject.split()
    known = (state.round.questions.get(word) for word in words[1:2])
    return next(known, None) if due.what == "answer" else None


# How a reply becomes a message ------------------------------------------------------------------


def _plain(_state: State, _due: Due, said: dict[str, Any]) -> dict[str, Any]:
    return {"content": said}


def _asked(_state: State, _due: Due, said: dict[str, Any]) -> dict[str, Any]:
    return {"to": said.pop("to", None), "content": said}


def _answered(state: State, due: Due, said: dict[str, Any]) -> dict[str, Any]:
    question = _question(state, due)
    reply = {"to": question.asker, "in_reply_to": question.id} if question is not None else {}
    return {**reply, "content": said}


def _drafted(_state: State, _due: Due, said: dict[str, Any]) -> dict[str, Any]:
    return {"content": {"bill_version": 1, **said}}


_ADDRESS: Final[dict[Kind, Callable[[State, Due, dict[str, Any]], dict[str, Any]]]] = {
    Kind.QUESTION: _asked,
    Kind.ANSWER: _answered,
    Kind.BILL_DRAFT: _drafted,
}
