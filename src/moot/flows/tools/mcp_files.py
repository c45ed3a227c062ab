"""The files that tell a coding tool to start `moot mcp`: ours is put in and taken out beside hooks.

The entry is written for this clone alone, into the project's file if git does not have that file:
it names this very moot by its path. Where it cannot be written, the hooks are all the same, and
`why_not` says what a person may do.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

from moot.core.errors import MootError
from moot.core.findings import Finding, Severity
from moot.flows.guard.guarded_paths import GuardedPaths
from moot.flows.tools import hook_files, json_settings, mcp_entries
from moot.flows.tools.hook_command import moot_words
from moot.flows.tools.hook_files import InstalledFile
from moot.flows.tools.original_files import bytes_of
from moot.flows.tools.settings_files import Reach, project_file
from moot.flows.tools.worktrees import is_tracked

# Claude Code starts the servers of a project that stand in this list of its local settings.
ENABLED: Final = "enabledMcpjsonServers"
CLAUDE_LOCAL: Final = ".claude/settings.local.json"


class PlannedEntry(NamedTuple):
    """What is to be written; nothing, and the reason, if it cannot be."""

    files: list[InstalledFile]
    why_not: Finding | None = None


def entry_file(tool: str, guarded: GuardedPaths) -> Path:
    """The project's file in which this tool looks for servers.

    In every worktree its own: Codex too, which reads the hooks of the main checkout there.
    """
    return guarded.worktree_root / mcp_entries.TOOLS[tool].file


def plan_entry(tool: str, guarded: GuardedPaths, *, share: bool, trust: bool) -> PlannedEntry:
    """How the entry gets in. `trust` is a person's yes to what the tool would ask them."""
    path = entry_file(tool, guarded)
    is_shared = share or (
        path == project_file(tool, guarded) and hook_files.is_shared(tool, guarded)
    )
    if is_shared:
        return _not_planned(path, "mcp_not_shared", "lines that everyone gets name no server")
    if is_tracked(path, guarded.worktree_root):
        return _not_planned(path, "mcp_file_in_git", f"{path.name} is in git, so it is not touched")
    entry = _entry(tool, path, trust)
    try:
        hook_files.planned(entry)
    except MootError as error:
        return _not_planned(path, error.code, str(error), error.hint or "")
    enabling = [_enabling(guarded)] if tool == "claude" and trust else []
    return PlannedEntry([entry, *enabling])


def _not_planned(path: Path, code: str, message: str, hint: str = "") -> PlannedEntry:
    hint = hint or "add the server by hand as docs/mcp.md shows"
    where = str(path)
    why = Finding(
        rule="mcp", code=code, message=message, hint=hint, severity=Severity.INFO, where=where
    )
    return PlannedEntry([], why)


def files_with_entry(tool: str, guarded: GuardedPaths) -> list[InstalledFile]:
    """Every file of the tool that has something of our server; each can be read."""
    path = entry_file(tool, guarded)
    files = [_entry(tool, path, False)] if _read_entry(tool, path) is not None else []
    if tool == "claude":
        local = hook_files.read_document(guarded.worktree_root / CLAUDE_LOCAL)
        named = local.get(ENABLED)
        if isinstance(named, list) and mcp_entries.SERVER in named:
            files.append(_enabling(guarded))
    return files


def find_consent(tool: str, guarded: GuardedPaths) -> str | None:
    """What the user may add so that the tool does not ask; None if there is nothing to add."""
    servers = hook_files.read_document(entry_file(tool, guarded)).get(mcp_entries.TOOLS[tool].group)
    entry = servers.get(mcp_entries.SERVER) if isinstance(servers, dict) else None
    return mcp_entries.needs_consent(tool, entry if isinstance(entry, dict) else None)


def join_files(
    files: Sequence[InstalledFile], more: Sequence[InstalledFile]
) -> list[InstalledFile]:
    """All of them, with what is put into one and the same file put in together."""
    joined = {file.path: file for file in files}
    for file in more:
        known = joined.get(file.path)
        joined[file.path] = file if known is None else _join(known, file)
    return list(joined.values())


def without_entry(file: InstalledFile) -> InstalledFile:
    """The same file, in which something of ours is taken out where it would be put in."""

    def merge(before: str | None) -> str:
        return "" if before is None else file.mend(before) or ""

    return file._replace(merge=merge)


def _join(one: InstalledFile, two: InstalledFile) -> InstalledFile:
    def merge(before: str | None) -> str:
        return two.merge(one.merge(before))

    def mend(now: str) -> str | None:
        left = one.mend(now)
        return None if left is None else two.mend(left)

    return one._replace(merge=merge, mend=mend)


def _read_entry(tool: str, path: Path) -> tuple[str, ...] | None:
    try:
        data = bytes_of(path)
        return None if data is None else mcp_entries.read_entry(tool, data.decode())
    except (MootError, UnicodeDecodeError):
        return None


def _entry(tool: str, path: Path, trust: bool) -> InstalledFile:
    command = (*moot_words(), "mcp")
    if tool == "codex":
        return InstalledFile(
            path,
            lambda before: mcp_entries.add_to_toml(before or "", command),
            lambda now: mcp_entries.remove_from_toml(now) or None,
            Reach.PROJECT,
        )
    where = str(path)

    def merge(before: str | None) -> str:
        document = json_settings.parse(before or "", where)
        entry = mcp_entries.make_entry(tool, command, trust=trust or _is_trusted(tool, document))
        made = mcp_entries.add_to_json(document, tool, entry)
        return before if before and made == document else json_settings.render(made, before or "")

    mend = partial(_mend_json, where, lambda one: mcp_entries.remove_from_json(one, tool))
    return InstalledFile(path, merge, mend, Reach.PROJECT)


def _is_trusted(tool: str, document: json_settings.Document) -> bool:
    """A person's yes of before stays."""
    servers = document.get(mcp_entries.TOOLS[tool].group)
    entry = servers.get(mcp_entries.SERVER) if isinstance(servers, dict) else None
    return isinstance(entry, dict) and entry.get("trust") is True


def _enabling(guarded: GuardedPaths) -> InstalledFile:
    path = guarded.worktree_root / CLAUDE_LOCAL
    where = str(path)

    def merge(before: str | None) -> str:
        document = json_settings.parse(before or "", where)
        made = json_settings.with_item(document, ENABLED, mcp_entries.SERVER, where)
        return before if before and made == document else json_settings.render(made, before or "")

    def without(document: json_settings.Document) -> json_settings.Document:
        return json_settings.without_item(document, ENABLED, lambda one: one == mcp_entries.SERVER)

    return InstalledFile(path, merge, partial(_mend_json, where, without), Reach.LOCAL)


def _mend_json(where: str, without: json_settings.Change, now: str) -> str | None:
    document = json_settings.parse(now, where)
    left = without(document)
    if left == document:
        return now
    return json_settings.render(left, now) if left else None
