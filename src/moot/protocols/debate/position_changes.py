"""Who stood where, round by round, and who moved after hearing whom."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal

import msgspec

from moot.protocols.debate.consensus import DebateVote, find_vote
from moot.protocols.debate.course import Course, list_entries
from moot.protocols.debate.model import ConsensusMode, DebateEntry, Rules


class PositionChange(msgspec.Struct, frozen=True):
    """An agent's stance or confidence moved; `heard` is what others said since it last spoke."""

    agent: str
    entry: DebateEntry
    before: DebateVote
    now: DebateVote
    heard: tuple[DebateEntry, ...]


def find_position_changes(course: Course) -> list[PositionChange]:
    """Every move of every agent, in file order."""
    return find_changes(list_entries(course.rounds))


def find_changes(entries: Sequence[DebateEntry]) -> list[PositionChange]:
    """Every move in these entries, which may be of several sessions on one motion."""
    moves: list[PositionChange] = []
    latest: dict[str, tuple[int, DebateVote]] = {}
    for place, entry in enumerate(entries):
        vote = find_vote(entry)
        if vote is None:
            continue
        earlier = latest.get(entry.author)
        if earlier is not None and earlier[1] != vote:
            since = entries[earlier[0] + 1 : place]
            heard = tuple(other for other in since if other.author != entry.author)
            moves.append(PositionChange(entry.author, entry, earlier[1], vote, heard))
        latest[entry.author] = (place, vote)
    return moves


def nearby_thresholds(threshold: Decimal) -> list[Decimal]:
    """The threshold, a little less and more, and the ends that mean something."""
    tenth = Decimal("0.1")
    around = (threshold - tenth, threshold, threshold + tenth, Decimal("0.5"), Decimal(1))
    return sorted({value.normalize() for value in around if 0 < value <= 1})


def vary_rules(rules: Rules) -> Iterable[Rules]:
    """The same session under every mode and the thresholds nearby."""
    for mode in ConsensusMode:
        for threshold in nearby_thresholds(rules.consensus_threshold):
            yield msgspec.structs.replace(rules, consensus_mode=mode, consensus_threshold=threshold)
