"""The few exceptions, each with a stable code and a hint for the surface.

    MootError
      Refused          the protocol forbids it; carries findings        do something else
      Malformed        it does not parse; carries line and path         mend the input
      Conflict         someone else was first, or a key was reused      look again, then retry
      NotFound         no agent, stream or artifact of that name        check the name
        Unavailable    no workspace, file or key to work with at all    make or fetch it first
      Tampered         the record was changed; carries the position     stop, run `moot verify`
      StoreFailed      disk, lock or file trouble                       mend the machine, retry

The command line exits with 1 for these, and with 4 for `Unavailable` and `StoreFailed`, where
nothing could even be tried. Findings are data (`findings.py`); `Refused.of` is how they are raised.
A surface shows `str(error)`, `hint` and `code`; only a surface's outermost function may catch more
broadly than this tree.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from moot.core.findings import Finding, select_errors


class MootError(Exception):
    """Base of all expected errors. `code` is lower_snake and never changes meaning."""

    exit_code: ClassVar[int] = 1

    def __init__(
        self,
        code: str,
        message: str,
        *,
        hint: str = "",
        findings: Iterable[Finding] = (),
    ) -> None:
        super().__init__(message)
        self.code = code
        self.hint = hint
        self.findings = tuple(findings)


class Refused(MootError):
    """The rules forbid it. Nothing changed but what the refusal itself records."""

    @classmethod
    def of(cls, findings: Iterable[Finding]) -> Refused:
        """The refusal for these findings: the first error speaks, and all of them are carried."""
        carried = tuple(findings)
        first = (select_errors(carried) or carried)[0]
        return cls(first.code, first.message, hint=first.hint, findings=carried)


class Malformed(MootError):
    """The input does not parse. `line` is 1-based, `where` a path such as `packages[3].hash`."""

    def __init__(
        self,
        message: str,
        *,
        code: str = "malformed",
        line: int | None = None,
        where: str = "",
        hint: str = "",
    ) -> None:
        place = f"line {line}: " if line else f"{where}: " if where else ""
        super().__init__(code, place + message, hint=hint)
        self.line = line
        self.where = where


class Conflict(MootError):
    """Another writer was first, or an idempotency key was used for something else."""


class NotFound(MootError):
    """What was named does not exist here."""


class Unavailable(NotFound):
    """There is nothing to work on: no workspace, no file, no key."""

    exit_code = 4


class Tampered(MootError):
    """The record does not hold at `stream`, `seq`. Nothing is repaired by reading it."""

    def __init__(
        self,
        message: str,
        *,
        code: str = "tampered",
        stream: str = "",
        seq: int = -1,
        hint: str = "",
    ) -> None:
        hint = hint or "run `moot verify` for the first bad position; restore from a backup"
        super().__init__(code, message, hint=hint)
        self.stream = stream
        self.seq = seq


class StoreFailed(MootError):
    """The disk, the lock or the file failed. What was acknowledged before is safe."""

    exit_code = 4
