"""Overlap lookup: finds what a scan would find, without scanning."""

from __future__ import annotations

from operator import attrgetter

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.core.statecodec import decode_state, encode_state
from moot.protocols.presence import sorted_index
from moot.protocols.presence.model import Kind, Reservation, State
from moot.protocols.presence.paths import classify_overlap

# Characters around `/` in the order of code points, and the root.
_paths = st.lists(st.sampled_from(["a", "b", "a-", "a.b", "a0", "ab", "a b"]), max_size=4).map(
    "/".join
)
_keys = _paths | st.sampled_from(["db:a", "db:a/b", "db:a0", "db:b", "./db:a", "./db:a/b"])


def state_of(keys: set[str]) -> State:
    live = (Reservation(key, key, "x", 1, number, 0) for number, key in enumerate(sorted(keys), 1))
    return State(live=tuple(live))


@given(st.sets(_keys, max_size=30), _keys)
def test_it_finds_exactly_what_a_scan_would_find(keys: set[str], key: str) -> None:
    state = state_of(keys)
    found = [held.key for held in sorted_index.overlapping_reservations(state, key)]
    assert sorted(found) == [
        one for one in sorted(keys) if classify_overlap(one, key) is not Kind.DISJOINT
    ]
    assert len(found) == len(set(found))


@given(st.sets(_keys, max_size=30), _keys)
def test_putting_and_taking_keeps_the_order(keys: set[str], key: str) -> None:
    state = state_of(keys)
    one = Reservation(key, "shown", "y", 1, 99, 0)
    put = sorted_index.put_reservation(state.live, one)
    assert [held.key for held in put] == sorted({*keys, key})
    assert sorted_index.find_reservation(State(live=put), key) == one
    assert [held.key for held in sorted_index.remove_reservation(put, key)] == sorted(keys - {key})


@pytest.mark.parametrize("count", [10, 10_000])
def test_the_work_of_a_lookup_hardly_grows(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keys looked at, not time: a scan of ten thousand would look at ten thousand."""
    state = state_of(
        {f"src/p{number // 100:03d}/f{number % 100:03d}.py" for number in range(count)}
    )
    looks = 0

    def counted(held: Reservation) -> str:
        nonlocal looks
        looks += 1
        return held.key

    monkeypatch.setattr(sorted_index, "_key", counted)
    found = list(sorted_index.overlapping_reservations(state, "src/p000/f000.py/inner"))
    assert [held.key for held in found] == ["src/p000/f000.py"]
    assert looks <= 7 * 16


def test_a_long_list_is_read_back_from_a_snapshot_as_it_was() -> None:
    state = state_of({f"src/f{number}" for number in range(2_000)})
    again = decode_state(State, encode_state(state))
    assert again == state
    assert isinstance(again.live, tuple)
    assert list(again.live) == sorted(again.live, key=attrgetter("key"))


def test_reservations_are_flat_so_that_reading_them_is_cheap() -> None:
    """A snapshot of ten thousand is decoded by every process that starts."""
    info = msgspec.structs.fields(Reservation)
    assert Reservation.__struct_config__.array_like
    assert not any(hasattr(field.type, "__struct_fields__") for field in info)
