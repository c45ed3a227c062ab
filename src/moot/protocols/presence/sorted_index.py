"""Sorted tuples as indexes: searched by bisection, changed by copying, decoded as they are stored.

A hook is a new process for every edit. To copy ten thousand pointers costs it less than to read one
page from disk; to rebuild a map of ten thousand entries costs far more. Keys are paths with `/`, so
everything below a scope is one run: from `scope/` up to `scope0`, as `0` follows `/` in ASCII.
Named resources stand among them under their names; nothing is above or below one.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator
from operator import attrgetter
from typing import TypeVar

from moot.protocols.presence.model import Member, Reservation, State
from moot.protocols.presence.resources import is_resource

T = TypeVar("T")
_Sorted = tuple[T, ...]

_key: Callable[[Reservation], str] = attrgetter("key")
_name: Callable[[Member], str] = attrgetter("name")


def find_reservation(state: State, key: str) -> Reservation | None:
    """The live reservation of exactly this key."""
    return _get(state.live, key, _key)


def find_member(state: State, name: str) -> Member | None:
    """The member of this name, whichever holder it is."""
    return _get(state.members, name, _name)


def put_reservation(live: _Sorted[Reservation], lease: Reservation) -> _Sorted[Reservation]:
    return _put(live, lease, _key)


def put_member(members: _Sorted[Member], member: Member) -> _Sorted[Member]:
    return _put(members, member, _name)


def remove_reservation(live: _Sorted[Reservation], key: str) -> _Sorted[Reservation]:
    at = bisect_left(live, key, key=_key)
    return live[:at] + live[at + 1 :] if _is_at(live, at, key, _key) else live


def reservations_above(state: State, key: str) -> Iterator[Reservation]:
    """Reservations of the folders that hold `key`, from the root down: one look for each."""
    if is_resource(key):
        return
    folders = ("", *(key[:at] for at, letter in enumerate(key) if letter == "/"))
    leases = (find_reservation(state, folder) for folder in folders if folder != key)
    yield from (lease for lease in leases if lease is not None)


def reservations_below(state: State, key: str) -> _Sorted[Reservation]:
    """Reservations inside `key`, without its own."""
    if is_resource(key):
        return ()
    if not key:
        return tuple(held for held in state.live if held.key and not is_resource(held.key))
    start = bisect_left(state.live, f"{key}/", key=_key)
    stop = bisect_left(state.live, f"{key}0", key=_key)
    return state.live[start:stop]


def overlapping_reservations(state: State, key: str) -> Iterator[Reservation]:
    """All that is exact or partial to `key`: above it, the same, below it."""
    yield from reservations_above(state, key)
    same = find_reservation(state, key)
    if same is not None:
        yield same
    yield from reservations_below(state, key)


def reservations_of(state: State, name: str, epoch: int | None = None) -> tuple[Reservation, ...]:
    """All that `name` holds (one holder of the name, or any). This reads the whole list."""
    return tuple(
        lease for lease in state.live if lease.owner == name and epoch in (None, lease.epoch)
    )


def _get(entries: _Sorted[T], key: str, key_of: Callable[[T], str]) -> T | None:
    at = bisect_left(entries, key, key=key_of)
    return entries[at] if _is_at(entries, at, key, key_of) else None


def _put(entries: _Sorted[T], entry: T, key_of: Callable[[T], str]) -> _Sorted[T]:
    """With `entry` in its place, instead of the one that has the same key."""
    key = key_of(entry)
    at = bisect_left(entries, key, key=key_of)
    rest = at + 1 if _is_at(entries, at, key, key_of) else at
    between = (entry,)
    return entries[:at] + between + entries[rest:]  # faster than unpacking, which builds a list


def _is_at(entries: _Sorted[T], at: int, key: str, key_of: Callable[[T], str]) -> bool:
    return at < len(entries) and key_of(entries[at]) == key
