"""The heads of a revocation (section 4), read as they stream by.

The artifact lists every stream of the ledger, which may be far more than the bundle holds; only the
streams that are asked for are kept, and never more of the text than one entry.
"""

from __future__ import annotations

import re
from collections.abc import Container
from typing import Final

from moot.verify.canonical import MAX_INT
from moot.verify.event_reader import MAX_PAYLOAD
from moot.verify.field_rules import STREAM_EXPRESSION

# Names, numbers and hexadecimal need no escapes, so a canonical entry has exactly one spelling.
_ENTRY = re.compile(
    rb'"(%b)":\[(0|[1-9][0-9]{0,15}),"([0-9a-f]{64})"\]([,}])' % STREAM_EXPRESSION.encode()
).match
# A stream's name fits into a body; what is longer than that and the rest of an entry is none.
_MAX_ENTRY: Final = MAX_PAYLOAD + 128


class HeadsReader:
    """Fed the bytes of a heads artifact piece by piece; `finish` says whether they were one."""

    def __init__(self, wanted: Container[str]) -> None:
        self._wanted = wanted
        self._rest = b""  # the beginning of an entry whose end is in the next piece
        self._last = ""  # the stream read last: canonical keys ascend
        self._state = _START
        self.heads: dict[str, tuple[int, str]] = {}

    def feed(self, data: bytes) -> None:
        """The next piece; after a malformed one nothing more is kept."""
        if self._state is _BROKEN:
            return
        rest = self._rest + data
        at = 0
        if self._state is _START and rest:
            self._state = _OPEN if rest[:1] == b"{" else _BROKEN
            at = 1
        while self._state is _OPEN and (match := _ENTRY(rest, at)):
            self._take_entry(match)
            at = match.end()
        self._rest = rest[at:]
        if len(self._rest) > _MAX_ENTRY or (self._state is _CLOSED and self._rest):
            self._refuse()

    def finish(self) -> bool:
        """Whether all that was fed is the canonical JSON of heads."""
        empty = self._state is _OPEN and not self._last and self._rest == b"}"
        return empty or self._state is _CLOSED

    def _take_entry(self, match: re.Match[bytes]) -> None:
        name, digits, event_hash, after = match.groups()
        stream, seq = name.decode("ascii"), int(digits)
        # Canonical keys ascend and are distinct (section 1).
        if stream <= self._last or seq > MAX_INT:
            self._refuse()
            return
        self._last = stream
        self._state = _CLOSED if after == b"}" else _OPEN
        if stream in self._wanted:
            self.heads[stream] = (seq, event_hash.decode("ascii"))

    def _refuse(self) -> None:
        self._state, self._rest = _BROKEN, b""


_START, _OPEN, _CLOSED, _BROKEN = "start", "open", "closed", "broken"
