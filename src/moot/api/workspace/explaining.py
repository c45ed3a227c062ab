"""Explain the code of an error, a finding or a rule."""

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


# Codes are read from the source text, so that also codes of rare errors are known.

SOURCE: Final = Path(__file__).parents[2]
KINDS: Final = ("Refused", "Conflict", "NotFound", "Unavailable", "StoreFailed", "MootError")
CODED: Final = ("Malformed", "Tampered")  # these take `code` by keyword, the others first
FINDING: Final = "Finding"
VERDICT_FINDING: Final = "VerdictFinding"  # the class that `moot.verify` has instead
_CALLS: Final = tuple(f"{kind}(" for kind in (*KINDS, *CODED, FINDING))


class RaisedCode(NamedTuple):
    """A code, the class of its error (or `Finding`), its message and hint. `rule` is the id that a
    finding is shown with."""

    code: str
    kind: str
    message: str
    hint: str
    rule: str = ""


@cache
def raised_codes() -> tuple[RaisedCode, ...]:
    """Return all codes of errors, sorted; one code may be raised in several places."""
    found = {each for text in _read_sources() for each in _codes_in(text)}
    return tuple(sorted(each for each in found if each.kind != FINDING))


def find_code_places(code: str) -> list[RaisedCode]:
    """Return the places that raise a code, errors first; parse only files that contain it."""
    quoted = f'"{code}"'
    found = [each for text in _read_sources() if quoted in text for each in _codes_in(text)]
    matching = dict.fromkeys(each for each in found if each.code == code)
    return sorted(matching, key=lambda each: (each.kind == FINDING, not each.hint))


def find_findings_of_rule(rule: str) -> list[RaisedCode]:
    """Return the findings with this rule id, such as B-11; format-7 also finds format-7/x."""
    wanted = rule.lower()
    found = [each for text in _read_sources() if wanted in text.lower() for each in _codes_in(text)]
    ids = {each: each.rule.lower() for each in found if each.rule}
    return sorted(each for each, id_ in ids.items() if wanted in (id_, id_.partition("/")[0]))


@cache
def _read_sources() -> tuple[str, ...]:
    return tuple(file.read_text("utf-8") for file in sorted(SOURCE.rglob("*.py")))


@cache
def _codes_in(text: str) -> tuple[RaisedCode, ...]:
    # Parsing takes a thousand times as long as this test.
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
    """Return the text of a literal, with `…` for each value that is filled in."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(
            _text(part) if isinstance(part, ast.Constant) else "…" for part in node.values
        )
    return "" if node is None else "…"


def packages_with_rules() -> list[str]:
    """Return the packages of the machines, which contain all rule tables."""
    return sorted({module.rpartition(".")[0] for module in MODULES.values()})


def rules_of(package: str) -> Iterator[Rule[Any]]:
    """Yield each rule once, in the order of the modules and their tables."""
    seen: set[int] = set()
    for module in walk_packages(import_module(package).__path__, f"{package}."):
        for value in vars(import_module(module.name)).values():
            for rule in _rules_in(value):
                if id(rule) not in seen:
                    seen.add(id(rule))
                    yield rule


def short_name(package: str) -> str:
    """Return the name of a package on the pages: `presence`, `core.registry`."""
    return package.removeprefix("moot.").removeprefix("protocols.")


def _rules_in(value: Any) -> Iterator[Rule[Any]]:
    if isinstance(value, Rule):
        yield value
    elif isinstance(value, Mapping):
        yield from _rules_in(tuple(value.values()))
    elif isinstance(value, tuple | list):
        for each in value:
            yield from _rules_in(each)


DOCTOR: Final = "doctor"
MOST_PLACES: Final = 4
_FINDING_WHY: Final = "A check reported it; its severity says whether the check also failed."


class CodeExplanation(msgspec.Struct, frozen=True):
    """A rule, or a place where an error is raised.

    `rule` is its id and `protocol` whose rule it is; both are empty for other errors. `why` says
    what kind of error it is.
    """

    code: str
    kind: str
    rule: str
    protocol: str
    sentence: str
    why: str
    what_to_do: str


def explain_code(code: str) -> tuple[CodeExplanation, ...]:
    """Return all that is known of a code or a rule's id; raise NotFound (`unknown_code`)."""
    wanted = code.strip().strip("[]`")
    places = (find_code_places(wanted.lower()) or find_findings_of_rule(wanted))[:MOST_PLACES]
    found = [*_explain_rules(wanted), *_explain_checks(wanted), *map(_explain_place, places)]
    if not found:
        problem = f"no code or rule is called {wanted}"[:200]
        raise NotFound("unknown_code", problem, hint=_suggest_code(wanted))
    return tuple(dict.fromkeys(found))


