"""When time is up or somebody failed: what the policy writes, and how an operator lets a session
go on (3.3, A-59).

Nothing happens by itself: these are the entries and marks that `tick`, `resume` and `close` write
when someone runs them, and those of a run whose participant gave no usable answer (G-01).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from moot.core.clock import Millis
from moot.core.errors import Refused
from moot.core.failed_answer import FailedAnswer, find_failed_answer
from moot.core.names import SYSTEM
from moot.protocols.debate.checker import CheckedSession
from moot.protocols.debate.course import RESUME_KEY, Course
from moot.protocols.debate.drafts import EntryDraft
from moot.protocols.debate.model import DebateEntry, Escalation, OddityKind, Rules, TurnOrder
from moot.protocols.debate.turns import find_standing
from moot.protocols.debate.views import find_deadlock_policy, require_course
from moot.protocols.debate.writer import (
    THE_OPERATOR,
    draft_deadlock_action,
    draft_default_action,
    draft_placeholder,
    draft_skip_by_person,
    drop_open_entry,
    format_time,
    is_exactly,
    require_no_errors,
)

# The person who skipped a turn: a name, or `the operator`.
_SKIPPED: Final = re.compile(rf"Skipped by ({THE_OPERATOR}|[\w.-]{{1,99}})\.\Z")
PolicyDraft = Callable[[Rules, str, FailedAnswer | None], EntryDraft]
POLICY_ENTRIES: Final[dict[Escalation, PolicyDraft]] = {
    Escalation.TIMEOUT_SKIP: draft_placeholder,
    Escalation.DEFAULT_ACTION: draft_default_action,
}


def is_written_by_policy(entry: DebateEntry, rules: Rules) -> bool:
    """True if it is exactly what the policy writes.

    BNC-144: else an agent could pass off its own entry as the machine's. A reason in it is one of a
    closed set, with numbers only.
    """
    failure = find_failed_answer(entry.field_value("summary"))
    drafts = [write(rules, entry.author, failure) for write in POLICY_ENTRIES.values()]
    if entry.author == SYSTEM:
        drafts.append(draft_deadlock_action(rules))
    skipped = _SKIPPED.search(entry.field_value("summary"))
    if skipped is not None:
        drafts.append(draft_skip_by_person(rules, entry.author, skipped[1]))
    return any(is_exactly(entry, draft) for draft in drafts)


def tells_failed_turn(entry: DebateEntry, rules: Rules) -> bool:
    """True if it is exactly what this session's policy writes for an agent that has failed."""
    failure, write = (
        find_failed_answer(entry.field_value("summary")),
        POLICY_ENTRIES.get(rules.escalation),
    )
    return (
        failure is not None
        and write is not None
        and is_exactly(entry, write(rules, entry.author, failure))
    )


def find_silent_agents(course: Course) -> tuple[str, ...]:
    """Return the agents that the session waits for: the next speaker, or in free-form all that
    have not spoken."""
    due = find_standing(course).due
    running = course.running_round
    if course.rules.turn_order is not TurnOrder.FREE_FORM or running is None:
        return due[:1]
    return tuple(agent for agent in due if not running.count_entries_of(agent))


def draft_overdue_entries(checked: CheckedSession, now: Millis) -> tuple[EntryDraft, ...]:
    """BNC-095, BNC-168: the entries that the policy writes now, if time is up and it writes any.

    BNC-138: after a deadlock the default action is summed up by `system` (7.4, A-30).

    An agent with an open entry is silent like any other, and comes first; but the policy does not
    remove an entry that was begun out of turn. Under the `human` policy nothing is written: the
    session waits until that person acts (BNC-051).
    """
    course = require_course(checked)
    if find_deadlock_policy(checked) is Escalation.DEFAULT_ACTION:
        return (draft_deadlock_action(course.rules),)
    here = find_standing(course, now)
    write = POLICY_ENTRIES.get(course.rules.escalation)
    if not here.timed_out or write is None:
        return ()
    names = find_silent_agents(course)
    if here.open_entry is not None and here.open_entry.has_head:
        if here.open_entry.author not in names:
            return ()
        names = (
            here.open_entry.author,
            *(name for name in names if name != here.open_entry.author),
        )
    return tuple(write(course.rules, agent, None) for agent in names)


def draft_failed_turn(
    checked: CheckedSession, agent: str, failure: FailedAnswer
) -> EntryDraft | None:
    """Return the entry for an agent that has certainly failed, before its time is up (G-01).

    3.3: the policy also applies when the session cannot progress. None if the session does not wait
    for this agent, if there is an open entry, or if a person must act (BNC-051).
    """
    course = require_course(checked)
    write = POLICY_ENTRIES.get(course.rules.escalation)
    waits = not course.phase.has_ended and agent in find_silent_agents(course)
    if write is None or not waits or course.open_entry is not None:
        return None
    return write(course.rules, agent, failure)


def draft_skipped_turn(
    checked: CheckedSession, now: Millis, person: str | None = None
) -> tuple[CheckedSession, EntryDraft]:
    """Return the file without an open entry, and the placeholder that skips the silent agent."""
    _require_waiting(checked, now)
    course = require_course(checked)
    silent = find_silent_agents(course)[0]
    draft = draft_skip_by_person(course.rules, silent, person or THE_OPERATOR)
    return drop_open_entry(checked), draft


def make_resumption_mark(checked: CheckedSession, now: Millis) -> tuple[CheckedSession, str]:
    """Return the file without an open entry, and the mark that gives the late agent its time
    again."""
    _require_waiting(checked, now)
    checked = drop_open_entry(checked)
    text = checked.document.text
    gap = "\n" if text.endswith("\n") else "\n\n"
    mark = f"{gap}<!-- {RESUME_KEY}: {format_time(now)} -->\n"
    crlf = any(oddity.kind is OddityKind.CRLF for oddity in checked.document.oddities)
    return checked, mark.replace("\n", "\r\n") if crlf else mark


def _require_waiting(checked: CheckedSession, now: Millis) -> None:
    here = find_standing(require_course(checked), now)
    require_no_errors(checked)
    if not here.timed_out:
        decides = find_deadlock_policy(checked) is Escalation.HUMAN
        raise Refused(
            "nothing_to_resume",
            f"the session is not waiting for an entry ({here.phase.value})",
            hint="`moot debate close FILE --reason ...` says what the operator decided"
            if decides
            else "`moot debate status FILE` says whose turn it is",
        )
