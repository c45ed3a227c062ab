"""What is stored for each file."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moot.core.errors import Malformed
from moot.lines.encoding import FileLines, decode, encode
from moot.lines.segments import Kind, LineEdit, apply_edits, start_segments
from tests.lines.test_against_oracle import AGENTS, Act, acts, play
from tests.sampling import examples

BLOB = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"


@given(st.integers(0, 8), acts, st.sampled_from([None, *AGENTS, "other"]))
def test_a_state_is_read_back_as_it_was_written(
    base: int, wanted: list[Act], newline_by: str | None
) -> None:
    segments, _ = play(base, wanted)
    state = FileLines(BLOB, BLOB[::-1], segments, newline_by)
    assert decode(encode(state)) == state


def stored(*numbers: int, agents: list[str] | None = None, newline_by: int = 0) -> bytes:
    names = ["ash"] if agents is None else agents
    return msgspec.msgpack.encode([1, BLOB, BLOB, names, list(numbers), newline_by])


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xc0",
        msgspec.msgpack.encode([2, BLOB, BLOB, [], [], 0]),
        stored(0, 3, 5),
        stored(3, 3),
        stored(5, 0),
        stored(5, -2),
        stored(-1, 2),
        stored(5, 2, 4, 1),
        stored(5, 1, 5, 1),
        stored(8, 1),
        stored(5, 1, newline_by=2),
        stored(5, 1, newline_by=-1),
        stored(5, 1, agents=["ash", "birch"]),
        stored(5, 1, agents=["birch", "ash"]),
        stored(5, 1) + b"\x00",
    ],
)
def test_anything_else_is_malformed(data: bytes) -> None:
    with pytest.raises(Malformed):
        decode(data)


@given(st.binary(max_size=80), st.integers(0, 60), st.integers(0, 255))
@settings(max_examples=examples(1000))
def test_damaged_bytes_are_malformed_or_another_valid_state(
    noise: bytes, place: int, value: int
) -> None:
    whole = stored(0, 3, 4, 1, 5, 2, 0, 9)
    place %= len(whole)
    for data in (noise, whole[:place], whole[:place] + bytes([value]) + whole[place + 1 :]):
        try:
            state = decode(data)
        except Malformed:
            continue
        assert encode(state) == data


def test_a_state_of_eight_agents_and_eighty_edits_is_small() -> None:
    segments = start_segments(30_000)
    for number in range(80):
        agent = f"agent-with-a-long-name-{number % 8}"
        segments = apply_edits(segments, agent, [LineEdit(number * 300, number * 300 + 2, 40)])
    assert sum(segment.kind is Kind.INSERTED for segment in segments) == 80
    assert len(encode(FileLines(BLOB, BLOB, segments))) < 2_000
