"""The checks of DELTA messages: each block is JSON, an object, and says what to do with what."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from moot.core.findings import Breach
from moot.protocols.mail.body import Block, MessageBody, is_unfilled
from moot.protocols.mail.deltas import (
    ARTIFACT_SECTIONS,
    DELTA_FENCE,
    RESEARCH_THREAD,
    Delta,
    DeltaBlock,
    DeltaOperation,
    find_missing_fields,
    item_number,
)
from moot.protocols.mail.message import MessageDraft

# Deltas in places where they do not count: in a wrong fence, a list, a quote, inline or bare.
#
# Each is reported: otherwise its author would believe that it was merged. A delta in a block that
# quotes markdown is an example and is not reported.


class StrayDelta(NamedTuple):
    """Something that looks like a delta and does not count."""

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
    """Yield misfenced, nested, inline and bare deltas, in order of kind; no quoted examples."""
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
            message = "this delta is outside of a fence"
            yield StrayDelta(lines.number_at(match.start()), message)


_MESSAGES = {
    "fence": "this delta is in a list, a quote or another kind of fence",
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
    """Return the spans with text outside of all top-level blocks; no match reaches into one."""
    starts = [0, *(block.end for block in body.blocks)]
    ends = [*(block.start for block in body.blocks), len(body.text)]
    text = body.text
    return [gap for gap in zip(starts, ends, strict=True) if text[slice(*gap)].strip()]


class _LineNumbers:
    """Counts lines; the places must be asked for in ascending order."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.place = 0
        self.number = 1

    def number_at(self, place: int) -> int:
        self.number += self.text.count("\n", self.place, place)
        self.place = place
        return self.number


def no_delta_block(draft: MessageDraft) -> Iterator[Breach]:
    if not draft.deltas:
        first = next(find_stray_deltas(draft.body), None)
        yield (
            f"no block counts: {first.message}" if first else "there is no delta block",
            "## Deltas",
            first.line if first else None,
        )


def not_json(draft: MessageDraft) -> Iterator[Breach]:
    for block in draft.deltas:
        if block.problem:
            yield f"{block.where} is not valid JSON: {block.problem}", block.where, block.line


def not_an_object(draft: MessageDraft) -> Iterator[Breach]:
    for block in draft.deltas:
        if not block.problem and not isinstance(block.value, dict):
            kind = _KINDS.get(type(block.value), "a plain value")
            yield f"{block.where} is {kind}, not one object", block.where, block.line


_KINDS: dict[type, str] = {list: "a list", str: "a text", type(None): "null"}


def no_operation(draft: MessageDraft) -> Iterator[Breach]:
    for block, value in _json_objects(draft):
        if block.delta is None:
            operation = repr(value.get("operation"))[:40] if "operation" in value else "nothing"
            yield f"`operation` of {block.where} says {operation}", block.where, block.line


def unknown_section(draft: MessageDraft) -> Iterator[Breach]:
    for block, value in _json_objects(draft):
        section = value.get("section")
        if isinstance(section, str) and section not in ARTIFACT_SECTIONS:
            yield f"`section` of {block.where} says {section[:60]!r}", block.where, block.line


def missing_fields(draft: MessageDraft) -> Iterator[Breach]:
    for block, value in _json_objects(draft):
        wrong = [name for name, fits in _FIELDS if not fits(value.get(name, _MISSING))]
        if wrong:
            names = ", ".join(f"`{name}`" for name in wrong)
            yield f"{block.where} has no proper {names}", block.where, block.line


_MISSING = object()
_TEXT_OR_NULL = (str, type(None))
_FIELDS: tuple[tuple[str, Callable[[Any], bool]], ...] = (
    ("section", lambda value: isinstance(value, str)),
    ("target_id", lambda value: isinstance(value, _TEXT_OR_NULL)),
    ("payload", lambda value: isinstance(value, dict)),
    ("rationale", lambda value: isinstance(value, str) and not is_unfilled(value)),
)


def wrong_target(draft: MessageDraft) -> Iterator[Breach]:
    """Report a bad target: ADD has none, EDIT and KILL name one, the research thread none."""
    for block in draft.deltas:
        problem = _target_problem(block.delta) if block.delta is not None else None
        if problem:
            yield f"{block.where} {problem}", block.where, block.line


def _target_problem(delta: Delta) -> str | None:
    section, target = ARTIFACT_SECTIONS.get(delta.section), delta.target_id
    if section is RESEARCH_THREAD:
        misses = delta.operation is DeltaOperation.EDIT and target not in (None, section.prefix)
        return f"names {(target or '')[:40]!r}, and the thread has no items" if misses else None
    if delta.operation is DeltaOperation.ADD:
        return f"adds, but names {target[:40]!r}" if target else None
    if target is None:
        return f"does not say which item to {delta.operation.lower()}"
    if section is not None and item_number(section, target) is None:
        fits = f"{section.prefix}1, {section.prefix}2, ..."
        return f"names {target[:40]!r}, but the items of {section.id} are {fits}"
    return None


def no_list(draft: MessageDraft) -> Iterator[Breach]:
    """Report a value that must be a list: a merge leaves out anything else."""
    for block in draft.deltas:
        for name in block.delta.fields_without_list() if block.delta is not None else ():
            yield f"`{name}` in the payload of {block.where} is no list", block.where, block.line


def incomplete_payload(draft: MessageDraft) -> Iterator[Breach]:
    """Report fields that an item of its section needs and lacks; a KILL needs a reason."""
    for block in draft.deltas:
        delta = block.delta
        if delta is None or delta.section not in ARTIFACT_SECTIONS:
            continue
        wanted: tuple[str, ...] = ()
        if delta.operation is DeltaOperation.ADD:
            wanted = ARTIFACT_SECTIONS[delta.section].required
        elif delta.operation is DeltaOperation.KILL and not delta.rationale:
            wanted = ("reason",)
        missing = find_missing_fields(delta.payload, wanted)
        if missing:
            names = ", ".join(f"`{name}`" for name in missing)
            yield f"the payload of {block.where} lacks {names}", block.where, block.line


def research_thread_not_edited(draft: MessageDraft) -> Iterator[Breach]:
    for block in draft.deltas:
        delta = block.delta
        if (
            delta
            and delta.section == RESEARCH_THREAD.id
            and delta.operation is not DeltaOperation.EDIT
        ):
            words = f"{block.where} would {delta.operation.lower()} the research thread"
            yield words, block.where, block.line


def stray_delta(draft: MessageDraft) -> Iterator[Breach]:
    """Report deltas in places where none is read: otherwise the author would not learn it."""
    for stray in find_stray_deltas(draft.body):
        yield stray.message, None, stray.line


def _json_objects(draft: MessageDraft) -> Iterator[tuple[DeltaBlock, dict[str, Any]]]:
    for block in draft.deltas:
        if isinstance(block.value, dict):
            yield block, block.value
