"""Canonical JSON (section 1), checked with the standard library's parser and writer.

Limits come before the parser: the caller bounds the size, this module the depth, and every number
is refused by its digits before it becomes one. A text is canonical if writing what was parsed
gives the same text; that one comparison catches white space, duplicate and unsorted keys, foreign
escapes and foreign number forms.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

MAX_DEPTH = 32
MAX_INT = 2**53 - 1
_MAX_DIGITS = len(str(-MAX_INT))


class NotCanonical(ValueError):
    """The text is not canonical JSON; the message says why."""


def parse_canonical(data: bytes) -> Any:
    """The value of a canonical JSON text; raises `NotCanonical`."""
    return parse_text(decode(data))


def decode(data: bytes) -> str:
    """The text of UTF-8 bytes; raises `NotCanonical`."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise NotCanonical("not UTF-8") from error


def parse_text(text: str, max_depth: int = MAX_DEPTH) -> Any:
    """The value of a canonical JSON text, which is part of another one if less depth is left."""
    # LDG-003
    if _is_deep(text, max_depth):
        raise NotCanonical(f"nested deeper than {MAX_DEPTH}")
    value = _decode(_decoder, text)
    if _encoder.encode(value) != text:
        raise NotCanonical("not written canonically")
    if not text.isascii() and _HIGH.search(text):
        _decode(_key_decoder, text)
    return value


def write_canonical(value: Any) -> bytes:
    """The canonical bytes of a value that is known to be inside the profile."""
    return _encoder.encode(value).encode("utf-8")


def _decode(decoder: json.JSONDecoder, text: str) -> Any:
    try:
        value, end = decoder.raw_decode(text)
    except NotCanonical:
        raise
    except (ValueError, RecursionError) as error:
        raise NotCanonical("not JSON") from error
    if end != len(text):
        raise NotCanonical("something follows the JSON value")
    return value


def _is_deep(text: str, max_depth: int) -> bool:
    """Whether arrays and objects nest deeper than allowed, without parsing.

    Few texts hold more brackets than the limit; only those are looked at closely. Removing the
    innermost pairs once takes away exactly one level, so what is left after `max_depth` rounds is
    deeper (or does not match up, and is no JSON).
    """
    # LDG-093
    if text.count("[") + text.count("{") <= max_depth:
        return False
    nest = _NOT_BRACKET.sub("", _STRING.sub("", text)).translate(_ONE_BRACKET)
    for _ in range(max_depth):
        nest = nest.replace("[]", "")
    return bool(nest)


# The closing quote is optional so that an unterminated string is one match, not a quadratic search.
_STRING = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?', re.DOTALL)
_NOT_BRACKET = re.compile(r"[^][{}]+")
_ONE_BRACKET = str.maketrans("{}", "[]")
_HIGH = re.compile(r"[\ud800-\U0010ffff]")


class _Integers(dict[str, int]):
    """Turns digits into numbers; short ones are remembered, which spares the parser a call each."""

    def __missing__(self, digits: str) -> int:
        if len(digits) > _MAX_DIGITS or not -MAX_INT <= (value := int(digits)) <= MAX_INT:
            raise NotCanonical("an integer beyond 2^53-1")
        if len(digits) <= 3:
            self[digits] = value
        return value


def _no_number(_text: str) -> NoReturn:
    raise NotCanonical("a number that is not an integer")


def _low_keys(pairs: list[tuple[str, Any]]) -> None:
    # Keys below U+D800 sort alike by code point and by UTF-16 unit, so every implementation agrees.
    if any(_HIGH.search(key) for key, _ in pairs):
        raise NotCanonical("a key with a character from U+D800 on")


_decoder = json.JSONDecoder(
    parse_int=_Integers().__getitem__, parse_float=_no_number, parse_constant=_no_number
)
_key_decoder = json.JSONDecoder(object_pairs_hook=_low_keys)
_encoder = json.JSONEncoder(
    sort_keys=True,
    ensure_ascii=False,
    separators=(",", ":"),
    allow_nan=False,
    check_circular=False,
)


# The rules a single field can be held to; sections 3, 4 and 6 are tables of these. `bool` is an
# `int` in Python, so numbers are asked for by their exact type.

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
