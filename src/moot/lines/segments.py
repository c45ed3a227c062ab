"""The segments of a file: which lines are committed, and who changed the others.

A file is a list of segments over its committed version, the *base*:

    KEPT n              n lines of the base that are still in the file
    DELETED agent n     n lines of the base that the agent removed
    INSERTED agent n    n lines that the agent added

    base                       = KEPT + DELETED
    the file                   = KEPT + INSERTED
    the version of some agents = KEPT + DELETED by others + INSERTED by these agents

Segments hold no text: KEPT and DELETED lines are in the base, KEPT and INSERTED lines in the file.
Their number grows with the number of edits, not with the length of the file. A changed line is a
DELETED and an INSERTED one. An agent's *run* is a longest sequence of its segments; in a run the
DELETED segment comes first, so that equal states are equal tuples.

The agent None stands for nobody: the change is known, its author is not.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from enum import IntEnum
from itertools import groupby
from typing import NamedTuple

from moot.lines.text import Line, trim_equal_ends

Agent = str | None


class Kind(IntEnum):
    """What a segment says about its lines."""

    KEPT = 0
    DELETED = 1
    INSERTED = 2


class Segment(NamedTuple):
    """`length` lines of one kind. The agent of a KEPT segment is None."""

    kind: Kind
    agent: Agent
    length: int


Segments = tuple[Segment, ...]


class LineEdit(NamedTuple):
    """The lines from `start` up to `end` (exclusive, counted from 0) become `new_lines` lines.

    With `start == end` the edit only inserts.
    """

    start: int
    end: int
    new_lines: int


def start_segments(base_lines: int) -> Segments:
    """Return the segments of a file that is as it was committed."""
    return normalize([Segment(Kind.KEPT, None, base_lines)])


def start_new_file(agent: Agent, lines: int) -> Segments:
    """Return the segments of a file that is not in the committed version."""
    return normalize([Segment(Kind.INSERTED, agent, lines)])


def count_base_lines(segments: Segments) -> int:
    """Return the number of lines of the committed version."""
    return sum(segment.length for segment in segments if segment.kind is not Kind.INSERTED)


def count_file_lines(segments: Segments) -> int:
    """Return the number of lines of the file."""
    return sum(segment.length for segment in segments if segment.kind is not Kind.DELETED)


def list_agents(segments: Segments) -> frozenset[Agent]:
    """Return who has uncommitted changes in the file; None among them if some are nobody's."""
    return frozenset(segment.agent for segment in segments if segment.kind is not Kind.KEPT)


def list_line_authors(segments: Segments) -> list[tuple[Kind, Agent]]:
    """Return for each line of the file whether it is KEPT or INSERTED, and by whom."""
    shown = (segment for segment in segments if segment.kind is not Kind.DELETED)
    return [(segment.kind, segment.agent) for segment in shown for _ in range(segment.length)]


# Edits.


def apply_edits(segments: Segments, agent: Agent, edits: Iterable[LineEdit]) -> Segments:
    """Return the segments after an edit. Line numbers are those before it.

    This function refuses nothing: what happened on disk has happened. `rules.py` says beforehand
    which edit may be made. Raises ValueError if the edits overlap or leave the file.
    """
    ordered = sorted(edits)
    limit = 0
    for edit in ordered:
        if not limit <= edit.start <= edit.end or edit.new_lines < 0:
            raise ValueError(f"edits overlap or are reversed: {ordered}")
        limit = edit.end
    if limit > count_file_lines(segments):
        raise ValueError(f"an edit ends at line {limit}, which the file does not have")
    for edit in reversed(ordered):  # from the end, so that line numbers stay valid
        segments = _replace(segments, agent, edit)
    return segments


def _replace(segments: Segments, agent: Agent, edit: LineEdit) -> Segments:
    aligned = list(_align_other_runs(segments, agent, edit))
    before, rest = _split_at(aligned, edit.start)
    new = [Segment(Kind.INSERTED, agent, edit.new_lines)]
    if edit.start == edit.end:
        place = _find_place(before, rest, agent)
        return normalize([*before, *rest[:place], *new, *rest[place:]])
    replaced, after = _split_at(rest[_count_deleted(rest) :], edit.end - edit.start)
    taken = (_take_out(segment, agent) for segment in replaced)
    return normalize([*before, *rest[: _count_deleted(rest)], *taken, *new, *after])


