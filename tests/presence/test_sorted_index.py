"""Overlap lookup: finds what a scan would find, without scanning."""

from __future__ import annotations

from operator import attrgetter

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.core.paged_map import PagedMap, decode_state, encode_state
from moot.protocols.presence import model
from moot.protocols.presence.model import Kind, Member, Reservation, State
from moot.protocols.presence.paths import classify_overlap
from tests.core.paged_map_reads import count_decoded

from .scene import holding

# Characters around `/` in the order of code points, and the root.
_paths = st.lists(st.sampled_from(["a", "b", "a-", "a.b", "a0", "ab", "a b"]), max_size=4).map(
    "/".join
)
_keys = _paths | st.sampled_from(["db:a", "db:a/b", "db:a0", "db:b", "./db:a", "./db:a/b"])


def state_of(keys: set[str]) -> State:
    return holding(
        *(Reservation(key, key, "x", 1, number, 0) for number, key in enumerate(sorted(keys), 1))
    )


@given(st.sets(_keys, max_size=30), _keys)
def test_it_finds_exactly_what_a_scan_would_find(keys: set[str], key: str) -> None:
    state = state_of(keys)
    found = [held.key for held in model.overlapping_reservations(state, key)]
    assert sorted(found) == [
        one for one in sorted(keys) if classify_overlap(one, key) is not Kind.DISJOINT
    ]
    assert len(found) == len(set(found))


@pytest.mark.parametrize("count", [10, 10_000])
def test_the_work_of_a_lookup_hardly_grows(count: int) -> None:
    """Pages decoded, not time: a scan of ten thousand would decode three hundred."""
    state = state_of(
        {f"src/p{number // 100:03d}/f{number % 100:03d}.py" for number in range(count)}
    )
    stored = decode_state(State, encode_state(state))
    found = list(model.overlapping_reservations(stored, "src/p000/f000.py/inner"))
    assert [held.key for held in found] == ["src/p000/f000.py"]
    assert count_decoded(stored.live_by_key) <= 5


def test_a_long_list_is_read_back_from_a_snapshot_as_it_was() -> None:
    state = state_of({f"src/f{number}" for number in range(2_000)})
    again = decode_state(State, encode_state(state))
    assert again == state
    assert list(again.live) == sorted(again.live, key=attrgetter("key"))


def test_worktrees_and_branches_are_known_without_decoding_anything() -> None:
    held = [
        Reservation(f"src/f{number}", "x", "x", 1, number, 0, worktree=f"/w{number % 3}")
        for number in range(500)
    ]
    here = {
        "ann": Member("ann", 1, 0, 0, "/ann", "topic"),
        "bob": Member("bob", 1, 0, 0, "/bob", "old", left=True),
    }
    state = msgspec.structs.replace(holding(*held), members_by_name=PagedMap(here))
    stored = decode_state(State, encode_state(state))
    for each in (state, stored):
        assert each.held_worktrees == {"/w0", "/w1", "/w2"}
        assert each.worktrees == {"/w0", "/w1", "/w2", "/ann"}
        assert each.branches == {"topic", "old"}
    assert count_decoded(stored.live_by_key) == count_decoded(stored.members_by_name) == 0


def test_reservations_are_flat_so_that_reading_them_is_cheap() -> None:
    """A snapshot of ten thousand is decoded by every process that starts."""
    info = msgspec.structs.fields(Reservation)
    assert Reservation.__struct_config__.array_like
    assert not any(hasattr(field.type, "__struct_fields__") for field in info)
