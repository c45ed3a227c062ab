"""Delta blocks: strict JSON in top-level fences whose info string is exactly `delta`.

What was meant as a delta but stands in the wrong place is found in `strays.py`. Any text is
accepted; only `strict_json` raises, and only ValueError.
"""

from __future__ import annotations

import json
import re
from enum import StrEnum
from math import isfinite
from typing import Any

import msgspec

from moot.protocols.mail.body import Body, is_unfilled
from moot.protocols.mail.outline import Block

INFO = "delta"
MAX_DEPTH = 32


class Operation(StrEnum):
    """What a delta does to an item of the artifact (BRN-020)."""

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
    """One change to the artifact, as its author wrote it (BRN-021)."""

    operation: Operation
    section: str
    target_id: str | None
    payload: dict[str, Any]
    rationale: str = ""


class DeltaBlock(msgspec.Struct, frozen=True):
    """One block: `value` if its JSON holds, and the delta in it; else `problem` on line `line`."""

    number: int
    line: int
    value: Any = None
    delta: Delta | None = None
    problem: str = ""

    @property
    def where(self) -> str:
        return f"delta block {self.number}"


def lacking(payload: dict[str, Any], names: tuple[str, ...]) -> list[str]:
    """Which of these fields say nothing: not there, blank, or text of the template."""
    return [name for name in names if _empty(payload.get(name))]


def _empty(value: Any) -> bool:
    return is_unfilled(value) if isinstance(value, str) else value is None


# Reading ------------------------------------------------------------------------------------------


def delta_blocks(body: Body) -> list[DeltaBlock]:
    """Every delta block of a body, good or bad, numbered from 1."""
    found = (block for block in body.blocks if block.info == INFO)
    return [_read(body, block, number) for number, block in enumerate(found, 1)]


def _read(body: Body, block: Block, number: int) -> DeltaBlock:
    try:
        value = strict_json(body.code(block))
    except json.JSONDecodeError as error:
        return DeltaBlock(number, block.number + error.lineno, problem=error.msg)
    except ValueError as error:
        return DeltaBlock(number, block.number, problem=str(error))
    return DeltaBlock(number, block.number, value, as_delta(value))


def strict_json(text: str) -> Any:
    """The JSON in this text; ValueError for anything that readers would not agree on."""
    try:
        value = _DECODER.decode(text)
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None
    if text.count("{") + text.count("[") > MAX_DEPTH or _HALF.search(text):
        _inspect(value)
    return value


_TOO_DEEP = f"nested more than {MAX_DEPTH} levels deep"
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_HALF = re.compile(r"[\ud800-\udfff]|\\u[Dd][89A-Fa-f]")


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


_DECODER = json.JSONDecoder(
    object_pairs_hook=_unique, parse_constant=_no_constant, parse_float=_finite
)


def _inspect(value: Any, depth: int = 0) -> None:
    """Refuse what is nested too deep, and texts that hold half a character."""
    if isinstance(value, str) and _SURROGATE.search(value):
        raise ValueError("half a character (a lone surrogate) is not text")
    if depth > MAX_DEPTH:
        raise ValueError(_TOO_DEEP)
    for one in (*value, *value.values()) if isinstance(value, dict) else ():
        _inspect(one, depth + 1)
    for one in value if isinstance(value, list) else ():
        _inspect(one, depth + 1)


def as_delta(value: Any) -> Delta | None:
    """The delta in a JSON value, if it is an object with a valid operation."""
    said = value.get("operation") if isinstance(value, dict) else None
    operation = _OPERATIONS.get(said) if isinstance(said, str) else None
    if operation is None:
        return None
    payload = value.get("payload")
    return Delta(
        operation,
        _text(value.get("section")),
        _text(value.get("target_id")) or None,
        payload if isinstance(payload, dict) else {},
        _text(value.get("rationale")),
    )


_OPERATIONS = {one.value: one for one in Operation}


def _text(value: Any) -> str:
    return value.strip() if isinstance(value, str) else ""
