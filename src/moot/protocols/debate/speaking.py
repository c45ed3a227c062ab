"""Who may append an entry now (R6, R12 to R18, A-63): the rows that forbid it.

A file is never judged by these: what stands in it, stands. They are asked before an entry is
written or recorded, and the first code with a breach is the refusal's. Its findings have the codes
that `check` would use if the entry stood there (D-06).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import msgspec

from moot.core.clock import Millis
from moot.core.findings import Finding, Known, Rule, check_all
from moot.protocols.debate.course import Course
from moot.protocols.debate.model import CLERKS, Entry, Rules, TurnOrder
from moot.protocols.debate.phases import Phase
from moot.protocols.debate.turns import Standing, standing

Breaches = Iterator[tuple[str, str, None, Known]]
_AUTHOR: Final = "author"


class Wish(msgspec.Struct, frozen=True):
    """Someone wants to speak; `insists` even after the end."""

    author: str
    rules: Rules
    here: Standing
    insists: bool = False

    @property
    def listed(self) -> bool:
        return self.author in self.rules.agents

    @property
    def in_time(self) -> bool:
        """One of the agents, in a session that goes on."""
        return self.listed and not self.here.phase.ended

    @property
    def meant(self) -> tuple[str, ...]:
        """Who may speak now, or whose turn it is as soon as nothing is in the way."""
        return self.here.may_speak or self.here.due

    def out_of_turn(self, order: TurnOrder) -> bool:
        return self.in_time and self.rules.turn_order is order and self.author not in self.meant


def is_own(open_: Entry, author: str) -> bool:
    """A-34: an open entry is its author's; one that broke off before its author was named is
    for whoever's turn it is."""
    return open_.author == author or not open_.has_head


def _not_listed(wish: Wish) -> Breaches:
    if not wish.listed and wish.author not in CLERKS:
        yield f"{wish.author} is not one of the agents", _AUTHOR, None, _agents(wish)


def _clerk_before_the_end(wish: Wish) -> Breaches:
    if not wish.listed and wish.author in CLERKS and not wish.here.phase.ended:
        yield f"{wish.author} may speak only after the end", _AUTHOR, None, _agents(wish)


def _agents(wish: Wish) -> Known:
    return {"AGENTS": ",".join(wish.rules.agents)}


def _no_round_left(wish: Wish) -> Breaches:
    if wish.listed and wish.here.phase is Phase.MAX_ROUNDS:
        yield _ended(wish), _AUTHOR, None, {}


def _after_the_end(wish: Wish) -> Breaches:
    over = wish.here.phase.ended and wish.here.phase is not Phase.MAX_ROUNDS
    if wish.listed and over and not wish.insists:
        yield _ended(wish), _AUTHOR, None, {}


def _ended(wish: Wish) -> str:
    return f"the session has ended ({wish.here.phase.value})"


def _anothers_entry_open(wish: Wish) -> Breaches:
    open_, free = wish.here.open, wish.rules.turn_order is TurnOrder.FREE_FORM
    if wish.in_time and open_ is not None and not free and not is_own(open_, wish.author):
        yield f"{open_.author} has not yielded its entry", _AUTHOR, None, {}


def _before_its_turn(wish: Wish) -> Breaches:
    if wish.out_of_turn(TurnOrder.ROUND_ROBIN):
        yield _not_now(wish)


def _not_named(wish: Wish) -> Breaches:
    if wish.out_of_turn(TurnOrder.SUPERVISED):
        yield _not_now(wish)


def _turns_used_up(wish: Wish) -> Breaches:
    if wish.out_of_turn(TurnOrder.FREE_FORM):
        yield _not_now(wish)


def _not_now(wish: Wish) -> tuple[str, str, None, Known]:
    return f"it is not {wish.author}'s turn", _AUTHOR, None, {"NEXT": ",".join(wish.meant)}


def _person_waited_for(wish: Wish) -> Breaches:
    if wish.in_time and wish.here.phase is Phase.WAITING_HUMAN:
        yield "the turn timed out; the session waits for its operator", _AUTHOR, None, {}


_OPERATOR: Final = "the operator lets it go on: `moot debate resume FILE --late`, or --skip"
MAY_SPEAK: Final[dict[str, tuple[Rule[Wish], ...]]] = {
    "unknown_agent": (
        Rule("R12", "UNKNOWN_AGENT", "only listed agents take part", _not_listed,
             "the agents are AGENTS", requirement="BNC-114"),
        Rule("R18", "UNKNOWN_AGENT", "judge and system speak after the end only",
             _clerk_before_the_end, "the agents are AGENTS", requirement=("BNC-125", "BNC-170")),
    ),
    "session_ended": (
        Rule("R17", "max_rounds", "the last round is a hard limit", _no_round_left,
             "begin a new session", requirement="BNC-054"),
        Rule("R18", "after_end", "after the end nobody speaks who does not insist", _after_the_end,
             "--after-end if you must", requirement="BNC-124"),
    ),
    "entry_open": (
        Rule("R6", "entry_open", "nobody writes while another's entry is open",
             _anothers_entry_open, "wait for its <!-- yield -->",
             requirement=("BNC-094", "BNC-103")),
    ),
    "wrong_speaker": (
        Rule("R13", "OUT_OF_ORDER_TURN", "in round-robin the listed order holds", _before_its_turn,
             "next: NEXT", requirement="BNC-115"),
        Rule("R14", "OUT_OF_ORDER_TURN", "under a supervisor only whoever was named speaks",
             _not_named, "next: NEXT", requirement="BNC-117"),
        Rule("3.3", "max_turns", "in a round everyone has max-turns-per-round", _turns_used_up,
             "next: NEXT", requirement="BNC-042"),
    ),
    "waiting_human": (
        Rule("3.3", "waiting_human", "whoever is late waits for the operator", _person_waited_for,
             _OPERATOR, requirement="BNC-051"),
    ),
}  # fmt: skip


class Forbidden(msgspec.Struct, frozen=True):
    """Why someone may not speak: the refusal's code, and the breaches."""

    code: str
    findings: tuple[Finding, ...]


def forbidden(course: Course, author: str, now: Millis, insists: bool = False) -> Forbidden | None:
    """What forbids this author to append an entry now, if anything does."""
    wish = Wish(author, course.rules, standing(course, now), insists)
    for code, rules in MAY_SPEAK.items():
        breaches = check_all(rules, wish)
        if breaches:
            return Forbidden(code, breaches)
    return None
