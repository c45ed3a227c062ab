"""Delta blocks: strict JSON in top-level fences whose info string is exactly `delta`.

`delta_checks.py` finds deltas in the wrong place. Any text is accepted; only `parse_strict_json`
raises, and only ValueError.
"""

from __future__ import annotations

import json
import re
from enum import StrEnum
from math import isfinite
from typing import Any

import msgspec

from moot.protocols.mail.body import Block, MessageBody, is_unfilled

DELTA_FENCE = "delta"
MAX_DEPTH = 32


class DeltaOperation(StrEnum):
    """What a delta does to an item of the artifact (BRN-020)."""

    ADD = "ADD"
    EDIT = "EDIT"
    KILL = "KILL"


class ArtifactSection(msgspec.Struct, frozen=True):
    """One section of the artifact: how its items are numbered, what a new one must say."""

    id: str
    prefix: str
    heading: str
    required: tuple[str, ...] = ()


RESEARCH_THREAD = ArtifactSection("research_thread", "RT", "Research Thread")
ARTIFACT_SECTIONS: dict[str, ArtifactSection] = {
    section.id: section
    for section in (
        RESEARCH_THREAD,
        ArtifactSection("hypothesis_slate", "H", "Hypothesis Slate",
                        ("name", "claim", "mechanism", "anchors")),
        ArtifactSection("predictions_table", "P", "Predictions Table",
                        ("condition", "predictions")),
        ArtifactSection("discriminative_tests", "T", "Discriminative Tests",
                        ("name", "procedure", "discriminates", "expected_outcomes")),
        ArtifactSection("assumption_ledger", "A", "Assumption Ledger",
                        ("name", "statement", "load", "test", "status")),
        ArtifactSection("anomaly_register", "X", "Anomaly Register",
                        ("name", "observation", "conflicts_with", "status")),
        ArtifactSection("adversarial_critique", "C", "Adversarial Critique",
                        ("name", "attack", "evidence", "current_status")),
    )
}  # fmt: skip


# Fields that hold a list: an edit adds to it, or puts another list in its place.
LIST_FIELDS = frozenset({"anchors", "conflicts_with", "references"})
_ITEM_NUMBER = re.compile(r"[1-9][0-9]{0,8}")


class Delta(msgspec.Struct, frozen=True, gc=False):
    """One change to the artifact, as its author wrote it (BRN-021).

    `has_payload`: the author gave an object; otherwise `payload` is empty.
    """

    operation: DeltaOperation
    section: str
    target_id: str | None
    payload: dict[str, Any]
    rationale: str = ""
    has_payload: bool = True

    def fields_without_list(self) -> list[str]:
        """Return the list fields for which the payload has no list."""
        if LIST_FIELDS.isdisjoint(self.payload):
            return []
        return [
            name
            for name, value in self.payload.items()
            if not isinstance(value, list) and name in LIST_FIELDS
        ]


class DeltaBlock(msgspec.Struct, frozen=True, gc=False):
    """One block: its JSON `value` and the delta in it; or the `problem` on line `line`."""

    number: int
    line: int
    value: Any = None
    delta: Delta | None = None
    problem: str = ""

    @property
    def where(self) -> str:
        return f"delta block {self.number}"


def item_number(section: ArtifactSection, item_id: str) -> int | None:
    """Return 3 for `H3`: the section's letter, then a number; None for any other text."""
    number = item_id.removeprefix(section.prefix)
    is_id = number != item_id and _ITEM_NUMBER.fullmatch(number)
    return int(number) if is_id else None


def find_missing_fields(payload: dict[str, Any], names: tuple[str, ...]) -> list[str]:
    """Return which of these fields say nothing: missing, blank, or text of the template."""
    return [
        name
        for name in names
        if (value := payload.get(name)) is None or (isinstance(value, str) and is_unfilled(value))
    ]


# Reading ------------------------------------------------------------------------------------------


