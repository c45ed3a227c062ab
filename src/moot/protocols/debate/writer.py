"""Session text and entry text: strict when writing, and always read back before it is given out.

Nothing here writes a file. `make_session_text` returns a whole file, `prepare_own_entry` the text
to append to one; both read and check their text first, so that only valid files are written and an
entry says exactly what its author gave (A-35, A-36, A-65). BNC-006: everything that is not for
people is in comments, which a rendered page does not show.
"""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from typing import Final

import msgspec

from moot.core.clock import Millis, to_text
from moot.core.errors import Refused
from moot.core.failed_answer import FailedAnswer
from moot.core.findings import Finding, select_errors
from moot.core.names import SYSTEM
from moot.protocols.debate.checker import CheckedSession, check_longer, check_session
from moot.protocols.debate.course import Course
from moot.protocols.debate.drafts import EntryDraft, find_flaws, is_unfit, tidy_draft
from moot.protocols.debate.entry_order import drop_doubles
from moot.protocols.debate.model import (
    TITLE_PREFIX,
    YIELD_MARKER,
    DebateEntry,
    EntryStatus,
    Escalation,
    OddityKind,
    Rules,
    TurnOrder,
    is_uuid,
)
from moot.protocols.debate.phases import CLOSE_KEY, is_person, list_people
from moot.protocols.debate.settings import (
    NAME_LIMIT,
    ODD_NAME_CODE,
    SETTING_READERS,
    is_usable_name,
    list_chosen_options,
)
from moot.protocols.debate.turns import (
    find_next_place,
    find_obstacle,
    find_standing,
    may_begin_round,
    may_rewrite,
)
from moot.protocols.debate.views import find_deadlock_policy, require_course


class Addition(msgspec.Struct, frozen=True):
    """The text to append, the place of the entry, and the file as it will be.

    `keep_chars` is how much of the old text stays: less than all of it if the author replaces its
    own unfinished entry (A-34).
    """

    text: str
    id: str
    round: int
    turn: int
    keep_chars: int
    checked_after: CheckedSession
    findings: tuple[Finding, ...] = ()


def format_time(moment: Millis) -> str:
    """Return a time as the document writes it: without a fraction where it has none."""
    return to_text(moment).replace(".000Z", "Z")


def _refuse(code: str, message: str, hint: str, findings: Iterable[Finding] = ()) -> Refused:
    return Refused(code, message, hint=hint, findings=findings)


# A new session -----------------------------------------------------------------------------------


def make_session_text(
    title: str, context: str, rules: Rules, session_id: str, created: Millis
) -> str:
    """Return the text of a session without entries; Refused if the arguments do not make one.

    BNC-063, BNC-164: with its context and all nine rules, and only if a check finds nothing in it.
    """
    context = context.replace("\r\n", "\n").strip("\n")
    if is_unfit(context) or is_unfit(title):
        raise _refuse("injected_structure", _UNFIT, _REWORD)
    unusable = [agent for agent in rules.agents if not is_usable_name(agent)]
    if unusable:
        message = f"{unusable[0]!r} cannot be an agent's name"
        raise _refuse("invalid_session", message, f"agents have {NAME_LIMIT}")
    text = "\n".join(
        (
            "<!-- bounce-protocol: 0.1 -->",
            f"<!-- created: {format_time(created)} -->",
            f"<!-- session-id: {session_id} -->",
            f"\n# {TITLE_PREFIX} {title.strip()}\n",
            "## Protocol Rules\n\n```yaml",
            *_settings_lines(rules),
            "```\n",
            *_options_lines(rules),
            f"## Context\n\n{context}\n\n## Dialogue\n",
        )
    )
    made = check_session(text)
    _require_valid(made)
    context_read = made.document.section_text("Context").strip("\n")
    read_back = (context_read, made.document.name, made.settings.rules)
    if read_back != (context, title.strip(), rules) or not _has_only_odd_names(made.findings):
        raise _refuse("injected_structure", "title or context would change the file", _REWORD,
                      made.findings)  # fmt: skip
    return text


