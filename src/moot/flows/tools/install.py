"""Installing and uninstalling, for every tool: merge, never overwrite; put back what was there.

Everything is worked out before anything is written, so that settings that cannot be merged leave
all files as they were. Doing it again changes nothing.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Final, NamedTuple

from moot.core.errors import Refused
from moot.flows.guard.guarded_paths import GuardedPaths
from moot.flows.tools import git_hook, hook_entries, json_settings, manual
from moot.flows.tools.original_files import OriginalFiles

TOOLS: Final = ("claude", "codex", "gemini", "opencode", "git")
PLUGIN: Final = "opencode-plugin.js"
OPENCODE_FILE: Final = "opencode.json"

Merge = Callable[[str | None], str]
Mend = Callable[[str], str | None]


class File(NamedTuple):
    """One file of a tool: how ours is put in, and how it is taken out."""

    path: Path
    merge: Merge
    mend: Mend


class ChangedFiles(NamedTuple):
    """`changed` are files written, restored or removed; none if all was so already."""

    tool: str
    changed: tuple[Path, ...]


def install_hooks(tool: str, guarded: GuardedPaths, skill: bool = True) -> ChangedFiles:
    """Set up `tool` for the worktree that is `guarded`."""
    originals = OriginalFiles(guarded.workspace)
    if tool == "git":
        written = git_hook.install(guarded.worktree_root, originals)
        return ChangedFiles(tool, (written,) if written is not None else ())
    planned = [(file, _planned(file)) for file in _files(tool, guarded, skill)]
    done = [file.path for file, data in planned if originals.write(file.path, data, _mended(file))]
    return ChangedFiles(tool, tuple(done))


def uninstall_hooks(tool: str, guarded: GuardedPaths) -> ChangedFiles:
    """Take out what is ours; files nobody touched since are as they were, byte for byte."""
    originals = OriginalFiles(guarded.workspace)
    if tool == "git":
        undone = git_hook.uninstall(guarded.worktree_root, originals)
        return ChangedFiles(tool, (undone,) if undone is not None else ())
    mine = [file for file in _files(tool, guarded, skill=True) if not _shared(tool, file, guarded)]
    # Last in, first out: so the folders that were made for them are empty when their turn comes.
    done = [file.path for file in reversed(mine) if originals.restore(file.path, _mended(file))]
    return ChangedFiles(tool, tuple(done))


def is_installed(tool: str, guarded: GuardedPaths) -> bool:
    """Is all of it there? `moot run` asks before it starts a tool."""
    if tool == "git":
        return git_hook.is_present(git_hook.place_for(guarded.worktree_root))
    wanted = _files(tool, guarded, skill=False)
    return all(file.path.is_file() and _planned(file) == _bytes(file.path) for file in wanted)


def _files(tool: str, guarded: GuardedPaths, skill: bool) -> list[File]:
    made = _opencode(guarded) if tool == "opencode" else [_hooks(tool, guarded)]
    return [*made, _manual(tool, guarded)] if skill else made


def _hooks(tool: str, guarded: GuardedPaths) -> File:
    """Ours is taken out first, so that an older form of it is replaced and not doubled."""
    wanted = hook_entries.SETTINGS[tool]
    path = guarded.worktree_root / wanted.file

    def ours(said: str) -> bool:
        return hook_entries.is_ours(tool, said)

    def merge(before: str | None) -> str:
        document = json_settings.parse(before or "", str(path))
        added = hook_entries.entries(wanted)
        if before and all(_holds(document, event, one) for event, one in added.items()):
            return before
        clean = json_settings.without_hooks(document, ours)
        return json_settings.render(json_settings.with_hooks(clean, added, str(path)), before or "")

    def mend(now: str) -> str | None:
        document = json_settings.parse(now, str(path))
        return _left(json_settings.without_hooks(document, ours), document, now)

    return File(path, merge, mend)


def _holds(
    document: json_settings.Document, event: str, added: list[json_settings.Document]
) -> bool:
    hooks = document.get("hooks")
    there = hooks.get(event) if isinstance(hooks, dict) else None
    return isinstance(there, list) and all(entry in there for entry in added)


def _opencode(guarded: GuardedPaths) -> list[File]:
    path, plugin = guarded.worktree_root / OPENCODE_FILE, guarded.workspace / PLUGIN
    if not path.exists() and path.with_suffix(".jsonc").exists():
        raise Refused(
            "settings_unreadable",
            f"{path.with_suffix('.jsonc')} may hold comments, which merging would lose",
            hint=f'add "{_entry(guarded)}" to its "plugin" list yourself',
        )

    def merge(before: str | None) -> str:
        document = json_settings.parse(before or "", str(path))
        made = json_settings.with_item(document, "plugin", _entry(guarded), str(path))
        return before if before and made == document else json_settings.render(made, before or "")

    def mend(now: str) -> str | None:
        document = json_settings.parse(now, str(path))
        return _left(json_settings.without_item(document, "plugin", is_plugin), document, now)

    return [
        File(plugin, lambda _before: plugin_text(), lambda _now: None),
        File(path, merge, mend),
    ]


def _left(left: json_settings.Document, document: json_settings.Document, now: str) -> str | None:
    """What did not hold ours keeps its every byte."""
    if left == document:
        return now
    return json_settings.render(left, now) if left else None


def plugin_text() -> str:
    return Path(__file__).with_name(PLUGIN).read_text("utf-8")


def is_plugin(said: str) -> bool:
    return said.replace("\\", "/").endswith(f"/.moot/{PLUGIN}")


def _entry(guarded: GuardedPaths) -> str:
    """Relative in the main worktree; another worktree has no `.moot` of its own."""
    beside = guarded.workspace.parent == guarded.worktree_root
    return f"./.moot/{PLUGIN}" if beside else str(guarded.workspace / PLUGIN)


def _manual(tool: str, guarded: GuardedPaths) -> File:
    return File(
        guarded.worktree_root / manual.FILES[tool],
        lambda before: manual.with_manual(tool, before),
        lambda now: manual.without_manual(tool, now),
    )


def _shared(tool: str, file: File, guarded: GuardedPaths) -> bool:
    """A file that another installed tool still needs stays."""
    others = [one for one in manual.FILES if one != tool]
    same = [one for one in others if guarded.worktree_root / manual.FILES[one] == file.path]
    return any(_in_use(one, guarded) for one in same)


def _in_use(tool: str, guarded: GuardedPaths) -> bool:
    try:
        return is_installed(tool, guarded)
    except Refused:
        return True


def _planned(file: File) -> bytes:
    before = _bytes(file.path)
    return file.merge(None if before is None else _decoded(before, file.path)).encode()


def _mended(file: File) -> Callable[[bytes], bytes | None]:
    def mend(now: bytes) -> bytes | None:
        left = file.mend(_decoded(now, file.path))
        return None if left is None else left.encode()

    return mend


def _bytes(path: Path) -> bytes | None:
    return path.read_bytes() if os.path.lexists(path) else None


def _decoded(data: bytes, path: Path) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise Refused(
            "settings_unreadable", f"{path} is not UTF-8; it was not touched", hint="mend the file"
        ) from None
