"""Deltas that stand where they do not count: in a wrong fence, a list, a quote, inline or bare.

Each is reported, or its author would believe that it was merged. A delta in a block that quotes
markdown is an example, and not one of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from moot.protocols.mail.body import MessageBody
from moot.protocols.mail.deltas import DELTA_FENCE
from moot.protocols.mail.outline import Block


class StrayDelta(NamedTuple):
    """Something that was meant as a delta and does not count."""

    line: int
    message: str


_OPERATION = re.compile(r'"operation"\s*+:\s*+"(?:ADD|EDIT|KILL)"')
_MEANT_AS_DELTA = re.compile(
    r"""
    \n [\ \t>*+-]*+
    (?: (?P<fence>(?:`{3,}|~{3,}|:::)[\ \t]*[Dd]elta\b)
      | (?P<inline>D(?:ELTA|elta)[\ \t]*(?:\[[^\]\n]*\])?[\ \t]*:)
    )
    """,
    re.VERBOSE,
)
_QUOTATIONS = {"markdown", "md"}


def find_stray_deltas(body: MessageBody) -> Iterator[StrayDelta]:
    """Misfenced, nested, inline and bare deltas, in order of kind; a quoted example is none."""
    for block in body.blocks:
        if block.info != DELTA_FENCE:
            yield from _find_misfenced(body, block)
    gaps = _find_gaps(body)
    lines = _LineNumbers(body.text)
    shifted = "\n" + body.text  # so that every line has a line end before it, at its own place
    for start, end in gaps:
        for match in _MEANT_AS_DELTA.finditer(shifted, start, end + 1):
            yield StrayDelta(lines.number_at(match.start()), _MESSAGES[match.lastgroup or ""])
    lines = _LineNumbers(body.text)
    for start, end in gaps:
        for match in _OPERATION.finditer(body.text, start, end):
            message = "this delta stands outside of a fence"
            yield StrayDelta(lines.number_at(match.start()), message)


_MESSAGES = {
    "fence": "this delta stands in a list, a quote or another kind of fence",
    "inline": "this looks like a delta written inline",
}


def _find_misfenced(body: MessageBody, block: Block) -> Iterator[StrayDelta]:
    first = block.info.partition(" ")[0].casefold()
    if first in _QUOTATIONS:
        return
    if first == DELTA_FENCE or _OPERATION.search(body.text, block.start, block.end):
        label = block.info[:40] or "without a name"
        yield StrayDelta(block.number, f"this block holds a delta but is fenced as {label!r}")


def _find_gaps(body: MessageBody) -> list[tuple[int, int]]:
    """Where something is written outside of all top-level blocks; no match reaches into one."""
    starts = [0, *(block.end for block in body.blocks)]
    ends = [*(block.start for block in body.blocks), len(body.text)]
    text = body.text
    return [gap for gap in zip(starts, ends, strict=True) if text[slice(*gap)].strip()]


class _LineNumbers:
    """Counts lines as places come by, which must be in ascending order."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.place = 0
        self.number = 1

    def number_at(self, place: int) -> int:
        self.number += self.text.count("\n", self.place, place)
        self.place = place
        return self.number