def _has_only_odd_names(findings: Iterable[Finding]) -> bool:
    """A-14: true if all findings are about names in an odd form, which are only warned of."""
    return all(finding.code == ODD_NAME_CODE for finding in findings)


_UNFIT = "a marker of the protocol, or what is not UTF-8, may not stand here"
_REWORD = "no headings of level 1 or 2, no markers, every code block closed, one line of title"


def _settings_lines(rules: Rules) -> Iterable[str]:
    values = msgspec.structs.asdict(rules)
    yield "agents:"
    yield from (f"  - {agent}" for agent in rules.agents)
    for key in SETTING_READERS:
        if key != "agents":
            value = values[key.replace("-", "_")]
            yield f"{key}: {_decimal_text(value) if isinstance(value, Decimal) else value}"


def _options_lines(rules: Rules) -> Iterable[str]:
    """BNC-127: write the chosen options as comments (R19), with a blank line below."""
    chosen = [f"<!-- {key}: {value} -->" for key, value in list_chosen_options(rules).items()]
    return [*chosen, ""] if chosen else []


def _decimal_text(value: Decimal) -> str:
    text = f"{value:f}"
    return text if "." in text else f"{text}.0"


def _require_valid(made: CheckedSession) -> None:
    errors = select_errors(made.findings)
    if errors:
        raise _refuse("invalid_session", errors[0].message, errors[0].hint, errors)


# An entry ----------------------------------------------------------------------------------------


def make_entry_text(draft: EntryDraft, id_: str, at: str, turn: int, round_: int) -> str:
    """BNC-067, BNC-102: the entry as it stands in the file, its marker last (R5)."""
    fields = "".join(f"{name}: {value}\n" for name, value in draft.filled_fields())
    body = f"{draft.body}\n\n" if draft.body else ""
    return (
        f"<!-- entry: {id_} -->\n<!-- turn: {turn} round: {round_} -->\n"
        f"{at} [author: {draft.author}] [status: {draft.status.value}]\n"
        f"{fields}\n{body}{YIELD_MARKER}\n"
    )


def prepare_own_entry(
    checked: CheckedSession,
    draft: EntryDraft,
    id_: str,
    now: Millis,
    *,
    escape: bool = False,
    after_end: bool = False,
    round_number: int | None = None,
) -> Addition:
    """Prepare the text that makes this draft the next entry; Refused if a rule forbids it.

    BNC-165: its id is `id_`, its time `now`; turn and round follow from the file. With
    `round_number` a supervisor begins the next round before everyone has spoken (A-21).
    """
    course = require_course(checked)
    require_no_errors(checked)
    draft = tidy_draft(draft, escape)
    breaches = find_flaws(draft, course.rules)
    if breaches:
        raise _refuse("invalid_entry", breaches[0].message, breaches[0].hint, breaches)
    require_turn(course, draft.author, now, after_end)
    open_ = course.open_entry
    replaces_open = open_ is not None and may_rewrite(open_, draft.author) and is_uuid(open_.id)
    # replace the unfinished entry, and keep its id.
    id_ = open_.id if open_ and replaces_open else id_
    begins = _require_round(course, draft.author, round_number)
    return prepare_entry(checked, draft, id_, now, begins=begins)


def _require_round(course: Course, author: str, number: int | None) -> int | None:
    """Return the round that this entry begins early, or None; Refused for an impossible round."""
    here = find_next_place(course)[0]
    if number is None or number == here:
        return None
    if may_begin_round(course, author, number):
        return number
    rules = course.rules
    why = f"the next entry is in round {here}"
    if rules.turn_order is TurnOrder.SUPERVISED:
        why += f"; {rules.supervisor}, the supervisor, may begin the round after a running one"
    hint = f"leave --round out, or begin a new session: max-rounds is {rules.max_rounds}"
    raise _refuse("wrong_round", why, hint)


