"""The bytes that a call would leave in a file, computed from its own input.

Only where that is certain: a file written whole, an old text that is in the file exactly, a patch
whose lines are found as they are written. Tools look for an old text more loosely than that; what
is only found so is not predicted.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from moot.surfaces.hooks.call import HookCall

# What the tools call the parts of an edit: the old text, the new one, and whether all are meant.
_OLD: Final = ("old_string", "oldString")
_NEW: Final = ("new_string", "newString")
_EVERY: Final = ("replace_all", "replaceAll", "allow_multiple")
_WHOLE: Final = ("content",)
_ADD: Final = "*** Add File:"
_UPDATE: Final = "*** Update File:"
_DELETE: Final = "*** Delete File:"
_MOVE: Final = "*** Move to:"


def predict_results(call: HookCall, paths: Sequence[str]) -> dict[str, bytes | None]:
    """What each of `paths`, the files that the call touches, would hold; None: it would be gone.

    Files of which that cannot be told are left out.
    """
    tool, name = call.tool, call.name
    if name in tool.patches:
        text = call.input.get(tool.patches[name])
        return _of_patch(text, call.cwd, paths) if isinstance(text, str) else {}
    if name not in tool.edits or len(paths) != 1:
        return {}
    result = _of_edit(call.input, paths[0])
    return {} if result is None else {paths[0]: result}


def _of_edit(sent: Mapping[str, Any], path: str) -> bytes | None:
    whole = _field(sent, _WHOLE)
    if whole is not None:
        return whole.encode("utf-8", "surrogatepass")
    edits = sent.get("edits")
    parts = edits if isinstance(edits, list) else [sent]
    text = _read(path)
    for part in parts:
        text = _replaced(text, part) if text is not None and isinstance(part, dict) else None
    return None if text is None else text.encode("utf-8", "surrogatepass")


def _replaced(text: str, part: Mapping[str, Any]) -> str | None:
    old, new = _field(part, _OLD), _field(part, _NEW)
    if not old or new is None or old not in text:
        return None
    is_every = any(part.get(name) is True for name in _EVERY)
    if not is_every and text.count(old) > 1:
        return None
    return text.replace(old, new)


def _of_patch(patch: str, folder: str, paths: Sequence[str]) -> dict[str, bytes | None]:
    """By the same names under which the files are asked for."""
    wanted = {os.path.normpath(path): path for path in paths}
    results: dict[str, bytes | None] = {}
    for header, name, body in _parts(patch):
        path = wanted.get(os.path.normpath(os.path.join(folder, name)))
        if path is None:
            continue
        if header == _DELETE or any(line.startswith(_MOVE) for line in body):
            results[path] = None
        elif header == _ADD:
            added = [line[1:] for line in body if line.startswith("+")]
            results[path] = "".join(f"{line}\n" for line in added).encode("utf-8", "surrogatepass")
        else:
            made = _updated(_read(path), body)
            if made is not None:
                results[path] = made.encode("utf-8", "surrogatepass")
    return results


def _parts(patch: str) -> Iterator[tuple[str, str, list[str]]]:
    """Each file of a patch: what is done, its name, and the lines that follow."""
    current: tuple[str, str, list[str]] | None = None
    for line in patch.split("\n"):
        header = next((one for one in (_ADD, _UPDATE, _DELETE) if line.startswith(one)), None)
        if header is not None:
            if current is not None:
                yield current
            current = header, line[len(header) :].strip(), []
        elif current is not None:
            current[2].append(line)
    if current is not None:
        yield current


def _updated(text: str | None, body: Sequence[str]) -> str | None:
    """The text with each part of an update put in, in order; None if one is not found there."""
    if text is None:
        return None
    lines, at = text.split("\n"), 0
    for old, new in _chunks(body):
        place = _find(lines, old, at)
        if place is None:
            return None
        lines[place : place + len(old)] = new
        at = place + len(new)
    return "\n".join(lines)


def _chunks(body: Sequence[str]) -> Iterator[tuple[list[str], list[str]]]:
    """The lines that each part of an update expects, and those that it leaves."""
    old, new = list[str](), list[str]()
    for line in (*body, "@@"):
        if line.startswith(("@@", "***")):
            if old or new:
                yield old, new
            old, new = [], []
        elif line.startswith("+"):
            new.append(line[1:])
        elif line.startswith("-"):
            old.append(line[1:])
        else:
            old.append(line[1:])
            new.append(line[1:])


def _find(lines: Sequence[str], wanted: Sequence[str], start: int) -> int | None:
    """Where these lines are, if they are there only once."""
    if not wanted:
        return None
    ends = range(start, len(lines) - len(wanted) + 1)
    found = [at for at in ends if list(lines[at : at + len(wanted)]) == list(wanted)]
    return found[0] if len(found) == 1 else None


def _field(sent: Mapping[str, Any], names: Sequence[str]) -> str | None:
    found = (sent[name] for name in names if isinstance(sent.get(name), str))
    return next(found, None)


def _read(path: str) -> str | None:
    try:
        with open(path, "rb") as file:
            return file.read().decode()
    except (OSError, ValueError):
        return None
