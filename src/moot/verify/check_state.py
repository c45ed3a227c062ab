"""What a check was asked and what it knows so far: filled by `check`, judged by `ending`, told by
`report`. Nothing in it grows with the number of events.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from moot.verify.artifacts import BundleArtifacts
from moot.verify.chain import Chain
from moot.verify.checkpoint_note import CheckpointNote
from moot.verify.policy import Contribution, RecordPolicy
from moot.verify.proofs import InclusionProofs
from moot.verify.step_failure import StepFailure
from moot.verify.trust import TrustedLedger
from moot.verify.trusted_registry import TrustedRegistry
from moot.verify.verdict import VerdictName
from moot.verify.verdict_marks import VerdictMark, VerdictMarks

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
