"""The result of a check: a verdict that explains itself.

It is truthy only if the verdict is `valid` and no check failed, so `if verify_bundle(...)` is safe;
everything else says what was checked, what was not, and where the first trouble stands.
"""

from __future__ import annotations

from typing import Any, Final, Literal

import msgspec

VerdictName = Literal[
    "tampered", "forked", "unknown-key", "truncated", "rolled-back", "unproven", "valid"
]

# Section 7: the verdict is the first that was set, in this order.
VERDICTS_BY_GRAVITY: Final[tuple[VerdictName, ...]] = (
    "tampered",
    "forked",
    "unknown-key",
    "truncated",
    "rolled-back",
    "unproven",
)


class BundlePlace(msgspec.Struct, frozen=True):
    """A line of the bundle and, if an event stands or should stand there, its position."""

    line: int
    stream: str | None = None
    seq: int | None = None

    def __str__(self) -> str:
        if self.stream is None:
            return f"line {self.line}"
        return f"line {self.line} ({self.stream} {self.seq})"


class VerdictCheck(msgspec.Struct, frozen=True):
    """One thing that was looked at; `ok` is `None` if it was not, and `detail` says why."""

    name: str
    ok: bool | None
    detail: str


class VerdictFinding(msgspec.Struct, frozen=True):
    """One thing worth telling: the rule it breaks, how grave, where, and what to do about it."""

    rule: str
    code: str
    severity: Literal["error", "warning", "info"]
    message: str
    line: int | None = None
    where: str | None = None
    hint: str | None = None


class BundleVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """What can be said of a bundle; the sentences beside the verdict are for people.

    `fingerprint` is the trust file's. `says` is told of a receipt for which the ledger signed.
    """

    verdict: VerdictName
    integrity: str
    authenticity: str
    completeness: str
    freshness: str
    key_status: str
    artifacts: str
    custody: str
    first_bad: BundlePlace | None
    last_trusted: BundlePlace | None
    checks: tuple[VerdictCheck, ...]
    findings: tuple[VerdictFinding, ...]
    origin: str | None
    clock: str | None
    events: int
    streams: int
    checkpoint: int | None
    checkpoint_streams: int | None
    fingerprint: str | None
    says: dict[str, Any] | None

    def __bool__(self) -> bool:
        return self.verdict == "valid" and all(check.ok is not False for check in self.checks)

    def __str__(self) -> str:
        counted = f"{self.events} events in {self.streams} streams"
        place = "" if self.first_bad is None else f" at {self.first_bad}"
        trusted = "" if self.last_trusted is None else f"; trusted up to {self.last_trusted}"
        return f"{self.verdict}{place}{trusted} · {counted} · {self.completeness}"

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values, with the field names of the command line's contract."""
        plain: dict[str, Any] = msgspec.to_builtins(self)
        return plain
