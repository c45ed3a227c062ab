"""The files that a call would write whole, whatever is in them by now.

A tool that looks itself whether a file changed since the model read it is not asked; which do not,
says the table of coding tools. Of a patch only the files it adds are written whole: an update
fails by itself where the lines it expects are not there.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from moot.surfaces.hooks.call import HookCall

_ADDS: Final = "*** Add File:"


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
    lines = (line.strip() for line in patch.split("\n"))
    added = (line.removeprefix(_ADDS).strip() for line in lines if line.startswith(_ADDS))
    return tuple(f"/{name.removeprefix('./').removeprefix('/')}" for name in added if name)