def _take_out(segment: Segment, agent: Agent) -> Segment:
    """Return what is left of a segment that the agent replaced."""
    if segment.kind is Kind.KEPT:
        return Segment(Kind.DELETED, agent, segment.length)
    if segment.kind is Kind.INSERTED:
        return segment._replace(length=0)
    # The agent saw the file without these lines, so its version must not bring them back.
    return segment._replace(agent=segment.agent if agent is None else agent)


def _align_other_runs(segments: Segments, agent: Agent, edit: LineEdit) -> Iterator[Segment]:
    """Cut the runs of others that the edit touches, so that each cut has its own DELETED lines.

    If someone changed the lines x, y to x', y', and the agent changes x' to x'', then the agent has
    changed x. Its version must contain x'' and y, in this order, and not x.
    """
    line = 0
    for owner, run in _list_runs(segments):
        deleted = sum(segment.length for segment in run if segment.kind is Kind.DELETED)
        shown = sum(segment.length for segment in run if segment.kind is not Kind.DELETED)
        first, last = max(edit.start - line, 0), min(edit.end - line, shown)
        line += shown
        touches = first < last or 0 < first == last < shown
        if run[0].kind is Kind.KEPT or owner == agent or not touches:
            yield from run
            continue
        above = min(first, deleted)
        below = min(shown - last, deleted - above)
        if first == last:
            below = deleted - above
        yield Segment(Kind.DELETED, owner, above)
        yield Segment(Kind.INSERTED, owner, first)
        yield Segment(Kind.DELETED, agent, deleted - above - below)
        yield Segment(Kind.INSERTED, owner, last - first)
        yield Segment(Kind.DELETED, owner, below)
        yield Segment(Kind.INSERTED, owner, shown - last)


def _find_place(before: Sequence[Segment], rest: Sequence[Segment], agent: Agent) -> int:
    """Return how many DELETED segments at a gap come before lines that the agent inserts there.

    Next to its own change the lines join it. Otherwise they come before what others deleted: a run
    of another agent that begins here continues with its own lines.
    """
    if before and before[-1].agent == agent and before[-1].kind is Kind.INSERTED:
        return 0
    for place in range(_count_deleted(rest)):
        if rest[place].agent == agent:
            return place + 1
    return 0


def _count_deleted(segments: Sequence[Segment]) -> int:
    """Return the number of DELETED segments at the beginning."""
    kinds = enumerate(segment.kind for segment in segments)
    return next((at for at, kind in kinds if kind is not Kind.DELETED), len(segments))


def _split_at(segments: Sequence[Segment], line: int) -> tuple[list[Segment], list[Segment]]:
    """Split before a line of the file. DELETED segments at that place go to the second part."""
    at = 0
    for place, segment in enumerate(segments):
        if at == line:
            return list(segments[:place]), list(segments[place:])
        width = 0 if segment.kind is Kind.DELETED else segment.length
        if at + width > line:
            head, tail = (
                segment._replace(length=line - at),
                segment._replace(length=at + width - line),
            )
            return [*segments[:place], head], [tail, *segments[place + 1 :]]
        at += width
    return list(segments), []


def _list_runs(segments: Iterable[Segment]) -> Iterator[tuple[Agent, list[Segment]]]:
    """Yield longest sequences of KEPT segments, and of the changes of one agent."""
    runs = groupby(segments, key=lambda segment: (segment.kind is Kind.KEPT, segment.agent))
    for (_, agent), run in runs:
        yield agent, list(run)


def normalize(segments: Iterable[Segment]) -> Segments:
    """Join the segments of each run, DELETED before INSERTED."""
    joined: list[Segment] = []
    for agent, run in _list_runs(segment for segment in segments if segment.length):
        for kind in Kind:
            count = sum(segment.length for segment in run if segment.kind is kind)
            if count:
                joined.append(Segment(kind, agent, count))
    return tuple(joined)


