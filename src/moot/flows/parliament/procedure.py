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
from moot.flows.parliament.parliament_session import ParliamentSession, finish, make_seed
from moot.protocols.parliament import amendments, clock, motives
from moot.protocols.parliament import commands as ask
from moot.protocols.parliament.messages.words import MotionType, RulingAction, RulingType
from moot.protocols.parliament.model import Seat, State
from moot.protocols.parliament.turns import CLERK, PRIME_MINISTER, SPEAKER

MOST_MOVES: Final = 1_000
INCORPORATE: Final = "incorporate"
MOTION: Final = "rule on a motion"
HEARD: Final = "be heard"
Move = Callable[[ParliamentSession, Due], None]


def conduct_procedure(session: ParliamentSession) -> None:
    """Do all that is due from the speaker and the clerk, until a seat or a person must act."""
    for _ in range(MOST_MOVES):
        if not any(_make_move(session, due) for due in _list_official_dues(session)):
            return


def _list_official_dues(session: ParliamentSession) -> Iterable[Due]:
    """The clerk's business at any time; the speaker's once no seat is waited for."""
    dues = list_dues(session)
    at_once = (INCORPORATE, MOTION)
    yield from (due for due in dues if due.who == CLERK or due.what in at_once)
    if not list_seat_dues(session):
        yield from (due for due in dues if due.who == SPEAKER)


def list_dues(session: ParliamentSession) -> tuple[Due, ...]:
    return tuple(due for _, due in session.workspace.engine.agenda([session.stream]))


def _is_for_seat(due: Due) -> bool:
    return due.who not in (CLERK, SPEAKER, PRIME_MINISTER) and due.what != INCORPORATE


def list_seat_dues(session: ParliamentSession) -> list[Due]:
    """What seats are waited for; what an amendment still lacks is asked before anyone is heard."""
    dues = [due for due in list_dues(session) if _is_for_seat(due)]
    heard = next((place for place, due in enumerate(dues) if due.what == HEARD), len(dues))
    return [*dues[:heard], *_list_missing_positions(session.state), *dues[heard:]]


def list_amendments_to_word(session: ParliamentSession) -> list[Due]:
    """Amendments that have their support and that only the drafter can put into words."""
    state, bill = session.state, session.state.bill
    if bill is None:
        return []
    dues = [due for due in list_dues(session) if due.what == INCORPORATE and due.who != CLERK]
    named = [(due, state.amendments.get(due.subject.partition(":")[0])) for due in dues]
    return [
        due
        for due, amendment in named
        if amendment is not None and amendments.apply_amendment(bill, amendment) is None
    ]


def _list_missing_positions(state: State) -> Iterator[Due]:
    """An amendment needs positions: its proposer asks for them, the drafter's first.

    At most as many questions as there are other seats, and one at a time; then it stays as it is.
    """
    if not state.round.running or clock.all_questions_asked(state):
        return
    discussed = [question.amendments for question in state.round.questions.values()]
    waiting = {question.asked for question in state.round.questions.values()}
    for amendment in state.pending_amendments():
        carried = amendments.is_carried(amendment, state.drafter)
        if carried or amendments.is_opposed(amendment):
            continue
        if any(amendment.amendment_id in named for named in discussed):
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
    """One ruling of the speaker."""
    content = {"ruling_type": kind.value, "ruling": why, "target": seat, "action": action.value}
    document: dict[str, Any] = {"type": "SPEAKER_RULING", "from": "speaker", "content": content}
    session.execute(ask.Submit(document=document, seed=make_seed()), SYSTEM, "speaker")


def silence_seat(session: ParliamentSession, seat: str, why: str) -> None:
    give_ruling(session, RulingType.ORDER, RulingAction.QUIET, why, seat)


def _as_clerk(make: Callable[[Due], Command]) -> Move:
    def move(session: ParliamentSession, due: Due) -> None:
        session.execute(make(due), SYSTEM)

    return move


def _start_round(session: ParliamentSession, _due: Due) -> None:
    give_ruling(session, RulingType.PROCEDURE, RulingAction.ROUND_START, "The round begins.", None)


def _end_round(session: ParliamentSession, _due: Due) -> None:
    give_ruling(session, RulingType.PROCEDURE, RulingAction.ROUND_END, "The round is over.", None)


def _call_vote(session: ParliamentSession, _due: Due) -> None:
    give_ruling(
        session, RulingType.ORDER, RulingAction.CALL_VOTE, "The question is put to the vote.", None
    )


def _write_final(session: ParliamentSession, _due: Due) -> None:
    finish(session)


def _answer_motion(session: ParliamentSession, due: Due) -> None:
    """Answer a request; motions that are put off, and votes that may be called, wait."""
    motion = session.state.round.motions[due.subject.partition(":")[0]]
    may_vote = motion.type is MotionType.CALL_VOTE and motives.may_vote(session.state)
    if may_vote or motion.type not in _REPLIES:
        raise Refused("kept", "its time comes with the end of the round", hint="wait")
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
_CHOOSE: Final = (_as_clerk(lambda _due: ask.ChooseDrafter()),)
_MOVES: Final[dict[str, tuple[Move, ...]]] = {
    "begin the session": (_as_clerk(lambda _due: ask.Begin()),),
    "choose the drafter": _CHOOSE,
    "choose another drafter": _CHOOSE,
    INCORPORATE: (
        _as_clerk(lambda due: ask.Incorporate(amendment_id=due.subject.partition(":")[0])),
    ),
    MOTION: (_answer_motion,),
    "start the round": (_start_round,),
    "start a round or call a vote": (_call_vote, _start_round),
    "call the vote": (_call_vote,),
    "call a vote or end the round": (_call_vote, _end_round),
    "give the floor or end the round": (_end_round,),
    "count the votes": (_as_clerk(lambda _due: ask.CountVotes()),),
    "write the final document": (_write_final,),
}
