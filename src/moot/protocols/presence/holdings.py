"""Who holds something, and what: for one screen of a crowd, without decoding all of it."""

# No postponed annotations: msgspec would have to compile each of them anew.

from collections.abc import Iterable

import msgspec

from moot.protocols.presence.model import Reservation, State


class _Owned(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The first fields of a `Reservation`."""

    key: str
    scope: str
    owner: str


class Holdings:
    """Of a crowd only what those hold is decoded that one asks for."""

    def __init__(self, state: State) -> None:
        self._live = state.live_by_key
        pages = state.live_by_key.glance(_Owned)
        self._owners_by_page = [frozenset(held.owner for held in page) for page in pages]
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
