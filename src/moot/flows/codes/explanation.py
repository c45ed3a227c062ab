"""One code or rule, explained: what it says, why it is so, and what to do about it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from moot.core import errors
from moot.core.errors import NotFound
from moot.core.findings import Rule
from moot.flows.codes.raised_codes import (
    FINDING,
    RaisedCode,
    findings_with,
    places_of,
    raised_codes,
)
from moot.flows.codes.rule_rows import packages_with_rules, rules_of, short_name

DOCTOR: Final = "doctor"
MOST_PLACES: Final = 4
_FINDING_WHY: Final = "A check remarked on it; whether it also refuses is said beside it."


class CodeExplanation(msgspec.Struct, frozen=True):
    """A rule, or a place where an error is raised.

    `rule` is its id and `protocol` whose rule it is, both empty for an error of no rule. `why` says
    what kind of answer it is.
    """

    code: str
    kind: str
    rule: str
    protocol: str
    sentence: str
    why: str
    what_to_do: str


def explain_code(code: str) -> tuple[CodeExplanation, ...]:
    """All that is known of a code or of a rule's id; NotFound (`unknown_code`) if it is nothing."""
    wanted = code.strip().strip("[]`")
    places = (places_of(wanted.lower()) or findings_with(wanted))[:MOST_PLACES]
    found = [*_rules_called(wanted), *_checks_called(wanted), *map(_of_place, places)]
    if not found:
        raise NotFound("unknown_code", f"nothing is called {wanted}"[:200], hint=_nearest(wanted))
    return tuple(dict.fromkeys(found))


def _rules_called(wanted: str) -> Iterator[CodeExplanation]:
    """A rule that is checked in several places is told once, with all that it stands on."""
    found: dict[tuple[str, str, str, str], tuple[Rule[Any], list[str]]] = {}
    for protocol, rule in _all_rules():
        ids = (rule.id, *rule.requirement)
        if wanted.lower() == rule.code.lower() or wanted.upper() in map(str.upper, ids):
            same = protocol, rule.id, rule.sentence, rule.hint
            found.setdefault(same, (rule, []))[1].extend(rule.requirement)
    for (protocol, *_), (rule, requirements) in found.items():
        yield _of_rule(protocol, rule, tuple(dict.fromkeys(requirements)))


def _checks_called(wanted: str) -> Iterator[CodeExplanation]:
    """The checks that a verification of a trace makes, by their ids."""
    from moot.protocols.trace.audit.verification import CHECKS

    for check in CHECKS:
        if wanted.upper() == check.id:
            yield CodeExplanation(
                code=check.id,
                kind="check",
                rule=check.id,
                protocol="trace",
                sentence=check.about,
                why="`moot trace verify` makes this check, and one that fails fails the trace.",
                what_to_do="`moot trace verify TRACE` names what fails it",
            )


def _all_rules() -> Iterator[tuple[str, Rule[Any]]]:
    from moot.workspace.doctor import RULES

    for package in packages_with_rules():
        for rule in rules_of(package):
            yield short_name(package), rule
    for each in RULES:
        yield DOCTOR, each


def _of_rule(protocol: str, rule: Rule[Any], requirements: tuple[str, ...]) -> CodeExplanation:
    basis = ", ".join(requirements) or rule.id
    consequence = _SEVERITIES[str(rule.severity)]
    why = f"A rule of {protocol} ({basis}). {consequence}"
    if protocol == DOCTOR:
        why = "`moot doctor` looks for it, and repairs nothing."
    return CodeExplanation(
        code=rule.code,
        kind=str(rule.severity),
        rule=rule.id,
        protocol=protocol,
        sentence=rule.sentence,
        why=why,
        what_to_do=rule.hint,
    )


_SEVERITIES: Final = {
    "error": "Whatever breaks it is refused, or found invalid.",
    "warning": "It is reported; what it is about stays valid.",
    "info": "It is a note.",
}


def _of_place(place: RaisedCode) -> CodeExplanation:
    kind = getattr(errors, place.kind, None)
    text = _FINDING_WHY if place.kind == FINDING else (kind.__doc__ or "" if kind else "")
    why = " ".join(text.split("\n\n")[0].split())
    return CodeExplanation(place.code, place.kind, place.rule, "", place.message, why, place.hint)


def _nearest(wanted: str) -> str:
    from difflib import get_close_matches

    from moot.protocols.trace.audit.verification import CHECKS

    rules = [rule for _, rule in _all_rules()]
    known = {each.code for each in raised_codes()} | {rule.code for rule in rules}
    near = get_close_matches(wanted.lower(), sorted(known), n=1, cutoff=0.6)
    ids = [*(rule.id for rule in rules), *(check.id for check in CHECKS)]
    near = near or get_close_matches(wanted.upper(), ids, n=1, cutoff=0.6)
    if near:
        return f"`moot explain {near[0]}` is the nearest"
    return "give the code that stands in [brackets] behind an error, or the id of a rule"
