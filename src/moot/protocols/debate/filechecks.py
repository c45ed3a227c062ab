"""The checks on a file's own parts: bytes, header, title, sections, settings.

Each is named for the flaw it finds and yields one for each place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise

import msgspec

from moot.protocols.debate.model import (
    HEADER_KEYS,
    SECTIONS,
    TITLE,
    UUID_V4,
    VERSION,
    Document,
    HeaderLine,
    Odd,
    is_uuid,
    moment,
)
from moot.protocols.debate.norms import Flaw, on
from moot.protocols.debate.runtime import setting_in_a_file
from moot.protocols.debate.schema import KEYS, Known

Check = Callable[["Seen"], Iterator[Flaw]]


class Seen(msgspec.Struct, frozen=True):
    """What a check looks at: the document, its settings, and how it is to be judged."""

    document: Document
    known: Known
    strict_uuid: bool = False
    file_name: str | None = None

    @property
    def newer(self) -> bool:
        """A later minor version: what we do not know is no flaw there (R9)."""
        return self.document.minor > 1

    def header(self, key: str) -> HeaderLine | None:
        return next((line for line in self.document.header if line.key == key), None)


def odd(kind: Odd) -> Check:
    """What the reader noticed about the file."""

    def noticed(case: Seen) -> Iterator[Flaw]:
        for oddity in case.document.odd:
            if oddity.kind is kind:
                yield on(oddity.line, oddity.text)

    return noticed


def other_extension(case: Seen) -> Iterator[Flaw]:
    if case.file_name is not None and not case.file_name.endswith(".md"):
        yield on(None, case.file_name)


# The header (3.1) --------------------------------------------------------------------------------


def absent(key: str) -> Check:
    """A header line that is not there, or says nothing."""

    def missing(case: Seen) -> Iterator[Flaw]:
        line = case.header(key)
        if line is None:
            yield on(HEADER_KEYS.index(key) + 1)
        elif not line.value:
            yield on(line.line, f"{key} has no value")

    return missing


def header_permuted(case: Seen) -> Iterator[Flaw]:
    lines = [line for line in case.document.header if line.key in HEADER_KEYS]
    keys = [line.key for line in lines]
    if keys != sorted(keys, key=HEADER_KEYS.index):
        yield on(lines[0].line)


def header_not_first(case: Seen) -> Iterator[Flaw]:
    """Nothing stands above the header or between its lines, not even a blank line."""
    lines = [line for line in case.document.header if line.key in HEADER_KEYS]
    for wanted, line in enumerate(lines, start=1):
        if line.line != wanted:
            yield on(line.line, f"{line.key} is on line {line.line}")
            return


def header_inexact(case: Seen) -> Iterator[Flaw]:
    for line in case.document.header:
        if line.key in HEADER_KEYS and not line.exact:
            yield on(line.line, line.key)


def header_extra(newer: bool) -> Check:
    """A fourth comment, or one of the three again: wrong in 0.1, a note later (A-47)."""

    def more(case: Seen) -> Iterator[Flaw]:
        known: set[str] = set()
        for line in case.document.header:
            if (line.key not in HEADER_KEYS or line.key in known) and case.newer is newer:
                yield on(line.line, line.key)
            known.add(line.key)

    return more


def bad_version(case: Seen) -> Iterator[Flaw]:
    line = case.header("bounce-protocol")
    if line is not None and line.value and not VERSION.fullmatch(line.value):
        yield on(line.line, repr(line.value))


def foreign_major(document: Document) -> Iterator[Flaw]:
    line = next((line for line in document.header if line.key == "bounce-protocol"), None)
    version = VERSION.fullmatch(line.value) if line else None
    if line and version and version[1] != "0":
        yield on(line.line, f"version {line.value}")


def other_minor(lower: bool) -> Check:
    def minor(case: Seen) -> Iterator[Flaw]:
        if case.document.minor < 1 if lower else case.newer:
            yield on(1, f"version {case.document.head('bounce-protocol')}")

    return minor


def bad_created(case: Seen) -> Iterator[Flaw]:
    line = case.header("created")
    if line is not None and line.value and moment(line.value) is None:
        yield on(line.line, repr(line.value))


def bad_session_id(case: Seen) -> Iterator[Flaw]:
    line = case.header("session-id")
    if line is not None and line.value and not is_uuid(line.value):
        yield on(line.line, repr(line.value))


def session_id_not_v4(strict: bool) -> Check:
    def other_version(case: Seen) -> Iterator[Flaw]:
        line = case.header("session-id")
        other = line is not None and is_uuid(line.value) and not UUID_V4.fullmatch(line.value)
        if line is not None and other and case.strict_uuid is strict:
            yield on(line.line, line.value)

    return other_version


# Title and sections (3.2 to 3.5) -----------------------------------------------------------------


def no_title(case: Seen) -> Iterator[Flaw]:
    title = case.document.title
    if title is None:
        yield on(None)
    elif not title.text.startswith(TITLE):
        yield on(title.line, repr(title.text))


def empty_title(case: Seen) -> Iterator[Flaw]:
    title = case.document.title
    if title is not None and title.text.startswith(TITLE) and not case.document.name:
        yield on(title.line)


def no_section(name: str) -> Check:
    def missing(case: Seen) -> Iterator[Flaw]:
        if case.document.section(name) is None:
            yield on(None)

    return missing


def sections_permuted(case: Seen) -> Iterator[Flaw]:
    document = case.document
    first = [document.section(name) for name in SECTIONS]
    places = [section for section in first if section is not None]
    for above, below in pairwise(places):
        if below.line < above.line:
            yield on(below.line, f"{below.name} stands above {above.name}")
            return
    if document.title is not None and places and document.title.line > places[0].line:
        yield on(document.title.line, "the title stands below a section")


def section_again(case: Seen) -> Iterator[Flaw]:
    known: set[str] = set()
    for section in case.document.sections:
        if section.name in known and section.name in SECTIONS:
            yield on(section.line, section.name)
        known.add(section.name)


def unknown_section(case: Seen) -> Iterator[Flaw]:
    for section in case.document.sections:
        if section.name not in SECTIONS:
            yield on(section.line, section.name)


def empty_context(case: Seen) -> Iterator[Flaw]:
    section = case.document.section("Context")
    if section is not None and not case.document.section_text("Context").strip():
        yield on(section.line)


# Settings (3.3, 5) -------------------------------------------------------------------------------


def no_block(case: Seen) -> Iterator[Flaw]:
    section = case.document.section("Protocol Rules")
    if section is not None and case.document.settings is None:
        yield on(section.line)


def problem(code: str) -> Check:
    """What is wrong with a setting, of the kind that has this code."""

    def unsound(case: Seen) -> Iterator[Flaw]:
        for problem in case.known.problems:
            if problem.code == code:
                yield on(problem.line, problem.message, problem.key)

    return unsound


def unread_setting(case: Seen) -> Iterator[Flaw]:
    for line in case.document.settings.unread if case.document.settings else ():
        yield on(line.line, repr(line.text))


def setting_again(case: Seen) -> Iterator[Flaw]:
    known: set[str] = set()
    for setting in case.document.settings.found if case.document.settings else ():
        if setting.key in known:
            yield on(setting.line, setting.key, setting.key)
        known.add(setting.key)


def unknown_setting(newer: bool) -> Check:
    def unknown(case: Seen) -> Iterator[Flaw]:
        for setting in case.document.settings.found if case.document.settings else ():
            if setting.key not in KEYS and case.newer is newer:
                meant = setting_in_a_file(setting.key)  # BNC-159
                saw = f"{setting.key} ({meant})" if meant else setting.key
                yield on(setting.line, saw, setting.key)

    return unknown
