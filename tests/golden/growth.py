"""What differs between two tables of names, and whether old records can bear it.

A record may get new kinds of events, and fields that old records may lack. A state may change in
any way if its machine's version is raised: snapshots of another version are not read.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from tests.golden.shapes import WHOLE

Path = tuple[str, ...]
Leaves = dict[Path, Any]
_CHOICE = "one of "


class Difference(NamedTuple):
    where: Path
    before: Any
    now: Any
    breaks: bool

    def __str__(self) -> str:
        what = "BREAKS OLD RECORDS" if self.breaks else "grown"
        return f"{what}: {' / '.join(self.where)}: {_said(self.before)} -> {_said(self.now)}"


def differences(before: dict[str, Any], now: dict[str, Any]) -> list[Difference]:
    old, new = dict(_leaves(before)), dict(_leaves(now))
    changed = [where for where in sorted({*old, *new}) if old.get(where) != new.get(where)]
    return [
        Difference(where, old.get(where), new.get(where), not _is_growth(where, old, new))
        for where in changed
    ]


def breaks(found: Iterable[Difference]) -> bool:
    return any(one.breaks for one in found)


def _leaves(table: Any, where: Path = ()) -> Iterator[tuple[Path, Any]]:
    if not isinstance(table, dict):
        yield where, table
        return
    for name, value in table.items():
        yield from _leaves(value, (*where, name))


def _is_growth(where: Path, old: Leaves, new: Leaves) -> bool:
    before, now = old.get(where), new.get(where)
    if where[0] == "machines":
        version = (*where[:2], "version")
        if where[2] in ("version", "state"):
            return bool(new.get(version, 0) > old.get(version, 0))
    if now is None:
        return False
    if before is not None:
        return _is_wider_choice(before, now)
    return _may_be_added(where, now, old)


def _is_wider_choice(before: Any, now: Any) -> bool:
    """One more value that may be written; old ones are read as ever."""
    (head, is_choice, old), (new_head, is_choice_now, new) = (
        str(text).partition(_CHOICE) for text in (before, now)
    )
    if not (is_choice and is_choice_now):
        return False
    read = json.JSONDecoder().raw_decode
    (values, end), (new_values, new_end) = read(old), read(new)
    is_rest_same = (head, old[end:]) == (new_head, new[new_end:])
    return is_rest_same and set(values) < set(new_values)


def _may_be_added(where: Path, now: Any, old: Leaves) -> bool:
    """A whole new thing; or a field with a default, or a field of such a field."""
    *thing, field = where
    if (*thing, WHOLE) not in old:
        return True
    parent = field.removesuffix(f".{WHOLE}").rpartition(".")[0]
    holder = f"{parent}.{WHOLE}" if parent else WHOLE
    return (*thing, holder) not in old or field.endswith(WHOLE) or " = " in now


def _said(value: Any) -> str:
    return "(nothing)" if value is None else str(value)
