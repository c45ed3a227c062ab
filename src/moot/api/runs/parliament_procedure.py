"""Act as the speaker and the clerk of a parliament in a run, by the rules of procedure.

The session's agenda says what is due. Each row of `_MOVES` lists what they do about it, tried in
order until one is allowed. They are neutral: seats come first, a vote is called as soon as the
rules allow it, and a round ends when no seat is left to be heard.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, NamedTuple

import msgspec

from moot.agents.brief import schema_of
from moot.api.parliaments.session import ParliamentSession, finish, make_seed
from moot.core.errors import Refused
from moot.core.machine import Command, Due
from moot.core.names import SYSTEM
from moot.protocols.parliament import motives, round_clock, votes
from moot.protocols.parliament.commands import Begin, ChooseDrafter, CountVotes, Incorporate, Submit
from moot.protocols.parliament.messages import contents
from moot.protocols.parliament.messages.contents import (
    AmendmentAction,
    BillSection,
    Kind,
    MotionType,
    RulingAction,
    RulingType,
    Stance,
)
from moot.protocols.parliament.model import Seat, State
from moot.protocols.parliament.turns import CLERK, PRIME_MINISTER, SPEAKER

MAX_MOVES: Final = 1_000
INCORPORATE: Final = "incorporate"
MOTION: Final = "rule on a motion"
BE_HEARD: Final = "be heard"
Move = Callable[[ParliamentSession, Due], object]


def conduct_procedure(session: ParliamentSession) -> None:
    """Do all that is due from the speaker and the clerk, until a seat or a person must act."""
    for _ in range(MAX_MOVES):
        if not any(_make_move(session, due) for due in _list_official_dues(session)):
            return


def _list_official_dues(session: ParliamentSession) -> Iterable[Due]:
    """Yield what is due from the clerk, and from the speaker if no seat must act first."""
    dues = list_dues(session)
    at_once = (INCORPORATE, MOTION)
    yield from (due for due in dues if due.who == CLERK or due.what in at_once)
    if not list_seat_dues(session):
        yield from (due for due in dues if due.who == SPEAKER)


def list_dues(session: ParliamentSession) -> tuple[Due, ...]:
    return tuple(due for _, due in session.workspace.engine.agenda([session.stream]))


def list_seat_dues(session: ParliamentSession) -> list[Due]:
    """Return what is due from seats; missing positions on amendments come before speeches."""
    officials = (CLERK, SPEAKER, PRIME_MINISTER)
    open_dues = (due for due in list_dues(session) if due.who not in officials)
    dues = [due for due in open_dues if due.what != INCORPORATE]
    first_heard = next((place for place, due in enumerate(dues) if due.what == BE_HEARD), len(dues))
    return [*dues[:first_heard], *_list_missing_positions(session.state), *dues[first_heard:]]


def list_amendments_to_word(session: ParliamentSession) -> list[Due]:
    """Return supported amendments whose wording only the drafter can write."""
    state, bill = session.state, session.state.bill
    if bill is None:
        return []
    dues = [due for due in list_dues(session) if due.what == INCORPORATE and due.who != CLERK]
    amendments = [(due, state.amendments.get(due.subject.partition(":")[0])) for due in dues]
    return [
        due
        for due, amendment in amendments
        if amendment is not None and votes.apply_amendment(bill, amendment) is None
    ]


def _list_missing_positions(state: State) -> Iterator[Due]:
    """Yield questions in which an amendment's proposer asks seats for their position.

    The drafter is asked first, one seat at a time, and each other seat at most once.
    """
    if not state.round.running or round_clock.all_questions_asked(state):
        return
    discussed = [question.amendments for question in state.round.questions.values()]
    waiting = {question.asked for question in state.round.questions.values()}
    for amendment in state.pending_amendments():
        carried = votes.is_carried(amendment, state.drafter)
        if carried or votes.is_opposed(amendment):
            continue
        if any(amendment.amendment_id in amendments for amendments in discussed):
            continue
        asker = state.seats[amendment.proposed_by]
        silent = waiting | {asker.id} | {row.agent_id for row in amendment.endorsements}
        others = [
            seat
            for seat in sorted(state.seats_in_order(), key=lambda seat: seat.id != state.drafter)
            if _is_able(seat) and seat.id not in silent
        ]
        if others and _is_able(asker) and amendment.exchanges < len(state.order) - 1:
            subject = f"{asker.id} asks {others[0].id} about {amendment.amendment_id}"
            yield Due(who=asker.agent, what="ask", subject=subject)


def _is_able(seat: Seat) -> bool:
    return not seat.expelled and not seat.is_quiet


def _make_move(session: ParliamentSession, due: Due) -> bool:
    for move in _MOVES.get(due.what, ()):
        try:
            move(session, due)
        except Refused:
            continue
        return True
    return False


def give_ruling(
    session: ParliamentSession, kind: RulingType, action: RulingAction, why: str, seat: str | None
) -> None:
    """Submit one ruling of the speaker."""
    content = {"ruling_type": kind.value, "ruling": why, "target": seat, "action": action.value}
    document: dict[str, Any] = {"type": "SPEAKER_RULING", "from": "speaker", "content": content}
    session.execute(Submit(document=document, seed=make_seed()), SYSTEM, "speaker")


def silence_seat(session: ParliamentSession, seat: str, why: str) -> None:
    give_ruling(session, RulingType.ORDER, RulingAction.QUIET, why, seat)


def _as_clerk(make: Callable[[Due], Command]) -> Move:
    return lambda session, due: session.execute(make(due), SYSTEM)


def _as_speaker(kind: RulingType, action: RulingAction, why: str) -> Move:
    return lambda session, _due: give_ruling(session, kind, action, why, None)


def _answer_motion(session: ParliamentSession, due: Due) -> None:
    """Answer a motion; one that the end of the round settles is left open (`kept`)."""
    motion = session.state.round.motions[due.subject.partition(":")[0]]
    may_vote = motion.type is MotionType.CALL_VOTE and motives.may_vote(session.state)
    if may_vote or motion.type not in _REPLIES:
        raise Refused("kept", "this happens automatically when the round ends", hint="wait")
    kind, action, why = _REPLIES[motion.type]
    give_ruling(session, kind, action, why, motion.mover)


_ORDER: Final = (RulingType.ORDER, RulingAction.REDIRECT)
_FLOOR: Final = (RulingType.PROCEDURE, RulingAction.NEXT_SPEAKER)
_REPLIES: Final = {
    MotionType.CALL_VOTE: (*_ORDER, "No vote yet: a motive is below 3 or not scored."),
    MotionType.REQUEST_AMENDMENT: (*_FLOOR, "Propose the amendment when you are heard."),
    MotionType.REQUEST_COMPROMISE: (*_FLOOR, "Say what you would agree to when you are heard."),
    MotionType.POINT_OF_ORDER: (*_ORDER, "Noted. The rules of the session decide."),
}
_START: Final = _as_speaker(RulingType.PROCEDURE, RulingAction.ROUND_START, "The round begins.")
_END: Final = _as_speaker(RulingType.PROCEDURE, RulingAction.ROUND_END, "The round is over.")
_CALL_VOTE: Final = _as_speaker(
    RulingType.ORDER, RulingAction.CALL_VOTE, "The question is put to the vote."
)
_CHOOSE: Final = (_as_clerk(lambda _due: ChooseDrafter()),)
_MOVES: Final[dict[str, tuple[Move, ...]]] = {
    "begin the session": (_as_clerk(lambda _due: Begin()),),
    "choose the drafter": _CHOOSE,
    "choose another drafter": _CHOOSE,
    INCORPORATE: (_as_clerk(lambda due: Incorporate(amendment_id=due.subject.partition(":")[0])),),
    MOTION: (_answer_motion,),
    "start the round": (_START,),
    "start a round or call a vote": (_CALL_VOTE, _START),
    "call the vote": (_CALL_VOTE,),
    "call a vote or end the round": (_CALL_VOTE, _END),
    "give the floor or end the round": (_END,),
    "count the votes": (_as_clerk(lambda _due: CountVotes()),),
    "write the final document": (lambda session, _due: finish(session),),
}


# What a seat of a parliament is asked for: the shape of each reply, and its task.


class BillReply(msgspec.Struct, forbid_unknown_fields=True):
    """A version of the bill."""

    title: str
    summary: str
    sections: contents.Sections


class AmendmentReply(msgspec.Struct, forbid_unknown_fields=True):
    """A change of one section of the bill."""

    target_section: BillSection
    action: AmendmentAction
    description: str
    rationale: str
    proposed_text: str


class OptionalParts(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """The optional parts of every reply in a round."""

    motion: contents.Motion | None = None
    amendment: AmendmentReply | None = None


class QuestionReply(OptionalParts, forbid_unknown_fields=True):
    """A question to the seat that `ask` names."""

    question: str
    motive_context: str
    to: str = ""
    topic: str = ""


class SpeechReply(OptionalParts, forbid_unknown_fields=True):
    """A question to another seat, an amendment, or both."""

    to: str = ""
    topic: str = ""
    question: str = ""
    motive_context: str = ""


class AnswerReply(OptionalParts, forbid_unknown_fields=True):
    """An answer, with a position where it is about an amendment."""

    answer: str
    concessions: str
    stance: Stance
    motive_scores: dict[str, int]
    amendment_position: contents.AmendmentPosition | None = None


class ReplyRequest(NamedTuple):
    """What a due step asks for: the kind of message, its shape, and the task."""

    kind: Kind
    shape: type[msgspec.Struct]
    task: str


# For these an amendment without a question is enough.
SPEECHES: Final = ("be heard", "speak")
_LENGTH: Final = " Keep every text within the number of sentences that `response_budget` names."
_OPTIONAL: Final = (
    " You may add an `amendment` if the bill should say something else (which section, what is "
    "done to it, the text itself; a removal quotes the text to be removed), and a `motion` to the "
    "speaker; leave out both if there is no need."
)
_SPEAK: Final = ReplyRequest(
    Kind.QUESTION,
    SpeechReply,
    "It is your turn to be heard. Ask one other seat a question that serves what you stand for, "
    "or only propose an amendment." + _OPTIONAL + _LENGTH,
)
REPLY_REQUESTS: Final[dict[str, ReplyRequest]] = {
    "make an opening statement": ReplyRequest(
        Kind.OPENING_STATEMENT,
        contents.OpeningStatement,
        "Make your opening statement on the problem: what you know, and which direction you would "
        "take, from the point of view of your motives. The approach has three to five sentences.",
    ),
    "draft the bill": ReplyRequest(
        Kind.BILL_DRAFT,
        BillReply,
        "You draft the bill. Write its first version from the problem and the opening statements, "
        "so that it serves every motive as far as it can.",
    ),
    INCORPORATE: ReplyRequest(
        Kind.BILL_DRAFT,
        BillReply,
        "You keep the bill. The amendment that `amendment` names has its support: write the whole "
        "bill again with it worked into its section, and leave every other section as it is.",
    ),
    "answer": ReplyRequest(
        Kind.ANSWER,
        AnswerReply,
        "Answer the question quoted last. Say what you concede, your stance, and score from 1 to "
        "5 how well the bill serves each of your own motives. If the question is about a pending "
        "amendment, endorse it, oppose it or abstain in `amendment_position`."
        + _OPTIONAL
        + _LENGTH,
    ),
    "ask": ReplyRequest(
        Kind.QUESTION,
        QuestionReply,
        "Ask the seat that `ask` names about what it names, a motive or an amendment, so that it "
        "serves what you stand for." + _OPTIONAL + _LENGTH,
    ),
    "be heard": _SPEAK,
    "speak": _SPEAK,
    "vote": ReplyRequest(
        Kind.VOTE,
        contents.Vote,
        "Vote YES or NO on the bill, with your reasons and a score from 1 to 5 for each of your "
        "own motives. A NO names the conditions under which you would agree.",
    ),
}
SCHEMAS: Final = {what: schema_of(request.shape) for what, request in REPLY_REQUESTS.items()}
