"""Thread ids: a work id, `RS-{date}-{words}` for research, `COORD-{words}` for coordination.

One id names the thread, its artifact and the artifact's `session_id`.
"""

from __future__ import annotations

import re
from enum import StrEnum

from moot.core.errors import Malformed


class ThreadKind(StrEnum):
    WORK = "work"
    RESEARCH = "research"
    COORDINATION = "coordination"


MAX_ID_LENGTH = 120
# By how an id begins: what it must look like, the code if it does not, and an example.
_GRAMMARS: tuple[tuple[str, ThreadKind, re.Pattern[str], str, str], ...] = (
    (
        "RS-",
        ThreadKind.RESEARCH,
        re.compile(r"RS-[0-9]{8}-[a-z0-9-]{2,40}"),
        "invalid_rs_thread_id",
        "RS-20260218-cell-fate: a date, then 2 to 40 of a-z, 0-9 and hyphens",
    ),
    (
        "COORD-",
        ThreadKind.COORDINATION,
        re.compile(r"COORD-[a-z0-9-]{2,30}"),
        "invalid_coord_thread_id",
        "COORD-release-2: 2 to 30 of a-z, 0-9 and hyphens",
    ),
    (
        "",
        ThreadKind.WORK,
        re.compile(r"[a-z0-9_-]+(?:\.[a-z0-9_-]+)*"),
        "invalid_bead_id",
        "a work id such as brenner_bot-5so.3.4, or RS-{date}-{words}, or COORD-{words}",
    ),
)


def require_thread_kind(text: str) -> ThreadKind:
    """What kind of thread this id names, else Malformed with its own code."""
    for start, kind, grammar, code, example in _GRAMMARS:
        if text.upper().startswith(start):
            if len(text) <= MAX_ID_LENGTH and grammar.fullmatch(text):
                return kind
            raise Malformed(f"{text[:80]!r} is not a thread id", code=code, hint=example)
    raise AssertionError("the last row takes any id")


def require_thread_id(text: str) -> str:
    """The id that `text` names, in the case we write, else Malformed.

    The companion's own example has capitals that its pattern does not allow (D-27).
    """
    named = normalize_id(text)
    require_thread_kind(named)
    return named


def normalize_id(text: str) -> str:
    """The id of a thread or a message in the case we write, since no two differ in case only."""
    start = next(row[0] for row in _GRAMMARS if text.upper().startswith(row[0]))
    return start + text[len(start) :].lower()


def is_thread_id(text: str) -> bool:
    try:
        require_thread_kind(text)
    except Malformed:
        return False
    return True
