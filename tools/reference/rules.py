"""Every rule row of every protocol."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from pkgutil import walk_packages
from typing import Any

from tools.reference.markdown import table

from moot.core.findings import Rule
from moot.engine.machines import MODULES


def page() -> str:
    lines = [
        "# Rules",
        "",
        "What the protocols forbid (error) or remark on (warning, info). The prefixes of ids are",
        "explained in the [glossary](../glossary.md); `requirement` names the rows of",
        "tests/requirements that a rule enforces where its own id is none.",
        "",
    ]
    for package in packages():
        found = list(rules_of(package))
        if found:
            lines += [f"## {package.removeprefix('moot.').removeprefix('protocols.')}", ""]
            lines += table(
                ("id", "code", "severity", "sentence", "what to do", "requirement"),
                map(_row, found),
            )
            lines += [""]
    return "\n".join(lines)


def packages() -> list[str]:
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


def _rules_in(value: Any) -> Iterator[Rule[Any]]:
    if isinstance(value, Rule):
        yield value
    elif isinstance(value, Mapping):
        yield from _rules_in(tuple(value.values()))
    elif isinstance(value, tuple | list):
        for each in value:
            yield from _rules_in(each)


def _row(rule: Rule[Any]) -> tuple[str, ...]:
    requirement = " ".join(rule.requirement)
    return rule.id, f"`{rule.code}`", str(rule.severity), rule.sentence, rule.hint, requirement
