"""Carrying the segments over to a new committed version."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from moot.lines.rebase import rebase_segments
from moot.lines.segments import (
    Kind,
    LineEdit,
    apply_edits,
    commit,
    drop_unchanged,
    list_agents,
    list_line_authors,
    make_version,
    start_segments,
)
from tests.lines.test_against_oracle import AGENTS, Act, acts, play, subsets
from tests.sampling import examples

few_lines = st.lists(st.sampled_from([b"a", b"b", b"c", b""]), max_size=8)


@given(st.integers(1, 8), acts)
@settings(max_examples=examples(300))
def test_a_commit_of_any_agents_leaves_the_others_as_they_are(base: int, wanted: list[Act]) -> None:
    segments, oracle = play(base, wanted)
    for chosen in subsets(AGENTS):
        new_base = oracle.version(chosen)
        rebased = rebase_segments(segments, oracle.base, oracle.file, new_base)
        assert make_version(rebased, new_base, oracle.file, []) == new_base
        assert make_version(rebased, new_base, oracle.file, [*AGENTS, None]) == oracle.file
        if len(chosen) in (1, 3):
            expected = commit(segments, chosen)
            assert make_version(rebased, new_base, oracle.file, AGENTS) == make_version(
                expected, new_base, oracle.file, AGENTS
            )


@given(st.integers(0, 6), acts, few_lines)
@settings(max_examples=examples(400))
def test_any_new_version_gives_no_line_to_an_agent_that_did_not_have_it(
    base: int, wanted: list[Act], new_base: list[bytes]
) -> None:
    segments, oracle = play(base, wanted)
    mixed = [*new_base, *oracle.base[: len(oracle.base) // 2], *oracle.lines_of("ash")]
    rebased = rebase_segments(segments, oracle.base, oracle.file, mixed)
    assert make_version(rebased, mixed, oracle.file, []) == mixed
    assert make_version(rebased, mixed, oracle.file, [*AGENTS, None]) == oracle.file
    before = list_line_authors(segments)
    for (kind, agent), (old_kind, old_agent) in zip(
        list_line_authors(rebased), before, strict=True
    ):
        if kind is Kind.INSERTED and agent is not None:
            assert (old_kind, old_agent) == (kind, agent)


def test_a_pulled_change_of_other_lines_leaves_an_agents_lines_alone() -> None:
    base = [b"%d" % number for number in range(8)]
    segments = apply_edits(start_segments(8), "ash", [LineEdit(5, 6, 2)])
    file = [*base[:5], b"x", b"y", *base[6:]]
    new_base = [b"0", b"pulled", *base[2:]]
    after_pull = [b"0", b"pulled", *file[2:]]
    segments = apply_edits(segments, None, [LineEdit(1, 2, 1)])
    rebased = rebase_segments(segments, base, after_pull, new_base)
    assert list_agents(rebased) == {"ash"}
    assert make_version(rebased, new_base, after_pull, ["ash"]) == after_pull


def test_a_deletion_keeps_its_author_when_other_lines_are_committed() -> None:
    base = [b"%d" % number for number in range(8)]
    segments = apply_edits(start_segments(8), "ash", [LineEdit(4, 5, 0), LineEdit(6, 7, 1)])
    file = [*base[:4], b"5", b"x", b"7"]
    new_base = [b"0", b"1", b"2", b"new", *base[3:6], b"x", b"7"]
    after_pull = [b"0", b"1", b"2", b"new", *file[3:]]
    segments = apply_edits(segments, None, [LineEdit(3, 3, 1)])
    rebased = rebase_segments(segments, base, after_pull, new_base)
    assert rebased == (
        (Kind.KEPT, None, 5),
        (Kind.DELETED, "ash", 1),
        (Kind.KEPT, None, 3),
    )


def test_a_line_that_only_the_new_version_lacks_is_nobodys() -> None:
    base = [b"a", b"b", b"c"]
    rebased = rebase_segments(start_segments(3), base, base, [b"a", b"c"])
    assert rebased == ((Kind.KEPT, None, 1), (Kind.INSERTED, None, 1), (Kind.KEPT, None, 1))


def test_a_change_that_was_taken_back_is_no_change() -> None:
    base = [b"a", b"b", b"c", b"d"]
    segments = apply_edits(start_segments(4), "ash", [LineEdit(1, 3, 3)])
    assert drop_unchanged(segments, base, [b"a", b"b", b"x", b"c", b"d"]) == (
        (Kind.KEPT, None, 2),
        (Kind.INSERTED, "ash", 1),
        (Kind.KEPT, None, 2),
    )
    segments = apply_edits(start_segments(4), "ash", [LineEdit(1, 3, 2)])
    assert drop_unchanged(segments, base, base) == start_segments(4)
