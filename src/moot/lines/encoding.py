"""What is stored for each file, as bytes: 1 to 4 kB, whatever the length of the file.

Each agent's name is stored once. A segment is two numbers: its kind and agent, and its length.
"""

from __future__ import annotations

from typing import Final

import msgspec

from moot.core.errors import Malformed
from moot.lines.segments import Agent, Kind, Segment, Segments, normalize

VERSION: Final = 1
_KINDS: Final = len(Kind)


class FileLines(msgspec.Struct, frozen=True):
    """The state of one file. It counts only while `base` is the committed blob and `content` is the
    file; otherwise it is made again without guessing an author.

    `base` and `content` are git's ids of blobs; `base` is empty for a file that is not committed.
    `newline_by` is who added or removed the final newline, if base and file differ in it.
    """

    base: str
    content: str
    segments: Segments
    newline_by: Agent = None


class _Stored(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    version: int
    base: str
    content: str
    agents: list[str]
    numbers: list[int]  # kind + 3 * place of the agent (0: nobody), then the count; repeated
    newline_by: int


def encode(state: FileLines) -> bytes:
    """Return the bytes of a state."""
    named = {segment.agent for segment in state.segments} | {state.newline_by}
    agents = sorted(agent for agent in named if agent is not None)
    places: dict[Agent, int] = {None: 0}
    places |= {agent: place for place, agent in enumerate(agents, start=1)}
    numbers = [
        number
        for kind, agent, count in state.segments
        for number in (kind + _KINDS * places[agent], count)
    ]
    stored = _Stored(VERSION, state.base, state.content, agents, numbers, places[state.newline_by])
    return msgspec.msgpack.encode(stored)


def decode(data: bytes) -> FileLines:
    """Return the state that `encode` made these bytes of. Raises Malformed for anything else."""
    try:
        stored = msgspec.msgpack.decode(data, type=_Stored)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Malformed(f"not a state of lines: {error}") from None
    if stored.version != VERSION:
        raise Malformed(f"a state of lines of version {stored.version}, this is {VERSION}")
    agents: list[Agent] = [None, *stored.agents]
    try:
        segments = tuple(
            Segment(Kind(number % _KINDS), _get(agents, number // _KINDS), count)
            for number, count in zip(stored.numbers[::2], stored.numbers[1::2], strict=True)
        )
        state = FileLines(stored.base, stored.content, segments, _get(agents, stored.newline_by))
    except (ValueError, IndexError):
        raise Malformed("a state of lines with impossible numbers") from None
    has_named_kept = any(kind is Kind.KEPT and agent is not None for kind, agent, _ in segments)
    if has_named_kept or any(count < 1 for _, _, count in segments):
        raise Malformed("a state of lines with impossible segments")
    if normalize(segments) != segments or encode(state) != data:
        raise Malformed("a state of lines that is not in its normal form")
    return state


def _get(agents: list[Agent], place: int) -> Agent:
    if place < 0:
        raise IndexError(place)
    return agents[place]
