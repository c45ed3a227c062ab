"""What the clerk quotes of a message in its own summaries and tallies: a bounded beginning.

A summary or a tally quotes every seat in one event, which has room for 64 kB. Without a bound one
seat could keep a round or a vote from ending by writing long texts. The messages stay whole.
"""

from __future__ import annotations

from typing import Final

import msgspec

MAX_TOPIC_BYTES: Final = 200
# Shared by all seats: what each of them holds against the bill.
MAX_CONCERN_BYTES: Final = 12_000
# The same for what would change their votes.
MAX_CONDITION_BYTES: Final = 4_000
_ELLIPSIS: Final = "…"


def shorten(text: str, most: int = MAX_TOPIC_BYTES) -> str:
    """A text, or its beginning in at most `most` bytes of JSON."""
    if _json_size(text[: most + 1]) <= most:
        return text
    used, length = _json_size(_ELLIPSIS), 0
    for sign in text:
        used += _json_size(sign)
        if used > most:
            break
        length += 1
    return text[:length] + _ELLIPSIS


def shorten_concern(text: str, seats: int) -> str:
    """What a seat holds against the bill, within its share of what all seats may take."""
    return shorten(text, MAX_CONCERN_BYTES // max(1, seats))


def shorten_conditions(text: str, seats: int) -> str:
    """What would change a seat's vote, within its share."""
    return shorten(text, MAX_CONDITION_BYTES // max(1, seats))


def _json_size(text: str) -> int:
    return len(msgspec.json.encode(text)) - 2
