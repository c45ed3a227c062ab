"""An entry before it is written: what its author gives, and what may not stand in it (A-65).

Text from outside could forge a marker, a field or another agent's entry. Each flaw is a finding;
only a draft without findings is written.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Final

import msgspec

from moot.core.errors import Refused
from moot.core.findings import Finding
from moot.core.markdown import BYTE_ORDER_MARK, LineKind, MarkdownLine, escape_comments, scan_lines
from moot.protocols.debate.checker import CheckedSession, check_document
from moot.protocols.debate.compare import compare
from moot.protocols.debate.course import says_generated
from moot.protocols.debate.model import (
    DECIMAL_PATTERN,
    FIELDS,
    STANCES,
    EntryStatus,
    OddityKind,
    OutputFormat,
    Rules,
    is_not_applicable,
)
from moot.protocols.debate.reader import read_document
from moot.protocols.debate.settings import explain_runtime_stance

# What a reader that knows no fences would take for structure.
MARKER_PATTERN: Final = re.compile(
    r"<!--\s*(?:yield\b|(?:entry|turn|bounce-protocol|created|session-id)\s*:)"
)
_BREAK = re.compile(r"[\r\n\v\f\x1c-\x1e\x85\u2028\u2029]")
_KNOWN_KEY = re.compile(rf"(?:{'|'.join(FIELDS)})\s*:")
_ANY_KEY = re.compile(r"[a-z][a-z0-9_-]*:(?:[ \t]|\Z)")


class EntryDraft(msgspec.Struct, frozen=True, kw_only=True):
    """One contribution as its author gives it; empty optional fields are left out.

    `next_agent` is to speak next: its name is put first in the request, where a reader looks
    (A-17).
    """

    author: str
    stance: str = ""
    confidence: str = ""
    summary: str = ""
    action_requested: str = "n/a"
    evidence: str = "n/a"
    body: str = ""
    status: EntryStatus = EntryStatus.YIELD
    next_agent: str = ""

    def filled_fields(self) -> Iterator[tuple[str, str]]:
        for name in FIELDS:
            value = str(getattr(self, name)).strip()
            if value:
                yield name, _decimal(value) if name == "confidence" else value


def _decimal(text: str) -> str:
    """A-68: written with at least one digit behind the point."""
    return text if "." in text else f"{text}.0"


def tidy_draft(draft: EntryDraft, escape: bool = False) -> EntryDraft:
    """Return the draft with uniform line ends; `escape` makes comments in its body harmless."""
    body = draft.body.replace("\r\n", "\n")
    body = escape_comments(body) if escape else body
    lines = body.split("\n")
    not_blank = [place for place, line in enumerate(lines) if line.strip(" \t")]
    body = "\n".join(lines[not_blank[0] : not_blank[-1] + 1]) if not_blank else ""
    summary = "\n".join(part.strip() for part in draft.summary.strip().split("\n"))
    return msgspec.structs.replace(
        draft, body=body, summary=summary, action_requested=_request_with_next(draft)
    )


def _request_with_next(draft: EntryDraft) -> str:
    """BNC-087: put the name of the next speaker first, where a reader finds it (A-17)."""
    name, request = draft.next_agent, draft.action_requested
    if not name or request.startswith(name):
        return request
    return name if is_not_applicable(request) else f"{name}: {request}"


def find_flaws(draft: EntryDraft, rules: Rules) -> list[Finding]:
    """Return everything that forbids this draft in a session with these rules."""
    breaches = [
        *_check_required(draft, rules),
        *_check_vote(draft),
        *_check_line_breaks(draft),
        *_check_summary(draft),
    ]
    for name in ("author", *FIELDS, "body"):
        breaches += _check_text(name, getattr(draft, name))
    # BNC-144, BNC-146: else an agent could pass off its own entry as the machine's.
    if says_generated(draft.body):
        message = "only the machine says of an entry that it was generated"
        breaches.append(_flaw("4.5", "machine_words", message, "body", "say it in other words"))
    if draft.next_agent and draft.next_agent not in rules.agents:
        message, hint = f"{draft.next_agent!r} is none of them", f"one of {', '.join(rules.agents)}"
        breaches.append(_flaw("R14", "unknown_next", message, "action_requested", hint))
    if re.search(r"[\[\]\s]", draft.author) or not draft.author:
        breaches.append(_flaw("4.3", "bad_author", repr(draft.author), "author", "a listed name"))
    if re.search(r"\r", draft.body):
        breaches.append(_flaw("3", "lone_cr", "the body holds a lone CR", "body", "use LF"))
    return breaches


def is_unfit(text: str) -> bool:
    """True if it has a marker, or bytes that are no text: no part of a file may have these."""
    return MARKER_PATTERN.search(text) is not None or not is_text(text)


def is_text(text: str) -> bool:
    """BNC-001: true if it can be encoded: arguments may have bytes that are no characters."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _check_text(name: str, text: str) -> Iterator[Finding]:
    if MARKER_PATTERN.search(text):
        yield _flaw("R20", "marker_in_text", f"{name} holds a marker", name, _ESCAPE)
    if not is_text(text):
        yield _flaw("3", "encoding", f"{name} is not UTF-8", name, "give it as UTF-8")


