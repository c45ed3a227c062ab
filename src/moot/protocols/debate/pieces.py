"""A file as pieces: the part above the dialogue, then one piece for each entry that was yielded.

A piece begins where the one before it ended, so whatever stands between two entries belongs to
the later one. What stands after the last marker is nobody's piece yet: an entry that is still
being written is its author's to change (A-34). Only an operator's mark there is one by itself.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Final

import msgspec

from moot.core.record import MAX_TEXT_BYTES
from moot.protocols.debate.closing import find_marked_entries, is_closing_entry
from moot.protocols.debate.course import RESUME_KEY, find_names_in_request, is_placeholder
from moot.protocols.debate.dialogue import read_dialogue
from moot.protocols.debate.model import CommentMark, DebateEntry, Rules, SessionDocument, parse_time

MEDIA_TYPE: Final = "text/markdown"
_LONGEST_NAME: Final = 100
_LONGEST_SUMMARY: Final = 300


class PieceSpan(msgspec.Struct, frozen=True):
    """A piece of a file: where it ends, and the entry it is (none: an operator's mark)."""

    start: int
    end: int
    entry: DebateEntry | None = None


def find_preamble_end(document: SessionDocument) -> int | None:
    """Where the dialogue begins: the end of its heading line."""
    section = document.find_section("Dialogue")
    return None if section is None else section.start


def split_into_pieces(document: SessionDocument, start: int) -> Iterator[PieceSpan]:
    """The pieces from `start` on, which is where a piece ends; in characters of the text."""
    entries = (entry for entry in document.entries if entry.yielded and entry.end > start)
    for entry in entries:
        yield PieceSpan(start, entry.end, entry)
        start = entry.end
    marks = (mark.end for mark in document.marks if mark.key == RESUME_KEY)
    last = max((end for end in marks if end > start), default=None)
    if last is not None:
        yield PieceSpan(start, last)


# One piece by itself -----------------------------------------------------------------------------


class PieceContent(msgspec.Struct, frozen=True):
    """What a piece of the dialogue says: the entry that ends it, or an operator's marks."""

    document: SessionDocument
    entry: DebateEntry | None
    marks: tuple[CommentMark, ...]

    @property
    def has_close_mark(self) -> bool:
        """Is an operator's mark that closes the session right above the entry?"""
        return self.entry is not None and self.entry.index in find_marked_entries(self.marks)

    @property
    def resumed_at(self) -> int | None:
        times = (parse_time(mark.value) for mark in self.marks if mark.key == RESUME_KEY)
        return max((at for at in times if at is not None), default=None)


def read_piece(text: str) -> PieceContent:
    """Read a piece as what it must be: text up to an entry's marker, or up to a mark."""
    dialogue = read_dialogue(text, 0, 1)
    document = SessionDocument(
        text, entries=dialogue.entries, marks=dialogue.marks, oddities=dialogue.odd
    )
    yielded = [entry for entry in dialogue.entries if entry.yielded]
    is_entry = len(yielded) == 1 and yielded[0].end == len(text)
    marks = dialogue.marks if is_entry or not yielded else ()
    return PieceContent(document, yielded[0] if is_entry else None, marks)


def fits_in_event(text: str) -> bool:
    """Does it stand in its event? Measured as it is stored there."""
    return len(msgspec.json.encode(text)) <= MAX_TEXT_BYTES


def piece_fields(start: int, text: str, digest: str) -> dict[str, object]:
    """The fields that every piece has."""
    data = text.encode()
    return {
        "start": start,
        "size": len(data),
        "sha256": hashlib.sha256(data).hexdigest(),
        "digest": digest,
        "text": text if fits_in_event(text) else None,
    }


def entry_fields(entry: DebateEntry, rules: Rules, marked: bool = False) -> dict[str, object]:
    """What follows from an entry, as plain data; what could not be read is left empty."""
    return {
        "id": entry.id[:_LONGEST_NAME],
        "author": entry.author[:_LONGEST_NAME],
        "round": entry.round,
        "turn": entry.turn,
        "said_at": entry.at_millis,
        "stance": entry.field_value("stance") if entry.stance is not None else "",
        "confidence": entry.field_value("confidence") if entry.confidence is not None else "",
        "summary": entry.field_value("summary")[:_LONGEST_SUMMARY],
        "names": list(find_names_in_request(entry, rules.agents)),
        "closes": is_closing_entry(entry, rules, marked),
        "generated": is_placeholder(entry),
    }