def require_no_errors(checked: CheckedSession) -> None:
    """Raise Refused for a file with errors; an unfinished entry is none."""
    if checked.has_blocking_errors:
        message = "the file has errors; nothing is appended to it"
        hint = "`moot debate check FILE` says what to fix"
        raise _refuse("invalid_session", message, hint, select_errors(checked.findings))


def prepare_entry(
    checked: CheckedSession,
    draft: EntryDraft,
    id_: str,
    now: Millis,
    mark: str = "",
    begins: int | None = None,
) -> Addition:
    """Prepare an entry without checking whose turn it is, as for the machine's own entries.

    `mark` is a comment above it; `begins` the round that it begins early.

    BNC-065, BNC-101: it is appended as a whole. It replaces an unfinished entry of its author
    (A-34) and an unfinished first line, which would swallow it.
    """
    open_ = require_course(checked).open_entry
    if open_ is not None and may_rewrite(open_, draft.author):
        checked = drop_open_entry(checked)
    course = require_course(checked)
    round_, turn = (begins, 1) if begins else _place_of_next(checked, course, draft.author)
    text = make_entry_text(draft, id_, format_time(now), turn, round_)
    text = _with_gap(checked, mark + text)
    made = check_longer(checked, text)
    _require_read_back(checked, made, draft)
    own_findings = tuple(finding for finding in made.findings if finding.where == id_)
    return Addition(text, id_, round_, turn, len(checked.document.text), made, own_findings)


def drop_open_entry(checked: CheckedSession) -> CheckedSession:
    """Return the file without the unfinished entry after its last yield marker, if any."""
    open_ = require_course(checked).open_entry
    if open_ is None:
        return checked
    return check_session(checked.document.byte_order_mark + checked.document.text[: open_.start])


def _place_of_next(checked: CheckedSession, course: Course, author: str) -> tuple[int, int]:
    """Return round and turn of the entry; A-27: a clerk's follows the last one in its round."""
    if author in course.rules.agents:
        return find_next_place(course)
    entries, _ = drop_doubles(checked.document)
    placed = [entry for entry in entries if entry.round and entry.turn]
    last = placed[-1] if placed else None
    return (last.round or 1, (last.turn or 0) + 1) if last else (1, 1)


def _with_gap(checked: CheckedSession, entry: str) -> str:
    """Return the entry with one blank line above, in the file's own line ends (A-38)."""
    text = checked.document.text
    gap = "" if text.endswith(("\n\n", "\r\n\r\n")) else "\n" if text.endswith("\n") else "\n\n"
    crlf = any(oddity.kind is OddityKind.CRLF for oddity in checked.document.oddities)
    return (gap + entry).replace("\n", "\r\n") if crlf else gap + entry


def _require_read_back(before: CheckedSession, made: CheckedSession, draft: EntryDraft) -> None:
    """Raise Refused unless the file reads as before, with exactly this entry more.

    A body could have text that a reader takes for a marker, a heading or another's entry. This
    finds what the checks on a draft overlook, before anything is written.
    """
    last = made.document.entries[-1] if made.document.entries else None
    one_more = len(made.document.entries) == len(before.document.entries) + 1
    still_valid = made.valid or not before.valid
    if last is None or not (one_more and last.yielded and still_valid):
        message = "the entry would change the file's structure"
        raise _refuse("injected_structure", message, _BODY, select_errors(made.findings))
    if not is_exactly(last, draft) or last.oddities:
        own_findings = tuple(finding for finding in made.findings if finding.where == last.id)
        message = "the entry would not be read as it was given"
        raise _refuse("injected_structure", message, _BODY, own_findings)


