"""What a session's record remembers: enough to say whose turn it is, and none of the file's bytes.

The rounds that are over, and all that was said, stay in the events: the state is as small after
ten thousand entries as after ten. `course_from_state` gives it the shape that `turns.py` reads.
"""

from __future__ import annotations

from typing import Final

import msgspec
from immutables import Map

from moot.core.clock import Millis
from moot.protocols.debate.consensus import DebateVote
from moot.protocols.debate.course import Course, CourseWalk, DebateRound, RoundSoFar
from moot.protocols.debate.model import DebateEntry, EntryField, Rules
from moot.protocols.debate.phases import Phase

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
    """An entry of which only what decides the course is known."""
    return DebateEntry(0, 0, 0, 0, "", turn, round_, "", author, status, fields, "", 0, True)


def make_request_naming(names: tuple[str, ...]) -> tuple[EntryField, ...]:
    """A field that names exactly these, in this order."""
    return (EntryField("action_requested", ", ".join(names), 0),) if names else ()


def course_from_state(state: State, rules: Rules) -> Course:
    """The course of the session, as far as the next turn depends on it."""
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
    """The walk through the entries as it stood after the last one.

    `rejects_next`: the next entry is in error, so that it has a turn but no vote.
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
    """The latest round after an entry that took a turn; what did not change is shared."""
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
