"""Are the four files sound? Answered from their bytes alone: first the shape of each, then each
against the others, with every tally and record counted again from the messages.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from moot.core.errors import Malformed
from moot.core.findings import Finding, Severity, select_errors
from moot.protocols.parliament.files import file_checks, message_checks
from moot.protocols.parliament.files.file_shapes import (
    BILL_FILE,
    FILES,
    LEDGER_FILE,
    SESSION_FILE,
    SHAPES,
    SUMMARIES_FILE,
)
from moot.protocols.parliament.files.four_files import FilesCheck, FourFiles
from moot.protocols.parliament.messages.shapes import make_finding, read_json
from moot.protocols.parliament.messages.words import Kind, RulingAction

CHECKS: Final[tuple[FilesCheck, ...]] = (
    file_checks.check_same_session,
    message_checks.check_numbering,
    message_checks.check_order,
    file_checks.check_seats,
    message_checks.check_senders,
    message_checks.check_statements,
    message_checks.check_answers,
    message_checks.check_exchanges,
    message_checks.check_motions,
    message_checks.check_scores,
    file_checks.check_bill_versions,
    file_checks.check_drafter,
    file_checks.check_amendments,
    file_checks.check_positions,
    message_checks.check_votes,
    file_checks.check_vote_records,
    file_checks.check_summaries,
)
MISSING_RULES: Final = {
    LEDGER_FILE: "PAR-003",
    SESSION_FILE: "PAR-085",
    BILL_FILE: "PAR-109",
    SUMMARIES_FILE: "PAR-120",
}
_FROM_RECORD: Final = "`moot parliament export DIR` writes it where the session is on record; "
_ASK: Final = "with only the files at hand, ask whoever ran the session for it"
_MISSING_HINTS: Final = {
    LEDGER_FILE: f"{_FROM_RECORD}{_ASK}: nothing else holds the messages",
    SESSION_FILE: f"{_FROM_RECORD}{_ASK}: nothing else names the seats and their motives",
    BILL_FILE: f"{_FROM_RECORD}{_ASK}: nothing else holds what became of the amendments",
    SUMMARIES_FILE: f"{_FROM_RECORD}with only the files at hand, write `[]` into it: no message "
    "depends on a summary",
}


def inspect_files(files: Mapping[str, bytes | None]) -> tuple[Finding, ...]:
    """Everything that is wrong with the files (PAR-130); None stands for a missing file."""
    documents: dict[str, Any] = {}
    findings: list[Finding] = []
    for name in FILES:
        said = tuple(_read_file(name, files.get(name), documents))
        findings += said
    findings += compare_files(documents, tuple(findings))
    return tuple(findings)


def compare_files(
    documents: Mapping[str, Any], wrong: tuple[Finding, ...] = ()
) -> Iterator[Finding]:
    """Where the files disagree; messages with an error in `wrong` are left out."""
    book = FourFiles.from_documents(documents, wrong)
    for check in CHECKS:
        yield from check(book)


def _read_file(name: str, data: bytes | None, documents: dict[str, Any]) -> Iterator[Finding]:
    if data is None:
        if name == SUMMARIES_FILE and not _has_ended_round(documents):
            documents[name] = []  # PAR-119: the first round to end makes it
            return
        why, hint = f"{name} is missing", _MISSING_HINTS[name]
        yield make_finding(MISSING_RULES[name], "missing_file", why, name, hint)
        return
    try:
        document = read_json(data)
    except Malformed as error:
        where = f"{name}#{error.where}" if error.where else name
        yield make_finding(MISSING_RULES[name], error.code, str(error), where, error.hint)
        return
    findings = tuple(SHAPES[name](document, f"{name}#"))
    yield from findings
    if name == LEDGER_FILE and _has_messages(document):
        documents[name] = document  # its sound messages are looked at one by one
    elif not select_errors(findings):
        documents[name] = document


def _has_ended_round(documents: Mapping[str, Any]) -> bool:
    """Whether a round must have ended; unknown, and so taken for granted, without a ledger."""
    if LEDGER_FILE not in documents:
        return True
    return any(map(_follows_a_round, documents[LEDGER_FILE]["messages"]))


def _follows_a_round(message: Any) -> bool:
    """A message that ends a round, or that comes only after one."""
    if not isinstance(message, dict):
        return False
    content, number = message.get("content"), message.get("round")
    action = content.get("action") if isinstance(content, dict) else None
    return (
        message.get("type") in (Kind.VOTE, Kind.VOTE_TALLY)
        or action in (RulingAction.ROUND_END, RulingAction.CALL_VOTE)
        or (isinstance(number, int) and number > 1)
    )


def _has_messages(document: Any) -> bool:
    return isinstance(document, dict) and isinstance(document.get("messages"), list)


def find_lost_messages(before: bytes, now: bytes) -> tuple[Finding, ...]:
    """PAR-012: every earlier message is still in its place, with the same data."""
    old = _messages_in(before)
    try:
        new = _messages_in(now)
    except Malformed:  # `inspect_files` says why; for this comparison all its messages are gone
        new = []
    findings = []
    for place, message in enumerate(old):
        where = f"{LEDGER_FILE}#messages[{place}]"
        if place >= len(new):
            findings.append(_not_append_only(f"{_message_name(message)} is gone", where))
        elif new[place] != message:
            findings.append(_not_append_only(f"{_message_name(message)} was changed", where))
    return tuple(findings)


def _messages_in(data: bytes) -> list[Any]:
    document = read_json(data)
    return list(document["messages"]) if _has_messages(document) else []


def _message_name(message: Any) -> str:
    return str(message.get("id", "a message")) if isinstance(message, dict) else "a message"


def _not_append_only(message: str, where: str) -> Finding:
    hint = "messages are only ever added: take the earlier file as the true one"
    return make_finding("PAR-012", "not_append_only", message, where, hint, Severity.ERROR)