def is_exactly(entry: DebateEntry, draft: EntryDraft) -> bool:
    """True if this entry is exactly what the (tidied) draft says."""
    fields = tuple((field.name, field.value) for field in entry.fields)
    read = (entry.author, entry.body.replace("\r\n", "\n"), fields)
    return read == (draft.author, draft.body, tuple(draft.filled_fields()))


_BODY = "no headings of level 1 or 2 in the body, and every code block and comment closed"


def require_turn(course: Course, author: str, now: Millis, after_end: bool = False) -> None:
    """Raise Refused unless this author may append an entry now."""
    obstacle = find_obstacle(course, author, now, after_end)
    if obstacle is not None:
        first = obstacle.findings[0]
        raise _refuse(obstacle.code, first.message, first.hint, obstacle.findings)


# The machine's own entries -----------------------------------------------------------------------


def draft_placeholder(rules: Rules, agent: str, failure: FailedAnswer | None = None) -> EntryDraft:
    """BNC-053: the entry for a turn that was skipped, in EX-5's shape (A-25)."""
    policy = "Escalation policy applied: turn skipped per timeout-skip rule."
    return EntryDraft(
        author=agent,
        stance="defer",
        confidence="0.0",
        summary=f"{_why_absent(failure)} {policy}",
        body=_say_who_wrote_it(rules, agent, "this turn was skipped", failure),
        status=EntryStatus.CLOSED,
    )


# Who acts, if no person is registered or named.
THE_OPERATOR: Final = "the operator"


def draft_skip_by_person(rules: Rules, agent: str, person: str) -> EntryDraft:
    """BNC-146: the entry for a turn that a person skipped: it names that person and the policy.

    No rule skipped it: under `human` only the operator acts (3.3).
    """
    return EntryDraft(
        author=agent,
        stance="defer",
        confidence="0.0",
        summary=f"Turn timed out. Skipped by {person}.",
        body=(
            f"*[This entry was generated by the orchestrator: {agent} was silent for more than "
            f"the {rules.turn_timeout}-second turn-timeout, and {person}, a person, skipped this "
            f"turn. The session's own policy is `{rules.escalation.value}`; the session goes on.]*"
            "\n\n<!-- generated-by: orchestrator -->"
        ),
        status=EntryStatus.CLOSED,
    )


def draft_default_action(
    rules: Rules, agent: str, failure: FailedAnswer | None = None
) -> EntryDraft:
    """BNC-052: a neutral entry, or what the session chose: one that approves of nothing (A-57)."""
    stance = rules.default_action.value
    return EntryDraft(
        author=agent,
        stance=stance,
        confidence="0.0",
        summary=f"{_why_absent(failure)} Escalation policy applied: default-action.",
        body=_say_who_wrote_it(rules, agent, f"a {stance} entry stands in for this turn", failure),
        status=EntryStatus.CLOSED,
    )


def draft_deadlock_action(rules: Rules) -> EntryDraft:
    """BNC-138: the default action after a deadlock: a summary that approves of nothing (A-57)."""
    stance = rules.default_action.value
    return EntryDraft(
        author=SYSTEM,
        stance=stance,
        confidence="0.0",
        summary="Everyone deferred. Escalation policy applied: default-action.",
        body=(
            "*[This entry was generated by the orchestrator: every agent deferred, so the session "
            "ended in deadlock. Under the `default-action` policy the default is "
            f"`{stance}`: nothing is approved.]*\n\n<!-- generated-by: orchestrator -->"
        ),
        status=EntryStatus.CLOSED,
    )


def draft_deadlock_ruling(reason: str, author: str = SYSTEM) -> EntryDraft:
    """BNC-138: what the operator decided after a deadlock, as the final summary of R18."""
    who = "The operator" if author == SYSTEM else author
    return EntryDraft(
        author=SYSTEM,
        stance="neutral",
        confidence="0.0",
        summary="The operator decided after the deadlock.",
        body=f"Every agent deferred: the session ended in deadlock. {who} decided: {reason}",
    )


