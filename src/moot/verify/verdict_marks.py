"""What was found wrong, kept small: the first few of a kind, the lowest line of a verdict.

A hostile bundle may be wrong a million times; its verdict must not need memory for a million.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from moot.verify.verdict import VERDICTS_BY_GRAVITY, VerdictName

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
