"""Findings and rules as data: what a check saw, where, and what to do about it.

A rule is a row of a protocol's `RULES` table; a finding is one breach of it. Findings are values:
collect all of them, then decide.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from typing import Final, Generic, TypeVar

import msgspec

Subject = TypeVar("Subject")
# What words in capitals of a hint stand for: `{"HOLDER": "amber-otter"}`.
HintWords = Mapping[str, str]
# In which words, where, on which line if the check knows lines, and what it knows for the hint.
Breach = (
    tuple[str, str | None]
    | tuple[str, str | None, int | None]
    | tuple[str, str | None, int | None, HintWords]
)
_WORD: Final = r"(?<![\w=-])(?<!-o )[A-Z][A-Z0-9]+\b(?!\.\w)"


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

    `check` yields `(message, where)` for each breach, so that one row may report many places. A
    check of a text adds the line; one that knows what the words in capitals of the hint stand for
    adds those. `requirement` names the rows of tests/requirements that it enforces, if the id is
    not one.
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
        """One breach as a finding; without a message of the check the row's own sentence is
        used."""
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
    """Every finding of every rule, in the order of the table."""
    return tuple([rule.finding(*breach) for rule in rules for breach in rule.check(subject)])


def fill_hint(hint: str, known: HintWords) -> str:
    """The hint with its words in capitals replaced, so that it can be typed; unknown ones stay."""
    from shlex import quote  # most hints have nothing to fill in

    def fill(word: re.Match[str]) -> str:
        return quote(known[word[0]]) if word[0] in known else word[0]

    return re.sub(_WORD, fill, hint)


def fill_hints(findings: Iterable[Finding], known: HintWords) -> tuple[Finding, ...]:
    return tuple(
        [msgspec.structs.replace(one, hint=fill_hint(one.hint, known)) for one in findings]
    )


def select_errors(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    if not findings:  # as for nearly every command
        return ()
    return tuple([finding for finding in findings if finding.severity is Severity.ERROR])