def read_delta_blocks(body: MessageBody) -> list[DeltaBlock]:
    """Return every delta block of a body, good or bad, numbered from 1."""
    fenced = (block for block in body.blocks if block.info == DELTA_FENCE)
    return [_read_block(body, block, number) for number, block in enumerate(fenced, 1)]


def _read_block(body: MessageBody, block: Block, number: int) -> DeltaBlock:
    try:
        value = parse_strict_json(body.read_code(block))
    except json.JSONDecodeError as error:
        return DeltaBlock(number, block.number + error.lineno, problem=error.msg)
    except ValueError as error:
        return DeltaBlock(number, block.number, problem=str(error))
    return DeltaBlock(number, block.number, value, read_delta(value))


def parse_strict_json(text: str) -> Any:
    """Return the JSON in this text; ValueError for anything that readers would not agree on."""
    try:
        value = _DECODER.decode(text)
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None
    except json.JSONDecodeError as error:
        raise _find_trailing_comma(error) or error from None
    _require_plain_json(value)
    return value


def _find_trailing_comma(error: json.JSONDecodeError) -> json.JSONDecodeError | None:
    """Return the error that Python since 3.13 has for a trailing comma, with its position.

    Findings may be recorded, so they must be the same on every version of Python.
    """
    ended = _ENDED_AFTER_COMMA.get((error.msg, error.doc[error.pos : error.pos + 1]))
    before = error.doc[: error.pos].rstrip(" \t\n\r")
    if ended is None or not before.endswith(","):
        return None
    message = f"Illegal trailing comma before end of {ended}"
    return json.JSONDecodeError(message, error.doc, len(before) - 1)


# The message of older Pythons and the character at that position -> what ended too early.
_ENDED_AFTER_COMMA = {
    ("Expecting property name enclosed in double quotes", "}"): "object",
    ("Expecting value", "]"): "array",
}


_TOO_DEEP = f"nested more than {MAX_DEPTH} levels deep"
_SURROGATE = re.compile(r"[\ud800-\udfff]")


def _refuse_repeated_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise ValueError(f"the key {_first_repeated(pairs)[:40]!r} is there twice")
    return fields


def _first_repeated(pairs: list[tuple[str, Any]]) -> str:
    seen: set[str] = set()
    for name, _ in pairs:
        if name in seen:
            break
        seen.add(name)
    return name


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not a JSON number")


def _read_finite_number(text: str) -> float:
    number = float(text)
    if not isfinite(number):
        raise ValueError(f"{text[:40]} is too large a number")
    return number


_DECODER = json.JSONDecoder(
    object_pairs_hook=_refuse_repeated_keys,
    parse_constant=_refuse_constant,
    parse_float=_read_finite_number,
)


def _require_plain_json(value: Any, depth: int = 0) -> None:
    """Refuse values that are nested too deep, and texts with a lone surrogate."""
    if isinstance(value, str) and _SURROGATE.search(value):
        raise ValueError("a lone surrogate is not text")
    if depth > MAX_DEPTH:
        raise ValueError(_TOO_DEEP)
    for child in (*value, *value.values()) if isinstance(value, dict) else ():
        _require_plain_json(child, depth + 1)
    for child in value if isinstance(value, list) else ():
        _require_plain_json(child, depth + 1)


def read_delta(value: Any) -> Delta | None:
    """Return the delta in a JSON value, if it is an object with a valid operation."""
    word = value.get("operation") if isinstance(value, dict) else None
    operation = _OPERATIONS.get(word) if isinstance(word, str) else None
    if operation is None:
        return None
    payload = value.get("payload")
    return Delta(
        operation,
        _text_or_empty(value.get("section")),
        _text_or_empty(value.get("target_id")) or None,
        payload if isinstance(payload, dict) else {},
        _text_or_empty(value.get("rationale")),
        isinstance(payload, dict),
    )


_OPERATIONS = {operation.value: operation for operation in DeltaOperation}


def _text_or_empty(value: Any) -> str:
    return value.strip() if isinstance(value, str) else ""
