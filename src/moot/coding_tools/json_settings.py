"""Merge our entries into other tools' JSON settings, and keep the existing ones in order.

Pure: text in, text out. Text that does not parse, or has a duplicate key, is refused.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from moot.core.errors import Refused

Document = dict[str, Any]
Change = Callable[[Document], Document]
_INDENT: Final = re.compile(r"^([ \t]+)\S", re.MULTILINE)


def parse(text: str, where: str) -> Document:
    """Parse a JSON object; an empty file is an empty object."""
    if not text.strip():
        return {}
    try:
        settings = json.loads(text, object_pairs_hook=_unique)
    except (ValueError, RecursionError) as error:
        raise _refused(where, f"it is not plain JSON ({error})") from None
    if not isinstance(settings, dict):
        raise _refused(where, "it is not a JSON object")
    return settings


def read_object(raw: bytes) -> Document:
    """Return the JSON object that a program printed; an empty one if it printed none."""
    try:
        found = json.loads(raw)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def render(document: Document, like: str = "") -> str:
    """Return JSON text with the indent and the line ending of `like`."""
    indent = _INDENT.search(like)
    text = json.dumps(document, indent=indent[1] if indent else 2, ensure_ascii=False) + "\n"
    return text.replace("\n", "\r\n") if "\r\n" in like else text


def with_hooks(document: Document, wanted: Mapping[str, list[Document]], where: str) -> Document:
    """Return `document` with the entries of `wanted` after those that each event already has."""
    made = copy.deepcopy(document)
    hooks = made.setdefault("hooks", {})
    if not isinstance(hooks, dict):
        raise _refused(where, '"hooks" is not an object')
    for event, entries in wanted.items():
        known = hooks.setdefault(event, [])
        if not isinstance(known, list):
            raise _refused(where, f'"hooks.{event}" is not a list')
        known.extend(copy.deepcopy(entries))
    return made


def without_hooks(document: Document, ours: Callable[[str], bool]) -> Document:
    """Return `document` without handlers whose command is `ours`, and without emptied lists."""
    made = copy.deepcopy(document)
    hooks = made.get("hooks")
    if not isinstance(hooks, dict):
        return made
    for event, entries in list(hooks.items()):
        if isinstance(entries, list) and any(_contains_ours(entry, ours) for entry in entries):
            hooks[event] = [left for entry in entries if (left := _without_ours(entry, ours))]
            if not hooks[event]:
                del hooks[event]
    if not hooks:
        del made["hooks"]
    return made


def with_item(document: Document, key: str, item: str, where: str) -> Document:
    made = copy.deepcopy(document)
    known = made.setdefault(key, [])
    if not isinstance(known, list):
        raise _refused(where, f'"{key}" is not a list')
    if item not in known:
        known.append(item)
    return made


def without_item(document: Document, key: str, ours: Callable[[str], bool]) -> Document:
    made = copy.deepcopy(document)
    known = made.get(key)
    if isinstance(known, list):
        made[key] = [one for one in known if not (isinstance(one, str) and ours(one))]
        if not made[key] and known:
            del made[key]
    return made


def commands(document: Document, event: str) -> list[str]:
    """Return the commands that run at an event."""
    return [command for _matcher, command in matched_commands(document, event)]


def matched_commands(document: Document, event: str) -> list[tuple[str, str]]:
    """Return the same commands, each with its matcher; an empty matcher matches all calls."""
    return [
        (str(entry.get("matcher") or ""), command)
        for entry in entries(document, event)
        for command in commands_of(entry)
    ]


def entries(document: Document, event: str) -> list[Any]:
    """Return the entries of an event."""
    hooks = document.get("hooks")
    found = hooks.get(event) if isinstance(hooks, dict) else None
    return found if isinstance(found, list) else []


def commands_of(entry: Any) -> list[str]:
    """Return the commands of one entry."""
    return [handler["command"] for handler in handlers_of(entry)]


def handlers_of(entry: Any) -> list[Document]:
    """Return the handlers of one entry that run a command."""
    handlers = entry.get("hooks") if isinstance(entry, dict) else None
    found = handlers if isinstance(handlers, list) else []
    return [one for one in found if isinstance(one, dict) and isinstance(one.get("command"), str)]


def _contains_ours(entry: Any, ours: Callable[[str], bool]) -> bool:
    return any(map(ours, commands_of(entry)))


def _without_ours(entry: Any, ours: Callable[[str], bool]) -> Any:
    """Return the entry without our handlers; None if nothing is left of it."""
    if not _contains_ours(entry, ours):
        return entry
    left = [one for one in entry["hooks"] if not _contains_ours({"hooks": [one]}, ours)]
    return {**entry, "hooks": left} if left else None


def _unique(pairs: list[tuple[str, Any]]) -> Document:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise ValueError("a name appears twice in one object")
    return made


def _refused(where: str, why: str) -> Refused:
    return Refused(
        "settings_unreadable",
        f"{where} cannot be merged: {why}; it was not touched",
        hint="fix the file, or add the hooks by hand as docs/hooks.md shows",
    )
