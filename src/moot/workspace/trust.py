"""Trust files: which ledger, and the two public keys everything is checked against."""

# No postponed annotations: msgspec would compile each of them again in every hook.

from pathlib import Path

import msgspec

from moot.core.errors import Malformed, Unavailable
from moot.core.registry.model import ORIGIN_PREFIX
from moot.core.signing import key_id, public_key
from moot.engine.signers import LedgerTrust

FORMAT = "moot-trust/1"
_FIX = "`moot ledger doctor` shows how to fix it"


class TrustFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A trust file as it is written; `minimum` is a checkpoint number that must be reached."""

    checkpoint: str
    format: str
    minimum: int | None
    origin: str
    root: str

    def trust(self) -> LedgerTrust:
        root = public_key(self.root)
        if self.origin != ORIGIN_PREFIX + key_id(root):
            problem = "the trust file's root key belongs to another ledger"
            raise Malformed(problem, code="bad_trust", hint=_FIX)
        return LedgerTrust(self.origin, root, public_key(self.checkpoint))


def trust_file_of(trust: LedgerTrust, minimum: int | None = None) -> TrustFile:
    return TrustFile(trust.checkpoint.hex(), FORMAT, minimum, trust.origin, trust.root.hex())


def trust_file_bytes(file: TrustFile) -> bytes:
    return msgspec.json.format(msgspec.json.encode(file)) + b"\n"


def read_trust_file(path: Path) -> TrustFile:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise Unavailable(
            "no_trust",
            f"{path.name}, the trust file, cannot be read: {error.strerror or error}",
            hint=_hint_for(path, error),
        ) from None
    return parse_trust_file(data, path.name)


def parse_trust_file(data: bytes, name: str = "the trust file") -> TrustFile:
    try:
        file = msgspec.json.decode(data, type=TrustFile)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise Malformed(f"{name}: {error}", code="bad_trust", hint=_FIX) from None
    if file.format != FORMAT:
        problem = f"{name} has format {file.format!r}"
        raise Malformed(problem, code="bad_trust", hint=_FIX)
    return file


def _hint_for(path: Path, error: OSError) -> str:
    if not isinstance(error, FileNotFoundError):
        return f"check the permissions of {path}"
    return f"restore {path}: each user of this ledger has a copy in the key folder"


def fingerprint(trust: LedgerTrust) -> str:
    """Return both keys as 20 digits in groups of five, to compare over the telephone."""
    digits = int(key_id(trust.root + trust.checkpoint), 16) % 10**20
    text = f"{digits:020d}"
    return " ".join(text[start : start + 5] for start in range(0, 20, 5))
