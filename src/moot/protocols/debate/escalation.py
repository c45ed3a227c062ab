"""When time is up: what the policy writes, and how an operator lets a session go on (3.3, A-59).

Nothing happens by itself: these are the entries and marks that `tick`, `resume` and `close` write
when someone runs them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from moot.core.clock import Millis
from moot.core.errors import Refused
from moot.protocols.debate.checker import Checked
from moot.protocols.debate.course import RESUME, Course
from moot.protocols.debate.drafts import Draft
from moot.protocols.debate.model import Entry, Escalation, Odd, Rules, TurnOrder
from moot.protocols.debate.turns import standing
from moot.protocols.debate.views import course_of
from moot.protocols.debate.writer import (
    default_action,
    placeholder,
    require_no_errors,
    says,
    stamp,
    without_open,
)

ENTRIES: Final[dict[Escalation, Callable[[Rules, str], Draft]]] = {
    Escalation.TIMEOUT_SKIP: placeholder,
    Escalation.DEFAULT_ACTION: default_action,
}


def is_the_policys(entry: Entry, rules: Rules) -> bool:
    """Does it say what the policy writes, to the letter, and so nothing of its own?

    BNC-144: else an agent could pass off its own words as the machine's.
    """
    return any(says(entry, write(rules, entry.author)) for write in ENTRIES.values())


def silent(course: Course) -> tuple[str, ...]:
    """Whose silence holds the session up: the one to speak, or in free-form all who have not."""
    due = standing(course).due
    running = course.running
    if course.rules.turn_order is not TurnOrder.FREE_FORM or running is None:
        return due[:1]
    return tuple(agent for agent in due if not running.count(agent))


def overdue(checked: Checked, now: Millis) -> tuple[Draft, ...]:
    """BNC-095, BNC-168: the entries that the policy writes now, if time is up and it writes any.

    Whoever began an entry and never yielded it is silent like any other, and comes first; but what
    someone began out of turn is not the policy's to remove. Under the `human` policy nothing is
    written: the session waits until that person acts (BNC-051).
    """
    course = course_of(checked)
    here = standing(course, now)
    write = ENTRIES.get(course.rules.escalation)
    if not here.timed_out or write is None:
        return ()
    names = silent(course)
    if here.open is not None and here.open.has_head:
        if here.open.author not in names:
            return ()
        names = (here.open.author, *(name for name in names if name != here.open.author))
    return tuple(write(course.rules, agent) for agent in names)


def skipped(checked: Checked, now: Millis) -> tuple[Checked, Draft]:
    """The placeholder with which an operator passes over the silent agent, and what it follows."""
    _require_waiting(checked, now)
    course = course_of(checked)
    return without_open(checked), placeholder(course.rules, silent(course)[0])


def resumption(checked: Checked, now: Millis) -> tuple[Checked, str]:
    """The mark with which an operator gives the late agent its time again, and what it follows."""
    _require_waiting(checked, now)
    checked = without_open(checked)
    text = checked.document.text
    gap = "\n" if text.endswith("\n") else "\n\n"
    mark = f"{gap}<!-- {RESUME}: {stamp(now)} -->\n"
    crlf = any(oddity.kind is Odd.CRLF for oddity in checked.document.odd)
    return checked, mark.replace("\n", "\r\n") if crlf else mark


def _require_waiting(checked: Checked, now: Millis) -> None:
    here = standing(course_of(checked), now)
    require_no_errors(checked)
    if not here.timed_out:
        raise Refused(
            "nothing_to_resume",
            f"the session is not waiting for anyone ({here.phase.value})",
            hint="`moot debate status FILE` says whose turn it is",
        )
