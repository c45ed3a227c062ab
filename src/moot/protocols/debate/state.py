"""What a session's record remembers: enough to say whose turn it is, and none of the file's bytes.

Earlier rounds and all texts stay in the events: the state is as small after ten thousand entries as
after ten. `course_from_state` turns it into the form that `turns.py` reads.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Final

import msgspec
from immutables import Map

from moot.core.clock import Millis
from moot.core.record import MAX_TEXT_BYTES
from moot.protocols.debate.consensus import DebateVote
from moot.protocols.debate.course import (
    RESUME_KEY,
    Course,
    CourseWalk,
    DebateRound,
    RoundSoFar,
    find_names_in_request,
    is_placeholder,
)
from moot.protocols.debate.dialogue import read_dialogue
from moot.protocols.debate.model import (
    CommentMark,
    DebateEntry,
    EntryField,
    Rules,
    SessionDocument,
    parse_time,
)
from moot.protocols.debate.phases import Phase, find_marked_entries, is_closing_entry

# Observed entries are remembered until their authors sign them, but at most this many of the
# newest: a file full of forged entries must not make every later command slower.
MOST_UNSIGNED: Final = 64


class LatestRound(msgspec.Struct, frozen=True):
    """The latest round, without its entries."""

    number: int = 0
    counts: Map[str, int] = Map()
    votes: Map[str, DebateVote] = Map()
    complete: bool = False
    last_turn: int = 0
    last_author: str = ""


class LastTurn(msgspec.Struct, frozen=True):
    """The latest entry that took a turn: who, when, whom it names next."""

    author: str
    at: Millis | None
    names: tuple[str, ...]


class UnsignedEntry(msgspec.Struct, frozen=True):
    """An observed entry that its author may sign."""

    id: str
    author: str
    start: int
    size: int
    sha256: str


class State(msgspec.Struct, frozen=True):
    """`size` and `digest` are those of the file as recorded; `head` is the size of its preamble.

    `timed_out`: it is on record that time is up; `escalating`: the policy has just written.
    `blocked`: an entry that was observed breaks the rules, so nothing is decided (A-53).
    `summed_up`: `system` has written what followed after the end (R18).
    """

    session_id: str = ""
    file: str = ""
    title: str = ""
    created: Millis | None = None
    rules: Rules | None = None
    head: int = 0
    size: int = 0
    digest: str = ""
    entries: int = 0
    signed: int = 0
    unsigned: tuple[UnsignedEntry, ...] = ()
    phase: Phase = Phase.NOT_STARTED
    ended_at_round: int | None = None
    latest: LatestRound = LatestRound()
    last: LastTurn | None = None
    resumed: Millis | None = None
    timed_out: bool = False
    escalating: bool = False
    blocked: bool = False
    summed_up: bool = False

    @property
    def has_begun(self) -> bool:
        return self.rules is not None

    @property
    def turn_began(self) -> Millis:
        """When the running turn began (A-23)."""
        last = self.last.at if self.last else None
        begins = (at for at in (self.created, last, self.resumed) if at is not None)
        return max(begins, default=0)

    def find_unsigned_entry(self, id_: str) -> UnsignedEntry | None:
        return next((entry for entry in self.unsigned if entry.id == id_), None)


def stub_entry(
    author: str,
    turn: int | None,
    round_: int | None = None,
    fields: tuple[EntryField, ...] = (),
    status: str = "",
) -> DebateEntry:
    """Return an entry with only those parts that decide the course."""
    return DebateEntry(0, 0, 0, 0, "", turn, round_, "", author, status, fields, "", 0, True)


def make_request_naming(names: tuple[str, ...]) -> tuple[EntryField, ...]:
    """Return a field that names exactly these agents, in this order."""
    return (EntryField("action_requested", ", ".join(names), 0),) if names else ()


def course_from_state(state: State, rules: Rules) -> Course:
    """Return the parts of the session's course that the next turn depends on."""
    latest = state.latest
    rounds: tuple[DebateRound, ...] = ()
    if latest.number:
        entry = stub_entry(latest.last_author, latest.last_turn)
        rounds = (
            DebateRound(latest.number, (entry,), latest.counts, latest.votes, latest.complete),
        )
    last = (
        stub_entry(state.last.author, 0, fields=make_request_naming(state.last.names))
        if state.last
        else None
    )
    return Course(
        rules, rounds, state.phase, state.ended_at_round, (), last, None, state.turn_began
    )


