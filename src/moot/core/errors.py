"""The exceptions of Moot. Each has a stable code and a hint that tells the user what to do.

    MootError
      Refused          the protocol forbids it; carries findings        do something else
      Malformed        it does not parse; carries line and path         fix the input
      Conflict         someone else was first, or a key was reused      look again, then retry
      NotFound         no agent, stream or artifact of that name        check the name
        Unavailable    no workspace, file or key to work with at all    make or fetch it first
      Tampered         the record was changed; carries the position     stop, run `moot verify`
      StoreFailed      disk, lock or file trouble                       fix the disk, then retry

The command line exits with 1 for these, and with 4 for `Unavailable` and `StoreFailed`: Moot could
not even try the command. Findings are data (`findings.py`); `Refused.of` turns them into an
exception. A surface shows `str(error)`, `hint` and `code`. Only the outermost function of a surface
may catch exceptions outside this tree.
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
    """The rules forbid it. Nothing changed, except for an event that records the refusal."""

    @classmethod
    def of(cls, findings: Iterable[Finding]) -> Refused:
        """Make the exception for these findings: message, code and hint are the first error's."""
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
    """No agent, stream, file or artifact of that name exists here."""


class Unavailable(NotFound):
    """There is nothing to work on: no workspace, no file, no key."""

    exit_code = 4


class Tampered(MootError):
    """A record is invalid at `stream`, `seq`. Moot reports it and repairs nothing."""

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
    """The disk, the lock or the file failed. Everything acknowledged before is stored."""

    exit_code = 4
