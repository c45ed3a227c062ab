"""What a code means: of an error, a finding or a rule."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec

from moot.api.operation import operation
from moot.core import errors
from moot.core.errors import NotFound
from moot.core.findings import Rule
from moot.engine.machines import MODULES

if TYPE_CHECKING:
    from moot.api.session import Session


# Codes are read from the source, not run: what is only raised on a bad day is known all the same.

SOURCE: Final = Path(__file__).parents[2]
# The class of an error, and where its code stands among the arguments.
KINDS: Final = ("Refused", "Conflict", "NotFound", "Unavailable", "StoreFailed", "MootError")
CODED: Final = ("Malformed", "Tampered")
FINDING: Final = "Finding"
VERDICT_FINDING: Final = "VerdictFinding"  # of a check of exported bytes, which shares no code
_CALLS: Final = tuple(f"{kind}(" for kind in (*KINDS, *CODED, FINDING))


class RaisedCode(NamedTuple):
    """A code, the class of its error (or `Finding`), what it says and what it tells to do. `rule`
    is the id that a finding is shown with."""

    code: str
    kind: str
    message: str
    hint: str
    rule: str = ""


@cache
def raised_codes() -> tuple[RaisedCode, ...]:
    """All codes of errors, sorted; one code may stand in several places."""
    found = {each for text in _read_sources() for each in _codes_in(text)}
    return tuple(sorted(each for each in found if each.kind != FINDING))


def places_of(code: str) -> list[RaisedCode]:
    """Where one code stands, errors first. Only files that name it are parsed: that is quick."""
    quoted = f'"{code}"'
    found = [each for text in _read_sources() if quoted in text for each in _codes_in(text)]
    matching = dict.fromkeys(each for each in found if each.code == code)
    return sorted(matching, key=lambda each: (each.kind == FINDING, not each.hint))


def findings_with(rule: str) -> list[RaisedCode]:
    """The findings that are shown with this id, such as B-11; format-7 means format-7/x, too."""
    wanted = rule.lower()
    found = [each for text in _read_sources() if wanted in text.lower() for each in _codes_in(text)]
    ids = {each: each.rule.lower() for each in found if each.rule}
    return sorted(each for each, own in ids.items() if wanted in (own, own.partition("/")[0]))


@cache
def _read_sources() -> tuple[str, ...]:
    return tuple(file.read_text("utf-8") for file in sorted(SOURCE.rglob("*.py")))


@cache
def _codes_in(text: str) -> tuple[RaisedCode, ...]:
    # Parsing takes a thousand times as long as this look.
    return tuple(_parse_codes(text)) if any(call in text for call in _CALLS) else ()


def _parse_codes(text: str) -> Iterator[RaisedCode]:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            kind, named = node.func.id, {word.arg: word.value for word in node.keywords}
            texts = [_text(argument) for argument in node.args]
            hint, code = _text(named.get("hint")), _text(named.get("code"))
            if kind in KINDS and texts and texts[0].isidentifier():
                message = texts[1] if len(texts) > 1 else ""
                yield RaisedCode(texts[0], kind, message, hint)
            elif kind in CODED and texts and code.isidentifier():
                yield RaisedCode(code, kind, texts[0], hint)
            elif kind == FINDING and code.isidentifier():
                rule = _text(named.get("rule"))
                yield RaisedCode(code, kind, _text(named.get("message")), hint, rule)
            elif kind == VERDICT_FINDING and code.isidentifier():
                rule = _text(named.get("rule"))
                yield RaisedCode(code, FINDING, _text(named.get("message")), hint, rule)


def _text(node: ast.expr | None) -> str:
    """What is written there; values that are filled in are shown as `…`."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(
            _text(part) if isinstance(part, ast.Constant) else "…" for part in node.values
        )
    return "" if node is None else "…"


# The rows of all rule tables, found where they stand: in the packages of the machines.


def packages_with_rules() -> list[str]:
    return sorted({module.rpartition(".")[0] for module in MODULES.values()})


def rules_of(package: str) -> Iterator[Rule[Any]]:
    """Each row once, in the order in which the modules and their tables stand."""
    seen: set[int] = set()
    for module in walk_packages(import_module(package).__path__, f"{package}."):
        for value in vars(import_module(module.name)).values():
            for rule in _rules_in(value):
                if id(rule) not in seen:
                    seen.add(id(rule))
                    yield rule


def short_name(package: str) -> str:
    """What the pages call a package: `presence`, `core.registry`."""
    return package.removeprefix("moot.").removeprefix("protocols.")


def _rules_in(value: Any) -> Iterator[Rule[Any]]:
    if isinstance(value, Rule):
        yield value
    elif isinstance(value, Mapping):
        yield from _rules_in(tuple(value.values()))
    elif isinstance(value, tuple | list):
        for each in value:
            yield from _rules_in(each)


# One code or rule, explained: what it says, why it is so, and what to do about it.

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
    from moot.workspace.health_checks import RULES

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


__all__ = ["CodeExplanation", "ExplainedCode", "explain"]


class ExplainedCode(msgspec.Struct, frozen=True):
    """Everything that carries the code, rules first. One code may be raised in several places."""

    code: str
    meanings: tuple[CodeExplanation, ...]


@operation("explain")
def explain(_session: Session, code: str) -> ExplainedCode:
    """What a code of an error, or the id of a rule, says, why it is so, and what to do about it.

    From the same tables as the pages errors.md and rules.md. Needs no workspace. NotFound as
    `unknown_code`, with the nearest one that exists.
    """

    return ExplainedCode(code, explain_code(code))
