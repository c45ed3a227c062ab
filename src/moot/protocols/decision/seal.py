"""Sealed first answers: what an author commits to before it hears anybody else.

The commitment is the SHA-256 over a domain, the question's history, the author, 32 random bytes and
the text, each with its length before it; the text is the canonical JSON of answer, motives and
reasons. docs/format.md section 9.
"""

from __future__ import annotations

import hashlib
import re
from typing import Final

from moot.core.canonical import canonical
from moot.core.record import frame

DOMAIN: Final = b"moot.sealed-answer.v1"
NONCE_BYTES: Final = 32
HEX_32_BYTES: Final = re.compile(r"[0-9a-f]{64}")


def commit_to_answer(
    stream: str, author: str, nonce: str, answer: str, why: str, motives: tuple[str, ...]
) -> str:
    """The commitment in hex; `nonce` is 32 bytes in hex."""
    text = canonical({"answer": answer, "motives": list(motives), "why": why})
    parts = (DOMAIN, stream.encode(), author.encode(), bytes.fromhex(nonce), text)
    return hashlib.sha256(frame(*parts)).hexdigest()
