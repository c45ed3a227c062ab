"""Sorted tuples as indexes: found by bisection, changed by copying, read back as they are.

Theory: a copy of ten thousand pointers costs less than one disk page; a map of ten thousand
entries rebuilt by every process that starts does not. Keys are paths with `/`, so everything
below a scope stands in one run: from `scope/` up to `scope0`, the next character after `/`.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator
from operator import attrgetter
from typing import TypeVar

from moot.protocols.presence.model import Member, Reservation, State

T = TypeVar("T")
_Shelf = tuple[T, ...]

_key: Callable[[Reservation], str] = attrgetter("key")
_name: Callable[[Member], str] = attrgetter("name")


def held(state: State, key: str) -> Reservation | None:
    """The live reservation of exactly this key."""
    return _get(state.live, key, _key)


def member(state: State, name: str) -> Member | None:
    return _get(state.members, name, _name)


def put_held(live: _Shelf[Reservation], one: Reservation) -> _Shelf[Reservation]:
    return _put(live, one, _key)


def put_member(members: _Shelf[Member], one: Member) -> _Shelf[Member]:
    return _put(members, one, _name)


def without(live: _Shelf[Reservation], key: str) -> _Shelf[Reservation]:
    at = bisect_left(live, key, key=_key)
    return live[:at] + live[at + 1 :] if _is_at(live, at, key, _key) else live


def above(state: State, key: str) -> Iterator[Reservation]:
    """Reservations of the folders that hold `key`, from the root down: one look for each."""
    folders = ("", *(key[:at] for at, letter in enumerate(key) if letter == "/"))
    found = (held(state, folder) for folder in folders if folder != key)
    yield from (one for one in found if one is not None)


def below(state: State, key: str) -> _Shelf[Reservation]:
    """Reservations inside `key`, without its own."""
    first, last = (f"{key}/", f"{key}0") if key else ("\0", None)
    start = bisect_left(state.live, first, key=_key)
    stop = bisect_left(state.live, last, key=_key) if last is not None else len(state.live)
    return state.live[start:stop]


def overlapping(state: State, key: str) -> Iterator[Reservation]:
    """All that is exact or partial to `key`: above it, the same, below it."""
    yield from above(state, key)
    same = held(state, key)
    if same is not None:
        yield same
    yield from below(state, key)


def held_by(state: State, name: str, epoch: int | None = None) -> tuple[Reservation, ...]:
    """All that `name` holds (one holder of the name, or any). This one does read the whole list."""
    return tuple(
        one for one in state.live if one.owner == name and (epoch is None or one.epoch == epoch)
    )


def _get(shelf: _Shelf[T], key: str, key_of: Callable[[T], str]) -> T | None:
    at = bisect_left(shelf, key, key=key_of)
    return shelf[at] if _is_at(shelf, at, key, key_of) else None


def _put(shelf: _Shelf[T], one: T, key_of: Callable[[T], str]) -> _Shelf[T]:
    key = key_of(one)
    at = bisect_left(shelf, key, key=key_of)
    rest = at + 1 if _is_at(shelf, at, key, key_of) else at
    between = (one,)
    return shelf[:at] + between + shelf[rest:]  # faster than unpacking, which builds a list


def _is_at(shelf: _Shelf[T], at: int, key: str, key_of: Callable[[T], str]) -> bool:
    return at < len(shelf) and key_of(shelf[at]) == key
