"""Finding reservations and members by key, without looking at all of them.

Keys are paths with `/`, so everything below a scope is one run: from `scope/` up to `scope0`, as
`0` follows `/` in ASCII. Named resources stand among them under their names; nothing is above or
below one.
"""

from __future__ import annotations

from collections.abc import Iterator

from moot.protocols.presence.model import Member, Reservation, State
from moot.protocols.presence.resources import is_resource


def find_reservation(state: State, key: str) -> Reservation | None:
    """The live reservation of exactly this key."""
    return state.live_by_key.get(key)


def find_member(state: State, name: str) -> Member | None:
    """The member of this name, whichever holder it is."""
    return state.members_by_name.get(name)


def reservations_above(state: State, key: str) -> Iterator[Reservation]:
    """Reservations of the folders that hold `key`, from the root down: one look for each."""
    if is_resource(key):
        return
    folders = ("", *(key[:at] for at, letter in enumerate(key) if letter == "/"))
    leases = (find_reservation(state, folder) for folder in folders if folder != key)
    yield from (lease for lease in leases if lease is not None)


def reservations_below(state: State, key: str) -> tuple[Reservation, ...]:
    """Reservations inside `key`, without its own."""
    if is_resource(key):
        return ()
    if not key:
        return tuple(held for held in state.live if held.key and not is_resource(held.key))
    return state.live_by_key.between(f"{key}/", f"{key}0")


def overlapping_reservations(state: State, key: str) -> Iterator[Reservation]:
    """All that is exact or partial to `key`: above it, the same, below it."""
    yield from reservations_above(state, key)
    same = find_reservation(state, key)
    if same is not None:
        yield same
    yield from reservations_below(state, key)


def group_by_owner(state: State) -> dict[str, list[Reservation]]:
    """What each name holds: one look at the whole list, for whoever asks about many names."""
    by_owner: dict[str, list[Reservation]] = {}
    for held in state.live_by_key.values():
        by_owner.setdefault(held.owner, []).append(held)
    return by_owner


def reservations_of(state: State, name: str, epoch: int | None = None) -> tuple[Reservation, ...]:
    """All that `name` holds (one holder of the name, or any). This reads the whole list."""
    every = state.live_by_key.values()
    return tuple(lease for lease in every if lease.owner == name and epoch in (None, lease.epoch))
