"""The rules a single field can be held to; sections 3, 4 and 6 are tables of these.

A rule is a function from a parsed JSON value to whether it is allowed. `bool` is an `int` in
Python, so numbers are asked for by their exact type.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from moot.verify.canonical import MAX_INT

Rule = Callable[[Any], bool]


def number(lowest: int, highest: int = MAX_INT) -> Rule:
    """An integer from lowest to highest."""
    return lambda value: type(value) is int and lowest <= value <= highest


def text(shortest: int = 0, longest: int | None = None) -> Rule:
    """A string of so many characters."""
    if longest is None:
        return lambda value: type(value) is str and shortest <= len(value)
    return lambda value: type(value) is str and shortest <= len(value) <= longest


def pattern(expression: str, longest: int | None = None) -> Rule:
    """A string that the whole expression matches; the length is looked at first."""
    match = re.compile(expression).fullmatch
    if longest is None:
        return lambda value: type(value) is str and match(value) is not None
    return lambda value: type(value) is str and len(value) <= longest and match(value) is not None


def hexadecimal(digits: int) -> Rule:
    """Exactly so many lower-case hexadecimal digits."""
    return pattern(f"[0-9a-f]{{{digits}}}", digits)


def one_of(*values: str) -> Rule:
    """One of these strings."""
    return lambda value: type(value) is str and value in values


def or_null(rule: Rule) -> Rule:
    """`null`, or what the rule allows."""
    return lambda value: value is None or rule(value)


def an_object(rules: Mapping[str, Rule]) -> Rule:
    """An object with exactly these fields, each within its rule."""
    return lambda value: wrong_field(value, rules) is None


def wrong_field(value: Any, rules: Mapping[str, Rule]) -> str | None:
    """The name of the first field that is missing, foreign or against its rule; `""`: no object."""
    if type(value) is not dict:
        return ""
    if value.keys() != rules.keys():
        return min(value.keys() ^ rules.keys())
    for name, allowed in rules.items():
        if not allowed(value[name]):
            return name
    return None


def is_object(value: Any) -> bool:
    """Any JSON object."""
    return type(value) is dict


HEX_KID = hexadecimal(32)
HEX_HASH = hexadecimal(64)
HEX_PUBLIC = hexadecimal(64)
HEX_SIGNATURE = hexadecimal(128)
SIZE = number(0)
EPOCH = number(1)
# The form of a moment; whether it exists in a calendar is not asked, for it is a claim.
MOMENT_EXPRESSION = "[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}[.][0-9]{3}Z"
MOMENT = pattern(MOMENT_EXPRESSION, 24)
NAME = pattern("[a-z0-9]+(-[a-z0-9]+)*", 48)
ORIGIN = pattern("moot[.]ledger/[0-9a-f]{32}", 44)
STREAM_EXPRESSION = "(?!registry/)[a-z]{1,32}(?:/[A-Za-z0-9._:@+~-]{1,200})?"
STREAM = pattern(STREAM_EXPRESSION)


def is_name(value: Any) -> bool:
    """The name of an agent or a person: lower-case words joined by hyphens, 3 to 48 characters."""
    return NAME(value) and len(value) >= 3
