"""Families of names: alice, alice-2, alice-3 are sessions that were started by one name.

A family is a label and no identity: each member has its own name for ever, its own key and its own
work. It is read off the names alone, so nothing about it stands in the record.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Final

_NUMBERED: Final = re.compile(r"(.+)-([2-9]|[1-9][0-9]+)\Z")


def family_of(name: str, registered: Collection[str]) -> str:
    """The name that this one was numbered after, if somebody is called that; else itself."""
    numbered = _NUMBERED.match(name)
    return numbered[1] if numbered is not None and numbered[1] in registered else name


def list_family(name: str, registered: Collection[str]) -> tuple[str, ...]:
    """Everyone of the family that `name` belongs to: the first by its name, then by number."""
    family = family_of(name, registered)
    numbered = (_NUMBERED.match(other) for other in registered)
    numbers = sorted(
        int(match[2]) for match in numbered if match is not None and match[1] == family
    )
    first = (family,) if family in registered else ()
    return (*first, *(f"{family}-{number}" for number in numbers))


def next_in_family(name: str, registered: Collection[str]) -> str:
    """The first name of the family that nobody ever had."""
    family, number = family_of(name, registered), 2
    while f"{family}-{number}" in registered:
        number += 1
    return f"{family}-{number}"
