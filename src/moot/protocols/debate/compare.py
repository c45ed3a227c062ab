"""Two versions of a file: did it only grow (R1 to R3)? (BNC-172)

Entries with a yield marker are compared by their exact text. The rules are frozen once an entry
exists, the context may only gain subsections, and the author may still change the text after the
last marker of the old version (A-34).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Final, NamedTuple

from moot.core.findings import Finding, check_all
from moot.core.markdown import LineKind, scan_lines
from moot.protocols.debate.file_checks import Flaw, flaw_at, norm
from moot.protocols.debate.model import DebateEntry, SessionDocument
from moot.protocols.debate.reader import read_document

_NEW_FILE = "go back to the old version, and append"


class FileVersions(NamedTuple):
    """A file as it was, and as it is."""

    old: SessionDocument
    new: SessionDocument


def _written(document: SessionDocument, entry: DebateEntry) -> str:
    return document.text[entry.start : entry.end].rstrip("\r\n")


def _yielded(document: SessionDocument) -> dict[str, str]:
    """Return the first entry of each id, as written, in file order."""
    texts: dict[str, str] = {}
    for entry in document.entries:
        if entry.yielded:
            key = entry.id or f"entry {entry.index + 1}"
            texts.setdefault(key, _written(document, entry))
    return texts


def _lines(document: SessionDocument) -> dict[str, int]:
    lines = {}
    for entry in reversed(document.entries):
        lines[entry.id or f"entry {entry.index + 1}"] = entry.line
    return lines


def entry_modified(versions: FileVersions) -> Iterator[Flaw]:
    old, new = versions
    now, lines = _yielded(new), _lines(new)
    for key, text in _yielded(old).items():
        if key in now and now[key] != text:
            yield flaw_at(lines[key], "", key)
        elif key not in now and key in lines:
            yield flaw_at(lines[key], "its marker is gone", key)


def entry_deleted(versions: FileVersions) -> Iterator[Flaw]:
    old, new = versions
    still_there = _lines(new)
    for key in _yielded(old):
        if key not in still_there:
            yield flaw_at(None, "", key)


def entry_inserted(versions: FileVersions) -> Iterator[Flaw]:
    old, new = versions
    before, lines = _yielded(old), _lines(new)
    known = [key in before for key in _yielded(new)]
    last = max((place for place, is_old in enumerate(known) if is_old), default=-1)
    for place, key in enumerate(_yielded(new)):
        if place < last and key not in before:
            yield flaw_at(lines[key], "", key)


def entries_reordered(versions: FileVersions) -> Iterator[Flaw]:
    old, new = versions
    lines = _lines(new)
    order = {key: place for place, key in enumerate(_yielded(old))}
    old_ones = [key for key in _yielded(new) if key in order]
    for above, below in pairwise(old_ones):
        if order[below] < order[above]:
            yield flaw_at(lines[below], "", below)


def rules_modified(versions: FileVersions) -> Iterator[Flaw]:
    old, new = versions
    if old.entries and old.section_text("Protocol Rules") != new.section_text("Protocol Rules"):
        section = new.find_section("Protocol Rules")
        yield flaw_at(section.line if section else None)


def context_modified(versions: FileVersions) -> Iterator[Flaw]:
    """A-32: allow only new subsections of level 3 at its end."""
    old, new = versions
    was, now = old.section_text("Context").rstrip(), new.section_text("Context").rstrip()
    section = new.find_section("Context")
    if not now.startswith(was):
        yield flaw_at(section.line if section else None)
    elif now != was and not _is_subsection(now[len(was) :]):
        yield flaw_at(section.line if section else None, "what was added is no ### subsection")


def _is_subsection(added: str) -> bool:
    first = next((line for line in scan_lines(added) if line.kind is not LineKind.BLANK), None)
    return first is not None and first.kind is LineKind.HEADING and first.level >= 3


def header_modified(versions: FileVersions) -> Iterator[Flaw]:
    old, new = versions
    for key in ("bounce-protocol", "created", "session-id"):
        if old.header_value(key) != new.header_value(key):
            yield flaw_at(None, key)
    if old.name != new.name:
        yield flaw_at(new.title.line if new.title else None, "title")


def dialogue_modified(versions: FileVersions) -> Iterator[Flaw]:
    """Compare the rest of the dialogue, up to the last marker of the old version."""
    old, new = versions
    last = next((entry for entry in reversed(old.entries) if entry.yielded), None)
    before, after = old.find_section("Dialogue"), new.find_section("Dialogue")
    if last is None or before is None or after is None:
        return
    was = old.text[before.start : last.end].rstrip("\r\n")
    if not new.text.startswith(was, after.start):
        yield flaw_at(after.line)


APPEND_ONLY_RULES: Final = (
    norm("R1", "entry_modified", "an entry that was yielded was changed", entry_modified,
         _NEW_FILE, requirement="BNC-097"),
    norm("R1", "entry_deleted", "an entry that was yielded is gone", entry_deleted, _NEW_FILE,
         requirement="BNC-097"),
    norm("R2", "entry_inserted", "an entry was put between others", entry_inserted,
         "new entries go to the end", requirement="BNC-098"),
    norm("R2", "entries_reordered", "entries changed places", entries_reordered, _NEW_FILE,
         requirement="BNC-066"),
    norm("R3", "rules_modified", "the rules were changed after the first entry", rules_modified,
         "other rules need a new session", requirement=("BNC-059", "BNC-099")),
    norm("3.4", "context_modified", "the context was changed", context_modified,
         "add a ### subsection to its end instead", requirement=("BNC-061", "BNC-062")),
    norm("3.1", "header_modified", "header or title were changed", header_modified,
         "another topic needs a new session", requirement="BNC-005"),
)  # fmt: skip
_REST: Final = (
    norm("R1", "dialogue_modified", "the dialogue was changed between its entries",
         dialogue_modified, _NEW_FILE, requirement=("BNC-005", "BNC-098")),
)  # fmt: skip


def compare(old: bytes | str, new: bytes | str) -> tuple[Finding, ...]:
    """Return every way in which the new version did more than grow."""
    versions = FileVersions(read_document(old), read_document(new))
    findings = check_all(APPEND_ONLY_RULES, versions)
    # Reported only if nothing above explains it: a changed entry changes the dialogue too.
    explained = any(finding.rule in ("R1", "R2") for finding in findings)
    return findings if explained else (*findings, *check_all(_REST, versions))
