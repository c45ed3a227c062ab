"""The rows of all rule tables, found where they stand: in the packages of the machines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from pkgutil import walk_packages
from typing import Any

from moot.core.findings import Rule
from moot.engine.machines import MODULES


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
