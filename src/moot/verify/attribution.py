"""Whether the author's key was valid (section 4), including what only the end can tell.

A revocation cites the stream heads of its moment as an artifact, and artifacts follow the events.
So the events of keys that were revoked later are noted on a spool and judged when the heads are
known. Without the heads every event of such a key counts as beyond them.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Final

from moot.verify.event_reader import ReadEvent
from moot.verify.heads import HeadsReader
from moot.verify.spool import Spool
from moot.verify.trusted_registry import TrustedRegistry
from moot.verify.verdict_marks import VerdictMark, VerdictMarks

# Index of the stream, index of the key, seq, line.
_NOTED_EVENT: Final = struct.Struct(">QQQQ")


class Attribution:
    """Judges each event outside the registry, some of them at once and some at the end."""

    def __init__(self, registry: TrustedRegistry, marks: VerdictMarks) -> None:
        self._registry = registry
        self._marks = marks
        self._events_of_revoked_keys = Spool(_NOTED_EVENT.size)
        self._index_of_revoked_key = {
            key.kid: index for index, key in enumerate(registry.revoked_keys())
        }

    def judge(self, event: ReadEvent, line: int, stream_index: int) -> bool:
        """Whether the event is attributable as far as the registry alone can tell."""
        if not self._registry.is_attributable(event):
            self._mark_unknown_key(
                "key_not_valid", "the author's key was not valid here", event.kid, line
            )
            return False
        key_index = self._index_of_revoked_key.get(event.kid)
        if key_index is not None:
            self._events_of_revoked_keys.append(
                _NOTED_EVENT.pack(stream_index, key_index, event.seq, line)
            )
        return True

    def judge_revoked_keys(self, heads: Mapping[str, HeadsReader], streams: list[str]) -> None:
        """Judge the events of revoked keys by the heads that the bundle holds (LDG-042)."""
        revoked = self._registry.revoked_keys()
        for stream_index, key_index, seq, line in map(
            _NOTED_EVENT.unpack, self._events_of_revoked_keys
        ):
            key = revoked[key_index]
            reader = heads.get(key.heads or "")
            listed = reader.heads.get(streams[stream_index]) if reader is not None else None
            if listed is None or seq > listed[0]:
                message = "the key was revoked, and its revocation does not cover this event"
                self._mark_unknown_key("key_revoked", message, key.kid, line)

    def close(self) -> None:
        """Give the spool back."""
        self._events_of_revoked_keys.close()

    def _mark_unknown_key(self, code: str, message: str, kid: str, line: int) -> None:
        self._marks.set(VerdictMark("unknown-key", "authors", code, message, line, f"key {kid}"))
