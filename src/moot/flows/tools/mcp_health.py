"""Does a coding tool really start `moot mcp`? For `hook status`, `hook test` and `doctor`.

An entry that is there and does not work is worse than none: hooks tell the model to call tools that
nobody offers it, or the server acts in another workspace. Each row of `_FLAWS` is one such way.
"""

from __future__ import annotations

import shutil
import tomllib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec

from moot.core.errors import MootError
from moot.core.findings import Finding, Severity
from moot.flows.guard.guarded_paths import GuardedPaths, find_guarded_folder
from moot.flows.tools import mcp_entries
from moot.flows.tools.hook_files import read_document
from moot.flows.tools.mcp_files import CLAUDE_LOCAL, entry_file

# Claude Code does not start the servers of a project that stand in this list.
TURNED_DOWN: Final = "disabledMcpjsonServers"
_ANEW: Final = "`moot hook install {tool}` writes it anew"
_NO_TOOLS: Final = "its model has no tools of moot"


class EntryFlaw(NamedTuple):
    """What keeps an entry from working, and what to do about it."""

    code: str
    message: str
    hint: str


class FoundEntry(NamedTuple):
    """Our entry as it stands in a tool's settings: the words that start the server, if they can be
    read, and what keeps it from working."""

    file: Path
    command: tuple[str, ...]
    flaw: EntryFlaw | None


class _Entry(NamedTuple):
    tool: str
    entry: Mapping[str, Any]
    settings: Mapping[str, Any]
    command: tuple[str, ...]
    root: Path
    env: Mapping[str, str]


def find_entry(tool: str, guarded: GuardedPaths, env: Mapping[str, str]) -> FoundEntry | None:
    """Our entry in this worktree's settings; None if there is none, or the tool has no servers."""
    if tool not in mcp_entries.TOOLS:
        return None
    file = entry_file(tool, guarded)
    try:
        text = file.read_text("utf-8")
    except (OSError, ValueError):
        return None
    settings = _read_settings(tool, text)
    if settings is None:
        return FoundEntry(file, (), _unreadable(tool)) if _names_us(text) else None
    command = mcp_entries.read_entry(tool, text)
    if command is None:
        return None
    entry = settings[mcp_entries.TOOLS[tool].group or "mcp_servers"][mcp_entries.SERVER]
    looked_at = _Entry(tool, entry, settings, command, guarded.worktree_root, env)
    return FoundEntry(file, command, next(filter(None, (find(looked_at) for find in _FLAWS)), None))


def find_server_problems(
    folder: Path, env: Mapping[str, str], home: Path | None = None
) -> tuple[Finding, ...]:
    """What keeps entries for our server from working, in the worktree around `folder`."""
    try:
        guarded = find_guarded_folder(folder, home)
    except MootError:
        guarded = None
    return () if guarded is None else tuple(_problems(guarded, env))


def _problems(guarded: GuardedPaths, env: Mapping[str, str]) -> Iterator[Finding]:
    for tool in mcp_entries.TOOLS:
        found = find_entry(tool, guarded, env)
        if found is not None and found.flaw is not None:
            code, message, hint = found.flaw
            yield Finding(
                rule="mcp",
                code=code,
                message=message,
                severity=Severity.WARNING,
                where=str(found.file),
                hint=hint,
            )


def _read_settings(tool: str, text: str) -> dict[str, Any] | None:
    try:
        settings = tomllib.loads(text) if tool == "codex" else msgspec.json.decode(text)
    except ValueError:  # both kinds of decoding raise one
        return None
    return settings if isinstance(settings, dict) else None


def _names_us(text: str) -> bool:
    return f'"{mcp_entries.SERVER}"' in text or f"mcp_servers.{mcp_entries.SERVER}" in text


def _unreadable(tool: str) -> EntryFlaw:
    file = mcp_entries.TOOLS[tool].file
    form = "TOML" if tool == "codex" else "JSON"
    message = f"{file} is no {form} any more, so {tool} reads none of it: {_NO_TOOLS}"
    return EntryFlaw("mcp_unreadable", message, "mend the file by hand; nothing else does")


def _without_program(found: _Entry) -> EntryFlaw | None:
    program = found.command[0]
    if shutil.which(program, path=found.env.get("PATH")) is not None:
        return None
    message = f"{program} is not there, and {found.tool} starts it: {_NO_TOOLS}"
    return EntryFlaw("mcp_moot_missing", message, _ANEW.format(tool=found.tool))


def _switched_off(found: _Entry) -> EntryFlaw | None:
    if found.entry.get("enabled") is not False:
        return None
    message = f"`enabled` is false in the entry of {found.tool}: {_NO_TOOLS}"
    return EntryFlaw("mcp_switched_off", message, _ANEW.format(tool=found.tool))


def _turned_down(found: _Entry) -> EntryFlaw | None:
    if found.tool != "claude":
        return None
    named = read_document(found.root / CLAUDE_LOCAL).get(TURNED_DOWN)
    if not isinstance(named, list) or mcp_entries.SERVER not in named:
        return None
    message = f"{TURNED_DOWN} names it in {CLAUDE_LOCAL}: {_NO_TOOLS}"
    return EntryFlaw("mcp_switched_off", message, f"take it out of {TURNED_DOWN} there")


def _left_out(found: _Entry) -> EntryFlaw | None:
    """Gemini CLI has two lists of servers, of those it uses and of those it does not."""
    lists = found.settings.get("mcp") if found.tool == "gemini" else None
    if not isinstance(lists, dict):
        return None
    allowed, excluded = lists.get("allowed"), lists.get("excluded")
    if isinstance(excluded, list) and mcp_entries.SERVER in excluded:
        where, mend = "mcp.excluded", "take it out of mcp.excluded there"
    elif isinstance(allowed, list) and mcp_entries.SERVER not in allowed:
        where, mend = "mcp.allowed", "add it to mcp.allowed there"
    else:
        return None
    return EntryFlaw("mcp_switched_off", f"{where} of gemini leaves it out: {_NO_TOOLS}", mend)


def _without_variables(found: _Entry) -> EntryFlaw | None:
    """Codex and Gemini CLI hand on only what is named: without it the server is somebody else."""
    name = {"codex": "env_vars", "gemini": "env"}.get(found.tool)
    handed_on = found.entry.get(name) if name else mcp_entries.VARIABLES
    known = handed_on if isinstance(handed_on, list | tuple | dict) else ()
    missing = [variable for variable in mcp_entries.VARIABLES if variable not in known]
    if not missing:
        return None
    message = f"{name} of {found.tool} lacks {', '.join(missing)}: the server acts as another agent"
    return EntryFlaw("mcp_variables_missing", message, _ANEW.format(tool=found.tool))


_FLAWS: Final[tuple[Callable[[_Entry], EntryFlaw | None], ...]] = (
    _without_program,
    _switched_off,
    _turned_down,
    _left_out,
    _without_variables,
)
