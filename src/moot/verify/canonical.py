"""Canonical JSON (section 1), checked with the standard library's parser and writer.

Limits come before the parser: the caller bounds the size, this module the depth, and every number
is refused by its digits before it becomes one. A text is canonical if writing what was parsed
gives the same text; that one comparison catches white space, duplicate and unsorted keys, foreign
escapes and foreign number forms.
"""

from __future__ import annotations

import json
import re
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
