"""Whose turn it is, where the next entry stands, and until when (R13 to R15, A-17 to A-23).

`course.py` says what happened; this module says whose turn that makes it at a given time. The
answer is the same for a bare file and for a recorded session. Nothing here writes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

import msgspec

from moot.core.clock import SECOND, Millis
from moot.core.findings import Finding, HintWords, Rule, check_all
from moot.protocols.debate.course import Course, find_named_next
from moot.protocols.debate.model import (
    SPEAKERS_AFTER_END,
    DebateEntry,
    Escalation,
    Rules,
    TurnOrder,
)
from moot.protocols.debate.phases import Happening, Phase, phase_after


class DebateStanding(msgspec.Struct, frozen=True):
    """A session at a given time: its phase, the place of the next entry, whose turn it is.

    `due` are the agents whose turn it is, `may_speak` those that may write now: none while an entry
    is open or the session waits for a person; also the supervisor once a named agent is late.
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
        """Whose turn it is, if it is only one agent's and no entry is open."""
        return self.due[0] if len(self.due) == 1 and self.open_entry is None else None


def find_standing(course: Course, now: Millis | None = None) -> DebateStanding:
    """Return whose turn it is. Without a time nothing is late.

    BNC-074, BNC-075: while an entry is open or in progress no agent may speak. BNC-051: nor while
    the session waits for a person.
    """
    round_, turn = find_current_place(course)
    if course.phase.has_ended:
        return DebateStanding(course.phase, round_, turn, (), (), None, False, course.open_entry)
    # BNC-095, BNC-145: an entry in the last second is not late.
    deadline = course.turn_began + course.rules.turn_timeout * SECOND
    late = now is not None and now > deadline
    waits = late and course.rules.escalation is Escalation.HUMAN
    phase = phase_after(course.phase, Happening.TIMED_OUT) if waits else course.phase
    due = SPEAKERS[course.rules.turn_order](course)
    speakers = () if course.open_entry is not None or waits else due
    if late and speakers and course.rules.turn_order is TurnOrder.SUPERVISED:
        # when the named agent is silent, the supervisor may continue.
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
    """BNC-117: the agent that the latest entry names; else, or without turns, the supervisor."""
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


# Who may append an entry now (R6, R12 to R18, A-63): the rows that forbid it.
#
# These do not judge existing files. They are checked before an entry is written or recorded; the
# first code with a breach is the refusal's. Its findings have the codes that `check` would report
# for the entry (D-06).

Breaches = Iterator[tuple[str, str, None, HintWords]]
_AUTHOR: Final = "author"


class SpeakingRequest(msgspec.Struct, frozen=True):
    """An author wants to speak; with `even_after_end`, even after the end."""

    author: str
    rules: Rules
    here: DebateStanding
    even_after_end: bool = False

    @property
    def is_listed(self) -> bool:
        return self.author in self.rules.agents

    @property
    def is_agent_in_running_session(self) -> bool:
        """One of the agents, in a session that goes on."""
        return self.is_listed and not self.here.phase.has_ended

    @property
    def expected_speakers(self) -> tuple[str, ...]:
        """The agents that may speak now, or else those whose turn is next."""
        return self.here.may_speak or self.here.due

    def is_out_of_turn(self, order: TurnOrder) -> bool:
        return (
            self.is_agent_in_running_session
            and self.rules.turn_order is order
            and self.author not in self.expected_speakers
        )


def may_rewrite(open_: DebateEntry, author: str) -> bool:
    """A-34: true for the author of the open entry, and for all if it has no author yet."""
    return open_.author == author or not open_.has_head


def _not_listed(wish: SpeakingRequest) -> Breaches:
    if not wish.is_listed and wish.author not in SPEAKERS_AFTER_END:
        yield f"{wish.author} is not one of the agents", _AUTHOR, None, _agents(wish)


def _clerk_before_the_end(wish: SpeakingRequest) -> Breaches:
    if not wish.is_listed and wish.author in SPEAKERS_AFTER_END and not wish.here.phase.has_ended:
        yield f"{wish.author} may speak only after the end", _AUTHOR, None, _agents(wish)


def _agents(wish: SpeakingRequest) -> HintWords:
    return {"AGENTS": ",".join(wish.rules.agents)}


def _no_round_left(wish: SpeakingRequest) -> Breaches:
    if wish.is_listed and wish.here.phase is Phase.MAX_ROUNDS:
        yield _ended(wish), _AUTHOR, None, {}