# Versions, commit and undo.


def make_version(
    segments: Segments, base: Sequence[Line], file: Sequence[Line], agents: Collection[Agent]
) -> list[Line]:
    """Return the committed version with the changes of these agents only."""
    return _select_lines(segments, base, file, lambda agent: agent in agents)


def make_version_without(
    segments: Segments, base: Sequence[Line], file: Sequence[Line], agents: Collection[Agent]
) -> list[Line]:
    """Return the file without the changes of these agents. No line of anyone else is missing."""
    return _select_lines(segments, base, file, lambda agent: agent not in agents)


def _select_lines(
    segments: Segments,
    base: Sequence[Line],
    file: Sequence[Line],
    is_included: Callable[[Agent], bool],
) -> list[Line]:
    selected: list[Line] = []
    base_at = file_at = 0
    for kind, agent, count in segments:
        if kind is Kind.INSERTED:
            if is_included(agent):
                selected += file[file_at : file_at + count]
        elif kind is Kind.KEPT or not is_included(agent):
            selected += base[base_at : base_at + count]
        base_at += 0 if kind is Kind.INSERTED else count
        file_at += 0 if kind is Kind.DELETED else count
    return selected


def commit(segments: Segments, agents: Collection[Agent]) -> Segments:
    """Return the segments after these agents committed `make_version(..., agents)`."""
    return normalize(_settle(segment, agents, Kind.INSERTED) for segment in segments)


def undo(segments: Segments, agents: Collection[Agent]) -> Segments:
    """Return the segments after the file became `make_version_without(..., agents)`."""
    return normalize(_settle(segment, agents, Kind.DELETED) for segment in segments)


def _settle(segment: Segment, agents: Collection[Agent], kept: Kind) -> Segment:
    if segment.kind is Kind.KEPT or segment.agent not in agents:
        return segment
    return Segment(Kind.KEPT, None, segment.length if segment.kind is kept else 0)


def change_owner(segments: Segments, owner: Agent, new_owner: Agent) -> Segments:
    """Give the changes of one agent to another, or to nobody: adopt, take over, release."""
    return normalize(
        segment._replace(agent=new_owner)
        if segment.kind is not Kind.KEPT and segment.agent == owner
        else segment
        for segment in segments
    )


def drop_unchanged(segments: Segments, base: Sequence[Line], file: Sequence[Line]) -> Segments:
    """Turn lines that an agent changed and then changed back into KEPT lines again.

    Only equal lines at the beginning and end of a run count, so nothing is matched by guess.
    """
    result: list[Segment] = []
    base_at = file_at = 0
    for agent, run in _list_runs(segments):
        deleted = sum(segment.length for segment in run if segment.kind is not Kind.INSERTED)
        shown = sum(segment.length for segment in run if segment.kind is not Kind.DELETED)
        old, new = base[base_at : base_at + deleted], file[file_at : file_at + shown]
        base_at, file_at = base_at + deleted, file_at + shown
        if run[0].kind is Kind.KEPT:
            result += run
            continue
        head, old_end, new_end = trim_equal_ends(old, new)
        result += (
            Segment(Kind.KEPT, None, head),
            Segment(Kind.DELETED, agent, old_end - head),
            Segment(Kind.INSERTED, agent, new_end - head),
            Segment(Kind.KEPT, None, deleted - old_end),
        )
    return normalize(result)


def list_edits(segments: Segments) -> list[LineEdit]:
    """Return the edits that make the file out of the base, by any author."""
    edits: list[LineEdit] = []
    base_at = 0
    for is_kept, group in groupby(segments, key=lambda segment: segment.kind is Kind.KEPT):
        run = list(group)
        removed = sum(segment.length for segment in run if segment.kind is not Kind.INSERTED)
        if not is_kept:
            added = sum(segment.length for segment in run if segment.kind is Kind.INSERTED)
            edits.append(LineEdit(base_at, base_at + removed, added))
        base_at += removed
    return edits
