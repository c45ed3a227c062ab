"""The checks on a file's own parts: bytes, header, title, sections, settings.

Each is named for the flaw it finds and yields one for each place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from typing import TypeVar

import msgspec

from moot.core.findings import Breach, Rule, Severity
from moot.protocols.debate.model import (
    HEADER_KEYS,
    SECTIONS,
    TITLE_PREFIX,
    UUID_V4_PATTERN,
    VERSION_PATTERN,
    HeaderLine,
    OddityKind,
    SessionDocument,
    is_uuid,
    parse_time,
)
from moot.protocols.debate.settings import SETTING_READERS, KnownSettings, explain_runtime_setting

# A row of this protocol's tables: the shared `Rule`, whose messages are whole sentences.
#
# A message reads "the stance is none of the four: 'maybe'": the row's sentence, then what the
# check saw in this place.

Subject = TypeVar("Subject")
# What the check saw (nothing, if the sentence says it all), where, and on which line.
Flaw = tuple[str, str | None, int | None]


def flaw_at(line: int | None, saw: str = "", where: str | None = None) -> Flaw:
    """Return a breach on this line."""
    return saw, where, line


def norm(
    id: str,  # noqa: A002 - the word of every rule table
    code: str,
    sentence: str,
    check: Callable[[Subject], Iterable[Flaw]],
    hint: str,
    severity: Severity = Severity.ERROR,
    *,
    requirement: str | tuple[str, ...] = (),
) -> Rule[Subject]:
    """Make a row; `id` is a rule of the document (R1 to R20) or its section."""

    def check_in_full(subject: Subject) -> Iterable[Breach]:
        flaws = check(subject)
        return [_with_sentence(sentence, *flaw) for flaw in flaws] if flaws else ()

    return Rule(id, code, sentence, check_in_full, hint, severity, requirement=requirement)


def _with_sentence(sentence: str, saw: str, where: str | None, line: int | None) -> Breach:
    return (f"{sentence}: {saw}" if saw else sentence), where, line


Check = Callable[["FileCase"], Iterator[Flaw]]


class FileCase(msgspec.Struct, frozen=True):
    """What a check looks at: the document, its settings, and how it is to be judged."""

    document: SessionDocument
    settings: KnownSettings
    strict_uuid: bool = False
    file_name: str | None = None

    @property
    def is_newer_minor(self) -> bool:
        """A later minor version: what we do not know is no flaw there (R9)."""
        return self.document.minor_version > 1

    def find_header_line(self, key: str) -> HeaderLine | None:
        return next((line for line in self.document.header if line.key == key), None)


def reader_noticed(kind: OddityKind) -> Check:
    """Return a check that reports oddities of this kind in the file."""

    def noticed(case: FileCase) -> Iterator[Flaw]:
        for oddity in case.document.oddities:
            if oddity.kind is kind:
                yield flaw_at(oddity.line, oddity.text)

    return noticed


def other_extension(case: FileCase) -> Iterator[Flaw]:
    if case.file_name is not None and not case.file_name.endswith(".md"):
        yield flaw_at(None, case.file_name)


# The header (3.1) --------------------------------------------------------------------------------


def header_line_missing(key: str) -> Check:
    """Return a check for a header line that is missing or empty."""

    def missing(case: FileCase) -> Iterator[Flaw]:
        line = case.find_header_line(key)
        if line is None:
            yield flaw_at(HEADER_KEYS.index(key) + 1)
        elif not line.value:
            yield flaw_at(line.line, f"{key} has no value")

    return missing


def header_permuted(case: FileCase) -> Iterator[Flaw]:
    lines = [line for line in case.document.header if line.key in HEADER_KEYS]
    keys = [line.key for line in lines]
    if keys != sorted(keys, key=HEADER_KEYS.index):
        yield flaw_at(lines[0].line)


def header_not_first(case: FileCase) -> Iterator[Flaw]:
    """Report anything above the header or between its lines, even a blank line."""
    lines = [line for line in case.document.header if line.key in HEADER_KEYS]
    for wanted, line in enumerate(lines, start=1):
        if line.line != wanted:
            yield flaw_at(line.line, f"{line.key} is on line {line.line}")
            return


def header_inexact(case: FileCase) -> Iterator[Flaw]:
    for line in case.document.header:
        if line.key in HEADER_KEYS and not line.exact:
            yield flaw_at(line.line, line.key)


def header_extra(newer: bool) -> Check:
    """Return a check for a fourth comment or a repeated one: an error in 0.1 only (A-47)."""

    def more(case: FileCase) -> Iterator[Flaw]:
        known: set[str] = set()
        for line in case.document.header:
            if (line.key not in HEADER_KEYS or line.key in known) and case.is_newer_minor is newer:
                yield flaw_at(line.line, line.key)
            known.add(line.key)

    return more


def bad_version(case: FileCase) -> Iterator[Flaw]:
    line = case.find_header_line("bounce-protocol")
    if line is not None and line.value and not VERSION_PATTERN.fullmatch(line.value):
        yield flaw_at(line.line, repr(line.value))


def other_major(document: SessionDocument) -> Iterator[Flaw]:
    line = next((line for line in document.header if line.key == "bounce-protocol"), None)
    version = VERSION_PATTERN.fullmatch(line.value) if line else None
    if line and version and version[1] != "0":
        yield flaw_at(line.line, f"version {line.value}")


def other_minor(lower: bool) -> Check:
    def minor(case: FileCase) -> Iterator[Flaw]:
        if case.document.minor_version < 1 if lower else case.is_newer_minor:
            yield flaw_at(1, f"version {case.document.header_value('bounce-protocol')}")

    return minor


def bad_created(case: FileCase) -> Iterator[Flaw]:
    line = case.find_header_line("created")
    if line is not None and line.value and parse_time(line.value) is None:
        yield flaw_at(line.line, repr(line.value))


def bad_session_id(case: FileCase) -> Iterator[Flaw]:
    line = case.find_header_line("session-id")
    if line is not None and line.value and not is_uuid(line.value):
        yield flaw_at(line.line, repr(line.value))


def session_id_not_v4(strict: bool) -> Check:
    def other_version(case: FileCase) -> Iterator[Flaw]:
        line = case.find_header_line("session-id")
        other = (
            line is not None and is_uuid(line.value) and not UUID_V4_PATTERN.fullmatch(line.value)
        )
        if line is not None and other and case.strict_uuid is strict:
            yield flaw_at(line.line, line.value)

    return other_version


# Title and sections (3.2 to 3.5) -----------------------------------------------------------------


def no_title(case: FileCase) -> Iterator[Flaw]:
    title = case.document.title
    if title is None:
        yield flaw_at(None)
    elif not title.text.startswith(TITLE_PREFIX):
        yield flaw_at(title.line, repr(title.text))


def empty_title(case: FileCase) -> Iterator[Flaw]:
    title = case.document.title
    if title is not None and title.text.startswith(TITLE_PREFIX) and not case.document.name:
        yield flaw_at(title.line)


def no_section(name: str) -> Check:
    def missing(case: FileCase) -> Iterator[Flaw]:
        if case.document.find_section(name) is None:
            yield flaw_at(None)

    return missing


def sections_permuted(case: FileCase) -> Iterator[Flaw]:
    document = case.document
    first = [document.find_section(name) for name in SECTIONS]
    places = [section for section in first if section is not None]
    for above, below in pairwise(places):
        if below.line < above.line:
            yield flaw_at(below.line, f"{below.name} is above {above.name}")
            return
    if document.title is not None and places and document.title.line > places[0].line:
        yield flaw_at(document.title.line, "the title is below a section")


def section_given_twice(case: FileCase) -> Iterator[Flaw]:
    known: set[str] = set()
    for section in case.document.sections:
        if section.name in known and section.name in SECTIONS:
            yield flaw_at(section.line, section.name)
        known.add(section.name)


def unknown_section(case: FileCase) -> Iterator[Flaw]:
    for section in case.document.sections:
        if section.name not in SECTIONS:
            yield flaw_at(section.line, section.name)


def empty_context(case: FileCase) -> Iterator[Flaw]:
    section = case.document.find_section("Context")
    if section is not None and not case.document.section_text("Context").strip():
        yield flaw_at(section.line)


# Settings (3.3, 5) -------------------------------------------------------------------------------


def no_rules_block(case: FileCase) -> Iterator[Flaw]:
    section = case.document.find_section("Protocol Rules")
    if section is not None and case.document.settings is None:
        yield flaw_at(section.line)


def setting_problem(code: str) -> Check:
    """Return what is wrong with a setting, of the kind that has this code."""

    def unsound(case: FileCase) -> Iterator[Flaw]:
        for problem in case.settings.problems:
            if problem.code == code:
                yield flaw_at(problem.line, problem.message, problem.key)

    return unsound


def unread_setting(case: FileCase) -> Iterator[Flaw]:
    for line in case.document.settings.unread if case.document.settings else ():
        yield flaw_at(line.line, repr(line.text))


def setting_given_twice(case: FileCase) -> Iterator[Flaw]:
    known: set[str] = set()
    for setting in case.document.settings.settings if case.document.settings else ():
        if setting.key in known:
            yield flaw_at(setting.line, setting.key, setting.key)
        known.add(setting.key)


def unknown_setting(newer: bool) -> Check:
    def unknown(case: FileCase) -> Iterator[Flaw]:
        for setting in case.document.settings.settings if case.document.settings else ():
            if setting.key not in SETTING_READERS and case.is_newer_minor is newer:
                explanation = explain_runtime_setting(setting.key)  # BNC-159
                saw = f"{setting.key} ({explanation})" if explanation else setting.key
                yield flaw_at(setting.line, saw, setting.key)

    return unknown
