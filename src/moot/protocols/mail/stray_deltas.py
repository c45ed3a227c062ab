"""Deltas that stand where they do not count: in a wrong fence, a list, a quote, inline or bare.

Each is reported, or its author would believe that it was merged. A delta in a block that quotes
markdown is an example, and not one of them.
"""

from __future__ import annotations

import re
from bisect import bisect_right
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
        yield from _find_misfenced(body, block)
    outside = _Outside(body)
    for match in _MEANT_AS_DELTA.finditer("\n" + body.text):
        yield from outside.stray(match.start(), _MESSAGES[match.lastgroup or ""])
    outside = _Outside(body)
    for match in _OPERATION.finditer(body.text):
        yield from outside.stray(match.start(), "this delta stands outside of a fence")


_MESSAGES = {
    "fence": "this delta stands in a list, a quote or another kind of fence",
    "inline": "this looks like a delta written inline",
}


def _find_misfenced(body: MessageBody, block: Block) -> Iterator[StrayDelta]:
    first = block.info.partition(" ")[0].casefold()
    if block.info == DELTA_FENCE or first in _QUOTATIONS:
        return
    if first == DELTA_FENCE or _OPERATION.search(body.text, block.start, block.end):
        label = block.info[:40] or "without a name"
        yield StrayDelta(block.number, f"this block holds a delta but is fenced as {label!r}")


class _Outside:
    """The text outside of all top-level blocks; places must be asked for in ascending order."""

    def __init__(self, body: MessageBody) -> None:
        self.text = body.text
        self.blocks = body.blocks
        self.starts = [block.start for block in body.blocks]
        self.place = 0
        self.number = 1

    def stray(self, place: int, message: str) -> Iterator[StrayDelta]:
        index = bisect_right(self.starts, place) - 1
        if index < 0 or place >= self.blocks[index].end:
            self.number += self.text.count("\n", self.place, place)
            self.place = place
            yield StrayDelta(self.number, message)
