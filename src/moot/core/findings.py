"""Rules and findings as data: what a check found, where, and what to do about it.

A rule is a row of a protocol's `RULES` table; a finding is one breach of it. Checks yield breaches
instead of raising, so a command reports all of its errors at once.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from typing import Final, Generic, TypeVar

import msgspec

Subject = TypeVar("Subject")
# Values for the placeholders (words in capitals) of a hint: `{"HOLDER": "amber-otter"}`.
HintWords = Mapping[str, str]
# (message, field or place), then optionally the line, then optionally the values for the hint.
Breach = (
    tuple[str, str | None]
    | tuple[str, str | None, int | None]
    | tuple[str, str | None, int | None, HintWords]
)
_PLACEHOLDER: Final = r"(?<![\w=-])(?<!-o )[A-Z][A-Z0-9]+\b(?!\.\w)"


class Severity(StrEnum):
    """`error` refuses or invalidates; `warning` is reported and still valid; `info` is a note."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One breach. The field names are the contract of every `--json` output."""

    rule: str
    code: str
    message: str
    severity: Severity = Severity.ERROR
    line: int | None = None
    where: str | None = None
    hint: str = ""


class Rule(Generic[Subject]):
    """One row of a rule table: id, code, sentence, check, hint and severity.

    `check` yields a `Breach` for each place that breaks the rule. With an empty message the finding
    shows the row's sentence. `requirement` names the rows of tests/requirements that this rule
    enforces; leave it out if the id is such a row.
    """

    __slots__ = ("check", "code", "hint", "id", "requirement", "sentence", "severity")

    def __init__(
        self,
        id: str,  # noqa: A002 - the word of every rule table
        code: str,
        sentence: str,
        check: Callable[[Subject], Iterable[Breach]],
        hint: str = "",
        severity: Severity = Severity.ERROR,
        *,
        requirement: str | tuple[str, ...] = (),
    ) -> None:
        self.id = id
        self.code = code
        self.sentence = sentence
        self.check = check
        self.hint = hint
        self.severity = severity
        self.requirement = (requirement,) if isinstance(requirement, str) else requirement

    def finding(
        self,
        message: str,
        where: str | None,
        line: int | None = None,
        known: HintWords | None = None,
    ) -> Finding:
        """Turn one breach into a finding; an empty message becomes the row's sentence."""
        return Finding(
            rule=self.id,
            code=self.code,
            message=message or self.sentence,
            severity=self.severity,
            line=line,
            where=where,
            hint=fill_hint(self.hint, known) if known else self.hint,
        )


def check_all(rules: Iterable[Rule[Subject]], subject: Subject) -> tuple[Finding, ...]:
    """Run every check and return all findings, in the order of the table."""
    return tuple([rule.finding(*breach) for rule in rules for breach in rule.check(subject)])


def fill_hint(hint: str, known: HintWords) -> str:
    """Replace the placeholders of a hint, so that a user can type the command; unknown ones stay.

    Values are quoted for the shell.
    """
    from shlex import quote  # imported here: most hints have no placeholder

    def fill(placeholder: re.Match[str]) -> str:
        name = placeholder[0]
        return quote(known[name]) if name in known else name

    return re.sub(_PLACEHOLDER, fill, hint)


def fill_hints(findings: Iterable[Finding], known: HintWords) -> tuple[Finding, ...]:
    return tuple(
        [
            msgspec.structs.replace(finding, hint=fill_hint(finding.hint, known))
            for finding in findings
        ]
    )


def select_errors(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    if not findings:  # the usual case
        return ()
    return tuple([finding for finding in findings if finding.severity is Severity.ERROR])
