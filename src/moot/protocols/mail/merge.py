"""Deltas into the artifact, in one order whatever the order of delivery.

Deltas are sorted by time, then agent, message and block, and applied one by one. A delta that
cannot be applied is left out and reported; the others count all the same, so nothing is lost
without a word. `merge` is a function of its arguments and never raises.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import msgspec
from immutables import Map

from moot.core.clock import Millis
from moot.core.findings import Finding
from moot.protocols.mail.artifact import Artifact, Contributor, Item, Kill
from moot.protocols.mail.body import Body
from moot.protocols.mail.deltas import (
    RESEARCH_THREAD,
    SHELVES,
    Delta,
    Operation,
    delta_blocks,
    lacking,
)
from moot.protocols.mail.mergerules import MERGE_RULES

MAX_HYPOTHESES = 6
_LIMITED = "hypothesis_slate"
_UNIONS = frozenset({"anchors", "conflicts_with", "references"})
_REPLACE = frozenset({"replace", "anchors_replace"})
# What the artifact says by itself, under the names it is written with; no author says it instead.
_SYSTEM = frozenset(
    {"id", "killed", "killed_by", "killed_at", "kill_reason", "added", "added_by", "total score"}
)
_FORBIDDEN = frozenset({"__proto__", "constructor", "prototype"})
_NUMBER = re.compile(r"[1-9][0-9]{0,8}")
_TRIPLE = ("session", "item", "relation")


class Contribution(msgspec.Struct, frozen=True):
    """One delta with who sent it when; `number` is its block's place in the message."""

    at: Millis
    agent: str
    message_id: str
    number: int
    delta: Delta

    @property
    def order(self) -> tuple[Millis, str, str, int]:
        return self.at, self.agent, self.message_id, self.number

    @property
    def where(self) -> str:
        return f"{self.message_id} delta block {self.number}"


class Merged(NamedTuple):
    """The new version, and what was to be said about each delta."""

    artifact: Artifact
    findings: tuple[Finding, ...]
    applied: tuple[Contribution, ...]


def contributions(message_id: str, agent: str, at: Millis, body: str) -> tuple[Contribution, ...]:
    """The deltas of one message; blocks that are no delta are the linter's to report."""
    return tuple(
        Contribution(at, agent, message_id, block.number, delta)
        for block in delta_blocks(Body(body))
        for delta in (block.delta,)
        if delta is not None
    )


def merge(base: Artifact, deltas: Iterable[Contribution]) -> Merged:
    """`base` with these deltas applied, as its next version; a delta given twice counts once."""
    work = _Work(base)
    ordered = sorted({one.order: one for one in deltas}.values(), key=lambda one: one.order)
    for one in ordered:
        work.apply(one)
    return work.merged()


class _Refused(Exception):
    """This delta is left out, for this reason."""