def _why_absent(failure: FailedAnswer | None) -> str:
    """DEC-032: say that time was up only if it was; a failure has its own sentence (G-01)."""
    return "Turn timed out." if failure is None else failure.sentence


def _say_who_wrote_it(rules: Rules, agent: str, what: str, failure: FailedAnswer | None) -> str:
    """BNC-146: write who wrote this entry and why, because it has the agent's name."""
    why = f"was silent for more than the {rules.turn_timeout}-second turn-timeout"
    if failure is not None:
        why = f"gave no usable answer ({failure.reason})"
    return (
        f"*[This entry was generated by the orchestrator: {agent} {why}. "
        f"Under the `{rules.escalation.value}` policy "
        f"{what}, and the session goes on.]*\n\n<!-- generated-by: orchestrator -->"
    )


def prepare_closing(
    checked: CheckedSession, reason: str, id_: str, now: Millis, author: str = SYSTEM
) -> Addition:
    """BNC-169: prepare the operator's closing entry; Refused after the end or during an open entry.

    An open entry does not count after its time is up (4.6). A listed person writes the closing in
    its own name (R17). For anyone else a mark ends the session, and below it `system` sums up (R12,
    R18). After a deadlock that waits for a person it is the operator's decision (7.4).
    """
    course = require_course(checked)
    if find_deadlock_policy(checked) is Escalation.HUMAN and not is_unfit(reason):
        return prepare_entry(checked, tidy_draft(draft_deadlock_ruling(reason, author)), id_, now)
    if course.phase.has_ended:
        message = f"the session has ended ({course.phase.value})"
        raise _refuse("session_ended", message, "begin a new session")
    require_no_errors(checked)
    if is_unfit(reason):
        raise _refuse("invalid_entry", _UNFIT, _REWORD)
    here = find_standing(course, now)
    if here.open_entry is not None and here.open_entry.has_head and not here.timed_out:
        raise _refuse("entry_open", f"{here.open_entry.author} has not yielded its entry",
                      f"wait for its <!-- yield -->, or until {format_time(here.deadline or now)}"
        )  # fmt: skip
    draft = tidy_draft(draft_closing(reason, author))
    mark = "" if is_person(author, course.rules) else _close_mark(now)
    return prepare_entry(drop_open_entry(checked), draft, id_, now, mark)


def require_person(rules: Rules, named: str | None) -> str | None:
    """Return the name; Refused if the file lists its people and this is none of them."""
    people = list_people(rules)
    if named in rules.agents and people and named not in people:
        message = f"{named} is no person: this is the operator's act"
        raise _refuse("human_key_required", message, f"let {' or '.join(people)} do it")
    return named


def find_closing_author(rules: Rules, person: str | None, named: str | None) -> str:
    """Return the author of the closing entry: the operator if listed, else `system`.

    `person` is proved by a key, `named` is not: it must be one of the people that the file lists.
    Refused if it is unclear who acts.
    """
    people = list_people(rules)
    name = person or require_person(rules, named)
    if name is None and len(people) > 1:
        message = f"several people take part: {', '.join(people)}"
        raise _refuse("which_person", message, f"say who you are: `moot --as {people[0]} ...`")
    if name is None and people:
        return people[0]
    return name if name in rules.agents else SYSTEM


def _close_mark(now: Millis) -> str:
    return f"<!-- {CLOSE_KEY}: {format_time(now)} -->\n\n"


def draft_closing(reason: str, author: str = SYSTEM) -> EntryDraft:
    """BNC-122: the operator ends the session: as a participant, or outside of it (R17, A-26)."""
    by = " by the operator" if author == SYSTEM else ""
    return EntryDraft(
        author=author,
        stance="neutral",
        confidence="0.0",
        summary=f"Session closed{by}.",
        body=f"Session closed{by}: {reason}\n\n<!-- session-end: by the operator -->",
        status=EntryStatus.CLOSED,
    )
