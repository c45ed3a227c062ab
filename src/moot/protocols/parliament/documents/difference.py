"""What changed between two versions of a bill: sentence by sentence, section by section.

Kept and removed units joined give the old text back, kept and added ones the new text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from difflib import SequenceMatcher
from enum import StrEnum
from typing import Final

import msgspec

from moot.protocols.parliament.messages.contents import Scope, Sections

# Comparing takes quadratic time at worst; longer texts are shown whole, old and new.
MAX_UNITS: Final = 2_000
# A unit is a sentence, the rest of a line, or the blanks between two of them.
_UNIT: Final = re.compile(r"\s+|\S.*?(?:[.!?]+(?=\s)|(?=\n)|\Z)", re.DOTALL)


class EditMark(StrEnum):
    KEPT = "kept"
    ADDED = "added"
    REMOVED = "removed"


class Edit(msgspec.Struct, frozen=True):
    """A stretch of one part of the bill that stayed, came or went."""

    part: str
    mark: EditMark
    text: str


def compare_sections(old: Sections | None, new: Sections) -> tuple[Edit, ...]:
    """Every part of the new bill against the old one; against nothing all of it is new."""
    before = dict(_parts(old)) if old is not None else {}
    return tuple(
        edit
        for part, units in _parts(new)
        for edit in _compare_part(part, before.get(part, ()), units)
    )


def list_changed_parts(edits: Iterable[Edit]) -> tuple[str, ...]:
    """The parts that are not the same, in the order of the bill."""
    return tuple(dict.fromkeys(edit.part for edit in edits if edit.mark is not EditMark.KEPT))


def describe_edits(edits: Iterable[Edit]) -> Iterator[str]:
    """For a person: only what came and went, under the name of its part."""
    part = ""
    for edit in edits:
        if edit.mark is EditMark.KEPT:
            continue
        if edit.part != part:
            part = edit.part
            yield part
        sign = "+" if edit.mark is EditMark.ADDED else "-"
        yield from (f"  {sign} {line}" for line in edit.text.splitlines() if line.strip())


def split_into_units(text: str) -> tuple[str, ...]:
    """A text cut after sentences and lines; joined again it is the same text."""
    return tuple(match[0] for match in _UNIT.finditer(text) if match[0])


def _parts(sections: Sections) -> Iterator[tuple[str, tuple[str, ...]]]:
    yield "problem", split_into_units(sections.problem)
    yield from _scope_parts(sections.scope)
    yield "solution", split_into_units(sections.solution)
    yield "implementation", split_into_units(sections.implementation)


def _scope_parts(scope: Scope) -> Iterator[tuple[str, tuple[str, ...]]]:
    for name in ("in_scope", "out_of_scope", "assumptions", "definitions"):
        yield f"scope.{name}", tuple(f"{item}\n" for item in getattr(scope, name))


def _compare_part(part: str, old: tuple[str, ...], new: tuple[str, ...]) -> Iterator[Edit]:
    if old == new:
        yield from _edit_if_any(part, EditMark.KEPT, new)
        return
    if max(len(old), len(new)) > MAX_UNITS:
        yield from _edit_if_any(part, EditMark.REMOVED, old)
        yield from _edit_if_any(part, EditMark.ADDED, new)
        return
    for tag, i1, i2, j1, j2 in SequenceMatcher(str.isspace, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            yield from _edit_if_any(part, EditMark.KEPT, new[j1:j2])
        else:
            yield from _edit_if_any(part, EditMark.REMOVED, old[i1:i2])
            yield from _edit_if_any(part, EditMark.ADDED, new[j1:j2])


def _edit_if_any(part: str, mark: EditMark, units: tuple[str, ...]) -> Iterator[Edit]:
    if units:
        yield Edit(part, mark, "".join(units))
