"""Trust files: which ledger, and the two public keys everything is checked against."""

from __future__ import annotations

from pathlib import Path

import msgspec

from moot.core.errors import Malformed, Unavailable
from moot.core.registry.proofs import ORIGIN_PREFIX
from moot.core.signing import key_id, public_key
from moot.engine.keys import Trust

FORMAT = "moot-trust/1"


class TrustFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    checkpoint: str
    format: str
    minimum: int | None
    origin: str
    root: str

    def trust(self) -> Trust:
        root = public_key(self.root)
        if self.origin != ORIGIN_PREFIX + key_id(root):
            raise Malformed("the trust file's root key belongs to another ledger", code="bad_trust")
        return Trust(self.origin, root, public_key(self.checkpoint))


def of(trust: Trust, minimum: int | None = None) -> TrustFile:
    return TrustFile(trust.checkpoint.hex(), FORMAT, minimum, trust.origin, trust.root.hex())


def to_bytes(file: TrustFile) -> bytes:
    return msgspec.json.format(msgspec.json.encode(file)) + b"\n"


def read(path: Path) -> TrustFile:
    try:
        file = msgspec.json.decode(path.read_bytes(), type=TrustFile)
    except OSError as error:
        raise Unavailable(
            "no_trust", f"the trust file cannot be read: {error.strerror}", hint=str(path)
        ) from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise Malformed(f"{path.name}: {error}", code="bad_trust") from None
    if file.format != FORMAT:
        raise Malformed(f"{path.name} has format {file.format!r}", code="bad_trust")
    return file


def fingerprint(trust: Trust) -> str:
    """Short enough for the telephone: 20 digits in groups of five, from both keys."""
    digits = int(key_id(trust.root + trust.checkpoint), 16) % 10**20
    text = f"{digits:020d}"
    return " ".join(text[start : start + 5] for start in range(0, 20, 5))
