"""Every state that three agents can reach in a small file: no line is lost, versions add up, the
order of commits does not matter."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, permutations

import pytest

from moot.lines.rules import find_obstacles
from moot.lines.segments import (
    LineEdit,
    Segments,
    apply_edits,
    commit,
    count_file_lines,
    make_version,
    start_segments,
    undo,
)
from tests.sampling import THOROUGH

AGENTS = ("ash", "birch", "cedar")
GROUPS = [chosen for size in range(4) for chosen in combinations(AGENTS, size)]


def list_possible_edits(lines: int, longest: int) -> Iterator[LineEdit]:
    for start in range(lines + 1):
        for end in range(start, lines + 1):
            for new_lines in range(3):
                if (end > start or new_lines) and lines - (end - start) + new_lines <= longest:
                    yield LineEdit(start, end, new_lines)


def name_lines(segments: Segments, base_lines: int) -> tuple[list[str], list[str]]:
    """Give each line of the base and of the file a name: KEPT lines have one name in both."""
    base, file = [f"b{at}" for at in range(base_lines)], list[str]()
    at = 0
    for kind, agent, length in segments:
        if kind.name == "INSERTED":
            file += [f"{agent}{len(file) + number}" for number in range(length)]
            continue
        if kind.name == "KEPT":
            file += base[at : at + length]
        at += length
    return base, file


def check_versions(segments: Segments, base: list[str], file: list[str]) -> None:
    versions = {chosen: make_version(segments, base, file, chosen) for chosen in GROUPS}
    assert versions[()] == base
    assert versions[AGENTS] == file
    for chosen, version in versions.items():
        others = tuple(agent for agent in AGENTS if agent not in chosen)
        committed, undone = commit(segments, chosen), undo(segments, others)
        assert committed == commit_one_by_one(segments, chosen)
        for more in GROUPS:
            both = tuple(agent for agent in AGENTS if agent in {*chosen, *more})
            assert make_version(committed, version, file, more) == versions[both]
            shared = tuple(agent for agent in chosen if agent in more)
            assert make_version(undone, base, version, more) == versions[shared]


def commit_one_by_one(segments: Segments, chosen: tuple[str, ...]) -> Segments:
    """Commit in every order; all orders end with the same segments."""
    ends = set()
    for order in permutations(chosen):
        left = segments
        for agent in order:
            left = commit(left, [agent])
        ends.add(left)
    (end,) = ends
    return end


def check_edit(segments: Segments, file: list[str], agent: str, edit: LineEdit) -> Segments | None:
    """Make an edit if it is allowed; refused ones, and only those, would touch another's change."""
    if find_obstacles(segments, agent, [[edit]]):
        return None
    after = apply_edits(segments, agent, [edit])
    new = [f"new{number}" for number in range(edit.new_lines)]
    changed = [*file[: edit.start], *new, *file[edit.end :]]
    base, _ = name_lines(segments, sum(s.length for s in segments if s.kind.name != "INSERTED"))
    for chosen in GROUPS:
        if agent not in chosen:
            before = make_version(segments, base, file, chosen)
            assert make_version(after, base, changed, chosen) == before
    others = {line for line in file if line[0] != "b" or line.startswith("birch")}
    lost = others - set(changed)
    assert all(line.startswith(agent) for line in lost)
    return after


def name_in_order(segments: Segments) -> Segments:
    """Name the agents in the order of the file: states that differ only in names are one state."""
    order = dict.fromkeys(segment.agent for segment in segments if segment.agent is not None)
    names = dict(zip(order, AGENTS, strict=False))
    return tuple(
        segment._replace(agent=names[segment.agent]) if segment.agent is not None else segment
        for segment in segments
    )


@pytest.mark.parametrize(
    ("base_lines", "longest"),
    [
        (0, 3),
        (1, 3),
        (2, 3),
        pytest.param(3, 3, marks=THOROUGH),
        pytest.param(3, 4, marks=THOROUGH),
        pytest.param(4, 3, marks=THOROUGH),
    ],
)
def test_every_reachable_state(base_lines: int, longest: int) -> None:
    start = start_segments(base_lines)
    seen, waiting = {start}, [start]
    refused = made = 0
    while waiting:
        segments = waiting.pop()
        base, file = name_lines(segments, base_lines)
        check_versions(segments, base, file)
        for edit in list_possible_edits(count_file_lines(segments), longest):
            for agent in AGENTS:
                after = check_edit(segments, file, agent, edit)
                refused, made = refused + (after is None), made + (after is not None)
                following = start if after is None else name_in_order(after)
                if following not in seen:
                    seen.add(following)
                    waiting.append(following)
    assert made > len(seen) > 3 * base_lines
    assert refused > 0
