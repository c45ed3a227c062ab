"""A session while it grows: bytes in, entries out, without reading the file again.

A piece that was returned is not read again. Bytes without a marker are only kept; with one, the
text since the last entry is read and the state takes one more entry, as in the record. A marker
inside a code block completes nothing, and the text was read in vain. If that happens too often,
reading waits for more bytes, or for an empty `feed(b"")`: otherwise a file full of such markers
would take quadratic time.
"""

from __future__ import annotations

import codecs
import hashlib
from collections.abc import Iterator
from typing import Final

import msgspec

from moot.core.clock import Millis
from moot.core.markdown import BYTE_ORDER_MARK
from moot.protocols.debate.course import RESUME_KEY
from moot.protocols.debate.dialogue import read_dialogue
from moot.protocols.debate.events import EntryObserved
from moot.protocols.debate.machine import apply_entry
from moot.protocols.debate.model import DebateEntry, OddityKind, parse_time
from moot.protocols.debate.phases import find_marked_entries
from moot.protocols.debate.reader import read_document
from moot.protocols.debate.settings import interpret_settings
from moot.protocols.debate.state import State, entry_fields, find_preamble_end, piece_fields

# What completes a piece: the end of a comment, or the heading of the dialogue.
_SIGNS: Final = ("-->", "Dialogue")
_OVERLAP: Final = 16
# How often a character may be read in vain on average, and how many are free.
_READINGS: Final = 8
_FREE: Final = 1 << 16


class CompletePiece(msgspec.Struct, frozen=True):
    """A piece that has become complete: its place in the file, and the state after it.

    `entry` is None for an operator's mark; its line is counted in the file.
    """

    start: int
    text: str
    digest: str
    line: int
    entry: DebateEntry | None
    double: bool
    state: State


class SessionFollower:
    """Follows one file. `state` is None until everything above the dialogue has come."""

    def __init__(self) -> None:
        self.state: State | None = None
        self.size = 0  # bytes that belong to pieces already given out
        self.line = 1  # where the next piece begins
        self.is_utf8 = True  # every byte so far was UTF-8
        self._decode = codecs.getincrementaldecoder("utf-8")().decode
        self._waiting = ""  # text read at least once; its first `_taken` characters are given out
        self._taken = 0
        self._new: list[str] = []  # text that has come since and was not read yet
        self._size = 0  # characters of both that are not given out
        self._tail = ""  # the end of what has come: a sign may arrive in two parts
        self._due = False  # a sign has come, and was not looked into
        self._patience = _FREE  # how many characters may still be read in vain
        self._digest = hashlib.sha256()  # of all bytes given out
        self._ids: set[str] = set()  # ids of entries given out, to know doubles

    def feed(self, data: bytes) -> Iterator[CompletePiece]:
        """Yield the pieces that these bytes complete; pass no bytes if nothing more has come."""
        text = self._decode_more(data)
        near = self._tail + text
        self._tail = near[-_OVERLAP:]
        self._new.append(text)
        self._size += len(text)
        self._patience += _READINGS * len(text)
        self._due = self._due or (bool(text) and any(sign in near for sign in _SIGNS))
        if self._due and (not data or self._size <= self._patience):
            yield from self._read()

    def _read(self) -> Iterator[CompletePiece]:
        self._waiting = "".join((self._waiting[self._taken :], *self._new))
        self._taken, self._new, self._due = 0, [], False
        if self.state is None:
            self._begin()
        if self.state is not None:
            yield from self._pieces(self.state)
        self._patience -= self._size
        self._tail = self._tail[-self._size :] if self._size else ""

    def _decode_more(self, data: bytes) -> str:
        try:
            return self._decode(data)
        except UnicodeDecodeError:
            self.is_utf8 = False
            self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode
            return self._decode(data)

    def _begin(self) -> None:
        document = read_document(self._waiting)
        rules = interpret_settings(document.settings).rules
        end = find_preamble_end(document)
        if rules is None or end is None or document.text[end - 1 : end] != "\n":
            return
        created = parse_time(document.header_value("created"))
        self.state = State(
            session_id=document.session_id, title=document.name, created=created, rules=rules
        )
        mark = len(BYTE_ORDER_MARK) if self._waiting.startswith(BYTE_ORDER_MARK) else 0
        self._consume(mark + end)

    def _consume(self, end: int) -> str:
        """Give out the waiting text up to here."""
        text = self._waiting[self._taken : end]
        raw = text.encode()
        self._digest.update(raw)
        self.size += len(raw)
        self.line += text.count("\n")
        self._size -= len(text)
        self._taken = end
        return text

    def _pieces(self, state: State) -> Iterator[CompletePiece]:
        dialogue = read_dialogue(self._waiting, self._taken, self.line)
        marks = [mark for mark in dialogue.marks if mark.key == RESUME_KEY]
        marked = find_marked_entries(dialogue.marks)
        at = 0
        for entry in dialogue.entries:
            if entry.yielded and not self._may_go_on(entry):
                above = []
                while at < len(marks) and marks[at].end <= entry.start:
                    above.append(marks[at].value)
                    at += 1
                resumed = find_latest_time(above)
                piece = self._give_entry(state, entry, resumed, entry.index in marked)
                state = piece.state
                yield piece
        below = marks[at:]
        if below:
            values = [mark.value for mark in below]
            yield self._give_mark(state, find_latest_time(values), below[-1].end)

    def _may_go_on(self, entry: DebateEntry) -> bool:
        """True if the marker is in a block that is still open: it may be quoted (A-36)."""
        last = entry.end == len(self._waiting)
        return last and any(oddity.kind is OddityKind.UNCLOSED_BLOCK for oddity in entry.oddities)

    def _give_entry(
        self, state: State, entry: DebateEntry, resumed: Millis | None, marked: bool
    ) -> CompletePiece:
        start, line = self.size, entry.line
        text = self._consume(entry.end)
        double = entry.id in self._ids
        self._ids.add(entry.id)
        digest = self._digest.hexdigest()
        if state.rules is not None:
            facts = piece_fields(start, text, digest) | entry_fields(entry, state.rules, marked)
            event = EntryObserved(**facts, double=double, resumed=resumed)  # type: ignore[arg-type]
            state = self.state = apply_entry(state, event)
        return CompletePiece(start, text, digest, line, entry, double, state)

    def _give_mark(self, state: State, at: Millis | None, end: int) -> CompletePiece:
        start, line = self.size, self.line
        text = self._consume(end)
        times = [time for time in (state.resumed, at) if time is not None]
        state = self.state = msgspec.structs.replace(state, resumed=max(times, default=None))
        return CompletePiece(start, text, self._digest.hexdigest(), line, None, False, state)


def find_latest_time(times: list[str]) -> Millis | None:
    return max((at for at in map(parse_time, times) if at is not None), default=None)
