"""`--fix`: what can be repaired without guessing, and nothing else.

It repairs the ack flag, the case of prefixes, headings and fixed words, a colon behind a heading, a
byte order mark, and adds headings of sections that may stay empty. After each repair the body is
read again; a repair that changed the content of any section is undone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

import msgspec

from moot.core.markdown import BYTE_ORDER_MARK
from moot.protocols.mail.body import BodySection, MessageBody, section_key
from moot.protocols.mail.message import Subject, parse_subject
from moot.protocols.mail.types import (
    TYPES,
    MessageType,
    SectionNeed,
    SectionSpec,
    TypeSpec,
    is_ack_owed,
)

# Templates have `{what to write}` in place of content. It never passes for content: a required
# section that still holds it is missing.

_DELTA_BLOCK = """\
```delta
{
  "operation": "ADD",
  "section": "hypothesis_slate",
  "target_id": null,
  "payload": {
    "name": "{a short name}",
    "claim": "{what is claimed}",
    "mechanism": "{how it would work}",
    "anchors": ["§1"]
  },
  "rationale": "{why this belongs into the artifact}"
}
```
"""


class MessageTemplate(NamedTuple):
    subject: str
    body: str


def write_template(kind: MessageType) -> MessageTemplate:
    """Return a template for messages of this type: subject, title and sections.

    The sections are those of `TYPES` (BRN-008, BRN-017, BRN-024, BRN-032, BRN-039, BRN-045,
    BRN-051, BRN-058, BRN-066).
    """
    spec = TYPES[kind]
    parts = [f"# {spec.title}\n"]
    if spec.prose:
        parts.append(f"\n{spec.prose}\n")
    parts += (_write_section(section) for section in spec.sections)
    if kind is MessageType.DELTA:
        parts.append(f"\n{_DELTA_BLOCK}")
    return MessageTemplate(spec.subject, "".join(parts))


def _write_section(section: SectionSpec) -> str:
    asks = f"{section.prompt}\n" if section.prompt else ""
    return f"\n{write_heading(section)}\n{asks}"


def write_heading(section: SectionSpec) -> str:
    """Return the heading as a template has it, `(optional)` included."""
    return f"## {section.heading} {section.note}".rstrip()


_TYPES = "|".join(kind.value for kind in MessageType)
_LOOSE = re.compile(
    rf"(?P<type>{_TYPES})\s*+(?:\[\s*+(?P<role>[^\]\s]++)\s*+\])?\s*+:\s*+(?P<rest>\S.*)",
    re.IGNORECASE | re.DOTALL,
)


class FixedMessage(msgspec.Struct, frozen=True):
    """The message as repaired; `repairs` says in words what was done."""

    subject: str
    body: str
    ack_required: bool | None
    repairs: tuple[str, ...]


class _Edit(NamedTuple):
    """Replace `text[start:end]`, and say why."""

    start: int
    end: int
    text: str
    why: str


def fix_message(subject: str, body: str, ack_required: bool | None = None) -> FixedMessage:
    """Repair a message; without a valid prefix only the subject and the byte order mark."""
    repairs: list[str] = []
    line = _repair_subject(subject, repairs)
    if body.startswith(BYTE_ORDER_MARK) and body[1:2] != BYTE_ORDER_MARK:  # a second one is text
        body = body[1:]
        repairs.append("the byte order mark was removed")
    valid = parse_subject(line)
    if valid is None:
        return FixedMessage(line, body, ack_required, tuple(repairs))
    for repair in _REPAIRS:
        body = _apply_repair(body, TYPES[valid.type], repair, repairs)
    expected = is_ack_owed(valid.type)
    if ack_required is not None and ack_required is not expected:
        repairs.append(f"ack_required is {str(expected).lower()} for {valid.type.value}")
    return FixedMessage(line, body, expected, tuple(repairs))


def _repair_subject(text: str, repairs: list[str]) -> str:
    """Return the prefix in capitals, the role in small letters, one space behind the colon."""
    loose = _LOOSE.fullmatch(text.strip())
    if loose is None:
        return text
    kind = MessageType(loose["type"].upper())
    repaired = str(Subject(kind, loose["rest"], (loose["role"] or "").lower()))
    has_role = bool(loose["role"])
    if repaired == text or parse_subject(repaired) is None or has_role != (kind == "DELTA"):
        return text
    repairs.append(f"the subject begins {repaired[: repaired.index(':') + 1]}")
    return repaired


# The body -----------------------------------------------------------------------------------------


def _apply_repair(
    text: str,
    spec: TypeSpec,
    repair: Callable[[MessageBody, TypeSpec], Iterator[_Edit]],
    repairs: list[str],
) -> str:
    """Return the text after one kind of repair, if it still says the same."""
    before = MessageBody(text)
    edits = sorted(repair(before, spec), key=lambda edit: edit.start)
    repaired = text
    for edit in reversed(edits):
        repaired = repaired[: edit.start] + edit.text + repaired[edit.end :]
    if not edits or not _says_the_same(before, MessageBody(repaired)):
        return text
    repairs += (edit.why for edit in edits)
    return repaired


def _says_the_same(before: MessageBody, after: MessageBody) -> bool:
    """True if the sections have the same content, apart from case and new empty sections."""
    return (
        _filled_sections(before) == _filled_sections(after)
        and [title.value for title in before.titles] == [title.value for title in after.titles]
        and [before.read_code(b) for b in before.blocks]
        == [after.read_code(b) for b in after.blocks]
    )


def _filled_sections(body: MessageBody) -> list[tuple[str, str]]:
    parts = [(part.key.rstrip(": "), part.text.strip().casefold()) for part in body.sections]
    return [part for part in parts if part[1]]


def _repair_headings(body: MessageBody, spec: TypeSpec) -> Iterator[_Edit]:
    """Turn `## context:` into `## Context`, unless that is there as well."""
    for part in body.sections:
        section = _find_section(spec, part.key) or _find_section_without_colon(body, spec, part)
        wanted = _canonical_heading(section, part) if section else part.name
        if wanted != part.name:
            start = part.heading.start
            line = body.text[start : part.heading.end]
            end = start + len(line.rstrip("\r\n"))
            yield _Edit(start, end, f"## {wanted}", f"the heading reads `## {wanted}`")


def _find_section(spec: TypeSpec, key: str) -> SectionSpec | None:
    return next((known for known in spec.sections if section_key(known.heading) == key), None)


def _find_section_without_colon(
    body: MessageBody, spec: TypeSpec, part: BodySection
) -> SectionSpec | None:
    bare = section_key(part.name.rstrip(": "))
    return None if body.find_section(bare) else _find_section(spec, bare)


def _canonical_heading(section: SectionSpec, part: BodySection) -> str:
    """Return its canonical name, with the note it has in the template if it had one."""
    noted = part.name.rstrip(": ").endswith(")")
    return f"{section.heading} {section.note}".rstrip() if noted else section.heading


def _repair_fixed_words(body: MessageBody, spec: TypeSpec) -> Iterator[_Edit]:
    """Turn `critical` into `Critical`, if the section has no other text."""
    for section in spec.sections:
        part = body.find_section(section.heading) if section.choices else None
        if part is None:
            continue
        text = part.text.strip()
        same = (choice for choice in section.choices if choice.casefold() == text.casefold())
        word = next(same, text)
        if word != text:
            start = part.heading.end + part.text.index(text)
            yield _Edit(start, start + len(text), word, f"`## {section.heading}` says {word}")


def _add_missing_headings(body: MessageBody, spec: TypeSpec) -> Iterator[_Edit]:
    """Add headings of sections that may stay empty, each where its template has it."""
    if spec.type is MessageType.DELTA or not body.sections:
        return
    newline = "\r\n" if "\r\n" in body.text else "\n"
    for place, section in enumerate(spec.sections):
        if section.need is not SectionNeed.OPTIONAL or body.find_section(section.heading):
            continue
        later = (body.find_section(other.heading) for other in spec.sections[place + 1 :])
        following = next((part for part in later if part), None)
        heading = write_heading(section)
        why = f"`{heading}` was added, empty"
        if following:
            start = following.heading.start
            yield _Edit(start, start, f"{heading}{newline * 2}", why)
        else:
            end = len(body.text)
            gap = newline if body.text.endswith("\n") else newline * 2
            yield _Edit(end, end, f"{gap}{heading}{newline}", why)


_REPAIRS = (_repair_headings, _repair_fixed_words, _add_missing_headings)
