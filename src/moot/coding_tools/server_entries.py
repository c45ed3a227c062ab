"""The entry that tells a coding tool to start `moot mcp`, in settings that are JSON.

The functions take a settings file as text and return it with or without our entry. They change no
other entry; an entry called `moot` that is not ours is kept and reported.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from moot.core.errors import Malformed, Refused

if TYPE_CHECKING:
    from moot.coding_tools.tool import CodingTool

SERVER: Final = "moot"
# Variables that the server needs to be the same agent in the same workspace.
VARIABLES: Final = ("MOOT_AGENT", "MOOT_EPOCH", "MOOT_HOME", "MOOT_KEYS")
NO_TOOLS: Final = "its model has no tools of moot"


class EntryFlaw(NamedTuple):
    """A problem that keeps an entry from working, and its fix."""

    code: str
    message: str
    hint: str


class FoundServer(NamedTuple):
    """Our entry, its settings file, the words that start the server, and whom it serves."""

    entry: Mapping[str, Any]
    settings: Mapping[str, Any]
    command: tuple[str, ...]
    root: Path
    env: Mapping[str, str]


def add_to_text(
    tool: CodingTool, text: str, command: Sequence[str], *, trust: bool, where: str
) -> str:
    from moot.coding_tools import json_settings

    document = json_settings.parse(text, where)
    trusted = trust or _is_trusted(tool, document)
    made = add_to_json(tool, document, tool.make_server_entry(command, trust=trusted))
    return text if text and made == document else json_settings.render(made, text)


def remove_from_text(tool: CodingTool, text: str, where: str) -> str | None:
    from functools import partial

    from moot.coding_tools.settings import take_out

    return take_out(where, partial(remove_from_json, tool), text)


def add_to_json(
    tool: CodingTool, settings: Mapping[str, Any], entry: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the settings with our entry; Refused if another server has our name there."""
    servers = settings.get(tool.server_group, {})
    if not isinstance(servers, dict):
        raise Malformed(
            f"{tool.server_group} is no object",
            code="bad_settings",
            hint=f"fix {tool.server_file} first",
        )
    known = servers.get(SERVER)
    if known is not None and not is_ours(known):
        raise Refused(
            "mcp_name_taken",
            f"{tool.server_file} has another server called {SERVER}",
            hint=f"rename it there, or add `{SERVER} mcp` under another name by hand",
        )
    return {**settings, tool.server_group: {**servers, SERVER: dict(entry)}}


def remove_from_json(tool: CodingTool, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings without our entry, and without its group if that is then empty."""
    group = tool.server_group
    servers = settings.get(group)
    if not isinstance(servers, dict) or not is_ours(servers.get(SERVER)):
        return dict(settings)
    others = {name: entry for name, entry in servers.items() if name != SERVER}
    rest = {name: value for name, value in settings.items() if name != group}
    return {**rest, group: others} if others else rest


def _is_trusted(tool: CodingTool, document: Mapping[str, Any]) -> bool:
    """Keep an earlier consent of the user."""
    entry = find_entry(tool, document)
    return entry is not None and entry.get("trust") is True


def find_entry(tool: CodingTool, settings: Any) -> Mapping[str, Any] | None:
    """Return the entry with our name, even if it is not ours."""
    servers = settings.get(tool.server_group) if isinstance(settings, dict) else None
    entry = servers.get(SERVER) if isinstance(servers, dict) else None
    return entry if isinstance(entry, dict) else None


def is_ours(entry: Any) -> bool:
    """Return whether this entry starts `moot mcp`, whatever the path to it."""
    words = words_of(entry) if isinstance(entry, Mapping) else ()
    return len(words) > 1 and words[-1] == "mcp"


def words_of(entry: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the words with which an entry starts its server."""
    command, args = entry.get("command"), entry.get("args") or []
    return (*([command] if isinstance(command, str) else command or []), *args)


def read_command(tool: CodingTool, text: str) -> tuple[str, ...] | None:
    """Return the words with which a tool's settings start our server; None if they do not."""
    try:
        entry = find_entry(tool, tool.read_server_settings(text))
    except ValueError:
        return None
    return words_of(entry) if entry is not None and is_ours(entry) else None


def needs_consent(tool: CodingTool, entry: Mapping[str, Any] | None = None) -> str | None:
    """Return what a person may add so that the tool does not ask; None if there is nothing to
    add."""
    if not tool.consent or (entry or {}).get("trust"):
        return None
    return f"to be asked no more: {tool.consent} in {tool.consent_place}"
