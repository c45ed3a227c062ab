"""One row of a rule table: the norm, its code, how grave, its sentence, its check, what to do.

The rows of this protocol know lines and entries, which the shared `Rule` does not. A check gives
one `Breach` for each place where the norm is not kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from moot.core.findings import Finding, Severity


class Breach(NamedTuple):
    """Where, and in which words; without words the row's own sentence is used."""

    line: int | None = None
    message: str = ""
    where: str | None = None


class Norm(NamedTuple):
    """`id` is a rule of the document (R1 to R20) or the section that says it."""

    id: str
    code: str
    sentence: str
    check: Callable[..., Iterable[Breach]]
    hint: str
    severity: Severity = Severity.ERROR

    def finding(self, breach: Breach) -> Finding:
        return Finding(
            rule=self.id,
            code=self.code,
            message=f"{self.sentence}: {breach.message}" if breach.message else self.sentence,
            severity=self.severity,
            line=breach.line,
            where=breach.where,
            hint=self.hint,
        )


def find_all(norms: Iterable[Norm], *subjects: Any) -> Iterable[Finding]:
    """Every breach of every row, in the order of the table."""
    for norm in norms:
        for breach in norm.check(*subjects):
            yield norm.finding(breach)
