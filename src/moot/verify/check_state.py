"""What a check was asked and what it knows so far: filled by `check`, judged by `ending`, told by
`report`. Nothing in it grows with the number of events.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import msgspec

from moot.verify.bundle import BundleArtifacts
from moot.verify.chain import Chain
from moot.verify.checkpoints import CheckpointNote, InclusionProofs
from moot.verify.trust import TrustedLedger
from moot.verify.trusted_registry import TrustedRegistry
from moot.verify.verdict import (
    StepFailure,
    VerdictCheck,
    VerdictFinding,
    VerdictMark,
    VerdictMarks,
    VerdictName,
)

# A policy is shown every proven record, in order, up to the first that is not proven (steps 1 to 5,
# and a valid key). It cannot change the verdict, which is about the bytes; a failed check makes the
# result falsy.

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


Progress = Callable[[int, int], None]
SeenEvents = Iterable[tuple[str, int, str]]


class ReceiptStatement(NamedTuple):
    """The SHA-256 of what a receipt says, and what is told of it if that was signed for."""

    sha256: str
    summary: dict[str, Any]


class CallerDemands(NamedTuple):
    """What the caller brings to a check beside the lines."""

    trust: TrustedLedger | None = None
    policy: RecordPolicy | None = None
    progress: Progress | None = None
    kept: tuple[tuple[str, int, str], ...] = ()
    kept_complete: bool = False
    says: ReceiptStatement | None = None

    @property
    def minimum(self) -> int | None:
        """The lowest acceptable checkpoint number, if one is set."""
        return self.trust.minimum if self.trust is not None else None

    @property
    def note(self) -> CheckpointNote | None:
        """A checkpoint that was kept from before, if there is one."""
        return self.trust.kept if self.trust is not None else None


class BundleHeader(NamedTuple):
    """The first line of a bundle."""

    digest: str
    lines: int
    origin: str


@dataclass(slots=True)
class CheckState:
    """Everything about one check; `failure` is the failure that ended it, if one did."""

    demands: CallerDemands
    header: BundleHeader | None = None
    registry: TrustedRegistry = field(default_factory=lambda: TrustedRegistry(""))
    chain: Chain = field(default_factory=lambda: Chain(""))
    artifacts: BundleArtifacts = field(default_factory=BundleArtifacts)
    proofs: InclusionProofs = field(default_factory=InclusionProofs)
    note: CheckpointNote | None = None
    marks: VerdictMarks = field(default_factory=VerdictMarks)
    failure: StepFailure | None = None
    contributions: list[Contribution] = field(default_factory=list)
    first_unproven_line: int | None = None
    aliases: int = 0  # sub-agents that have no key of their own
    receipt_citations: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def mark(
        self,
        verdict: VerdictName,
        check: str,
        code: str,
        message: str,
        line: int | None = None,
        where: str | None = None,
    ) -> None:
        """Set a verdict, and say which check failed and why."""
        self.marks.set(VerdictMark(verdict, check, code, message, line, where))