def _explain_rules(wanted: str) -> Iterator[CodeExplanation]:
    """Explain each rule once, with the requirements of all places that check it."""
    found: dict[tuple[str, str, str, str], tuple[Rule[Any], list[str]]] = {}
    for protocol, rule in _all_rules():
        ids = (rule.id, *rule.requirement)
        if wanted.lower() == rule.code.lower() or wanted.upper() in map(str.upper, ids):
            same = protocol, rule.id, rule.sentence, rule.hint
            found.setdefault(same, (rule, []))[1].extend(rule.requirement)
    for (protocol, *_), (rule, requirements) in found.items():
        yield _explain_rule(protocol, rule, tuple(dict.fromkeys(requirements)))


def _explain_checks(wanted: str) -> Iterator[CodeExplanation]:
    """Explain the checks of `moot trace verify`, by their ids."""
    from moot.protocols.trace.audit.verification import CHECKS

    for check in CHECKS:
        if wanted.upper() == check.id:
            yield CodeExplanation(
                code=check.id,
                kind="check",
                rule=check.id,
                protocol="trace",
                sentence=check.about,
                why="`moot trace verify` makes this check; if it fails, the trace fails.",
                what_to_do="`moot trace verify TRACE` says why it fails",
            )


def _all_rules() -> Iterator[tuple[str, Rule[Any]]]:
    from moot.workspace.health_checks import RULES

    for package in packages_with_rules():
        for rule in rules_of(package):
            yield short_name(package), rule
    for each in RULES:
        yield DOCTOR, each


def _explain_rule(protocol: str, rule: Rule[Any], requirements: tuple[str, ...]) -> CodeExplanation:
    basis = ", ".join(requirements) or rule.id
    consequence = _SEVERITIES[str(rule.severity)]
    why = f"A rule of {protocol} ({basis}). {consequence}"
    if protocol == DOCTOR:
        why = "`moot doctor` checks it, and repairs nothing."
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
    "error": "Moot refuses what breaks it, or reports it as invalid.",
    "warning": "Moot reports it and accepts what breaks it.",
    "info": "It is a note.",
}


def _explain_place(place: RaisedCode) -> CodeExplanation:
    kind = getattr(errors, place.kind, None)
    text = _FINDING_WHY if place.kind == FINDING else (kind.__doc__ or "" if kind else "")
    why = " ".join(text.split("\n\n")[0].split())
    return CodeExplanation(place.code, place.kind, place.rule, "", place.message, why, place.hint)


def _suggest_code(wanted: str) -> str:
    from difflib import get_close_matches

    from moot.protocols.trace.audit.verification import CHECKS

    rules = [rule for _, rule in _all_rules()]
    known = {each.code for each in raised_codes()} | {rule.code for rule in rules}
    near = get_close_matches(wanted.lower(), sorted(known), n=1, cutoff=0.6)
    ids = [*(rule.id for rule in rules), *(check.id for check in CHECKS)]
    near = near or get_close_matches(wanted.upper(), ids, n=1, cutoff=0.6)
    if near:
        return f"did you mean `moot explain {near[0]}`?"
    return "type the code in [brackets] of an error, or the id of a rule"


class ExplainedCode(msgspec.Struct, frozen=True):
    """All meanings of the code, rules first. One code may be raised in several places."""

    code: str
    meanings: tuple[CodeExplanation, ...]


@operation("explain")
def explain(_session: Session, code: str) -> ExplainedCode:
    """Explain the code of an error or the id of a rule: its meaning, the reason, and what to do.

    Uses the same tables as the pages errors.md and rules.md. Needs no workspace. Raises NotFound
    (`unknown_code`) with the nearest known code.
    """
    return ExplainedCode(code, explain_code(code))
