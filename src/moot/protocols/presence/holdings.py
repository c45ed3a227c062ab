"""Who holds something, and what: for one screen of a crowd, without decoding all of it."""

from __future__ import annotations

from collections.abc import Iterable

from moot.protocols.presence.model import Reservation, State


class Holdings:
    """Of a crowd only what those hold is decoded that one asks for."""

    def __init__(self, state: State) -> None:
        self._live = state.live_by_key
        self._owners_by_page = list(state.live_by_key.listed())
        self.owners: set[str] = set().union(*self._owners_by_page)

    def of(self, names: Iterable[str]) -> dict[str, list[Reservation]]:
        """What each of `names` holds, by name, in the order of the keys."""
        asked = frozenset(names)
        held_by: dict[str, list[Reservation]] = {}
        for number, owners in enumerate(self._owners_by_page):
            for held in () if owners.isdisjoint(asked) else self._live.page(number).values():
                if held.owner in asked:
                    held_by.setdefault(held.owner, []).append(held)
        return held_by
