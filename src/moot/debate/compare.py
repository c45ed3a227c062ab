"""Two versions of a file: did it only grow (R1 to R3)?

Entries that were yielded are compared by what was written, to the letter. The rules are frozen
once an entry exists, the context may only gain subsections, and what stands after the last marker
of the old version is still its author's to change (A-34).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from moot.core.findings import Finding
from moot.core.markdown import Kind, scan
from moot.debate.model import Document, Entry
from moot.debate.norms import Breach, Norm, find_all
from moot.debate.reader import read

_NEW_FILE = "go back to the old version, and append"


def _written(document: Document, entry: Entry) -> str:
    return document.text[entry.start : entry.end].rstrip("\r\n")


def _yielded(document: Document) -> dict[str, str]:
    """The first entry of each id, as written, in file order."""
    found: dict[str, str] = {}
    for entry in document.entries:
        if entry.yielded:
            key = entry.id or f"entry {entry.index + 1}"
            found.setdefault(key, _written(document, entry))
    return found


def _lines(document: Document) -> dict[str, int]:
    lines = {}
    for entry in reversed(document.entries):
        lines[entry.id or f"entry {entry.index + 1}"] = entry.line
    return lines


def entry_modified(old: Document, new: Document) -> Iterator[Breach]:
    now, lines = _yielded(new), _lines(new)
    for key, text in _yielded(old).items():
        if key in now and now[key] != text:
            yield Breach(lines[key], "", key)
        elif key not in now and key in lines:
            yield Breach(lines[key], "its marker is gone", key)


def entry_deleted(old: Document, new: Document) -> Iterator[Breach]:
    there = _lines(new)
    for key in _yielded(old):
        if key not in there:
            yield Breach(None, "", key)


def entry_inserted(old: Document, new: Document) -> Iterator[Breach]:
    before, lines = _yielded(old), _lines(new)
    known = [key in before for key in _yielded(new)]
    last = max((place for place, old_one in enumerate(known) if old_one), default=-1)
    for place, key in enumerate(_yielded(new)):
        if place < last and key not in before:
            yield Breach(lines[key], "", key)


def entries_reordered(old: Document, new: Document) -> Iterator[Breach]:
    lines = _lines(new)
    order = {key: place for place, key in enumerate(_yielded(old))}
    kept = [key for key in _yielded(new) if key in order]
    for above, below in pairwise(kept):
        if order[below] < order[above]:
            yield Breach(lines[below], "", below)


def rules_modified(old: Document, new: Document) -> Iterator[Breach]:
    if old.entries and old.section_text("Protocol Rules") != new.section_text("Protocol Rules"):
        section = new.section("Protocol Rules")
        yield Breach(section.line if section else None)


def context_modified(old: Document, new: Document) -> Iterator[Breach]:
    """A-32: subsections of level 3 may be added to its end; what was there stays."""
    was, now = old.section_text("Context").rstrip(), new.section_text("Context").rstrip()
    section = new.section("Context")
    if not now.startswith(was):
        yield Breach(section.line if section else None)
    elif now != was and not _is_subsection(now[len(was) :]):
        yield Breach(section.line if section else None, "what was added is no ### subsection")


def _is_subsection(added: str) -> bool:
    first = next((line for line in scan(added) if line.kind is not Kind.BLANK), None)
    return first is not None and first.kind is Kind.HEADING and first.level >= 3


def head_modified(old: Document, new: Document) -> Iterator[Breach]:
    for key in ("bounce-protocol", "created", "session-id"):
        if old.head(key) != new.head(key):
            yield Breach(None, key)
    if old.name != new.name:
        yield Breach(new.title.line if new.title else None, "title")


def dialogue_modified(old: Document, new: Document) -> Iterator[Breach]:
    """Whatever else stood in the dialogue, up to the last marker of the old version."""
    last = next((entry for entry in reversed(old.entries) if entry.yielded), None)
    before, after = old.section("Dialogue"), new.section("Dialogue")
    if last is None or before is None or after is None:
        return
    was = old.text[before.start : last.end].rstrip("\r\n")
    if not new.text.startswith(was, after.start):
        yield Breach(after.line)


APPEND_ONLY: Final = (
    Norm("R1", "entry_modified", "an entry that was yielded was changed", entry_modified,
         _NEW_FILE),
    Norm("R1", "entry_deleted", "an entry that was yielded is gone", entry_deleted, _NEW_FILE),
    Norm("R2", "entry_inserted", "an entry was put between others", entry_inserted,
         "new entries go to the end"),
    Norm("R2", "entries_reordered", "entries changed places", entries_reordered, _NEW_FILE),
    Norm("R3", "rules_modified", "the rules were changed after the first entry", rules_modified,
         "other rules need a new session"),
    Norm("3.4", "context_modified", "the context was changed", context_modified,
         "add a ### subsection to its end instead"),
    Norm("3.1", "header_modified", "header or title were changed", head_modified,
         "another topic needs a new session"),
)  # fmt: skip
_REST: Final = (
    Norm("R1", "dialogue_modified", "the dialogue was changed between its entries",
         dialogue_modified, _NEW_FILE),
)  # fmt: skip


def compare(old: bytes | str, new: bytes | str) -> tuple[Finding, ...]:
    """Every way in which the new version did more than grow."""
    before, after = read(old), read(new)
    found = tuple(find_all(APPEND_ONLY, before, after))
    # Said only if nothing above explains it: a changed entry changes the dialogue too.
    inside = any(finding.rule in ("R1", "R2") for finding in found)
    return found if inside else (*found, *find_all(_REST, before, after))
