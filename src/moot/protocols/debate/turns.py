"""Whose turn it is, where the next entry stands, and until when (R13 to R15, A-17 to A-23).

`course.py` says what happened; this says what follows from it at a moment. The answer is the same
for a bare file and for a recorded session, and nothing here is written anywhere.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import msgspec

from moot.core.clock import SECOND, Millis
from moot.protocols.debate.course import Course, find_named_next
from moot.protocols.debate.model import DebateEntry, Escalation, TurnOrder
from moot.protocols.debate.phases import Happening, Phase, phase_after


class DebateStanding(msgspec.Struct, frozen=True):
    """A session at a moment: its phase, the place of the next entry, whose turn it is.

    `due` are those whose turn it is, `may_speak` those who may write now: nobody while an entry is
    open or the session waits for a person, the supervisor too once a named agent is late.
    """

    phase: Phase
    round: int
    turn: int
    due: tuple[str, ...]
    may_speak: tuple[str, ...]
    deadline: Millis | None
    timed_out: bool
    open_entry: DebateEntry | None

    @property
    def next_speaker(self) -> str | None:
        """Whose turn it is, where only one is meant and no entry is being written."""
        return self.due[0] if len(self.due) == 1 and self.open_entry is None else None


def find_standing(course: Course, now: Millis | None = None) -> DebateStanding:
    """Where the session stands. Without a time nothing is late.

    BNC-074, BNC-075: while an entry is open or in progress nobody may speak. BNC-051: nor may
    anyone while a person is waited for.
    """
    round_, turn = find_current_place(course)
    if course.phase.has_ended:
        return DebateStanding(course.phase, round_, turn, (), (), None, False, course.open_entry)
    # BNC-095, BNC-145: the last second still counts; only what comes after it is late.
    deadline = course.turn_began + course.rules.turn_timeout * SECOND
    late = now is not None and now > deadline
    waits = late and course.rules.escalation is Escalation.HUMAN
    phase = phase_after(course.phase, Happening.TIMED_OUT) if waits else course.phase
    due = SPEAKERS[course.rules.turn_order](course)
    speakers = () if course.open_entry is not None or waits else due
    if late and speakers and course.rules.turn_order is TurnOrder.SUPERVISED:
        # when the named agent is silent, the supervisor may go on.
        speakers = tuple(dict.fromkeys((*speakers, course.rules.supervisor)))
    return DebateStanding(phase, round_, turn, due, speakers, deadline, late, course.open_entry)


def find_current_place(course: Course) -> tuple[int, int]:
    """Round and turn of the next entry; of the last one, if the session has ended."""
    if course.phase.has_ended and course.rounds:
        return course.rounds[-1].number, course.rounds[-1].last_turn
    return find_next_place(course)


def find_next_place(course: Course) -> tuple[int, int]:
    """Round and turn of another entry. BNC-015: in each round turns count from 1."""
    if not course.rounds:
        return 1, 1
    latest = course.rounds[-1]
    return (latest.number + 1, 1) if latest.complete else (latest.number, latest.last_turn + 1)


def may_begin_round(course: Course, author: str, number: int) -> bool:
    """A-21: the supervisor may leave a round unfinished and begin the next one."""
    rules, running = course.rules, course.running_round
    is_supervisor = rules.turn_order is TurnOrder.SUPERVISED and author == rules.supervisor
    is_next = running is not None and number == running.number + 1
    return is_supervisor and is_next and number <= rules.max_rounds


def _next_in_list(course: Course) -> tuple[str, ...]:
    """BNC-039: the last speaker while it has turns left, then the next in the list (A-22)."""
    rules, running = course.rules, course.running_round
    if running is None:
        return (rules.agents[0],)
    place = rules.agents.index(running.entries[-1].author)
    later = rules.agents[place:]  # a round goes on while the last of them has a turn left
    most = rules.max_turns_per_round
    return (next(agent for agent in later if running.count_entries_of(agent) < most),)


def _anyone_with_turns(course: Course) -> tuple[str, ...]:
    """BNC-040: in free-form everyone who has a turn left in the round."""
    running, most = course.running_round, course.rules.max_turns_per_round
    if running is None:
        return course.rules.agents
    return tuple(agent for agent in course.rules.agents if running.count_entries_of(agent) < most)


def _named_or_supervisor(course: Course) -> tuple[str, ...]:
    """BNC-117: whom the latest entry names; the supervisor if nobody, or if that one is through."""
    rules, running = course.rules, course.running_round
    name, _ = find_named_next(course.last_entry, rules)
    if name is None or name == rules.supervisor:
        return (rules.supervisor,)
    is_through = running is not None and running.count_entries_of(name) >= rules.max_turns_per_round
    return (rules.supervisor if is_through else name,)


SPEAKERS: Final[dict[TurnOrder, Callable[[Course], tuple[str, ...]]]] = {
    TurnOrder.ROUND_ROBIN: _next_in_list,
    TurnOrder.FREE_FORM: _anyone_with_turns,
    TurnOrder.SUPERVISED: _named_or_supervisor,
}
