"""A receipt (section 8): one line around a bundle, and what the bundle must cite at its end.

What people read of a receipt stands outside of the bundle, where a forger would change it first. So
it counts only if the ledger's root key signed for it: the last event of one of the bundle's streams
must cite it as an artifact. An older citation does not count: its words could be put around a newer
record.
"""

from __future__ import annotations

import hashlib
import io
from typing import IO, Any, Final, NamedTuple

from moot.verify import canonical
from moot.verify.check_state import CheckState, ReceiptStatement
from moot.verify.step_failure import StepFailure

RECEIPT_START: Final = b'{"format":"moot-receipt/1","record":'
MAX_RECEIPT: Final = 64 * 1024 * 1024
RECEIPT_MADE_TYPE: Final = "decision.receipt_made"
_RECEIPT_FIELDS: Final = {"format", "record", "says"}
_SUMMARY_FIELDS: Final = ("decision", "stage", "question", "word", "result")


class OpenedBundle(NamedTuple):
    """The bundle to read, and what a receipt around it says."""

    file: IO[bytes]
    says: ReceiptStatement | None = None


def open_receipt(file: IO[bytes]) -> OpenedBundle:
    """What is in an open file; one that is no sound receipt is read as a bundle, and fails so."""
    if file.read(len(RECEIPT_START)) != RECEIPT_START:
        file.seek(0)
        return OpenedBundle(file)
    # That much more than a receipt may be, so that one which is too long is seen to be.
    text = RECEIPT_START + file.read(MAX_RECEIPT)
    receipt = _parse_receipt(text.removesuffix(b"\n"))
    if receipt is None:
        file.seek(0)
        return OpenedBundle(file)
    return OpenedBundle(io.BytesIO(receipt["record"].encode()), _statement_of(receipt["says"]))


def _statement_of(value: dict[str, Any]) -> ReceiptStatement:
    summary = {name: value.get(name) for name in _SUMMARY_FIELDS}
    sha256 = hashlib.sha256(canonical.write_canonical(value)).hexdigest()
    return ReceiptStatement(sha256, {"signed_by": "machine", **summary})


def _parse_receipt(text: bytes) -> dict[str, Any] | None:
    if len(text) > MAX_RECEIPT:
        return None
    try:
        value = canonical.parse_canonical(text)
    except canonical.NotCanonical:
        return None
    if type(value) is not dict or set(value) != _RECEIPT_FIELDS:
        return None
    is_receipt = type(value["record"]) is str and type(value["says"]) is dict
    return value if is_receipt else None


def require_signed_statement(state: CheckState) -> None:
    """After the last line: the receipt says what its record cites last, else `StepFailure` at line
    1."""
    says = state.demands.says
    if says is not None and not any(
        says.sha256 in cited for cited in state.receipt_citations.values()
    ):
        raise StepFailure(8, "receipt_differs", "the receipt says what its record does not").at(1)
