"""Every row of every rule table can stand alone: an id, a code, a sentence, what to do next."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

import pytest

from moot.core.findings import Rule
from moot.engine.machines import MODULES

# The fields of a foreign envelope: what is wrong says what to do.
PLAIN = ("moot.protocols.presence.codec",)


def tables() -> Iterator[tuple[str, Any]]:
    """Whatever stands in the modules of a protocol, with the module's name."""
    for package in sorted({module.rpartition(".")[0] for module in MODULES.values()}):
        for found in iter_modules(import_module(package).__path__, f"{package}."):
            for value in vars(import_module(found.name)).values():
                yield found.name, value


def rules_in(value: Any) -> Iterator[Rule[object]]:
    if isinstance(value, Rule):
        yield value
    elif isinstance(value, Mapping):
        yield from rules_in(tuple(value.values()))
    elif isinstance(value, tuple | list):
        for each in value:
            yield from rules_in(each)


# Ours, and in small letters; or a rule or section of Bounce, whose codes other tools know too.
NAMED = re.compile(
    r"[A-Z]{1,4}-[0-9]{2,3} [a-z][a-z0-9_]*"
    r"|(R[0-9]{1,2}|[3-7](\.[1-9])?) ([a-z][a-z0-9_]*|[A-Z][A-Z_]*)"
)
ROWS = {id(r): r for name, table in tables() if name not in PLAIN for r in rules_in(table)}.values()


def test_every_protocol_has_its_rows() -> None:
    assert len(ROWS) > 400


@pytest.mark.parametrize("rule", ROWS, ids=lambda rule: f"{rule.id}:{rule.code}")
def test_a_row_says_what_is_wrong_and_what_to_do(rule: Rule[object]) -> None:
    assert NAMED.fullmatch(f"{rule.id} {rule.code}")
    assert rule.sentence
    assert rule.hint
