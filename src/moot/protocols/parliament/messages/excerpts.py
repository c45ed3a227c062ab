"""What the clerk quotes of a message in what it writes itself: the beginning, within bounds.

A summary or a tally quotes every seat and is one event of the record, which holds 64 kB. Nobody
can keep a round or a vote from ending by talking long; the messages themselves stand in full.
"""

from __future__ import annotations

from typing import Final

import msgspec

TOPIC: Final = 200
# Shared by all seats: what each of them holds against the bill.
CONCERNS: Final = 12_000
_MORE: Final = "…"


def short(text: str, most: int = TOPIC) -> str:
    """A text, or its beginning in at most `most` bytes of JSON."""
    if _size(text[: most + 1]) <= most:
        return text
    used, kept = _size(_MORE), 0
    for sign in text:
        used += _size(sign)
        if used > most:
            break
        kept += 1
    return text[:kept] + _MORE


def concern(text: str, seats: int) -> str:
    return short(text, CONCERNS // max(1, seats))


def _size(text: str) -> int:
    return len(msgspec.json.encode(text)) - 2
