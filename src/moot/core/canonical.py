"""Canonical JSON: the subset of RFC 8785 that every correct library encodes alike.

`canonical` refuses values that two libraries might write differently (floats, big integers, keys
at or above U+D800, deep nesting) and then encodes with sorted keys. Signed bytes are stored as
they are and never encoded again; `parse_canonical` decodes them. docs/format.md section
1.
"""

from __future__ import annotations

from typing import Any

import msgspec

from moot.core.errors import Malformed

MAX_INT = 2**53 - 1
MAX_DEPTH = 32

_encode = msgspec.json.Encoder(order="sorted").encode
_decode = msgspec.json.Decoder().decode


def canonical(value: Any) -> bytes:
    """Encode `value` in its only canonical form; Malformed if it has none (LDG-001)."""
    check_profile(value)
    return encode_checked(value)


def encode_checked(value: Any) -> bytes:
    """Encode a value that passed `check_profile`, or that has only text and small integers."""
    try:
        return _encode(value)
    except UnicodeEncodeError:
        raise Malformed("text holds a lone surrogate", code="not_canonical") from None


def parse_canonical(data: bytes) -> Any:
    """Decode canonical bytes; Malformed if `data` is not in canonical form (LDG-003)."""
    try:
        value = _decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Malformed(f"not JSON: {error}", code="not_canonical") from None
    if canonical(value) != data:
        raise Malformed("not in canonical form", code="not_canonical")
    return value


def check_profile(value: Any, where: str = "", depth: int = 0) -> None:
    """Raise Malformed at the first value outside the profile, with its path (LDG-002)."""
    kind = type(value)
    if kind is str or value is None or kind is bool:
        return
    if kind is int:
        if not -MAX_INT <= value <= MAX_INT:
            _refuse("integer beyond 2^53-1", where)
    elif depth >= MAX_DEPTH:
        _refuse(f"nested deeper than {MAX_DEPTH}", where)
    elif kind is dict:
        check_members(value, where, depth)
    elif kind is list or kind is tuple:
        for position, item in enumerate(value):
            check_profile(item, f"{where}[{position}]", depth + 1)
    else:
        _refuse(f"{kind.__name__} is not allowed; write decimals as text", where)


def check_members(value: dict[Any, Any], where: str, depth: int) -> None:
    """Check the keys and values of a dict that is itself `depth` levels deep."""
    for key, item in value.items():
        if type(key) is not str or (not key.isascii() and max(key) >= "\ud800"):
            _refuse(f"key {key!r} is not text below U+D800", where)
        if type(item) is not str and item is not None:  # a text is fine: build no path for it
            check_profile(item, f"{where}.{key}" if where else key, depth + 1)


def _refuse(message: str, where: str) -> None:
    raise Malformed(message, code="not_canonical", where=where)
