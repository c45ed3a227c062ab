"""The segments say the same as an implementation in which every line carries its author."""

from __future__ import annotations

from itertools import combinations

from hypothesis import given, settings
from hypothesis import strategies as st

from moot.lines.rules import find_obstacles
from moot.lines.segments import (
    Agent,
    Kind,
    LineEdit,
    Segments,
    apply_edits,
    change_owner,
    commit,
    count_base_lines,
    count_file_lines,
    list_agents,
    list_edits,
    make_version,
    make_version_without,
    start_segments,
    undo,
)
from tests.lines.oracle import Oracle
from tests.sampling import examples

AGENTS = ("ash", "birch", "cedar")
Act = tuple[str, int, int, int]
acts = st.lists(
    st.tuples(st.sampled_from(AGENTS), st.integers(0, 9), st.integers(0, 3), st.integers(0, 3)),
    max_size=12,
)


def subsets(agents: tuple[Agent, ...]) -> list[tuple[Agent, ...]]:
    return [chosen for size in range(len(agents) + 1) for chosen in combinations(agents, size)]


def place_edit(lines: int, act: Act) -> LineEdit:
    """Bring the numbers of an act into a file of so many lines."""
    _, start, width, new_lines = act
    start = min(start, lines)
    return LineEdit(start, min(start + width, lines), new_lines)


def play(base_lines: int, wanted: list[Act]) -> tuple[Segments, Oracle]:
    """Make all edits that the rules allow, with both implementations."""
    segments, oracle = start_segments(base_lines), Oracle.of(base_lines)
    for act in wanted:
        agent, edit = act[0], place_edit(count_file_lines(segments), act)
        if edit.start == edit.end and edit.new_lines == 0:
            continue
        refused = bool(find_obstacles(segments, agent, [[edit]]))
        assert refused == oracle.is_refused(agent, edit.start, edit.end), (segments, agent, edit)
        if refused:
            continue
        segments = apply_edits(segments, agent, [edit])
        oracle.edit(agent, *edit)
    return segments, oracle


@given(st.integers(0, 8), acts)
@settings(max_examples=examples(600))
def test_every_version_of_every_group_of_agents_is_the_same(base: int, wanted: list[Act]) -> None:
    segments, oracle = play(base, wanted)
    assert count_base_lines(segments) == len(oracle.base)
    assert count_file_lines(segments) == len(oracle.file)
    for chosen in subsets(AGENTS):
        made = make_version(segments, oracle.base, oracle.file, chosen)
        assert made == oracle.version(chosen)
        left = make_version_without(segments, oracle.base, oracle.file, chosen)
        assert left == oracle.version([agent for agent in AGENTS if agent not in chosen])


@given(st.integers(0, 8), acts)
@settings(max_examples=examples(300))
def test_commit_and_undo_change_only_the_base_or_only_the_file(
    base: int, wanted: list[Act]
) -> None:
    segments, oracle = play(base, wanted)
    for chosen in subsets(AGENTS):
        new_base = oracle.version(chosen)
        committed = commit(segments, chosen)
        assert list_agents(committed) == list_agents(segments) - set(chosen)
        left = oracle.version([agent for agent in AGENTS if agent not in chosen])
        undone = undo(segments, chosen)
        assert list_agents(undone) == list_agents(segments) - set(chosen)
        for other in subsets(AGENTS):
            after_commit = make_version(committed, new_base, oracle.file, other)
            assert after_commit == oracle.version({*chosen, *other})
            after_undo = make_version(undone, oracle.base, left, other)
            assert after_undo == oracle.version(set(other) - set(chosen))


@given(st.integers(0, 8), acts, st.sampled_from([*AGENTS, None, "new"]))
@settings(max_examples=examples(300))
def test_a_new_owner_has_exactly_the_lines_of_the_old_one(
    base: int, wanted: list[Act], new_owner: Agent
) -> None:
    segments, oracle = play(base, wanted)
    changed = change_owner(segments, "ash", new_owner)
    old_owners = {"ash", new_owner} if new_owner in AGENTS else {"ash"}
    made = make_version(changed, oracle.base, oracle.file, [new_owner])
    assert made == oracle.version(old_owners)
    if new_owner != "ash":
        assert "ash" not in list_agents(changed)


@given(st.integers(0, 8), acts)
@settings(max_examples=examples(200))
def test_the_edits_of_all_lead_from_the_base_to_the_file(base: int, wanted: list[Act]) -> None:
    segments, oracle = play(base, wanted)
    made = apply_edits(start_segments(len(oracle.base)), "all", list_edits(segments))
    assert make_version(made, oracle.base, oracle.file, ["all"]) == oracle.file
    everyone = commit(segments, AGENTS)
    assert everyone == start_segments(len(oracle.file))


