"""Which edit is refused: one that touches a line which another agent has not committed yet.

A *block* is a run of one agent's changes and its place in the file, from `start` up to `end`; with
`start == end` the agent only deleted lines there. Another agent's edit of the lines from i up to j
is refused in these cases:

    CHANGES_LINE     j > i, and a line of the block is among them
    INSIDE_BLOCK     i = j, and it inserts between two lines of the block
    ACROSS_DELETION  it replaces lines on both sides of a place where the agent deleted some
    AT_DELETION      it inserts exactly where the agent deleted: before or after what is gone?
    WANTS_DELETED    it looks for lines that the agent deleted or changed
    NEW_FILE         the file is not committed yet, so all of it is the agent's

Lines that are nobody's are free for everyone. All edits of one call are made, or none.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from itertools import islice
from typing import NamedTuple

from moot.lines.segments import Agent, Kind, LineEdit, Segments, apply_edits, count_base_lines
from moot.lines.text import Line

# The edits of one call, step by step. Line numbers of a step are those after the step before it.
Steps = Sequence[Sequence[LineEdit]]


class Block(NamedTuple):
    """A run of one agent's changes: its lines in the file, and its place in the base."""

    agent: Agent
    start: int
    end: int
    base_start: int
    base_end: int


class Reason(StrEnum):
    """Why an edit is refused."""

    CHANGES_LINE = "changes_line"
    INSIDE_BLOCK = "inside_block"
    ACROSS_DELETION = "across_deletion"
    AT_DELETION = "at_deletion"
    WANTS_DELETED = "wants_deleted"
    NEW_FILE = "new_file"


class Obstacle(NamedTuple):
    """Another agent's block that an edit would touch. `line` is the first such line of the file, or
    the line behind what the agent deleted."""

    reason: Reason
    block: Block
    line: int


def list_blocks(segments: Segments) -> list[Block]:
    """Return the changes of all agents, in the order of the file. Nobody's changes are included."""
    blocks: list[Block] = []
    file_at = base_at = 0
    for kind, agent, count in segments:
        file_end = file_at if kind is Kind.DELETED else file_at + count
        base_end = base_at if kind is Kind.INSERTED else base_at + count
        if kind is Kind.INSERTED and blocks and blocks[-1].agent == agent:
            last = blocks[-1]
            if last.end == file_at and last.base_end == base_at and last.start == last.end:
                blocks[-1] = last._replace(end=file_end)
                file_at = file_end
                continue
        if kind is not Kind.KEPT:
            blocks.append(Block(agent, file_at, file_end, base_at, base_end))
        file_at, base_at = file_end, base_end
    return blocks


def find_obstacles(segments: Segments, agent: str, steps: Steps) -> list[Obstacle]:
    """Return what is in the way of an agent's edit; nothing if the agent may make it.

    Line numbers are those of the file as it is now, before the first step.
    """
    owned = [block for block in list_blocks(segments) if _is_of_other(block, agent)]
    if owned and count_base_lines(segments) == 0 and any(steps):
        return [Obstacle(Reason.NEW_FILE, owned[0], owned[0].start)]
    found: dict[int, Obstacle] = {}
    for place, step in enumerate(steps):
        if place:
            segments = apply_edits(segments, agent, steps[place - 1])
        # An agent's edits leave the blocks of others whole and in order, so numbers identify them.
        others = [block for block in list_blocks(segments) if _is_of_other(block, agent)]
        for number, obstacle in _find_in_step(others, step):
            moved = owned[number].start - obstacle.block.start
            found.setdefault(
                number, Obstacle(obstacle.reason, owned[number], obstacle.line + moved)
            )
        if found:
            break
    return [found[number] for number in sorted(found)]


def _is_of_other(block: Block, agent: str) -> bool:
    return block.agent is not None and block.agent != agent


def _find_in_step(
    others: Sequence[Block], edits: Iterable[LineEdit]
) -> Iterator[tuple[int, Obstacle]]:
    for edit in edits:
        for number, block in enumerate(others):
            reason = find_reason(block, edit)
            if reason is not None:
                yield number, Obstacle(reason, block, max(block.start, edit.start))


def find_reason(block: Block, edit: LineEdit) -> Reason | None:
    """Return why an edit may not be made next to another agent's block; None if it may."""
    if block.start == block.end:
        if edit.start < block.start < edit.end:
            return Reason.ACROSS_DELETION
        if edit.start == edit.end == block.start:
            return Reason.AT_DELETION
    elif edit.start == edit.end:
        if block.start < edit.start < block.end:
            return Reason.INSIDE_BLOCK
    elif edit.start < block.end and block.start < edit.end:
        return Reason.CHANGES_LINE
    return None


def find_deleted_lines(
    segments: Segments, agent: str, base: Sequence[Line], wanted: Sequence[Line]
) -> list[Obstacle]:
    """Return the blocks of other agents that deleted or changed the lines an edit looks for.

    Without this an agent only reads that its text was not found.
    """
    if not wanted:
        return []
    places = (
        at for at in range(len(base) - len(wanted) + 1) if base[at : at + len(wanted)] == wanted
    )
    return [
        Obstacle(Reason.WANTS_DELETED, block, block.start)
        for at in islice(places, 1)
        for block in list_blocks(segments)
        if _is_of_other(block, agent)
        and block.base_start < at + len(wanted)
        and at < block.base_end
    ]
