"""Shapes of JSON as tables: which keys and values, under which norm.

A check takes a value and its path and yields a finding for each breach, so that one pass over a
document names everything that is wrong with it. `read_json` is strict: bytes that are not exactly
one JSON text, or have a key twice, are Malformed, because readers could disagree on which counts.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum
from typing import Any, Final

import msgspec

from moot.core.errors import Malformed
from moot.core.findings import Finding, Severity

Check = Callable[[Any, str], Iterator[Finding]]
MAX_BYTES: Final = 64 * 1024 * 1024
MAX_NUMBER: Final = 2**53 - 1
_BOM: Final = b"\xef\xbb\xbf"
_MAX_SHOWN: Final = 60


def read_json(data: bytes | str, limit: int = MAX_BYTES) -> Any:
    """The value of one JSON text; Malformed for anything else, and for a key that comes twice."""
    try:
        raw = data.encode() if isinstance(data, str) else data
    except UnicodeEncodeError:
        raise Malformed("the text has a lone surrogate", code="not_json") from None
    if len(raw) > limit:
        raise Malformed(
            f"larger than {limit} bytes", code="too_large", hint="send less in one message"
        )
    raw = raw.removeprefix(_BOM)
    try:
        msgspec.json.decode(raw)  # stricter than the standard library: no NaN, no half characters
        return _decode_without_repeated_keys(raw)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise Malformed(
            f"not JSON: {error}", code="not_json", hint="send exactly one JSON object"
        ) from None


def _decode_without_repeated_keys(raw: bytes) -> Any:
    doubled: list[tuple[dict[str, Any], str]] = []

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(items)
        if len(made) != len(items):
            doubled.append((made, _first_repeated(name for name, _ in items)))
        return made

    value = json.loads(raw, object_pairs_hook=pairs)
    if doubled:
        holder, name = doubled[0]
        path = _path_to(holder, value, "")
        raise Malformed(
            f"the key {show_value(name)} is there twice",
            code="duplicate_key",
            where=join_path(path or "", name),
            hint="say every key once",
        )
    return value


def _first_repeated(names: Iterable[str]) -> str:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    raise ValueError("no name is there twice")


def _path_to(wanted: Any, value: Any, path: str) -> str | None:
    if value is wanted:
        return path
    items: Iterable[tuple[str, Any]] = ()
    if isinstance(value, dict):
        items = ((join_path(path, name), item) for name, item in value.items())
    elif isinstance(value, list):
        items = ((f"{path}[{place}]", item) for place, item in enumerate(value))
    paths = (_path_to(wanted, item, at) for at, item in items)
    return next((path for path in paths if path is not None), None)


def join_path(path: str, name: str) -> str:
    """The path one key deeper; it may begin with a file's name: `bill.json#sections.scope`."""
    name = name if len(name) <= _MAX_SHOWN else name[:_MAX_SHOWN] + "…"
    return f"{path}.{name}" if path and not path.endswith("#") else path + name


def show_value(value: Any) -> str:
    """Return a foreign value in a sentence of ours: never longer than a line."""
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "a list"
    try:
        text_form = json.dumps(value, ensure_ascii=False, default=str)
    except ValueError:  # a number of thousands of digits
        return "a very long number"
    return text_form if len(text_form) <= _MAX_SHOWN else text_form[:_MAX_SHOWN] + "…"


def make_finding(
    rule: str,
    code: str,
    message: str,
    where: str,
    hint: str,
    severity: Severity = Severity.ERROR,
) -> Finding:
    return Finding(
        rule=rule, code=code, message=message, where=where or None, hint=hint, severity=severity
    )


class ShapeField(msgspec.Struct, frozen=True):
    """A key of an object: its name, the norm that asks for it, what it must hold."""

    name: str
    rule: str
    check: Check
    required: bool = True


