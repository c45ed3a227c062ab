"""More context for a session that is under way: a subsection at the end of the Context (A-32).

It is the one write that is not at the end of the file, so more is asked of it. BNC-061, BNC-062:
what stood there before must all be there afterwards, to the letter, and nothing but the subsection
may have appeared.
"""

from __future__ import annotations

from collections import Counter

from moot.core.errors import Refused
from moot.core.markdown import BYTE_ORDER_MARK
from moot.protocols.debate.checker import CheckedSession, check_document
from moot.protocols.debate.compare import compare
from moot.protocols.debate.drafts import is_unfit
from moot.protocols.debate.model import OddityKind
from moot.protocols.debate.reader import read_document

_HINT = "one line of title; no headings of level 1 to 3 in the text, every code block closed"


def add_context_section(checked: CheckedSession, title: str, added: str) -> str:
    """The whole file with one more subsection; Refused if that would change anything else."""
    document = checked.document
    section = document.find_section("Context")
    if section is None or checked.has_blocking_errors:
        raise Refused(
            "invalid_session",
            "the file has errors; nothing is added to it",
            hint="`moot debate check FILE` says what to mend",
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
    """Refused unless the file only grew: the same entries, the same sections, an old context that
    the new one begins with, and no finding that was not there before."""
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
