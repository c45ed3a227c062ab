"""Entries in their order: doubles left out (R7), numbers and times that go back noted (R8, A-60).

Needs no settings, so that a file with invalid settings still gets these remarks.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum, auto
from typing import Generic, TypeVar

import msgspec

from moot.core.clock import Millis
from moot.protocols.debate.model import DebateEntry, SessionDocument


class RemarkKind(StrEnum):
    """What is unusual about an entry in its place; the rule tables give the severity."""

    DOUBLE = auto()
    CONFLICTING_DOUBLE = auto()
    BACKWARDS = auto()
    SAME_PLACE = auto()
    GAP = auto()
    TIME_BACK = auto()
    BEFORE_CREATED = auto()
    UNKNOWN_AGENT = auto()
    OUT_OF_ORDER = auto()
    NOT_NAMED = auto()
    AMBIGUOUS_NEXT = auto()
    NO_TURN_LEFT = auto()
    MISSING_TURN = auto()
    TOO_MANY_TURNS = auto()
    BEYOND_LAST_ROUND = auto()
    AFTER_END = auto()
    LATE = auto()
    NOT_CLOSING = auto()
    ONLY_COMPLETE = auto()


class EntryRemark(msgspec.Struct, frozen=True, gc=False):
    kind: RemarkKind
    entry: DebateEntry
    text: str = ""


def drop_doubles(document: SessionDocument) -> tuple[list[DebateEntry], list[EntryRemark]]:
    """BNC-106: keep only the first of entries with the same id (R7).

    The remark says whether the other is a copy or has another text (A-52).
    """
    first: dict[str, DebateEntry] = {}
    entries: list[DebateEntry] = []
    remarks: list[EntryRemark] = []
    for entry in document.entries:
        earlier = first.setdefault(entry.id, entry) if entry.id else entry
        if earlier is entry:
            entries.append(entry)
        else:
            same = _written(document, earlier) == _written(document, entry)
            kind = RemarkKind.DOUBLE if same else RemarkKind.CONFLICTING_DOUBLE
            remarks.append(EntryRemark(kind, entry, f"the first one is on line {earlier.line}"))
    return entries, remarks


def _written(document: SessionDocument, entry: DebateEntry) -> str:
    return document.text[entry.start : entry.end].rstrip()


def remark_on_order(entries: Iterable[DebateEntry], created: Millis | None) -> list[EntryRemark]:
    """Return what the numbers and times of neighbours say."""
    remarks: list[EntryRemark] = []
    place, latest = (0, 0), created
    for entry in entries:
        if entry.turn is not None and entry.round is not None:
            here = (entry.round, entry.turn)
            kind = _compare_places(place, here)
            if kind is not None:
                remarks.append(EntryRemark(kind, entry, _describe_step(place, here)))
            place = here
        if entry.at_millis is not None:
            remarks += _time_remark(entry, latest, created)
            latest = entry.at_millis
    return remarks


def _compare_places(place: tuple[int, int], here: tuple[int, int]) -> RemarkKind | None:
    """BNC-107: compare places as (round, turn): turns begin again in each round (A-03)."""
    if here < place:
        return RemarkKind.BACKWARDS
    if here == place:
        return RemarkKind.SAME_PLACE
    expected = ((place[0], place[1] + 1), (place[0] + 1, 1))
    return None if here in expected else RemarkKind.GAP


def _describe_step(place: tuple[int, int], here: tuple[int, int]) -> str:
    if place == (0, 0):
        return f"the first entry is round {here[0]} turn {here[1]}"
    return f"round {here[0]} turn {here[1]} after round {place[0]} turn {place[1]}"


def _time_remark(
    entry: DebateEntry, latest: Millis | None, created: Millis | None
) -> list[EntryRemark]:
    """Remark on an earlier time; whole seconds are not earlier than a fraction of that second."""
    moment = entry.latest_millis or 0
    if created is not None and moment < created:
        return [EntryRemark(RemarkKind.BEFORE_CREATED, entry)]
    if latest is not None and moment < latest:
        return [EntryRemark(RemarkKind.TIME_BACK, entry)]
    return []


# R13: who spoke too early in a round with the listed order.
#
# An entry is out of order if an agent above its author in the list makes, later in the same round,
# an entry that was still due: one of its first `max-turns-per-round`. An entry beyond those does
# not make earlier ones out of order; it is itself one too many, which another rule reports.

Entry = TypeVar("Entry")


class ListedOrder(Generic[Entry]):
    """A round while it is read: the entries that no agent from above has followed so far."""

    def __init__(self, turns: int) -> None:
        self._turns = turns
        self._made: dict[int, int] = {}
        self._unfollowed: dict[int, list[Entry]] = {}

    def take(self, place: int, entry: Entry) -> list[Entry]:
        """Take an entry of the agent at this place of the list; return those that were too early.

        The cost depends on the length of the list, not of the round; each entry is named once.
        """
        made = self._made[place] = self._made.get(place, 0) + 1
        early: list[Entry] = []
        if made <= self._turns:
            for below in sorted(other for other in self._unfollowed if other > place):
                early += self._unfollowed.pop(below)
        self._unfollowed.setdefault(place, []).append(entry)
        return early