def object_of(rule: str, *each: ShapeField) -> Check:
    """Return a check for an object with exactly these keys."""
    fields_by_name = {field.name: field for field in each}

    def check(value: Any, path: str) -> Iterator[Finding]:
        if not isinstance(value, dict):
            yield _wrong_type(rule, "an object", value, path)
            return
        for name in value:
            if name not in fields_by_name:
                where, hint = join_path(path, name), f"known here: {', '.join(fields_by_name)}"
                yield make_finding(
                    rule, "unknown_field", f"{show_value(name)} is unknown here", where, hint
                )
        for field in each:
            if field.name in value:
                yield from field.check(value[field.name], join_path(path, field.name))
            elif field.required:
                where = join_path(path, field.name)
                hint = f'add "{field.name}"'
                yield make_finding(
                    field.rule, "missing_field", f"{field.name} is missing", where, hint
                )

    return check


def list_of(rule: str, of: Check) -> Check:
    def check(value: Any, path: str) -> Iterator[Finding]:
        if not isinstance(value, list):
            yield _wrong_type(rule, "a list", value, path)
            return
        for place, item in enumerate(value):
            yield from of(item, f"{path}[{place}]")

    return check


def map_of(rule: str, of: Check, least: int = 0) -> Check:
    """Return a check for an object with any keys, at least `least` of them."""

    def check(value: Any, path: str) -> Iterator[Finding]:
        if not isinstance(value, dict):
            yield _wrong_type(rule, "an object", value, path)
            return
        if len(value) < least:
            yield make_finding(rule, "empty", "at least one entry is needed", path, "add one")
        for name, item in value.items():
            yield from of(item, join_path(path, name))

    return check


def any_text(rule: str) -> Check:
    """Return text that may be empty."""

    def check(value: Any, path: str) -> Iterator[Finding]:
        if not isinstance(value, str):
            yield _wrong_type(rule, "text", value, path)

    return check


def nonblank_text(rule: str) -> Check:
    """Return text that is not blank."""

    def check(value: Any, path: str) -> Iterator[Finding]:
        if not isinstance(value, str):
            yield _wrong_type(rule, "text", value, path)
        elif not value.strip():
            yield make_finding(rule, "blank_text", "the text is empty", path, "say something here")

    return check


def list_of_texts(rule: str) -> Check:
    return list_of(rule, any_text(rule))


def whole_number(rule: str, low: int, high: int = MAX_NUMBER) -> Check:
    """Return a whole number in its bounds; true, 3.0 and "3" are none."""
    bounds = f"a whole number from {low} to {high}" if high != MAX_NUMBER else f"{low} or more"

    def check(value: Any, path: str) -> Iterator[Finding]:
        if type(value) is not int:
            yield _wrong_type(rule, "a whole number", value, path)
        elif not low <= value <= high:
            why = f"{show_value(value)} is out of range"
            yield make_finding(rule, "out_of_range", why, path, f"use {bounds}")

    return check


def boolean(rule: str) -> Check:
    def check(value: Any, path: str) -> Iterator[Finding]:
        if type(value) is not bool:
            yield _wrong_type(rule, "true or false", value, path)

    return check


def one_of(rule: str, words: type[StrEnum]) -> Check:
    known = tuple(str(word) for word in words)

    def check(value: Any, path: str) -> Iterator[Finding]:
        if not isinstance(value, str) or value not in known:
            why = f"{show_value(value)} is not one of {', '.join(known)}"
            yield make_finding(rule, "bad_value", why, path, f"use one of {', '.join(known)}")

    return check


def text_like(rule: str, pattern: re.Pattern[str], example: str) -> Check:
    def check(value: Any, path: str) -> Iterator[Finding]:
        if not isinstance(value, str) or not pattern.fullmatch(value):
            why = f"{show_value(value)} does not look like {example}"
            yield make_finding(rule, "bad_form", why, path, f"write it like {example}")

    return check


def null_or(of: Check) -> Check:
    """Return a check for null, or what `of` asks for."""

    def check(value: Any, path: str) -> Iterator[Finding]:
        if value is not None:
            yield from of(value, path)

    return check


def _wrong_type(rule: str, wanted: str, value: Any, path: str) -> Finding:
    message = f"{wanted} is needed, not {show_value(value)}"
    return make_finding(rule, "bad_type", message, path, f"write {wanted} here")
