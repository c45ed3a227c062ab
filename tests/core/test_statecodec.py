"""States as bytes for snapshots: back as they were, and the same bytes in every process."""

from __future__ import annotations

import os
import subprocess
import sys
from enum import StrEnum

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from immutables import Map

from moot.core.machine import KeyClass
from moot.core.paged_map import PagedMap, decode_state, encode_state
from moot.core.registry.model import Agent, KeyEnding, RegisteredKey
from moot.core.registry.model import State as Registry
from moot.protocols.example.model import Errand
from moot.protocols.example.model import State as Errands

NAMES = st.text("abc-", min_size=1, max_size=6)
COUNTS = st.integers(0, 2**53 - 1)
ERRANDS = st.builds(Errand, NAMES, st.text(max_size=9), NAMES, NAMES, COUNTS, st.none() | COUNTS)
ERRAND_STATES = st.builds(
    Errands,
    open=st.dictionaries(NAMES, ERRANDS, max_size=6).map(Map),
    asked=COUNTS,
    closed=COUNTS,
    meddlers=st.dictionaries(NAMES, COUNTS, max_size=6).map(Map),
    next_due=st.none() | COUNTS,
)
KEYS = st.builds(
    RegisteredKey,
    NAMES,
    NAMES,
    st.sampled_from(KeyClass),
    COUNTS,
    NAMES,
    NAMES,
    COUNTS,
    st.none() | COUNTS,
    st.none() | st.sampled_from(KeyEnding),
    st.none() | NAMES,
)
AGENTS = st.builds(Agent, NAMES, st.sampled_from(KeyClass), COUNTS, NAMES, COUNTS, st.booleans())
REGISTRY_STATES = st.builds(
    Registry,
    origin=NAMES,
    position=COUNTS,
    agents=st.dictionaries(NAMES, AGENTS, max_size=6).map(PagedMap),
    keys=st.dictionaries(NAMES, KEYS, max_size=6).map(PagedMap),
    erased=st.dictionaries(NAMES, NAMES, max_size=6).map(Map),
)


@given(ERRAND_STATES)
def test_a_state_comes_back_as_it_was(state: Errands) -> None:
    assert decode_state(Errands, encode_state(state)) == state


@given(REGISTRY_STATES)
def test_a_registry_comes_back_as_it_was(state: Registry) -> None:
    back = decode_state(Registry, encode_state(state))
    assert back == state
    assert all(type(key.kind) is KeyClass for key in back.keys.values())


class Colour(StrEnum):
    RED = "red"


class Nested(msgspec.Struct, frozen=True):
    by_number: Map[int, Map[str, tuple[Colour, ...]]] = Map()
    either: Map[str, int | None] = Map()
    members: frozenset[str] = frozenset()


def test_maps_inside_maps_come_back_with_their_types() -> None:
    inner = Map({"a": (Colour.RED, Colour.RED), "b": ()})
    state = Nested(Map({7: inner, 0: Map()}), Map({"x": None}), frozenset({"m", "n"}))
    back = decode_state(Nested, encode_state(state))
    assert back == state
    assert isinstance(back.by_number[7], Map)
    assert type(back.by_number[7]["a"][0]) is Colour


@given(st.dictionaries(NAMES, COUNTS, max_size=40))
def test_equal_states_give_equal_bytes_however_they_were_built(counts: dict[str, int]) -> None:
    one: Map[str, int] = Map()
    two: Map[str, int] = Map()
    for name, count in counts.items():
        one = one.set(name, count)
    for name, count in reversed(counts.items()):
        two = two.set(name, -1).set(name, count)
    assert encode_state(Errands(meddlers=one)) == encode_state(Errands(meddlers=two))


SCRIPT = """
import sys
from immutables import Map
from moot.core.paged_map import encode_state
from moot.protocols.example.model import State
state = State(meddlers=Map({f"name-{n}": n for n in range(60)}))
sys.stdout.write(encode_state(state).hex())
"""


@pytest.mark.requirement("LDG-062")
def test_every_process_writes_the_same_bytes_for_the_same_state() -> None:
    """Text hashes differently in each process; a snapshot must not."""
    seen = set()
    for seed in ("1", "2", "3"):
        env = {**os.environ, "PYTHONHASHSEED": seed}
        ran = subprocess.run(
            [sys.executable, "-c", SCRIPT], env=env, capture_output=True, text=True, check=True
        )
        seen.add(ran.stdout)
    assert len(seen) == 1


@pytest.mark.parametrize("data", [b"", b"\xc1", b"\x01", b"\x81\xa4open\x01", b"\xff" * 9])
def test_bytes_of_something_else_are_a_decode_error(data: bytes) -> None:
    with pytest.raises(msgspec.DecodeError):
        decode_state(Errands, data)


@given(st.binary(max_size=40))
def test_any_bytes_are_a_state_or_a_decode_error(data: bytes) -> None:
    try:
        state = decode_state(Errands, data)
    except msgspec.DecodeError:
        return
    assert decode_state(Errands, encode_state(state)) == state


def test_a_type_that_cannot_be_kept_is_not_written() -> None:
    with pytest.raises(NotImplementedError):
        encode_state(object())
