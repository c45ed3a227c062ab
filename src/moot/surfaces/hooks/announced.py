"""What a call's own input says about the files that it writes: which it overwrites whole, and what
each of them becomes.

A tool that looks itself whether a file changed since the model read it is not asked for the former;
which do not, says the table of coding tools. Of a patch only the files it adds are written whole:
an update fails by itself where the lines it expects are not there.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from moot.surfaces.hooks.call import HookCall

if TYPE_CHECKING:
    from moot.api.guard.edits import Announced, Hunk, TextEdit

_OLD: Final = ("old_string", "oldString")
_NEW: Final = ("new_string", "newString")
_EVERYWHERE: Final = ("replace_all", "replaceAll", "allow_multiple")
_HEADERS: Final = ("*** Add File:", "*** Update File:", "*** Delete File:")
_MOVE: Final = "*** Move to:"
_END: Final = "*** End of File"


def find_overwritten(call: HookCall, paths: Iterable[str]) -> tuple[str, ...]:
    """Those of `paths`, the files that the call touches."""
    tool, name = call.tool, call.name
    if name not in tool.whole_file:
        return ()
    if name in tool.edits:
        return tuple(paths)
    text = call.input.get(tool.patches.get(name) or tool.shells.get(name, ""))
    added = _added_files(text) if isinstance(text, str) else ()
    return tuple(path for path in paths if path.endswith(added)) if added else ()


def _added_files(patch: str) -> tuple[str, ...]:
    """The ends of the paths of the files that a patch adds."""
    names = (line.partition(":")[2].strip() for line in _lines_with(patch, _HEADERS[0]))
    return tuple(_as_end(name) for name in names if name)


def announce(call: HookCall, paths: Iterable[str]) -> Mapping[str, Announced]:
    """What each of `paths` becomes, as far as the input says it in a form that is known."""
    tool, name = call.tool, call.name
    if name in tool.edits:
        says = _announce_edit(call.input)
        return {} if says is None else dict.fromkeys(paths, says)
    text = call.input.get(tool.patches.get(name) or tool.shells.get(name, ""))
    if isinstance(text, list):
        text = "\n".join(map(str, text))
    if not isinstance(text, str):
        return {}
    sections = dict(_read_patch(text))
    found = (
        (path, [says for end, says in sections.items() if path.endswith(end)]) for path in paths
    )
    return {path: matching[0] for path, matching in found if len(matching) == 1}


def _announce_edit(sent: Mapping[str, Any]) -> Announced | None:
    from moot.api.guard.edits import Announced

    content = sent.get("content")
    if isinstance(content, str):
        return Announced(whole=content)
    listed = sent.get("edits")
    edits = [_read_edit(each) for each in (listed if isinstance(listed, list) else [sent])]
    known = tuple(edit for edit in edits if edit is not None)
    return Announced(edits=known) if known and len(known) == len(edits) else None


def _read_edit(sent: Any) -> TextEdit | None:
    from moot.api.guard.edits import TextEdit

    if not isinstance(sent, dict):
        return None
    old, new = (next((sent[n] for n in names if n in sent), None) for names in (_OLD, _NEW))
    if not isinstance(old, str) or not isinstance(new, str):
        return None
    return TextEdit(old, new, any(sent.get(name) is True for name in _EVERYWHERE))


def _read_patch(text: str) -> Iterator[tuple[str, Announced]]:
    """The end of each file's path, and what the patch makes of it; nothing where it is moved."""
    from moot.api.guard.edits import Announced

    lines = text.split("\n")
    starts = [at for at, line in enumerate(lines) if line.startswith(_HEADERS)]
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        header, _, name = lines[start].partition(":")
        body = lines[start + 1 : end]
        until = next((at for at, line in enumerate(body) if line.startswith("*** End Patch")), None)
        body = body[:until]
        target = _as_end(name.strip())
        if header == "*** Add File":
            added = [line[1:] for line in body if line.startswith("+")]
            yield target, Announced(whole="\n".join([*added, ""]))
        elif header == "*** Delete File" or any(line.startswith(_MOVE) for line in body):
            yield target, Announced(removed=True)
        else:
            yield target, Announced(hunks=tuple(_read_hunks(body)))


def _read_hunks(lines: Iterable[str]) -> Iterator[Hunk]:
    from moot.api.guard.edits import Hunk

    context, old, new, at_end = "", list[str](), list[str](), False
    for line in (*lines, "@@"):
        if line.startswith("@@"):
            if old or new:
                yield Hunk(tuple(old), tuple(new), context, at_end)
            context, old, new, at_end = line[2:].strip(), [], [], False
        elif line == _END:
            at_end = True
        elif line[:1] in ("+", "-", " ", ""):
            old += [line[1:]] if line[:1] != "+" else []
            new += [line[1:]] if line[:1] != "-" else []


def _lines_with(text: str, header: str) -> Iterator[str]:
    return (line for line in text.split("\n") if line.strip().startswith(header))


def _as_end(name: str) -> str:
    return f"/{os.path.normpath(name).lstrip('/')}"
