"""A receipt (section 8): one line around a bundle, and what the bundle must cite at its end.

What people read of a receipt stands outside of the bundle, where a forger would change it first. So
it counts only if the ledger's root key signed for it: the last event of one of the bundle's streams
must cite it as an artifact. An older citation does not count: its words could be put around a newer
record.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Mapping
from typing import IO, Any, Final, NamedTuple

from moot.verify import canonical, checkpoints
from moot.verify import canonical as field_rules
from moot.verify.check_state import CheckState, ReceiptStatement
from moot.verify.checkpoints import read_note
from moot.verify.crypto import frame_parts
from moot.verify.event_reader import CLOSED_TYPE, OPENED_TYPE, SEALED_TYPE, ReadEvent
from moot.verify.trusted_registry import TrustedRegistry
from moot.verify.verdict import StepFailure, StreamPosition

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


# Does a file claim to be a bundle or a receipt at all? (Section 7.) A wrong file is no tampered
# one. Both claim it twice within these bytes, so no single damaged byte hides it.

CLAIMED_WITHIN: Final = 256
_HEADER: Final = b'{"digest":"'
_FORMATS: Final = (b"moot-bundle/", b"moot-receipt/")


class NotAnExport(ValueError):
    """There is nothing here that a verdict could speak of; the caller took the wrong file."""


def claims_to_be_ours(start: bytes) -> bool:
    """Whether a file that starts so is to be judged."""
    return start.startswith(_HEADER) or any(name in start for name in _FORMATS)


def require_claim(file: IO[bytes]) -> None:
    """Read from where an open file begins, and go back there."""
    start = file.read(CLAIMED_WITHIN)
    file.seek(0)
    if not claims_to_be_ours(start):
        raise NotAnExport("it is neither an export nor a receipt")


# Sealed first answers (section 9): all were sealed before any was opened, so that nobody could fit
# an answer to another's. The checkpoint that covers all seals is in the record itself.

DOMAIN: Final = b"moot.sealed-answer.v1"
_WORDS: Final = ("answer", "motives", "why")


class SealedAnswers:
    """What the decisions of a bundle have sealed and opened so far."""

    def __init__(self) -> None:
        self._commitments: dict[tuple[str, str], Any] = {}
        self._covered: set[str] = set()  # streams whose seals a checkpoint covers
        self._opened: set[str] = set()

    def take(self, event: ReadEvent, registry: TrustedRegistry) -> None:
        """`StepFailure` at the event that breaks the order or opens another answer."""
        body = event.body
        if body is None:
            return
        kind, author = body["type"], body["actor"]["id"]
        if kind == SEALED_TYPE:
            self._seal(event, author, body["data"])
        elif kind == CLOSED_TYPE and _is_covered(event, body, registry):
            self._covered.add(event.stream)
        elif kind == OPENED_TYPE:
            self._open(event, author, body["data"])

    def _seal(self, event: ReadEvent, author: str, data: Mapping[str, Any]) -> None:
        if event.stream in self._opened:
            raise _broken(event, "sealed_late", "it was sealed after another one was opened")
        self._commitments[event.stream, author] = data.get("commitment")
        self._covered.discard(event.stream)

    def _open(self, event: ReadEvent, author: str, data: Mapping[str, Any]) -> None:
        nonce, sealed = data.get("nonce"), (event.stream, author)
        if not nonce and sealed not in self._commitments:
            return  # a question whose answers are not sealed
        if event.stream not in self._covered or not field_rules.HEX_HASH(nonce):
            raise _broken(event, "opened_early", "no checkpoint covers what it opens")
        if commitment(event.stream, author, data) != self._commitments.get(sealed):
            raise _broken(event, "seal_broken", "another answer was sealed")
        self._opened.add(event.stream)


def commitment(stream: str, author: str, data: Mapping[str, Any]) -> str:
    """What an opened answer commits to; its nonce is 32 bytes in hex."""
    text = canonical.write_canonical({name: data.get(name) for name in _WORDS})
    parts = (DOMAIN, stream.encode(), author.encode(), bytes.fromhex(data["nonce"]), text)
    return hashlib.sha256(frame_parts(*parts)).hexdigest()


def _is_covered(event: ReadEvent, body: Mapping[str, Any], registry: TrustedRegistry) -> bool:
    """Does a checkpoint of this ledger cover the event right before this one?"""
    data, key = body["data"], registry.checkpoint
    note, index, path = (data.get(name) for name in ("note", "index", "path"))
    if key is None or type(note) is not str or type(index) is not int:
        return False
    if type(path) is not list or len(path) > checkpoints.MAX_PATH:
        return False
    if not all(map(field_rules.HEX_HASH, path)):
        return False
    leaf = checkpoints.leaf_hash(event.stream, event.seq - 1, bytes.fromhex(body["prev"]))
    try:
        covering = read_note(note, registry.origin, key.public)
    except StepFailure:
        return False
    nodes = tuple(map(bytes.fromhex, path))
    return checkpoints.root_from_path(leaf, index, covering.streams, nodes) == covering.root


def _broken(event: ReadEvent, code: str, message: str) -> StepFailure:
    return StepFailure(8, code, message).at(position=StreamPosition(event.stream, event.seq))
