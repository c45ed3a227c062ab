"""What a coding tool itself does with an edit: what it sends, checks and writes.

The checks are those that were measured on the real tools (docs/hooks.md): Claude Code refuses to
write a file that changed since it was read; the others write a whole file over whatever is there,
and apply a part to the file as it is.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from bench.collisions.work import Change
from bench.loss import tool_calls
from bench.loss.tool_calls import Call

_LOOKS_AGAIN: Final = frozenset({"claude"})


def make_call(tool: str, root: Path, change: Change, seen: str) -> Call:
    """The tool's own call for this change of a file that was read as `seen`."""
    if change.is_whole_file:
        return tool_calls.write_call(tool, str(root), change.path, change.apply(seen))
    return tool_calls.edit_call(tool, str(root), change.path, change.old, change.new)


def write_change(tool: str, root: Path, change: Change, seen: str) -> bool:
    """Do it, as the tool would. False: the tool itself noticed that the file is another one."""
    file = root / change.path
    now = file.read_text("utf-8")
    if tool in _LOOKS_AGAIN and now != seen:
        return False
    if not change.is_whole_file and change.old not in now:
        return False
    fresh = file.with_name(f".{file.name}.{change.number}")  # nobody reads half a file
    fresh.write_text(change.apply(seen if change.is_whole_file else now), encoding="utf-8")
    fresh.replace(file)
    return True
