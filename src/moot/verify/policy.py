"""Where a protocol adds its own rules to a check: it is shown every proven record, in order.

A record is proven when its line held in steps 1 to 5 and its author's key was valid. A policy
cannot change the verdict, which is about the bytes; a failed check of its own makes the result
falsy. The showing stops at the first record that is not proven.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

import msgspec

from moot.verify.verdict import VerdictCheck, VerdictFinding

Contribution = VerdictCheck | VerdictFinding


class ProvenRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A proven event, as its author signed it."""

    line: int
    stream: str
    seq: int
    hash: str
    type: str
    at: str
    actor: Mapping[str, Any]
    data: Mapping[str, Any]
    artifacts: Sequence[Mapping[str, Any]]
    key: str | None
    cause: str | None
    corr: str | None


class RecordPolicy(Protocol):
    """Called with each record, then asked once for what it concludes."""

    def __call__(self, record: ProvenRecord, /) -> Iterable[Contribution]:
        """Look at one record; give what can be said of it already."""
        ...

    def conclude(self) -> Iterable[Contribution]:
        """After the last record: everything else."""
        ...


class AllPolicies:
    """Several policies as one, in the order given."""

    def __init__(self, *policies: RecordPolicy) -> None:
        self._policies = policies

    def __call__(self, record: ProvenRecord, /) -> Iterable[Contribution]:
        return [item for policy in self._policies for item in policy(record)]

    def conclude(self) -> Iterable[Contribution]:
        return [item for policy in self._policies for item in policy.conclude()]


def record_of(body: Mapping[str, Any], event_hash: bytes, line: int) -> ProvenRecord:
    """The record a policy sees, from a body that was checked."""
    return ProvenRecord(
        line=line,
        stream=body["stream"],
        seq=body["seq"],
        hash=event_hash.hex(),
        type=body["type"],
        at=body["at"],
        actor=body["actor"],
        data=body["data"],
        artifacts=body["artifacts"],
        key=body["key"],
        cause=body["cause"],
        corr=body["corr"],
    )