def resume_walk(state: State, rules: Rules, rejects_next: bool) -> CourseWalk:
    """Return the walk through the entries as it was after the last one.

    `rejects_next`: the next entry has an error, so it takes a turn but has no vote.
    """
    walk = CourseWalk(rules, frozenset({0}) if rejects_next else frozenset(), not state.blocked)
    walk.phase, walk.ended_at_round = state.phase, state.ended_at_round
    if state.latest.number:
        walk.latest_round = _round_so_far(state.latest, rules)
        walk.rounds[state.latest.number] = walk.latest_round
    return walk


def _round_so_far(latest: LatestRound, rules: Rules) -> RoundSoFar:
    round_ = RoundSoFar(latest.number, rules)
    round_.counts = dict(latest.counts)
    round_.complete = latest.complete
    round_.entries.append(stub_entry(latest.last_author, latest.last_turn))
    for agent, vote in latest.votes.items():
        round_.tally.set_vote(agent, vote)
    return round_


def update_latest_round(round_: RoundSoFar, before: LatestRound, entry: DebateEntry) -> LatestRound:
    """Return the latest round after an entry that took a turn; what did not change is shared."""
    old = before if before.number == round_.number else LatestRound(round_.number)
    if entry.round != round_.number:  # an entry of an earlier round: R8 calls it an error
        return old
    vote = round_.tally.votes.get(entry.author)
    return LatestRound(
        round_.number,
        old.counts.set(entry.author, round_.counts[entry.author]),
        old.votes if vote is None else old.votes.set(entry.author, vote),
        round_.complete,
        max(old.last_turn, entry.turn or 0),
        entry.author,
    )


# A file as pieces: the part above the dialogue, then one piece for each entry that was yielded.
#
# A piece begins where the one before it ended, so text between two entries belongs to the later
# one. Text after the last marker is no piece yet: the author of an unfinished entry may change it
# . Only an operator's mark there is a piece by itself.

MEDIA_TYPE: Final = "text/markdown"
_LONGEST_NAME: Final = 100
_LONGEST_SUMMARY: Final = 300


class PieceSpan(msgspec.Struct, frozen=True):
    """A piece of a file: where it ends, and the entry it is (none: an operator's mark)."""

    start: int
    end: int
    entry: DebateEntry | None = None


def find_preamble_end(document: SessionDocument) -> int | None:
    """Return where the dialogue begins: the end of its heading line."""
    section = document.find_section("Dialogue")
    return None if section is None else section.start


def split_into_pieces(document: SessionDocument, start: int) -> Iterator[PieceSpan]:
    """Yield the pieces from `start` on, which is where a piece ends; in characters of the text."""
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
        """True if an operator's mark that closes the session is right above the entry."""
        return self.entry is not None and self.entry.index in find_marked_entries(self.marks)

    @property
    def resumed_at(self) -> int | None:
        times = (parse_time(mark.value) for mark in self.marks if mark.key == RESUME_KEY)
        return max((at for at in times if at is not None), default=None)


def read_piece(text: str) -> PieceContent:
    """Read a piece: text up to an entry's marker, or up to an operator's mark."""
    dialogue = read_dialogue(text, 0, 1)
    document = SessionDocument(
        text, entries=dialogue.entries, marks=dialogue.marks, oddities=dialogue.odd
    )
    yielded = [entry for entry in dialogue.entries if entry.yielded]
    is_entry = len(yielded) == 1 and yielded[0].end == len(text)
    marks = dialogue.marks if is_entry or not yielded else ()
    return PieceContent(document, yielded[0] if is_entry else None, marks)


def fits_in_event(text: str) -> bool:
    """True if an event can hold this text, measured as it is stored."""
    return len(msgspec.json.encode(text)) <= MAX_TEXT_BYTES


def piece_fields(start: int, text: str, digest: str) -> dict[str, object]:
    """Return the fields that every piece has."""
    data = text.encode()
    return {
        "start": start,
        "size": len(data),
        "sha256": hashlib.sha256(data).hexdigest(),
        "digest": digest,
        "text": text if fits_in_event(text) else None,
    }


def entry_fields(entry: DebateEntry, rules: Rules, marked: bool = False) -> dict[str, object]:
    """Return what follows from an entry, as plain data; what could not be read is left empty."""
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
