"""Does a file claim to be a bundle or a receipt at all? (Section 7, before its first line.)

A wrong file is no tampered one. Bundles and receipts claim what they are twice within these bytes,
so no single damaged byte hides both.
"""

from __future__ import annotations

from typing import IO, Final

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
