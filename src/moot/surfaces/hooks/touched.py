"""The files a call is about to write, absolute, as the tool itself would resolve them.

Relative paths are relative to the `cwd` the tool sent, not to where this process runs.
"""

from __future__ import annotations

import os
from typing import Final

from moot.surfaces.hooks.call import HookCall, Unreadable

# Shell tools that take a folder of their own, in one of these fields.
_FOLDERS: Final = ("workdir", "dir_path", "directory")


def touched(call: HookCall) -> tuple[str, ...]:
    """Unreadable if this is an edit but its file cannot be seen: then nobody can vouch for it."""
    tool, name = call.tool, call.name
    if name in tool.edits:
        return (os.path.join(call.cwd, _text(call, tool.edits[name])),)
    if name not in tool.patches and name not in tool.shells:
        return ()
    from moot.surfaces.hooks import patches

    if name in tool.patches:
        files = patches.named(_text(call, tool.patches[name]))
        if not files:
            raise Unreadable(f"the {name} call names no file that can be read", call.moment)
        return tuple(os.path.join(call.cwd, file) for file in files)
    try:
        return patches.in_shell(_text(call, tool.shells[name]), shell_folder(call))
    except patches.UnknownFolder:
        where = "the patch is behind a `cd` that was not understood; name the folder plainly"
        raise Unreadable(where, call.moment) from None


def shell_folder(call: HookCall) -> str:
    """Where a shell command runs."""
    for field in _FOLDERS:
        if isinstance(call.input.get(field), str):
            return os.path.join(call.cwd, call.input[field])
    return call.cwd


def shell_text(call: HookCall) -> str | None:
    """The command of a shell call; None if it is another kind of call."""
    field = call.tool.shells.get(call.name)
    return None if field is None else _text(call, field)


def _text(call: HookCall, field: str) -> str:
    text = call.input.get(field)
    if isinstance(text, list) and all(isinstance(word, str) for word in text):
        text = "\n".join(text)
    if not isinstance(text, str) or not text or "\0" in text:
        raise Unreadable(f"the {call.name} call has no readable {field}", call.moment)
    return text
