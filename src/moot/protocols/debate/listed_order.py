"""R13: who spoke too early in a round in which the listed order holds.

An entry is out of order if somebody who stands above its author in the list makes, later in the
same round, an entry that was still due: one of its first `max-turns-per-round`. An entry beyond
those shows nobody to have been early; that one is itself too many, which another norm says.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic, TypeVar

Entry = TypeVar("Entry")


class ListedOrder(Generic[Entry]):
    """A round as it is read: the entries that nobody from above has followed so far."""

    def __init__(self, turns: int) -> None:
        self._turns = turns
        self._made: dict[int, int] = {}
        self._unfollowed: dict[int, list[Entry]] = {}

    def take(self, place: int, entry: Entry) -> list[Entry]:
        """One entry further, by the agent at this place of the list; which ones were too early.

        It costs the length of the list, not of the round, and names each entry once.
        """
        made = self._made[place] = self._made.get(place, 0) + 1
        early: list[Entry] = []
        if made <= self._turns:
            for below in sorted(other for other in self._unfollowed if other > place):
                early += self._unfollowed.pop(below)
        self._unfollowed.setdefault(place, []).append(entry)
        return early


def find_early_entries(places: Sequence[int], turns: int) -> set[int]:
    """Which entries of a round were too early; each is given by its author's place in the list."""
    order: ListedOrder[int] = ListedOrder(turns)
    return {early for index, place in enumerate(places) for early in order.take(place, index)}
