"""The checks behind the rule table: each yields a breach for every place that breaks its rule.

A breach is (message, where, line). Many checks are made for the name of a section, so that the
table itself says which section a type asks for. Checks of single types are in `typechecks.py` and
`deltachecks.py`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator

from moot.core.findings import Breach
from moot.protocols.mail.body import Part, section_key, template_text
from moot.protocols.mail.draft import Draft
from moot.protocols.mail.subject import MAX_LENGTH, ROLES, has_control
from moot.protocols.mail.types import Need, ack_expected

Check = Callable[[Draft], Iterable[Breach]]

# Sections -----------------------------------------------------------------------------------------


def missing(name: str, alias: str = "") -> Check:
    """A check that the section is there and says something."""

    def check(draft: Draft) -> Iterator[Breach]:
        if not draft.body.said(name):
            yield absence(draft, name, alias)

    return check


def absence(draft: Draft, name: str, alias: str = "") -> tuple[str, str, int | None]:
    """The breach of a section that is missing, empty or unfilled, with the line to look at."""
    part = draft.body.part(name)
    if part is not None:
        left = template_text(part.text)
        words = f"still holds the template text {left[:60]}" if left else "is empty"
        return f"`## {name}` {words}", f"## {name}", part.line
    line = _line_that_looks_like(draft.body.text, name, alias)
    if line:
        why = "but only a level-2 heading outside code, lists and quotes counts"
        return f"there is no `## {name}`; this line looks like it, {why}", f"## {name}", line
    return f"there is no `## {name}`", f"## {name}", None


_CHARACTERS_SEARCHED = 100_000


def _line_that_looks_like(text: str, name: str, alias: str) -> int | None:
    """The line of something that a person would take for this heading, near the start."""
    names = "|".join(re.escape(text) for text in (name, alias) if text)
    match = re.search(
        rf"\n[ \t>+-]*+(?:\*[ \t]+)?(?:\#{{1,6}}[ \t]*|\*\*)(?:{names})\b",
        "\n" + text[:_CHARACTERS_SEARCHED],
        re.IGNORECASE,
    )
    return text.count("\n", 0, match.start()) + 1 if match else None


def not_one_of(name: str) -> Check:
    """A check that the section is there and holds one of its fixed words."""

    def check(draft: Draft) -> Iterator[Breach]:
        spec = draft.spec.section(name) if draft.spec else None
        part = draft.body.part(name)
        if part is None or not part.said:
            yield absence(draft, name)
        elif spec and choice(part, spec.choices) is None:
            words = f"`## {name}` says {part.value[:60]!r}"
            yield words, f"## {name}", part.line

    return check


def choice(part: Part, choices: tuple[str, ...]) -> str | None:
    """The fixed word a section holds, whatever its case."""
    value = part.value.casefold()
    return next((word for word in choices if word.casefold() == value), None)


def twice(draft: Draft) -> Iterator[Breach]:
    """D-20: of two sections with one name the first counts."""
    sections = draft.spec.sections if draft.spec else ()
    known = {section_key(section.heading) for section in sections}
    seen: Counter[str] = Counter()
    for part in draft.body.parts:
        seen[part.key] += 1
        if part.key in known and seen[part.key] == 2:
            words = f"`## {part.name[:60]}` stands there twice; the first counts"
            yield words, f"## {part.name[:60]}", part.line


def left_over(draft: Draft) -> Iterator[Breach]:
    """Template text in a section that has no row of its own."""
    sections = draft.spec.sections if draft.spec else ()
    optional = (section.heading for section in sections if section.need is Need.OPTIONAL)
    headings = {section_key(heading): heading for heading in optional}
    for part in draft.body.parts:
        left = template_text(part.text) if part.key in headings else ""
        if left:
            name = headings[part.key]
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

IN_SUBJECT = "subject"


def no_prefix(draft: Draft) -> Iterator[Breach]:
    if draft.subject is None:
        yield f"{draft.line[:80]!r} begins with none of the ten types", IN_SUBJECT


def no_description(draft: Draft) -> Iterator[Breach]:
    if draft.subject and not draft.subject.rest.strip():
        yield f"nothing follows {draft.subject.prefix}:", IN_SUBJECT


def too_long(draft: Draft) -> Iterator[Breach]:
    if len(draft.line) > MAX_LENGTH:
        yield f"the subject has {len(draft.line)} characters", IN_SUBJECT


def not_one_line(draft: Draft) -> Iterator[Breach]:
    if has_control(draft.line):
        yield "", IN_SUBJECT


def reply_prefix(draft: Draft) -> Iterator[Breach]:
    if draft.replied:
        yield "", IN_SUBJECT


def strange_role(draft: Draft) -> Iterator[Breach]:
    if draft.subject and draft.subject.role and draft.subject.role not in ROLES:
        yield f"{draft.subject.role[:40]!r} is not one of the usual roles", IN_SUBJECT


# ACK flag -----------------------------------------------------------------------------------------


def ack_differs(draft: Draft) -> Iterator[Breach]:
    """MB-009 to MB-012 and our own rows for the other types: the flag is what the type asks for."""
    if draft.type and draft.ack_required is not ack_expected(draft.type):
        yield "", "ack_required"
