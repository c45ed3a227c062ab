"""The trust file (section 6): what a verdict rests on; it comes by another way than the bundle."""

from __future__ import annotations

import json
from os import PathLike
from typing import Any, Final

import msgspec

from moot.verify import fields
from moot.verify.crypto import kid
from moot.verify.failure import Bad
from moot.verify.note import Note, read_note

_MAX_TRUST: Final = 65_536


class TrustError(ValueError):
    """The trust file cannot be used; obtain it again from whoever runs the ledger."""


class Trust(msgspec.Struct, frozen=True, kw_only=True):
    """Whom to believe: the ledger, its two keys, and the lowest acceptable checkpoint number.

    `kept` is a checkpoint that was kept from before: what it pinned must be there.
    """

    origin: str
    root: str
    checkpoint: str
    minimum: int | None = None
    kept: Note | None = None

    def fingerprint(self) -> str:
        """Section 6: both keys as 20 digits, which two people can read to each other."""
        digits = f"{int(kid(bytes.fromhex(self.root + self.checkpoint)), 16) % 10**20:020d}"
        return " ".join(digits[start : start + 5] for start in range(0, 20, 5))


def load_trust(path: str | PathLike[str]) -> Trust:
    """The trust file at a path; raises OSError if unreadable and `TrustError` if malformed."""
    with open(path, "rb") as file:
        data = file.read(_MAX_TRUST + 1)
    if len(data) > _MAX_TRUST:
        raise TrustError("the trust file is too large")
    return parse_trust(data)


def parse_trust(data: bytes) -> Trust:
    """The trust file as bytes; white space is allowed, duplicate and further fields are not."""
    try:
        value = json.loads(data.decode("utf-8"), object_pairs_hook=_without_duplicates)
    except (ValueError, RecursionError) as error:
        raise TrustError(f"the trust file is not JSON: {error}") from error
    wrong = fields.wrong_field(value, _FIELDS)
    if wrong is not None:
        raise TrustError(f"the trust file's field {wrong!r} is missing, foreign or malformed")
    del value["format"]
    return Trust(**value)


def keeping(trust: Trust, note: bytes) -> Trust:
    """The same trust, and a checkpoint that was kept; `TrustError` if it is none of that ledger."""
    try:
        kept = read_note(note.decode(), trust.origin, bytes.fromhex(trust.checkpoint))
    except UnicodeDecodeError:
        raise TrustError("the checkpoint is not UTF-8") from None
    except Bad as bad:
        raise TrustError(bad.message) from None
    return msgspec.structs.replace(trust, kept=kept)


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Of a field that is given twice, two programs could each believe another one."""
    value = dict(pairs)
    if len(value) != len(pairs):
        raise ValueError("a field occurs twice")
    return value


_FIELDS: Final = {
    "checkpoint": fields.HEX_PUBLIC,
    "format": fields.one_of("moot-trust/1"),
    "minimum": fields.or_null(fields.number(0)),
    "origin": fields.ORIGIN,
    "root": fields.HEX_PUBLIC,
}
