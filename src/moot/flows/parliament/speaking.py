"""The speaker and the clerk of a parliament that runs by itself: procedure, and nothing else.

What waits for them is read off the session's own agenda; each line of the table is what they do
about it, tried in order until one is allowed. They favour nobody: seats come first, a vote is
called as soon as the rules allow one, and a round ends when nobody is left to be heard.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from moot.core.errors import Refused
from moot.core.machine import Command, Due
from moot.core.names import SYSTEM
from moot.flows.parliament.chamber import Room, finish, fresh_seed
from moot.protocols.parliament import amendments, clock, motives
from moot.protocols.parliament import commands as ask
from moot.protocols.parliament.messages.words import MotionType, RulingAction, RulingType
from moot.protocols.parliament.model import Seat, State
from moot.protocols.parliament.turns import CLERK, PRIME_MINISTER, SPEAKER

MOST_MOVES: Final = 1_000
INCORPORATE: Final = "incorporate"
MOTION: Final = "rule on a motion"
HEARD: Final = "be heard"
Move = Callable[[Room, Due], None]


def conduct(room: Room) -> None:
    """Everything that is due from the speaker and the clerk, until a seat or a person must act."""
    for _ in range(MOST_MOVES):
        if not any(_move(room, due) for due in _ours(room)):
            return


def _ours(room: Room) -> Iterable[Due]:
    """The clerk's business at any time; the speaker's once no seat is waited for."""
    dues = agenda(room)
    at_once = (INCORPORATE, MOTION)
    yield from (due for due in dues if due.who == CLERK or due.what in at_once)
    if not seats_dues(room):
        yield from (due for due in dues if due.who == SPEAKER)


def agenda(room: Room) -> tuple[Due, ...]:
    return tuple(due for _, due in room.space.engine.agenda([room.stream]))


def _is_seats(due: Due) -> bool:
    return due.who not in (CLERK, SPEAKER, PRIME_MINISTER) and due.what != INCORPORATE


def seats_dues(room: Room) -> list[Due]:
    """What seats are waited for; what an amendment still lacks is asked before anyone is heard."""
    found, wanted = [due for due in agenda(room) if _is_seats(due)], list(_positions(room.state))
    heard = next((place for place, due in enumerate(found) if due.what == HEARD), len(found))
    return [*found[:heard], *wanted, *found[heard:]]


def to_be_worded(room: Room) -> list[Due]:
    """Amendments that have their support and that only the drafter can put into words."""
    state = room.state
    found = [due for due in agenda(room) if due.what == INCORPORATE and due.who != CLERK]
    known = [(due, state.amendments.get(due.subject.partition(":")[0])) for due in found]
    bill = state.bill
    return [
        due
        for due, one in known
        if one is not None and bill is not None and amendments.apply_amendment(bill, one) is None
    ]


def _positions(state: State) -> Iterator[Due]:
    """An amendment lives by positions: its proposer asks for them, the drafter's first.

    As many questions as there are other seats, and one at a time; then it stays as it is.
    """
    if not state.round.running or clock.all_questions_asked(state):
        return
    asked = [one.amendments for one in state.round.questions.values()]
    waiting = {one.asked for one in state.round.questions.values()}
    for one in state.pending_amendments():
        settled = amendments.is_carried(one, state.drafter) or amendments.is_opposed(one)
        if settled or any(one.amendment_id in named for named in asked):
            continue
        asker, took = state.seats[one.proposed_by], {row.agent_id for row in one.endorsements}
        others = [
            seat
            for seat in sorted(state.seats_in_order(), key=lambda seat: seat.id != state.drafter)
            if _able(seat) and seat.id not in took and seat.id not in waiting | {asker.id}
        ]
        if others and _able(asker) and one.exchanges < len(state.order) - 1:
            subject = f"{asker.id} asks {others[0].id} about {one.amendment_id}"
            yield Due(who=asker.agent, what="ask", subject=subject)


def _able(seat: Seat) -> bool:
    return not seat.expelled and not seat.is_quiet


def _move(room: Room, due: Due) -> bool:
    for move in _MOVES.get(due.what, ()):
        try:
            move(room, due)
        except Refused:
            continue
        return True
    return False


def rule(room: Room, kind: RulingType, action: RulingAction, why: str, seat: str | None) -> None:
    """One ruling of the speaker."""
    content = {"ruling_type": kind.value, "ruling": why, "target": seat, "action": action.value}
    document: dict[str, Any] = {"type": "SPEAKER_RULING", "from": "speaker", "content": content}
    room.run(ask.Submit(document=document, seed=fresh_seed()), SYSTEM, "speaker")


def quiet(room: Room, seat: str, why: str) -> None:
    rule(room, RulingType.ORDER, RulingAction.QUIET, why, seat)


def _clerk(make: Callable[[Due], Command]) -> Move:
    def move(room: Room, due: Due) -> None:
        room.run(make(due), SYSTEM)

    return move


def _start(room: Room, _due: Due) -> None:
    rule(room, RulingType.PROCEDURE, RulingAction.ROUND_START, "The round begins.", None)


def _end(room: Room, _due: Due) -> None:
    rule(room, RulingType.PROCEDURE, RulingAction.ROUND_END, "The round is over.", None)


def _vote(room: Room, _due: Due) -> None:
    rule(room, RulingType.ORDER, RulingAction.CALL_VOTE, "The question is put to the vote.", None)


def _finish(room: Room, _due: Due) -> None:
    finish(room)


def _motion(room: Room, due: Due) -> None:
    """A request gets its answer; what is put off, and a vote that may be called, wait."""
    motion = room.state.round.motions[due.subject.partition(":")[0]]
    votable = motion.type is MotionType.CALL_VOTE and motives.may_vote(room.state)
    if votable or motion.type not in _REPLIES:
        raise Refused("kept", "its time comes with the end of the round", hint="wait")
    kind, action, why = _REPLIES[motion.type]
    rule(room, kind, action, why, motion.mover)


_ORDER: Final = (RulingType.ORDER, RulingAction.REDIRECT)
_FLOOR: Final = (RulingType.PROCEDURE, RulingAction.NEXT_SPEAKER)
_REPLIES: Final = {
    MotionType.CALL_VOTE: (*_ORDER, "No vote yet: a motive is below 3 or not scored."),
    MotionType.REQUEST_AMENDMENT: (*_FLOOR, "Propose the amendment when you are heard."),
    MotionType.REQUEST_COMPROMISE: (*_FLOOR, "Say what you would agree to when you are heard."),
    MotionType.POINT_OF_ORDER: (*_ORDER, "Noted. The rules of the session decide."),
}
_CHOOSE: Final = (_clerk(lambda _due: ask.ChooseDrafter()),)
_MOVES: Final[dict[str, tuple[Move, ...]]] = {
    "begin the session": (_clerk(lambda _due: ask.Begin()),),
    "choose the drafter": _CHOOSE,
    "choose another drafter": _CHOOSE,
    INCORPORATE: (_clerk(lambda due: ask.Incorporate(amendment_id=due.subject.partition(":")[0])),),
    MOTION: (_motion,),
    "start the round": (_start,),
    "start a round or call a vote": (_vote, _start),
    "call the vote": (_vote,),
    "call a vote or end the round": (_vote, _end),
    "give the floor or end the round": (_end,),
    "count the votes": (_clerk(lambda _due: ask.CountVotes()),),
    "write the final document": (_finish,),
}
