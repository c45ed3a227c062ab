"""The speaker and the clerk of a parliament that runs by itself: procedure, and nothing else.

What waits for them is read off the session's own agenda; each line of the table is what they do
about it, tried in order until one is allowed. They favour nobody: seats come first, a vote is
called as soon as the rules allow one, and a round ends when nobody is left to be heard.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

from moot.core.errors import Refused
from moot.core.machine import Command, Due
from moot.core.names import SYSTEM
from moot.flows.chamber import Room, finish, fresh_seed
from moot.parliament import commands as ask
from moot.parliament.turns import CLERK, PRIME_MINISTER, SPEAKER
from moot.parliament.words import RulingAction, RulingType

MOST_MOVES: Final = 1_000
INCORPORATE: Final = "incorporate"
Move = Callable[[Room, Due], None]


def conduct(room: Room) -> None:
    """Everything that is due from the speaker and the clerk, until a seat or a person must act."""
    for _ in range(MOST_MOVES):
        if not any(_move(room, due) for due in _ours(room)):
            return


def _ours(room: Room) -> Iterable[Due]:
    """The clerk's business at any time; the speaker's once no seat is waited for."""
    dues = agenda(room)
    waited = [due for due in dues if _is_seats(due)]
    yield from (due for due in dues if due.who == CLERK or due.what == INCORPORATE)
    if not waited:
        yield from (due for due in dues if due.who == SPEAKER)


def agenda(room: Room) -> tuple[Due, ...]:
    return tuple(due for _, due in room.space.engine.agenda([room.stream]))


def _is_seats(due: Due) -> bool:
    return due.who not in (CLERK, SPEAKER, PRIME_MINISTER) and due.what != INCORPORATE


def seats_dues(room: Room) -> list[Due]:
    return [due for due in agenda(room) if _is_seats(due)]


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


_CHOOSE: Final = (_clerk(lambda _due: ask.ChooseDrafter()),)
_MOVES: Final[dict[str, tuple[Move, ...]]] = {
    "begin the session": (_clerk(lambda _due: ask.Begin()),),
    "choose the drafter": _CHOOSE,
    "choose another drafter": _CHOOSE,
    INCORPORATE: (_clerk(lambda due: ask.Incorporate(amendment_id=due.subject.partition(":")[0])),),
    "start the round": (_start,),
    "start a round or call a vote": (_vote, _start),
    "call the vote": (_vote,),
    "call a vote or end the round": (_vote, _end),
    "give the floor or end the round": (_end,),
    "count the votes": (_clerk(lambda _due: ask.CountVotes()),),
    "write the final document": (_finish,),
}
