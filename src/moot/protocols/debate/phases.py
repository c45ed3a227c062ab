"""The automaton of a session (R16 to R18): what happened moves it from one phase to another.

    not-started --> active <--> entry-open --> waiting-human
                       \\            |             /
                        `--------> ended: consensus, deadlock, max-rounds, closed-by-operator

A session has no state outside its file: `course.py` finds out from the entries, in their order,
what happened, and the table gives the next phase. `turns.py` adds what depends on the time: that a
turn has timed out. Entries in an ended session change nothing; the checker reports them (R18).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import StrEnum, auto
from typing import Final

from moot.core.names import SYSTEM
from moot.protocols.debate.model import CommentMark, DebateEntry, EntryStatus, Rules


class Phase(StrEnum):
    NOT_STARTED = "not-started"  # BNC-064, BNC-119: no entry yet, and a session all the same
    ACTIVE = "active"
    ENTRY_OPEN = "entry-open"
    WAITING_HUMAN = "waiting-human"
    CONSENSUS = "ended:consensus"
    DEADLOCK = "ended:deadlock"
    MAX_ROUNDS = "ended:max-rounds"
    CLOSED = "ended:closed-by-operator"

    @property
    def has_ended(self) -> bool:
        return not TRANSITIONS[self]


class Happening(StrEnum):
    """`TIMED_OUT` is only for the policy that waits for a person (A-59)."""

    OPENED = auto()
    YIELDED = auto()
    TIMED_OUT = auto()
    RESUMED = auto()
    AGREED = auto()
    ALL_DEFERRED = auto()
    LAST_ROUND_OVER = auto()
    CLOSED = auto()


# R17; which of them a round brings is decided in `course.py`.
_ENDS = {
    Happening.AGREED: Phase.CONSENSUS,
    Happening.ALL_DEFERRED: Phase.DEADLOCK,
    Happening.LAST_ROUND_OVER: Phase.MAX_ROUNDS,
    Happening.CLOSED: Phase.CLOSED,
}
_GOES_ON = {
    Happening.OPENED: Phase.ENTRY_OPEN,
    Happening.YIELDED: Phase.ACTIVE,
    Happening.TIMED_OUT: Phase.WAITING_HUMAN,
}
TRANSITIONS: Final[dict[Phase, dict[Happening, Phase]]] = {
    Phase.NOT_STARTED: {**_GOES_ON, **_ENDS},
    Phase.ACTIVE: {**_GOES_ON, **_ENDS},
    Phase.ENTRY_OPEN: {**_GOES_ON, **_ENDS},
    Phase.WAITING_HUMAN: {**_GOES_ON, **_ENDS, Happening.RESUMED: Phase.ACTIVE},
    Phase.CONSENSUS: {},
    Phase.DEADLOCK: {},
    Phase.MAX_ROUNDS: {},
    Phase.CLOSED: {},
}


def phase_after(phase: Phase, happening: Happening) -> Phase:
    """Return where this leads; an ended session stays as it ended."""
    return TRANSITIONS[phase].get(happening, phase)


# Does an entry close its session? (R17, A-26)
#
# An ordinary entry may have the status `closed` too, so an entry closes a session only in one of
# two ways. Either a listed person says that the session ends, in words or in a `session-end`
# comment; whole sentences count, at the beginning of the body or as its last line, so that an
# argument about sessions ends none. Or `moot debate close` wrote it for an operator who is not a
# person in the file: then an `operator-close` mark is right above it. Only below such a mark may
# `system`, which is not a listed agent, sum up a session (R12, R18).

CLOSE_KEY: Final = "operator-close"
_COMMENT = re.compile(r"<!-- session-end: [^\n]*-->")
_EMPHASIS: Final = " \t#*_"

_SUBJECT = r"(?:(?:the|this|our) )?(?:bounce )?(?:session|debate|discussion)"
_NOW = r"(?: (?:now|here|hereby|herewith|officially|today|at this point|with this))*"
_BY = r"(?: by (?:me|us|hand|(?:the |its )?(?:human )?(?:operator|chair|moderator|supervisor)))?"
_OVER = "closed|ended|over|finished|concluded|completed?|adjourned|terminated|done|at an end"
_DOING = "closing|ending|concluding|stopping|finishing|terminating"
_SENTENCES = (
    # Session closed. The session is now over. This debate has been ended by the operator.
    rf"{_SUBJECT}(?: is| was| has been| has)?{_NOW} (?:{_OVER}){_BY}{_NOW}",
    # The session ends here. This session closes now.
    rf"{_SUBJECT}{_NOW} (?:ends|closes|stops|concludes|finishes|is ending|is closing){_NOW}",
    # I am closing this session. We hereby end the debate. I declare this session closed.
    rf"(?:i|we)(?: am|['’]m| are|['’]re){_NOW} (?:{_DOING}) {_SUBJECT}{_NOW}",
    rf"(?:i|we){_NOW} (?:close|end|stop|conclude|finish) {_SUBJECT}{_NOW}",
    rf"(?:i|we){_NOW} declare {_SUBJECT} (?:{_OVER}){_NOW}",
    # Closing the session. Ending this debate here.
    rf"(?:hereby )?(?:{_DOING}) {_SUBJECT}{_NOW}",
    # End of session. Session end. This concludes the session.
    rf"(?:the )?end of {_SUBJECT}",
    r"(?:session|debate) (?:end|close|closure)",
    rf"(?:this|that) (?:ends|closes|concludes) {_SUBJECT}{_NOW}",
)
# A sentence ends here, or what follows is the reason: `Session closed: we ship.`
_STOP = r"(?=\s*(?:\Z|[.!;:]+(?:[\s*_`]|\Z)|\s[-–—]+\s|—))"
_CLOSING_SENTENCE = re.compile(rf"(?:{'|'.join(_SENTENCES)}){_STOP}", re.IGNORECASE)


def is_person(name: str, rules: Rules) -> bool:
    """True for a listed participant that the file itself knows as a person."""
    return name in rules.agents and (name.startswith("human") or name in rules.people)


def list_people(rules: Rules) -> tuple[str, ...]:
    return tuple(name for name in rules.agents if is_person(name, rules))


def is_closing_entry(entry: DebateEntry, rules: Rules, marked: bool = False) -> bool:
    """BNC-122: true if an operator ended the session; an ordinary `closed` entry does not.

    `marked`: an `operator-close` mark is right above it. Without a mark only a person's entry
    counts, else any agent could end a debate that it is about to lose; also that of `system`, for
    older files without marks, but such an entry is reported (R12).
    """
    if entry.status != EntryStatus.CLOSED or not entry.yielded:
        return False
    if marked:
        return entry.author in rules.agents or entry.author == SYSTEM
    is_believed = is_person(entry.author, rules) or entry.author == SYSTEM
    return is_believed and says_session_end(entry.body)


def find_marked_entries(marks: Iterable[CommentMark]) -> frozenset[int]:
    """Return the indexes of the entries right below an `operator-close` mark."""
    nearest = {mark.after: mark.key for mark in marks}
    return frozenset(index for index, key in nearest.items() if key == CLOSE_KEY)


def says_session_end(body: str) -> bool:
    """True if a body says, in a comment or in ordinary English words, that the session ends."""
    if _COMMENT.search(body):
        return True
    plain = (re.sub(r"\s+", " ", line.strip(_EMPHASIS)) for line in body.splitlines())
    lines = [line for line in plain if line and not line.startswith("<!--")]
    if not lines:
        return False
    if _CLOSING_SENTENCE.match(lines[0]):
        return True
    last = _CLOSING_SENTENCE.match(lines[-1])
    return last is not None and not lines[-1][last.end() :].strip(" .!*_`")
