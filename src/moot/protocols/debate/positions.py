"""Who stood where, round by round, and who moved after hearing whom."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal

import msgspec

from moot.protocols.debate.consensus import Vote, vote_of
from moot.protocols.debate.course import Course, spoken
from moot.protocols.debate.model import Entry, Mode, Rules


class Change(msgspec.Struct, frozen=True):
    """An agent's stance or confidence moved; `heard` is what others said since it last spoke."""

    agent: str
    entry: Entry
    before: Vote
    now: Vote
    heard: tuple[Entry, ...]


def changes(course: Course) -> list[Change]:
    """Every move of every agent, in file order."""
    moves: list[Change] = []
    latest: dict[str, tuple[int, Vote]] = {}
    entries = spoken(course.rounds)
    for place, entry in enumerate(entries):
        vote = vote_of(entry)
        if vote is None:
            continue
        earlier = latest.get(entry.author)
        if earlier is not None and earlier[1] != vote:
            since = entries[earlier[0] + 1 : place]
            heard = tuple(other for other in since if other.author != entry.author)
            moves.append(Change(entry.author, entry, earlier[1], vote, heard))
        latest[entry.author] = (place, vote)
    return moves


def nearby(threshold: Decimal) -> list[Decimal]:
    """The threshold, a little less and more, and the ends that mean something."""
    tenth = Decimal("0.1")
    around = (threshold - tenth, threshold, threshold + tenth, Decimal("0.5"), Decimal(1))
    return sorted({value.normalize() for value in around if 0 < value <= 1})


def other_rules(rules: Rules) -> Iterable[Rules]:
    """The same session under every mode and the thresholds nearby."""
    for mode in Mode:
        for threshold in nearby(rules.consensus_threshold):
            yield msgspec.structs.replace(rules, consensus_mode=mode, consensus_threshold=threshold)
