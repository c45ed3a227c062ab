"""A row of this protocol's tables: the shared `Rule`, whose messages are whole sentences.

A message reads "the stance is none of the four: 'maybe'": the row's sentence, then what the check
saw in this place. A check gives one breach for each place where the norm is not kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from moot.core.findings import Breach, Rule, Severity

Subject = TypeVar("Subject")
# What the check saw (nothing, if the sentence says it all), where, and on which line.
Flaw = tuple[str, str | None, int | None]


def flaw_at(line: int | None, saw: str = "", where: str | None = None) -> Flaw:
    """A breach on this line."""
    return saw, where, line


def norm(
    id: str,  # noqa: A002 - the word of every rule table
    code: str,
    sentence: str,
    check: Callable[[Subject], Iterable[Flaw]],
    hint: str,
    severity: Severity = Severity.ERROR,
    *,
    requirement: str | tuple[str, ...] = (),
) -> Rule[Subject]:
    """`id` is a rule of the document (R1 to R20) or the section that says it."""

    def check_in_full(subject: Subject) -> Iterable[Breach]:
        flaws = check(subject)
        return [_with_sentence(sentence, *flaw) for flaw in flaws] if flaws else ()

    return Rule(id, code, sentence, check_in_full, hint, severity, requirement=requirement)


def _with_sentence(sentence: str, saw: str, where: str | None, line: int | None) -> Breach:
    return (f"{sentence}: {saw}" if saw else sentence), where, line
