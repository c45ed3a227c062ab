"""The trust file (section 6): what a verdict rests on; it comes by another way than the bundle."""

from __future__ import annotations

import json
from os import PathLike
from typing import Any, Final

import msgspec

from moot.verify import canonical
from moot.verify.checkpoints import CheckpointNote, read_note
from moot.verify.crypto import key_id
from moot.verify.verdict import StepFailure

_MAX_TRUST: Final = 65_536


class TrustError(ValueError):
    """The trust file cannot be used; get it again from the owner of the ledger."""


class TrustedLedger(msgspec.Struct, frozen=True, kw_only=True):
    """Whom to believe: the ledger, its two keys, and the lowest acceptable checkpoint number.

    `kept` is a checkpoint that was kept from before: what it pinned must be there.
    """

    origin: str
    root: str
    checkpoint: str
    minimum: int | None = None
    kept: CheckpointNote | None = None

    def fingerprint(self) -> str:
        """Section 6: both keys as 20 digits, which two people can read to each other."""
        digits = f"{int(key_id(bytes.fromhex(self.root + self.checkpoint)), 16) % 10**20:020d}"
        return " ".join(digits[start : start + 5] for start in range(0, 20, 5))


def load_trust(path: str | PathLike[str]) -> TrustedLedger:
    """The trust file at a path; raises OSError if unreadable and `TrustError` if malformed."""
    with open(path, "rb") as file:
        data = file.read(_MAX_TRUST + 1)
    if len(data) > _MAX_TRUST:
        raise TrustError("the trust file is too large")
    return parse_trust(data)


def parse_trust(data: bytes) -> TrustedLedger:
    """The trust file as bytes; white space is allowed, duplicate and further fields are not."""
    try:
        value = json.loads(data.decode("utf-8"), object_pairs_hook=_without_duplicates)
    except (ValueError, RecursionError) as error:
        raise TrustError(f"the trust file is not JSON: {error}") from error
    wrong = canonical.wrong_field(value, _FIELDS)
    if wrong is not None:
        raise TrustError(f"the trust file's field {wrong!r} is missing, foreign or malformed")
    del value["format"]
    return TrustedLedger(**value)


def with_kept_checkpoint(trust: TrustedLedger, note: bytes) -> TrustedLedger:
    """The same trust, and a checkpoint that was kept; `TrustError` if it is none of that ledger."""
    # LDG-101
    try:
        kept = read_note(note.decode(), trust.origin, bytes.fromhex(trust.checkpoint))
    except UnicodeDecodeError:
        raise TrustError("the checkpoint is not UTF-8") from None
    except StepFailure as bad:
        raise TrustError(bad.message) from None
    return msgspec.structs.replace(trust, kept=kept)


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Of a field that is given twice, two programs could each believe another one."""
    value = dict(pairs)
    if len(value) != len(pairs):
        raise ValueError("a field occurs twice")
    return value


_FIELDS: Final = {
    "checkpoint": canonical.HEX_PUBLIC,
    "format": canonical.one_of("moot-trust/1"),
    "minimum": canonical.or_null(canonical.number(0)),
    "origin": canonical.ORIGIN,
    "root": canonical.HEX_PUBLIC,
}
