"""Delta blocks: strict JSON in top-level fences whose info string is exactly `delta`.

What does not count is never passed over in silence: `strays` names blocks and lines that were
meant as deltas but stand in the wrong place. Any text is accepted and nothing here raises.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Iterator
from enum import StrEnum
from math import isfinite
from typing import Any, NamedTuple

import msgspec

from moot.mail.body import Body
from moot.mail.outline import Block

INFO = "delta"
MAX_DEPTH = 32


class Operation(StrEnum):
    ADD = "ADD"
    EDIT = "EDIT"
    KILL = "KILL"


class Shelf(msgspec.Struct, frozen=True):
    """One section of the artifact: how its items are numbered, what a new one must say."""

    id: str
    prefix: str
    heading: str
    required: tuple[str, ...] = ()


RESEARCH_THREAD = Shelf("research_thread", "RT", "Research Thread")
SHELVES: dict[str, Shelf] = {
    shelf.id: shelf
    for shelf in (
        RESEARCH_THREAD,
        Shelf(
            "hypothesis_slate",
            "H",
            "Hypothesis Slate",
            ("name", "claim", "mechanism", "anchors"),
        ),
        Shelf("predictions_table", "P", "Predictions Table", ("condition", "predictions")),
        Shelf(
            "discriminative_tests",
            "T",
            "Discriminative Tests",
            ("name", "procedure", "discriminates", "expected_outcomes"),
        ),
        Shelf(
            "assumption_ledger",
            "A",
            "Assumption Ledger",
            ("name", "statement", "load", "test", "status"),
        ),
        Shelf(
            "anomaly_register",
            "X",
            "Anomaly Register",
            ("name", "observation", "conflicts_with", "status"),
        ),
        Shelf(
            "adversarial_critique",
            "C",
            "Adversarial Critique",
            ("name", "attack", "evidence", "current_status"),
        ),
    )
}


class Delta(msgspec.Struct, frozen=True):
    """One change to the artifact, as its author wrote it."""

    operation: Operation
    section: str
    target_id: str | None
    payload: dict[str, Any]
    rationale: str = ""


class DeltaBlock(msgspec.Struct, frozen=True):
    """One block: `value` if its JSON holds, else `problem`, on line `line` of the body."""

    number: int
    line: int
    value: Any = None
    problem: str = ""

    @property
    def where(self) -> str:
        return f"delta block {self.number}"

    @property
    def delta(self) -> Delta | None:
        return as_delta(self.value)


class Stray(NamedTuple):
    """Something that was meant as a delta and does not count."""

    line: int
    message: str


# Reading ------------------------------------------------------------------------------------------


def delta_blocks(body: Body) -> list[DeltaBlock]:
    """Every delta block of a body, good or bad, numbered from 1."""
    found = (block for block in body.blocks if block.info == INFO)
    return [_read(body, block, number) for number, block in enumerate(found, 1)]


def _read(body: Body, block: Block, number: int) -> DeltaBlock:
    try:
        return DeltaBlock(number, block.number, value=strict_json(body.code(block)))
    except json.JSONDecodeError as error:
        return DeltaBlock(number, block.number + error.lineno, problem=error.msg)
    except ValueError as error:
        return DeltaBlock(number, block.number, problem=str(error))


def strict_json(text: str) -> Any:
    """The JSON in this text; ValueError for anything that readers would not agree on."""
    try:
        value = json.loads(
            text,
            object_pairs_hook=_unique,
            parse_constant=_no_constant,
            parse_float=_finite,
        )
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None
    if _depth(value) > MAX_DEPTH:
        raise ValueError(_TOO_DEEP)
    return value


_TOO_DEEP = f"nested more than {MAX_DEPTH} levels deep"
_SURROGATE = re.compile(r"[\ud800-\udfff]")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for name, value in pairs:
        if name in made:
            raise ValueError(f"the key {name[:40]!r} stands there twice")
        made[name] = value
    return made


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not a JSON number")


def _finite(text: str) -> float:
    number = float(text)
    if not isfinite(number):
        raise ValueError(f"{text[:40]} is too large a number")
    return number


def _depth(value: Any, above: int = 0) -> int:
    """How deep it is nested, looking no deeper than the limit; half characters are refused too."""
    if isinstance(value, str) and _SURROGATE.search(value):
        raise ValueError("half a character (a lone surrogate) is not text")
    inner: Any = ()
    if isinstance(value, dict):
        inner = (*value.keys(), *value.values())
    elif isinstance(value, list):
        inner = value
    if above > MAX_DEPTH:
        return above
    return max((_depth(one, above + 1) for one in inner), default=above)


def as_delta(value: Any) -> Delta | None:
    """The delta in a JSON value, if it is an object with a valid operation."""
    if not isinstance(value, dict) or value.get("operation") not in list(Operation):
        return None
    payload = value.get("payload")
    return Delta(
        Operation(value["operation"]),
        _text(value.get("section")),
        _text(value.get("target_id")) or None,
        payload if isinstance(payload, dict) else {},
        _text(value.get("rationale")),
    )


def _text(value: Any) -> str:
    return value.strip() if isinstance(value, str) else ""


# What was meant as a delta ------------------------------------------------------------------------

_OPERATION = re.compile(r'"operation"\s*+:\s*+"(?:ADD|EDIT|KILL)"')
_MEANT = re.compile(
    r"""
    \n [\ \t>*+-]*+
    (?: (?P<fence>(?:`{3,}|~{3,}|:::)[\ \t]*[Dd]elta\b)
      | (?P<inline>D(?:ELTA|elta)[\ \t]*(?:\[[^\]\n]*\])?[\ \t]*:)
    )
    """,
    re.VERBOSE,
)
_QUOTATIONS = {"markdown", "md"}


def strays(body: Body) -> Iterator[Stray]:
    """Misfenced, nested, inline and bare deltas, in order of kind; a quoted example is none."""
    for block in body.blocks:
        yield from _misfenced(body, block)
    outside = _Outside(body)
    for found in _MEANT.finditer("\n" + body.text):
        yield from outside.stray(found.start(), _SAID[found.lastgroup or ""])
    outside = _Outside(body)
    for found in _OPERATION.finditer(body.text):
        yield from outside.stray(found.start(), "this delta stands outside of a fence")


_SAID = {
    "fence": "this delta stands in a list, a quote or another kind of fence",
    "inline": "this looks like a delta written inline",
}


def _misfenced(body: Body, block: Block) -> Iterator[Stray]:
    first = block.info.partition(" ")[0].casefold()
    if block.info == INFO or first in _QUOTATIONS:
        return
    if first == INFO or _OPERATION.search(body.text, block.start, block.end):
        label = block.info[:40] or "without a name"
        yield Stray(block.number, f"this block holds a delta but is fenced as {label!r}")


class _Outside:
    """What stands outside of all top-level blocks; places only go forward."""

    def __init__(self, body: Body) -> None:
        self.text = body.text
        self.blocks = body.blocks
        self.starts = [block.start for block in body.blocks]
        self.place = 0
        self.number = 1

    def stray(self, place: int, message: str) -> Iterator[Stray]:
        index = bisect_right(self.starts, place) - 1
        if index < 0 or place >= self.blocks[index].end:
            self.number += self.text.count("\n", self.place, place)
            self.place = place
            yield Stray(self.number, message)
