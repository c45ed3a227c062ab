"""Carry the segments over to a new committed version: after a commit, a pull or a switch.

The committed version changes under the file. A line keeps its author as long as it is uncommitted;
a line that the new version contains is KEPT. A difference that no segment explains is nobody's.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from moot.lines.line_diff import diff_lines, list_new_ranges
from moot.lines.segments import (
    Agent,
    Kind,
    Segment,
    Segments,
    commit,
    list_agents,
    make_version,
    normalize,
)


class _Kept(NamedTuple):
    """A line of the file that is unchanged in the old and in the new committed version."""

    base_line: int
    file_line: int


def rebase_segments(
    segments: Segments, base: Sequence[bytes], file: Sequence[bytes], new_base: Sequence[bytes]
) -> Segments:
    """Return the segments of the same file over a new committed version."""
    committed = _find_committers(segments, base, file, new_base)
    if committed is not None:
        return commit(segments, committed)
    return normalize(_compare(segments, base, file, new_base))


def _find_committers(
    segments: Segments, base: Sequence[bytes], file: Sequence[bytes], new_base: Sequence[bytes]
) -> frozenset[Agent] | None:
    """Return whose changes the new version consists of: one agent's, or all; None if neither.

    An exact answer is better than a comparison, in which equal lines can slide.
    """
    agents = list_agents(segments)
    named = agents - {None}
    choices = [frozenset[Agent](), agents, named, *(frozenset({agent}) for agent in agents)]
    matching = [
        choice
        for choice in dict.fromkeys(choices)
        if make_version(segments, base, file, choice) == list(new_base)
    ]
    return matching[0] if len(matching) == 1 else None


def _compare(
    segments: Segments, base: Sequence[bytes], file: Sequence[bytes], new_base: Sequence[bytes]
) -> Iterator[Segment]:
    """Compare the file with the new version between the lines that are certainly the same."""
    new_lines = _map_base_lines(base, new_base)
    inserted_by, deleted_by, kept = _list_authors(segments, new_lines)
    base_at = file_at = 0
    for line in [*kept, _Kept(len(new_base), len(file))]:
        part = new_base[base_at : line.base_line], file[file_at : line.file_line]
        yield from _compare_part(*part, deleted_by, base_at, inserted_by, file_at)
        if line.file_line < len(file):
            yield Segment(Kind.KEPT, None, 1)
        base_at, file_at = line.base_line + 1, line.file_line + 1


def _map_base_lines(base: Sequence[bytes], new_base: Sequence[bytes]) -> dict[int, int]:
    """Return where each line of the old committed version is in the new one."""
    places: dict[int, int] = {}
    old_at = new_at = 0
    for edit, start, end in list_new_ranges(diff_lines(base, new_base)):
        places.update(zip(range(old_at, edit.start), range(new_at, start), strict=True))
        old_at, new_at = edit.end, end
    places.update(zip(range(old_at, len(base)), range(new_at, len(new_base)), strict=True))
    return places


def _list_authors(
    segments: Segments, new_lines: dict[int, int]
) -> tuple[dict[int, Agent], dict[int, Agent], list[_Kept]]:
    """Return who inserted which line of the file, who deleted which line of the new version, and
    the lines that stay KEPT."""
    inserted_by: dict[int, Agent] = {}
    deleted_by: dict[int, Agent] = {}
    kept: list[_Kept] = []
    base_at = file_at = 0
    for kind, agent, count in segments:
        for _ in range(count):
            if kind is Kind.INSERTED:
                inserted_by[file_at] = agent
            elif base_at in new_lines and kind is Kind.DELETED:
                deleted_by[new_lines[base_at]] = agent
            elif base_at in new_lines:
                kept.append(_Kept(new_lines[base_at], file_at))
            base_at += kind is not Kind.INSERTED
            file_at += kind is not Kind.DELETED
    return inserted_by, deleted_by, kept


def _compare_part(
    new_base: Sequence[bytes],
    file: Sequence[bytes],
    deleted_by: dict[int, Agent],
    base_start: int,
    inserted_by: dict[int, Agent],
    file_start: int,
) -> Iterator[Segment]:
    base_at = file_at = 0
    for edit, start, end in list_new_ranges(diff_lines(new_base, file)):
        yield Segment(Kind.KEPT, None, edit.start - base_at)
        for line in range(edit.start, edit.end):
            yield Segment(Kind.DELETED, deleted_by.get(base_start + line), 1)
        for line in range(start, end):
            yield Segment(Kind.INSERTED, inserted_by.get(file_start + line), 1)
        base_at, file_at = edit.end, end
    yield Segment(Kind.KEPT, None, len(file) - file_at)