@given(
    st.integers(1, 6),
    st.lists(
        st.tuples(
            st.sampled_from([*AGENTS, None]),
            st.integers(0, 9),
            st.integers(0, 3),
            st.integers(0, 3),
        ),
        max_size=10,
    ),
)
@settings(max_examples=examples(600))
def test_an_edit_leaves_the_versions_of_all_others_as_they_are(
    base_lines: int, wanted: list[tuple[Agent, int, int, int]]
) -> None:
    """Also where lines are nobody's. A change by nobody is never refused: it has happened."""
    base = [b"base%d" % at for at in range(base_lines)]
    file, segments, number = list(base), start_segments(base_lines), 0
    for agent, *place in wanted:
        edit = place_edit(len(file), ("", *place))  # type: ignore[arg-type]
        if agent is not None and find_obstacles(segments, agent, [[edit]]):
            continue
        after = apply_edits(segments, agent, [edit])
        number += 1
        new = [b"%d.%d" % (number, at) for at in range(edit.new_lines)]
        changed = [*file[: edit.start], *new, *file[edit.end :]]
        for chosen in subsets(tuple(other for other in AGENTS if other != agent)):
            before = make_version(segments, base, file, chosen)
            now = make_version(after, base, changed, chosen)
            if agent is None:  # lines that were overwritten are gone from their owner's version
                gone = set(file[edit.start : edit.end])
                assert [line for line in now if line not in base] == [
                    line for line in before if line not in base and line not in gone
                ]
            else:
                assert now == before
        if agent is not None:
            mine = make_version(after, base, changed, [agent])
            assert [line for line in mine if line in new] == new
        segments, file = after, changed
        assert make_version(segments, base, file, [*AGENTS, None]) == file
        assert make_version(segments, base, file, []) == base


def test_an_agent_that_edits_a_line_of_nobody_has_changed_the_committed_line() -> None:
    base = [b"a", b"x", b"y", b"b"]
    segments = apply_edits(start_segments(4), None, [LineEdit(1, 3, 2)])
    segments = apply_edits(segments, "ash", [LineEdit(1, 2, 1)])
    file = [b"a", b"x2", b"y1", b"b"]
    assert make_version(segments, base, file, ["ash"]) == [b"a", b"x2", b"y", b"b"]
    assert make_version(segments, base, file, [None]) == [b"a", b"x", b"y1", b"b"]


def test_the_lines_that_nobody_changed_above_and_below_stay_nobodys() -> None:
    base = [b"a", b"x", b"y", b"z", b"b"]
    segments = apply_edits(start_segments(5), None, [LineEdit(1, 4, 3)])
    segments = apply_edits(segments, "ash", [LineEdit(2, 3, 1)])
    file = [b"a", b"x1", b"y2", b"z1", b"b"]
    assert make_version(segments, base, file, ["ash"]) == [b"a", b"x", b"y2", b"z", b"b"]


def test_an_agent_that_replaces_lines_around_a_deletion_of_nobody_has_deleted_them_too() -> None:
    base = [b"a", b"x", b"b"]
    segments = apply_edits(start_segments(3), None, [LineEdit(1, 2, 0)])
    by_ash = apply_edits(segments, "ash", [LineEdit(0, 2, 1)])
    assert make_version(by_ash, base, [b"new"], ["ash"]) == [b"new"]
    by_nobody = apply_edits(
        apply_edits(start_segments(3), "ash", [LineEdit(1, 2, 0)]), None, [LineEdit(0, 2, 1)]
    )
    assert make_version(by_nobody, base, [b"new"], ["ash"]) == [b"a", b"b"]


def test_lines_that_replace_what_the_agent_deleted_are_put_in_its_place() -> None:
    base = [b"x", b"y", b"z"]
    segments = apply_edits(start_segments(3), None, [LineEdit(0, 1, 0)])
    segments = apply_edits(segments, "ash", [LineEdit(0, 1, 0)])
    segments = apply_edits(segments, "ash", [LineEdit(0, 0, 1)])
    assert make_version(segments, base, [b"new", b"z"], ["ash"]) == [b"x", b"new", b"z"]


def test_segments_of_one_run_are_joined() -> None:
    segments = start_segments(6)
    for line in (4, 2, 3):
        segments = apply_edits(segments, "ash", [LineEdit(line, line + 1, 1)])
    assert segments == (
        (Kind.KEPT, None, 2),
        (Kind.DELETED, "ash", 3),
        (Kind.INSERTED, "ash", 3),
        (Kind.KEPT, None, 1),
    )
