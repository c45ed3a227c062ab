"""The checks behind the rule table: each yields a breach for every place that breaks its rule.

A breach is (message, where, line). Many checks are made for the name of a section, so that the
rule table says which section a type asks for. The checks of DELTA messages are in
`delta_checks.py`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator

from moot.core.findings import Breach
from moot.protocols.mail.body import BodySection, find_template_text, is_unfilled, section_key
from moot.protocols.mail.message import (
    KNOWN_ROLES,
    MAX_SUBJECT_LENGTH,
    MessageDraft,
    has_control_characters,
)
from moot.protocols.mail.types import SectionNeed, is_ack_owed

Check = Callable[[MessageDraft], Iterable[Breach]]

# Sections -----------------------------------------------------------------------------------------


def section_missing(name: str, alias: str = "") -> Check:
    """Return a check that the section is there and says something."""

    def check(draft: MessageDraft) -> Iterator[Breach]:
        if not draft.body.text_of(name):
            yield describe_absence(draft, name, alias)

    return check


def describe_absence(
    draft: MessageDraft, name: str, alias: str = ""
) -> tuple[str, str, int | None]:
    """Return the breach of a section that is missing, empty or unfilled, with its line."""
    part = draft.body.find_section(name)
    if part is not None:
        left = find_template_text(part.text)
        words = f"still holds the template text {left[:60]}" if left else "is empty"
        return f"`## {name}` {words}", f"## {name}", part.line
    line = _line_that_looks_like(draft.body.text, name, alias)
    if line:
        why = "but only a level-2 heading outside code, lists and quotes counts"
        return f"there is no `## {name}`; this line looks like it, {why}", f"## {name}", line
    return f"there is no `## {name}`", f"## {name}", None


_CHARACTERS_SEARCHED = 100_000


def _line_that_looks_like(text: str, name: str, alias: str) -> int | None:
    """Return the line of something that a person would take for this heading, near the start."""
    names = "|".join(re.escape(text) for text in (name, alias) if text)
    match = re.search(
        rf"\n[ \t>+-]*+(?:\*[ \t]+)?(?:\#{{1,6}}[ \t]*|\*\*)(?:{names})\b",
        "\n" + text[:_CHARACTERS_SEARCHED],
        re.IGNORECASE,
    )
    return text.count("\n", 0, match.start()) + 1 if match else None


def no_fixed_word(name: str) -> Check:
    """Return a check that the section is there and holds one of its fixed words."""

    def check(draft: MessageDraft) -> Iterator[Breach]:
        spec = draft.spec.find_section(name) if draft.spec else None
        part = draft.body.find_section(name)
        if part is None or not part.filled_text:
            yield describe_absence(draft, name)
        elif spec and find_choice(part, spec.choices) is None:
            words = f"`## {name}` says {part.plain_value[:60]!r}"
            yield words, f"## {name}", part.line

    return check


def find_choice(part: BodySection, choices: tuple[str, ...]) -> str | None:
    """Return the fixed word a section holds, whatever its case."""
    value = part.plain_value.casefold()
    return next((word for word in choices if word.casefold() == value), None)


def section_twice(draft: MessageDraft) -> Iterator[Breach]:
    """D-20: of two sections with one name the first counts."""
    sections = draft.spec.sections if draft.spec else ()
    known = {section_key(section.heading) for section in sections}
    seen: Counter[str] = Counter()
    for part in draft.body.sections:
        seen[part.key] += 1
        if part.key in known and seen[part.key] == 2:
            words = f"`## {part.name[:60]}` is there twice; the first counts"
            yield words, f"## {part.name[:60]}", part.line


def template_text_left(draft: MessageDraft) -> Iterator[Breach]:
    """Report template text in an optional section, which has no rule of its own."""
    sections = draft.spec.sections if draft.spec else ()
    optional = (section.heading for section in sections if section.need is SectionNeed.OPTIONAL)
    headings = {section_key(heading): heading for heading in optional}
    for part in draft.body.sections:
        left = find_template_text(part.text) if part.key in headings else ""
        if left:
            name = headings[part.key]
            yield f"`## {name}` still holds the template text {left[:60]}", f"## {name}", part.line


def fence_never_closed(draft: MessageDraft) -> Iterator[Breach]:
    for block in draft.body.blocks[-1:]:
        if not block.closed:
            yield "all that follows this fence is code", None, block.number


def not_utf8(draft: MessageDraft) -> Iterator[Breach]:
    if draft.undecodable_line:
        yield "", None, draft.undecodable_line


def has_byte_order_mark(draft: MessageDraft) -> Iterator[Breach]:
    if draft.has_byte_order_mark:
        yield "", None, 1


# Subject ------------------------------------------------------------------------------------------

IN_SUBJECT = "subject"


def no_valid_prefix(draft: MessageDraft) -> Iterator[Breach]:
    if draft.subject is None:
        yield f"{draft.subject_line[:80]!r} begins with none of the ten types", IN_SUBJECT


def no_description(draft: MessageDraft) -> Iterator[Breach]:
    if draft.subject and not draft.subject.description.strip():
        yield f"nothing follows {draft.subject.prefix}:", IN_SUBJECT


def subject_too_long(draft: MessageDraft) -> Iterator[Breach]:
    if len(draft.subject_line) > MAX_SUBJECT_LENGTH:
        yield f"the subject has {len(draft.subject_line)} characters", IN_SUBJECT


def subject_not_one_line(draft: MessageDraft) -> Iterator[Breach]:
    if has_control_characters(draft.subject_line):
        yield "", IN_SUBJECT


def has_reply_prefix(draft: MessageDraft) -> Iterator[Breach]:
    if draft.had_reply_prefix:
        yield "", IN_SUBJECT


def unusual_role(draft: MessageDraft) -> Iterator[Breach]:
    if draft.subject and draft.subject.role and draft.subject.role not in KNOWN_ROLES:
        yield f"{draft.subject.role[:40]!r} is not one of the usual roles", IN_SUBJECT


# ACK flag -----------------------------------------------------------------------------------------


def ack_flag_differs(draft: MessageDraft) -> Iterator[Breach]:
    """Report a flag that the type does not ask for (MB-009 to MB-012, and our rows)."""
    if draft.type and draft.ack_required is not is_ack_owed(draft.type):
        yield "", "ack_required"


# The checks of single types: the question of a KICKOFF, the version of a COMPILED, names.

# KICKOFF ------------------------------------------------------------------------------------------

_CITATION = re.compile(r"§\s?[0-9]+")
_SENTENCE = re.compile(r"[.?!…](?=\s|\Z)")


def no_research_question(draft: MessageDraft) -> Iterator[Breach]:
    """MB-002: a title or the section; text of the template is neither."""
    title = draft.body.title
    if draft.body.text_of("Research Question") or (title and not is_unfilled(title.value)):
        return
    words, where, line = describe_absence(draft, "Research Question")
    yield f"{words}, and no title (`# ...`) says it either", where, line


def no_citation(draft: MessageDraft) -> Iterator[Breach]:
    part = draft.body.find_section("Excerpt")
    if part is None or not part.filled_text:
        yield describe_absence(draft, "Excerpt", "Transcript Excerpt")
    elif not _CITATION.search(part.text):
        yield "`## Excerpt` cites nothing", "## Excerpt", part.line


def unusual_length(draft: MessageDraft) -> Iterator[Breach]:
    for name, low, high in (("Research Question", 1, 1), ("Context", 2, 4)):
        part = draft.body.find_section(name)
        if part is None or not part.filled_text:
            continue
        count = max(1, len(_SENTENCE.findall(part.filled_text)))
        if not low <= count <= high:
            usual = "one sentence" if high == 1 else f"{low} to {high} sentences"
            yield f"`## {name}` has {count} sentences, {usual} are usual", f"## {name}", part.line


# COMPILED -----------------------------------------------------------------------------------------

_VERSION = re.compile(r"\bv[0-9]+(?:\.[0-9]+)*\b")


def no_version(draft: MessageDraft) -> Iterator[Breach]:
    """D-18: in the title or the summary; the subject alone is not enough."""
    title = draft.body.title
    if (title and _VERSION.search(title.value)) or _VERSION.search(draft.body.text_of("Summary")):
        return
    only = " (only the subject has one)" if _VERSION.search(draft.subject_line) else ""
    line = title.number if title else None
    yield f"neither the title nor `## Summary` names a version{only}", "# title", line


def no_counts(draft: MessageDraft) -> Iterator[Breach]:
    part = draft.body.find_section("Statistics")
    if part is None or not part.filled_text:
        yield describe_absence(draft, "Statistics")
    elif not re.search(r"[0-9]", part.text):
        yield "`## Statistics` counts nothing", "## Statistics", part.line


# Names and items ----------------------------------------------------------------------------------


def no_handoff_agents(draft: MessageDraft) -> Iterator[Breach]:
    """MB-008 with D-17: each of From and To is one word."""
    for name in ("From", "To"):
        part = draft.body.find_section(name)
        if part is None or not part.filled_text:
            yield describe_absence(draft, name)
        elif not part.plain_value or " " in part.plain_value:
            yield f"`## {name}` is not one agent's name", f"## {name}", part.line


def no_receiver_in_subject(draft: MessageDraft) -> Iterator[Breach]:
    if draft.subject and draft.subject.description.strip() and not draft.subject.handoff_parts:
        yield "", IN_SUBJECT


def receiver_differs(draft: MessageDraft) -> Iterator[Breach]:
    """D-16: the subject and `## To` name the same agent."""
    named = draft.subject.handoff_parts if draft.subject else None
    part = draft.body.find_section("To")
    if named and part and part.plain_value and part.plain_value.casefold() != named[1].casefold():
        words = f"the subject names {named[1][:48]!r}, `## To` {part.plain_value[:48]!r}"
        yield words, "## To", part.line


def sender_differs(received: bool) -> Check:
    """D-16: return a check that a HANDOFF comes from the agent whose work it hands over."""

    def check(draft: MessageDraft) -> Iterator[Breach]:
        part = draft.body.find_section("From")
        if draft.received is not received or not draft.sender or not part or not part.plain_value:
            return
        if part.plain_value.casefold() != draft.sender.casefold():
            words = f"`## From` says {part.plain_value[:48]!r}, the sender is {draft.sender!r}"
            yield words, "## From", part.line

    return check


def unknown_agent(*names: str) -> Check:
    """BRN-079: return a check that the agents named in these sections are known."""

    def check(draft: MessageDraft) -> Iterator[Breach]:
        for name in names if draft.agents is not None else ():
            part = draft.body.find_section(name)
            if part and part.plain_value and part.plain_value not in (draft.agents or ()):
                yield f"no agent {part.plain_value[:48]!r} is known here", f"## {name}", part.line

    return check


def unknown_item(draft: MessageDraft) -> Iterator[Breach]:
    """BRN-079: report an unknown work id; a task in words is not looked up."""
    part = draft.body.find_section("Item")
    if draft.items is None or part is None or not _WORK_ID.fullmatch(part.plain_value):
        return
    if part.plain_value not in draft.items:
        yield f"there is no work item {part.plain_value[:48]!r} here", "## Item", part.line


_WORK_ID = re.compile(r"[A-Za-z0-9_]+-[A-Za-z0-9._-]+")