_ESCAPE = "--escape writes comments as visible text"
_ONE_LINE = "put it on one line; the body may have many"


def _flaw(rule: str, code: str, message: str, where: str, hint: str) -> Finding:
    return Finding(rule=rule, code=code, message=message, where=where, hint=hint)


def _check_required(draft: EntryDraft, rules: Rules) -> Iterator[Finding]:
    if rules.output_format is OutputFormat.STRUCTURED:
        for name in FIELDS:
            if not getattr(draft, name).strip():
                message, hint = f"{name} is required", f"--{name.replace('_', '-')}"
                yield _flaw("4.4", "MISSING_REQUIRED_FIELD", message, name, hint)


def _check_vote(draft: EntryDraft) -> Iterator[Finding]:
    stance, sure = draft.stance.strip(), draft.confidence.strip()
    if stance and stance not in STANCES:
        # BNC-151: for a runtime's stance, name the stance of a file.
        hint = explain_runtime_stance(stance) or f"one of {', '.join(STANCES)}"
        yield _flaw("R10", "INVALID_STANCE", f"{stance!r} is not a stance", "stance", hint)
    if sure and not DECIMAL_PATTERN.fullmatch(sure):
        out = re.fullmatch(r"-[0-9.]+", sure) is not None
        code = "CONFIDENCE_OUT_OF_RANGE" if out else "INVALID_CONFIDENCE"
        yield _flaw("R11", code, f"{sure!r} is no confidence", "confidence", _RANGE)
    elif sure and float(sure) > 1:
        message = f"{sure} is not from 0.0 to 1.0"
        yield _flaw("R11", "CONFIDENCE_OUT_OF_RANGE", message, "confidence", _RANGE)


_RANGE = "a number from 0.0 to 1.0, such as 0.8"


def _check_line_breaks(draft: EntryDraft) -> Iterator[Finding]:
    for name in ("author", "stance", "confidence", "action_requested", "evidence"):
        if _BREAK.search(getattr(draft, name).strip()):
            message = f"{name} has more than one line"
            yield _flaw("4.4", "line_break", message, name, _ONE_LINE)


def _check_summary(draft: EntryDraft) -> Iterator[Finding]:
    """Yield one or two lines, and the second may not pose as a field (A-49, A-65)."""
    lines = draft.summary.strip().split("\n")
    if len(lines) > 2 or any(_BREAK.search(line) for line in lines):
        yield _flaw("4.4", "line_break", "a summary has one or two lines", "summary", _ONE_LINE)
    for line in lines[1:]:
        if not line.strip() or _ANY_KEY.match(line.strip()) or _KNOWN_KEY.match(line.strip()):
            message = "the summary's second line would be read as a field"
            yield _flaw("4.4", "field_in_summary", message, "summary", _ONE_LINE)


