"""The checks behind the rule table: each yields a breach for every place where its norm fails.

A breach is (words, where, line). Most are made by the small functions at the top from the name of
a section, so that the table itself says what is asked.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator

from moot.core.findings import Breach
from moot.mail.body import Part, is_unfilled, section_key, template_text
from moot.mail.draft import Draft
from moot.mail.subject import MAX_LENGTH, ROLES, has_control
from moot.mail.types import Need, ack_expected

Check = Callable[[Draft], Iterable[Breach]]

# Sections -----------------------------------------------------------------------------------------


def missing(name: str, alias: str = "") -> Check:
    """The section is there and says something."""

    def check(draft: Draft) -> Iterator[Breach]:
        if not draft.body.said(name):
            yield _absence(draft, name, alias)

    return check


def _absence(draft: Draft, name: str, alias: str = "") -> Breach:
    part = draft.body.part(name)
    if part is not None:
        left = template_text(part.text)
        words = f"still holds the template text {left[:60]}" if left else "is empty"
        return f"`## {name}` {words}", f"## {name}", part.line
    line = _lookalike(draft.body.text, name, alias)
    if line:
        why = "but only a level-2 heading outside code, lists and quotes counts"
        return f"there is no `## {name}`; this line looks like it, {why}", f"## {name}", line
    return f"there is no `## {name}`", f"## {name}", None


_NEAR = 100_000


def _lookalike(text: str, name: str, alias: str) -> int | None:
    """The line of something that a person would take for this heading, near the start."""
    names = "|".join(re.escape(one) for one in (name, alias) if one)
    found = re.search(
        rf"\n[ \t>+-]*+(?:\*[ \t]+)?(?:\#{{1,6}}[ \t]*|\*\*)(?:{names})\b",
        "\n" + text[:_NEAR],
        re.IGNORECASE,
    )
    return text.count("\n", 0, found.start()) + 1 if found else None


def not_one_of(name: str) -> Check:
    """The section is there and holds one of its fixed words."""

    def check(draft: Draft) -> Iterator[Breach]:
        spec = draft.spec.section(name) if draft.spec else None
        part = draft.body.part(name)
        if part is None or not part.said:
            yield _absence(draft, name)
        elif spec and choice(part, spec.choices) is None:
            words = f"`## {name}` says {part.value[:60]!r}"
            yield words, f"## {name}", part.line

    return check


def choice(part: Part, choices: tuple[str, ...]) -> str | None:
    """The fixed word a section holds, whatever its case."""
    value = part.value.casefold()
    return next((one for one in choices if one.casefold() == value), None)


def twice(draft: Draft) -> Iterator[Breach]:
    """D-20: of two sections with one name the first counts."""
    known = {section_key(one.heading) for one in draft.spec.sections} if draft.spec else set()
    seen: Counter[str] = Counter()
    for part in draft.body.parts:
        seen[part.key] += 1
        if part.key in known and seen[part.key] == 2:
            words = f"`## {part.name[:60]}` stands there twice; the first counts"
            yield words, f"## {part.name[:60]}", part.line


def left_over(draft: Draft) -> Iterator[Breach]:
    """Template text in a section that has no row of its own."""
    sections = draft.spec.sections if draft.spec else ()
    asked = {section_key(one.heading): one.heading for one in sections if one.need is Need.OPTIONAL}
    for part in draft.body.parts:
        left = template_text(part.text) if part.key in asked else ""
        if left:
            name = asked[part.key]
            yield f"`## {name}` still holds the template text {left[:60]}", f"## {name}", part.line


def never_closed(draft: Draft) -> Iterator[Breach]:
    for block in draft.body.blocks[-1:]:
        if not block.closed:
            yield "all that follows this fence is code", None, block.number


def not_utf8(draft: Draft) -> Iterator[Breach]:
    if draft.undecodable:
        yield "", None, draft.undecodable


def byte_order_mark(draft: Draft) -> Iterator[Breach]:
    if draft.marked:
        yield "", None, 1


# Subject ------------------------------------------------------------------------------------------

_WHERE = "subject"


def no_prefix(draft: Draft) -> Iterator[Breach]:
    if draft.subject is None:
        yield f"{draft.line[:80]!r} begins with none of the ten types", _WHERE


def no_description(draft: Draft) -> Iterator[Breach]:
    if draft.subject and not draft.subject.rest.strip():
        yield f"nothing follows {draft.subject.prefix}:", _WHERE


def too_long(draft: Draft) -> Iterator[Breach]:
    if len(draft.line) > MAX_LENGTH:
        yield f"the subject has {len(draft.line)} characters", _WHERE


def not_one_line(draft: Draft) -> Iterator[Breach]:
    if has_control(draft.line):
        yield "", _WHERE


def reply_prefix(draft: Draft) -> Iterator[Breach]:
    if draft.replied:
        yield "", _WHERE


def strange_role(draft: Draft) -> Iterator[Breach]:
    if draft.subject and draft.subject.role and draft.subject.role not in ROLES:
        yield f"{draft.subject.role[:40]!r} is not one of the usual roles", _WHERE


# ACK flag -----------------------------------------------------------------------------------------


def ack_differs(draft: Draft) -> Iterator[Breach]:
    """MB-009 to MB-012 and their like: the flag is what the table says."""
    if draft.type and draft.ack_required is not ack_expected(draft.type):
        yield "", "ack_required"


# KICKOFF ------------------------------------------------------------------------------------------

_CITATION = re.compile(r"§\s?[0-9]+")
_SENTENCE = re.compile(r"[.?!…](?=\s|\Z)")


def no_question(draft: Draft) -> Iterator[Breach]:
    """MB-002: a title or the section; text of the template is neither."""
    title = draft.body.title
    if draft.body.said("Research Question") or (title and not is_unfilled(title.value)):
        return
    words, where, *line = _absence(draft, "Research Question")
    yield f"{words}, and no title (`# ...`) says it either", where, line[0] if line else None


def no_citation(draft: Draft) -> Iterator[Breach]:
    part = draft.body.part("Excerpt")
    if part is None or not part.said:
        yield _absence(draft, "Excerpt", "Transcript Excerpt")
    elif not _CITATION.search(part.text):
        yield "`## Excerpt` cites nothing", "## Excerpt", part.line


def wordy(draft: Draft) -> Iterator[Breach]:
    for name, low, high in (("Research Question", 1, 1), ("Context", 2, 4)):
        part = draft.body.part(name)
        if part is None or not part.said:
            continue
        count = max(1, len(_SENTENCE.findall(part.said)))
        if not low <= count <= high:
            asked = "one sentence" if high == 1 else f"{low} to {high} sentences"
            yield f"`## {name}` has {count} sentences, {asked} are usual", f"## {name}", part.line


# COMPILED -----------------------------------------------------------------------------------------

_VERSION = re.compile(r"\bv[0-9]+(?:\.[0-9]+)*\b")


def no_version(draft: Draft) -> Iterator[Breach]:
    """D-18: in the title or the summary; the subject alone is not enough."""
    title = draft.body.title
    if (title and _VERSION.search(title.value)) or _VERSION.search(draft.body.said("Summary")):
        return
    only = " (only the subject has one)" if _VERSION.search(draft.line) else ""
    line = title.number if title else None
    yield f"neither the title nor `## Summary` names a version{only}", "# title", line


def no_counts(draft: Draft) -> Iterator[Breach]:
    part = draft.body.part("Statistics")
    if part is None or not part.said:
        yield _absence(draft, "Statistics")
    elif not re.search(r"[0-9]", part.text):
        yield "`## Statistics` counts nothing", "## Statistics", part.line


# Names and items ----------------------------------------------------------------------------------


def no_agents(draft: Draft) -> Iterator[Breach]:
    """MB-008 with D-17: each of From and To is one word."""
    for name in ("From", "To"):
        part = draft.body.part(name)
        if part is None or not part.said:
            yield _absence(draft, name)
        elif not part.value or " " in part.value:
            yield f"`## {name}` is not one agent's name", f"## {name}", part.line


def no_receiver(draft: Draft) -> Iterator[Breach]:
    if draft.subject and draft.subject.rest.strip() and not draft.subject.handoff:
        yield "", _WHERE


def other_receiver(draft: Draft) -> Iterator[Breach]:
    """D-16: the subject and `## To` name the same agent."""
    named = draft.subject.handoff if draft.subject else None
    part = draft.body.part("To")
    if named and part and part.value and part.value.casefold() != named[1].casefold():
        words = f"the subject names {named[1][:48]!r}, `## To` {part.value[:48]!r}"
        yield words, "## To", part.line


def other_sender(received: bool) -> Check:
    """D-16: nobody hands over in another's name."""

    def check(draft: Draft) -> Iterator[Breach]:
        part = draft.body.part("From")
        if draft.received is not received or not draft.sender or not part or not part.value:
            return
        if part.value.casefold() != draft.sender.casefold():
            words = f"`## From` says {part.value[:48]!r}, the sender is {draft.sender!r}"
            yield words, "## From", part.line

    return check


def unknown_agent(*names: str) -> Check:
    """BRN-079: who is named is known here."""

    def check(draft: Draft) -> Iterator[Breach]:
        for name in names if draft.agents is not None else ():
            part = draft.body.part(name)
            if part and part.value and part.value not in (draft.agents or ()):
                yield f"nobody here is called {part.value[:48]!r}", f"## {name}", part.line

    return check


def unknown_item(draft: Draft) -> Iterator[Breach]:
    """BRN-079: a work id is known here; a task in words is not looked up."""
    part = draft.body.part("Item")
    if draft.items is None or part is None or not _WORK_ID.fullmatch(part.value):
        return
    if part.value not in draft.items:
        yield f"no work item here is called {part.value[:48]!r}", "## Item", part.line


_WORK_ID = re.compile(r"[A-Za-z0-9_]+-[A-Za-z0-9._-]+")
