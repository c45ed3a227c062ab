"""The result of a check: a verdict that explains itself.

It is truthy only if the verdict is `valid` and no check failed, so `if verify_bundle(...)` is safe;
everything else says what was checked, what was not, and where the first trouble stands.
"""

from __future__ import annotations

from typing import Any, Final, Literal, NamedTuple

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


# What was found wrong: the first few of a kind, the lowest line of a verdict. A hostile bundle may
# be wrong a million times.

_SHOWN_PER_CODE: Final = 10


class VerdictMark(NamedTuple):
    """One thing that sets a verdict: which check it fails, and at which line if it has one."""

    verdict: VerdictName
    check: str
    code: str
    message: str
    line: int | None = None
    where: str | None = None


class VerdictMarks:
    """The marks of one bundle."""

    def __init__(self) -> None:
        self.shown: list[VerdictMark] = []
        self._counts: dict[str, int] = {}
        self._lines: dict[VerdictName, int | None] = {}

    def set(self, mark: VerdictMark) -> None:
        """Remember a mark; of many with one code only the first few are kept to be shown."""
        count = self._counts[mark.code] = self._counts.get(mark.code, 0) + 1
        if count <= _SHOWN_PER_CODE:
            self.shown.append(mark)
        known = self._lines.get(mark.verdict)
        lines = [line for line in (known, mark.line) if line is not None]
        self._lines[mark.verdict] = min(lines, default=None)

    def has(self, verdict: VerdictName) -> bool:
        """Whether anything set this verdict."""
        return verdict in self._lines

    def verdict(self) -> VerdictName:
        """Section 7: the first that was set, in the order of their gravity (LDG-090, LDG-091)."""
        return next((name for name in VERDICTS_BY_GRAVITY if name in self._lines), "valid")

    def first_bad(self) -> int | None:
        """The line at which the verdict was set, if it has one (LDG-091)."""
        return self._lines.get(self.verdict())

    def failures_of_check(self, check: str) -> list[VerdictMark]:
        """The marks that fail a check, in the order they were set."""
        return [mark for mark in self.shown if mark.check == check]

    def unshown_counts(self) -> dict[str, int]:
        """How many marks of a code are not among the shown."""
        over = {code: count - _SHOWN_PER_CODE for code, count in self._counts.items()}
        return {code: count for code, count in over.items() if count > 0}


# A line that fails a step of section 7. The checker turns the first one into the verdict
# `tampered`.


class StreamPosition(NamedTuple):
    """A place in the ledger: the `seq`-th event of `stream`."""

    stream: str
    seq: int


class StepFailure(Exception):
    """A line fails the numbered step of section 7; the message says how, `where` says in what."""

    def __init__(self, step: int, code: str, message: str, where: str = "") -> None:
        super().__init__(message)
        self.step = step
        self.code = code
        self.message = message
        # A field's name may come from the bundle; what is plain and short is shown as it is.
        plain = where.isascii() and where.isprintable() and len(where) <= 80
        self.where = where if plain else quote_safely(where)
        self.line: int | None = None
        self.position: StreamPosition | None = None

    def at(self, line: int | None = None, position: StreamPosition | None = None) -> StepFailure:
        """The same failure with its place filled in; what is known already stays."""
        self.line = line if self.line is None else self.line
        self.position = position if self.position is None else self.position
        return self


def quote_safely(value: object) -> str:
    """Foreign text made safe for a message: quoted, escaped and short."""
    text = ascii(value)
    return text if len(text) <= 80 else f"{text[:77]}..."