# Headings of an answer, moved to the levels that an entry may have (4.5: level 3 or below).
#
# Models like to begin an argument with `## What we know`, but levels 1 and 2 are for the session
# itself. Moot moves all headings by the same number of levels, instead of refusing the answer.

_DEEPEST: Final = 6
_FIRST_FREE: Final = 3


def deepen_headings(text: str) -> str:
    """Return the text with its largest heading on level 3; as it is if none is larger."""
    lines = list(scan_lines(text))
    levels = [line.level for line in lines if line.kind in (LineKind.HEADING, LineKind.SETEXT)]
    down = _FIRST_FREE - min(levels, default=_FIRST_FREE)
    return "".join(_write_lines(lines, down)) if down > 0 else text


def _write_lines(lines: list[MarkdownLine], down: int) -> Iterator[str]:
    paragraph: list[MarkdownLine] = []
    for line in lines:
        if line.kind is LineKind.TEXT:
            paragraph.append(line)
            continue
        if line.kind is LineKind.SETEXT:
            title = " ".join(each.text.strip() for each in paragraph)
            yield f"{_marks(line.level + down)} {title}{line.ending}"
        else:
            yield from (each.text + each.ending for each in paragraph)
            yield _deeper(line, down) if line.kind is LineKind.HEADING else line.text + line.ending
        paragraph = []
    yield from (each.text + each.ending for each in paragraph)


def _deeper(line: MarkdownLine, down: int) -> str:
    return f"{_marks(line.level + down)} {line.value}".rstrip() + line.ending


def _marks(level: int) -> str:
    return "#" * min(_DEEPEST, level)


# More context for a running session: a subsection at the end of the Context.
#
# It is the only write that is not at the end of the file, so it is checked more strictly. BNC-061,
# BNC-062: everything else must be the same afterwards, and only the subsection may be new.

_HINT = "one line of title; no headings of level 1 to 3 in the text, every code block closed"


def add_context_section(checked: CheckedSession, title: str, added: str) -> str:
    """Return the file with one more subsection; Refused if that would change anything else."""
    document = checked.document
    section = document.find_section("Context")
    if section is None or checked.has_blocking_errors:
        raise Refused(
            "invalid_session",
            "the file has errors; nothing is added to it",
            hint="`moot debate check FILE` says what to fix",
        )
    kinds = {oddity.kind for oddity in document.oddities}
    body = added.replace("\r\n", "\n").strip()
    piece = f"### {title.strip()}\n\n{body}\n\n"
    above, below = document.text[: section.end], document.text[section.end :]
    gap = "" if above.endswith(("\n\n", "\r\n\r\n")) else "\n"
    piece = (gap + piece).replace("\n", "\r\n") if OddityKind.CRLF in kinds else gap + piece
    text = above + piece + below
    _require_only_more(checked, text, title, added)
    return BYTE_ORDER_MARK + text if OddityKind.BYTE_ORDER_MARK in kinds else text


def _require_only_more(before: CheckedSession, text: str, title: str, added: str) -> None:
    """Raise Refused unless the file only grew: the same entries and sections, a context that begins
    with the old one, and no new finding."""
    after = check_document(read_document(text))
    differences = compare(before.document.text, text)
    same_sections = [section.name for section in after.document.sections] == [
        section.name for section in before.document.sections
    ]
    same_entries = [entry.id for entry in after.document.entries] == [
        entry.id for entry in before.document.entries
    ]
    complete = title.strip() and "\n" not in title.strip() and added.strip()
    new_findings = _count_codes(after) - _count_codes(before)
    kept = same_sections and same_entries
    if differences or new_findings or not (kept and complete) or is_unfit(title + added):
        message = "the text would change the file's structure"
        raise Refused("injected_structure", message, hint=_HINT, findings=differences)


def _count_codes(checked: CheckedSession) -> Counter[str]:
    return Counter(finding.code for finding in checked.findings)
