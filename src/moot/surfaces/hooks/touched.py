"""The files a call is about to write, absolute, as the tool itself would resolve them.

Relative paths are relative to the `cwd` the tool sent, not to where this process runs. Where a tool
may take a path for another one than it says, both are touched.
"""

from __future__ import annotations

import os
from typing import Final

from moot.surfaces.hooks.call import HookCall, Unreadable

# Shell tools that take a folder of their own, in one of these fields.
_FOLDERS: Final = ("workdir", "dir_path", "directory")
# How a path begins that some tool rewrites.
_PREFIXES: Final = ("~", "@", "file:")


def touched(call: HookCall) -> tuple[str, ...]:
    """Unreadable if this is an edit but its file cannot be seen: then nobody can vouch for it."""
    tool, name = call.tool, call.name
    if name in tool.edits:
        return _all_readings(call, (_text(call, tool.edits[name]),))
    if name in tool.patches:
        return _all_readings(call, _files_in_patch(call))
    return _files_in_shell(call) if name in tool.shells else ()


def files_read(call: HookCall) -> tuple[str, ...]:
    """The file that a reading call has shown; nothing if it cannot be seen which."""
    text = call.input.get(call.tool.reads[call.name])
    if not isinstance(text, str) or not text or "\0" in text:
        return ()
    return tuple(filter(os.path.isfile, _all_readings(call, (text,))))


def _all_readings(call: HookCall, texts: tuple[str, ...]) -> tuple[str, ...]:
    """What the tool may make of each path, in the order of the paths."""
    rewritings = call.tool.rewritings_for(call.name)
    looks_up = "looked_up" in rewritings
    if not any(_may_be_rewritten(text, looks_up) for text in texts):
        return tuple(os.path.join(call.cwd, text) for text in texts)
    from moot.surfaces.hooks.rewritings import readings_of

    readings = (readings_of(text, call.cwd, rewritings) for text in texts)
    return tuple(dict.fromkeys(file for files in readings for file in files))


def _may_be_rewritten(text: str, looks_up: bool) -> bool:
    """Nearly every path is plain, and then no tool makes anything else of it."""
    is_plain = text.isascii() and "%" not in text and text == text.strip()
    return not is_plain or text.startswith(_PREFIXES) or (looks_up and not os.path.isabs(text))


def _files_in_patch(call: HookCall) -> tuple[str, ...]:
    from moot.surfaces.hooks.patches import files_in_patch

    files = files_in_patch(_text(call, call.tool.patches[call.name]))
    if not files:
        raise Unreadable(f"the {call.name} call names no file that can be read", call.moment)
    return files


def _files_in_shell(call: HookCall) -> tuple[str, ...]:
    command = _text(call, call.tool.shells[call.name])
    if "patch" not in command.lower():
        return ()  # nearly every command: nothing is loaded for it
    from moot.surfaces.hooks.shell_patches import files_in_shell_patches

    return files_in_shell_patches(command, shell_folder(call))


def shell_folder(call: HookCall) -> str:
    """Where a shell command runs."""
    for field in _FOLDERS:
        if isinstance(call.input.get(field), str):
            return os.path.join(call.cwd, call.input[field])
    return call.cwd


def shell_text(call: HookCall) -> str | None:
    """The command of a shell call; None if it is another kind of call."""
    field = call.tool.shells.get(call.name)
    if field is None:
        return None
    text, words = _text(call, field), call.input[field]
    if isinstance(words, list):  # a program and its arguments
        from shlex import join

        return join(words)
    return text


def _text(call: HookCall, field: str) -> str:
    text = call.input.get(field)
    if isinstance(text, list) and all(isinstance(word, str) for word in text):
        text = "\n".join(text)
    if not isinstance(text, str) or not text or "\0" in text:
        raise Unreadable(f"the {call.name} call has no readable {field}", call.moment)
    return text