class _Work:
    """One merge under way."""

    def __init__(self, base: Artifact) -> None:
        self.base = base
        self.thread = dict(base.thread)
        self.items = {section: list(base.items.get(section, ())) for section in SHELVES}
        self.standing = len(base.active(_LIMITED))
        self.findings: list[Finding] = []
        self.applied: list[Contribution] = []
        self.written: dict[tuple[str, str], tuple[str, Any]] = {}

    def apply(self, one: Contribution) -> None:
        try:
            done = _OPERATIONS[one.delta.operation](self, one)
        except _Refused as refusal:
            code, message = refusal.args
            self.say(one, code, message)
            return
        if done:
            self.applied.append(one)

    def say(self, one: Contribution, code: str, message: str) -> None:
        self.findings.append(MERGE_RULES[code].finding(message, one.where))

    def merged(self) -> Merged:
        base = self.base
        artifact = msgspec.structs.replace(
            base,
            version=base.version + 1,
            status="active",
            updated_at=max([base.updated_at, *(one.at for one in self.applied)]),
            thread=Map(self.thread),
            items=Map({section: tuple(items) for section, items in self.items.items() if items}),
            contributors=_contributors(base.contributors, self.applied),
        )
        return Merged(artifact, tuple(self.findings), tuple(self.applied))

    # The three operations -------------------------------------------------------------------------

    def add(self, one: Contribution) -> bool:
        delta = one.delta
        shelf = SHELVES.get(delta.section)
        if shelf is None:
            raise _Refused("invalid_section", f"there is no section {delta.section[:40]!r}")
        if shelf is RESEARCH_THREAD:
            raise _Refused("rt_add_not_allowed", "nothing is added to the research thread")
        items = self.items[shelf.id]
        if shelf.id == _LIMITED and self.standing >= MAX_HYPOTHESES:
            raise _Refused("section_limit_exceeded", f"{MAX_HYPOTHESES} hypotheses stand already")
        wanting = lacking(delta.payload, shelf.required)
        item_id = f"{shelf.prefix}{len(items) + 1}"
        if wanting:
            self.say(one, "missing_required_field", f"{item_id} lacks {', '.join(wanting)}")
        fields = {name: value for name, value, _ in self._fields(one, {})}
        items.append(Item(item_id, Map(fields), one.agent, one.at))
        self.standing += shelf.id == _LIMITED
        return True

    def edit(self, one: Contribution) -> bool:
        if one.delta.section == RESEARCH_THREAD.id:
            if one.delta.target_id not in (None, RESEARCH_THREAD.prefix):
                raise _Refused("invalid_target", "the research thread has no such item")
            self.thread.update(self._edited(one, RESEARCH_THREAD.prefix, self.thread))
            return True
        items, place = self._target(one)
        item = items[place]
        if item.killed:
            raise _Refused("target_killed", f"{item.id} was killed by {item.killed.by}")
        edited = self._edited(one, item.id, item.fields)
        items[place] = msgspec.structs.replace(item, fields=Map(item.fields).update(edited))
        return True

    def kill(self, one: Contribution) -> bool:
        if one.delta.section == RESEARCH_THREAD.id:
            raise _Refused("rt_add_not_allowed", "the research thread is not killed")
        items, place = self._target(one)
        item = items[place]
        if item.killed:  # once is enough
            return False
        reason = one.delta.payload.get("reason")
        said = reason if isinstance(reason, str) and reason.strip() else one.delta.rationale
        if not said:
            self.say(one, "missing_required_field", f"{item.id} is killed without a reason")
        items[place] = msgspec.structs.replace(item, killed=Kill(one.agent, one.at, said))
        self.standing -= one.delta.section == _LIMITED
        return True

    def _target(self, one: Contribution) -> tuple[list[Item], int]:
        delta = one.delta
        items = self.items.get(delta.section)
        if items is None:
            raise _Refused("invalid_section", f"there is no section {delta.section[:40]!r}")
        if delta.target_id is None:
            raise _Refused("invalid_target", f"which item to {delta.operation.lower()} is not said")
        # Numbers are given in order and for good: H3 is the third.
        number = delta.target_id.removeprefix(SHELVES[delta.section].prefix)
        place = int(number) - 1 if _NUMBER.fullmatch(number) else len(items)
        if place >= len(items) or items[place].id != delta.target_id:
            raise _Refused("invalid_target", f"{delta.target_id[:40]!r} is not in {delta.section}")
        return items, place

    # Fields ---------------------------------------------------------------------------------------

    def _edited(self, one: Contribution, target: str, before: Mapping[str, Any]) -> dict[str, Any]:
        edited: dict[str, Any] = {}
        for name, value, replaces in self._fields(one, before):
            edited[name] = value
            if replaces:
                self._note_conflict(one, target, name, value)
        return edited

    def _note_conflict(self, one: Contribution, target: str, name: str, value: Any) -> None:
        """Two agents say different things in one round: the later stands, and it is told."""
        earlier = self.written.get((target, name))
        self.written[target, name] = (one.agent, value)
        if earlier and earlier[0] != one.agent and earlier[1] != value:
            words = f"{earlier[0]} and {one.agent} both set `{name[:40]}` of {target}"
            self.say(one, "edit_conflict", f"{words}; what {one.agent} wrote stands")

    def _fields(
        self, one: Contribution, before: Mapping[str, Any]
    ) -> Iterator[tuple[str, Any, bool]]:
        """Name, new value, and whether it replaces what stood there."""
        payload = one.delta.payload
        replace = any(payload.get(name) is True for name in _REPLACE)
        for name, value in payload.items():
            if (plain := " ".join(name.split()).casefold()) in _FORBIDDEN | _SYSTEM:
                self.say(one, "forbidden_payload_key", f"`{plain}` is not for a delta to set")
            elif name in _UNIONS and isinstance(value, list) and not replace:
                yield name, _union(before.get(name), value), False
            elif name not in _REPLACE:
                yield name, value, True


_OPERATIONS: dict[Operation, Callable[[_Work, Contribution], bool]] = {
    Operation.ADD: _Work.add,
    Operation.EDIT: _Work.edit,
    Operation.KILL: _Work.kill,
}


def _union(before: Any, more: list[Any]) -> list[Any]:
    """Both lists, each thing once; references are the same if session, item and relation are."""
    joined: dict[str, Any] = {}
    for value in [*(before if isinstance(before, list) else ()), *more]:
        joined.setdefault(_same(value), value)
    return list(joined.values())


def _same(value: Any) -> str:
    if isinstance(value, dict) and all(name in value for name in _TRIPLE):
        value = [value[name] for name in _TRIPLE]
    return repr(value)


def _contributors(
    before: tuple[Contributor, ...], applied: Iterable[Contribution]
) -> tuple[Contributor, ...]:
    """Everyone whose deltas were applied, in the order of the first one."""
    known = {one.agent: one for one in before}
    for one in applied:
        seen = known.get(one.agent, Contributor(one.agent, 0))
        known[one.agent] = msgspec.structs.replace(seen, deltas=seen.deltas + 1)
    return tuple(known.values())
