"""What a check was asked and what it knows so far: filled by `check`, judged by `ending`, told by
`report`. Nothing in it grows with the number of events.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from moot.verify.artifacts import Artifacts
from moot.verify.chain import Chain
from moot.verify.failure import Bad
from moot.verify.keys import Registry
from moot.verify.marks import Mark, Marks
from moot.verify.note import Note
from moot.verify.policy import Contribution, Policy
from moot.verify.proofs import Proofs
from moot.verify.trust import Trust
from moot.verify.verdict import VerdictName

Progress = Callable[[int, int], None]
Kept = Iterable[tuple[str, int, str]]


class Says(NamedTuple):
    """The SHA-256 of what a receipt says, and what is told of it if that was signed for."""

    sha256: str
    told: dict[str, Any]


class Demands(NamedTuple):
    """What the caller brings to a check beside the lines."""

    trust: Trust | None = None
    policy: Policy | None = None
    progress: Progress | None = None
    kept: tuple[tuple[str, int, str], ...] = ()
    kept_complete: bool = False
    says: Says | None = None

    @property
    def minimum(self) -> int | None:
        """The lowest acceptable checkpoint number, if one is set."""
        return self.trust.minimum if self.trust is not None else None

    @property
    def note(self) -> Note | None:
        """A checkpoint that was kept from before, if there is one."""
        return self.trust.kept if self.trust is not None else None


class Header(NamedTuple):
    """The first line of a bundle."""

    digest: str
    lines: int
    origin: str


@dataclass(slots=True)
class State:
    """Everything about one check; `bad` is the failure that ended it, if one did."""

    demands: Demands
    header: Header | None = None
    registry: Registry = field(default_factory=lambda: Registry(""))
    chain: Chain = field(default_factory=lambda: Chain(""))
    artifacts: Artifacts = field(default_factory=Artifacts)
    proofs: Proofs = field(default_factory=Proofs)
    note: Note | None = None
    marks: Marks = field(default_factory=Marks)
    bad: Bad | None = None
    contributions: list[Contribution] = field(default_factory=list)
    unshown_from: int | None = None
    said: dict[str, tuple[str, ...]] = field(default_factory=dict)

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
        self.marks.set(Mark(verdict, check, code, message, line, where))
