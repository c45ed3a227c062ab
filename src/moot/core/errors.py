"""The few exceptions, each with a stable code and a hint for the surface.

    MootError
      Refused      the protocol forbids it; carries findings          do something else
      Malformed    it does not parse; carries line and path           mend the input
      Conflict     someone else was first, or a key was reused        look again, then retry
      NotFound     no such workspace, agent, stream, artifact, key    check the name
      Tampered     the record does not hold; carries the position     stop, run `moot verify`
      StoreFailed  disk, lock or file trouble                         mend the machine, retry

Findings are data (`findings.py`) and are never raised. A surface shows `str(error)`, `hint` and
`code`; only a surface's outermost function may catch more broadly than this tree.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from moot.core.findings import Finding


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
    """There is nothing to work on: no workspace, no file, no key. Exit 4, not 1."""

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