def _after_the_end(wish: SpeakingRequest) -> Breaches:
    over = wish.here.phase.has_ended and wish.here.phase is not Phase.MAX_ROUNDS
    if wish.is_listed and over and not wish.even_after_end:
        yield _ended(wish), _AUTHOR, None, {}


def _ended(wish: SpeakingRequest) -> str:
    return f"the session has ended ({wish.here.phase.value})"


def _anothers_entry_open(wish: SpeakingRequest) -> Breaches:
    open_, free = wish.here.open_entry, wish.rules.turn_order is TurnOrder.FREE_FORM
    if (
        wish.is_agent_in_running_session
        and open_ is not None
        and not free
        and not may_rewrite(open_, wish.author)
    ):
        yield f"{open_.author} has not yielded its entry", _AUTHOR, None, {}


def _before_its_turn(wish: SpeakingRequest) -> Breaches:
    if wish.is_out_of_turn(TurnOrder.ROUND_ROBIN):
        yield _not_now(wish)


def _not_named(wish: SpeakingRequest) -> Breaches:
    if wish.is_out_of_turn(TurnOrder.SUPERVISED):
        yield _not_now(wish)


def _turns_used_up(wish: SpeakingRequest) -> Breaches:
    if wish.is_out_of_turn(TurnOrder.FREE_FORM):
        yield _not_now(wish)


def _not_now(wish: SpeakingRequest) -> tuple[str, str, None, HintWords]:
    return (
        f"it is not {wish.author}'s turn",
        _AUTHOR,
        None,
        {"NEXT": ",".join(wish.expected_speakers)},
    )


def _waiting_for_operator(wish: SpeakingRequest) -> Breaches:
    if wish.is_agent_in_running_session and wish.here.phase is Phase.WAITING_HUMAN:
        yield "the turn timed out; the session waits for its operator", _AUTHOR, None, {}


_OPERATOR: Final = "the operator lets it go on: `moot debate resume FILE --late`, or --skip"
SPEAKING_RULES: Final[dict[str, tuple[Rule[SpeakingRequest], ...]]] = {
    "unknown_agent": (
        Rule("R12", "UNKNOWN_AGENT", "only listed agents take part", _not_listed,
             "the agents are AGENTS", requirement="BNC-114"),
        Rule("R18", "UNKNOWN_AGENT", "judge and system speak after the end only",
             _clerk_before_the_end, "the agents are AGENTS", requirement=("BNC-125", "BNC-170")),
    ),
    "session_ended": (
        Rule("R17", "max_rounds", "the last round is a hard limit", _no_round_left,
             "begin a new session", requirement="BNC-054"),
        Rule("R18", "after_end", "after the end an agent speaks only if it insists", _after_the_end,
             "--after-end if you must", requirement="BNC-124"),
    ),
    "entry_open": (
        Rule("R6", "entry_open", "no agent writes while another's entry is open",
             _anothers_entry_open, "wait for its <!-- yield -->",
             requirement=("BNC-094", "BNC-103")),
    ),
    "wrong_speaker": (
        Rule("R13", "OUT_OF_ORDER_TURN", "in round-robin the listed order holds", _before_its_turn,
             "next: NEXT", requirement="BNC-115"),
        Rule("R14", "OUT_OF_ORDER_TURN", "under a supervisor only the named agent speaks",
             _not_named, "next: NEXT", requirement="BNC-117"),
        Rule("3.3", "max_turns", "in a round everyone has max-turns-per-round", _turns_used_up,
             "next: NEXT", requirement="BNC-042"),
    ),
    "waiting_human": (
        Rule("3.3", "waiting_human", "a late agent waits for the operator",
             _waiting_for_operator, _OPERATOR, requirement="BNC-051"),
    ),
}  # fmt: skip


class SpeakingObstacle(msgspec.Struct, frozen=True):
    """Why an author may not speak: the refusal's code, and the breaches."""

    code: str
    findings: tuple[Finding, ...]


def find_obstacle(
    course: Course, author: str, now: Millis, even_after_end: bool = False
) -> SpeakingObstacle | None:
    """Return what forbids this author to append an entry now, if anything does."""
    wish = SpeakingRequest(author, course.rules, find_standing(course, now), even_after_end)
    for code, rules in SPEAKING_RULES.items():
        breaches = check_all(rules, wish)
        if breaches:
            return SpeakingObstacle(code, breaches)
    return None
