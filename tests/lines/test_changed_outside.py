"""Changes that no hook saw: spacing keeps its author, everything else is nobody's."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from moot.lines.changed_outside import apply_outside_change
from moot.lines.segments import (
    LineEdit,
    apply_edits,
    list_agents,
    list_line_authors,
    make_version,
    start_segments,
)
from tests.lines.test_against_oracle import AGENTS, Act, acts, play
from tests.sampling import examples

BASE = [b"import os", b"x = 1", b"print( x )"]


def authors(old: list[bytes], new: list[bytes], *edits: LineEdit) -> list[str | None]:
    segments = apply_edits(start_segments(3), "ash", edits)
    changed = apply_outside_change(segments, old, new)
    assert make_version(changed, BASE, new, ["ash", None]) == new
    return [agent for _, agent in list_line_authors(changed)]


def test_spacing_quotes_and_a_trailing_comma_leave_the_author() -> None:
    old = [*BASE[:1], b"y = f('a',b)", b"z = [1,2]", BASE[2]]
    new = [*BASE[:1], b'y = f("a", b)', b"z = [", b"    1,", b"    2,", b"]", BASE[2]]
    assert authors(old, new, LineEdit(1, 2, 2)) == [None, *["ash"] * 5, None]


def test_spacing_of_committed_lines_is_nobodys_change() -> None:
    segments = apply_outside_change(start_segments(3), BASE, [*BASE[:2], b"print(x)"])
    assert list_agents(segments) == {None}


def test_spacing_over_the_lines_of_two_owners_is_split_at_the_lines() -> None:
    old = [b"import os", b"y=1", b"print( x )"]
    new = [b"import os", b"y = 1", b"print(x)"]
    assert authors(old, new, LineEdit(1, 2, 1)) == [None, "ash", None]


def test_lines_that_were_joined_over_two_owners_are_nobodys() -> None:
    old = [b"import os", b"f(y,", b"print( x )"]
    new = [b"import os", b"f(y, print(x)"]
    assert authors(old, new, LineEdit(1, 2, 1)) == [None, None]


def test_other_words_are_nobodys() -> None:
    old = [b"import os", b"return x", b"print( x )"]
    assert authors(old, [old[0], b"returnx", old[2]], LineEdit(1, 2, 1)) == [None] * 3
    assert authors(old, [old[0], b"return y", old[2]], LineEdit(1, 2, 1)) == [None] * 3
    old[1] = b"f(a, b)"
    assert authors(old, [old[0], b"f(ab)", old[2]], LineEdit(1, 2, 1)) == [None] * 3
    assert authors(old, [old[0], b"f(a b)", old[2]], LineEdit(1, 2, 1)) == [None] * 3


@given(st.integers(1, 6), acts, st.data())
@settings(max_examples=examples(400))
def test_no_change_outside_gives_a_line_to_an_agent(
    base: int, wanted: list[Act], data: st.DataObject
) -> None:
    segments, oracle = play(base, wanted)
    spaced = [
        data.draw(st.sampled_from([line, b"  " + line, b"other", b""])) for line in oracle.file
    ]
    new = [line for line in spaced if data.draw(st.integers(0, 5))]
    changed = apply_outside_change(segments, oracle.file, new)
    assert make_version(changed, oracle.base, new, []) == oracle.base
    assert make_version(changed, oracle.base, new, [*AGENTS, None]) == new
    for line, (_, agent) in zip(new, list_line_authors(changed), strict=True):
        if agent is not None:
            assert line.strip() in oracle.lines_of(agent)
