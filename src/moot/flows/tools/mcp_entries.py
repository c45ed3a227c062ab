"""How each coding tool is told to start `moot mcp`: which file, which entry, which variables.

Pure: a settings file goes in as text or as its decoded value, and comes out with our entry, or
without it. What only a person may do (allow rules, trust) is said as a sentence and written only on
their yes. Nobody else's entry is touched; one called `moot` that is not ours is kept, and said so.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from moot.core.errors import Malformed, Refused

SERVER: Final = "moot"
# What the server must find to be the same agent in the same workspace.
VARIABLES: Final = ("MOOT_AGENT", "MOOT_EPOCH", "MOOT_HOME", "MOOT_KEYS")
# What a model calls one of our tools, by the coding tool that offers it.
CALL_NAMES: Final[Mapping[str, str]] = {
    "claude": "mcp__moot__{}",
    "codex": "mcp__moot.{}",
    "gemini": "mcp_moot_{}",
    "opencode": "moot_{}",
}
_TOML_TABLE: Final = f"[mcp_servers.{SERVER}]"
_TOML_ENTRY: Final = re.compile(
    rf"(?ms)^[ \t]*\[[ \t]*mcp_servers[ \t]*\.[ \t]*\"?{SERVER}\"?[ \t]*\]"
    r"[^\n]*\n.*?(?=^[ \t]*\[|\Z)"
)


class McpSettings(msgspec.Struct, frozen=True):
    """Where a tool reads its servers, and what it asks before a call.

    `file` is relative to the project. `group` is the key under which servers stand by name; empty
    for TOML. `consent` is what a person may add so that it does not ask, `consent_place` where.
    """

    tool: str
    file: str
    group: str
    asks: str
    consent: str = ""
    consent_place: str = ""


TOOLS: Final[Mapping[str, McpSettings]] = {
    "claude": McpSettings(
        "claude",
        ".mcp.json",
        "mcpServers",
        asks="once whether this project's server may be used, then before each tool",
        consent='"permissions": {"allow": ["mcp__moot"]}',
        consent_place="your own settings (~/.claude/settings.json), not the project's",
    ),
    "codex": McpSettings(
        "codex",
        ".codex/config.toml",
        "",
        asks="nothing in a trusted project: the tools say that they destroy nothing",
        consent="the project is trusted",
        consent_place="what Codex asks when it starts here first",
    ),
    "gemini": McpSettings(
        "gemini",
        ".gemini/settings.json",
        "mcpServers",
        asks="before each tool; with `-p` it offers no tool at all unless the server is trusted",
        consent='"trust": true',
        consent_place="the entry of the server itself",
    ),
    "opencode": McpSettings("opencode", "opencode.json", "mcp", asks="nothing"),
}


def make_entry(tool: str, command: Sequence[str], *, trust: bool = False) -> dict[str, Any]:
    """The entry of our server for a tool with JSON settings; `command` starts `moot mcp`.

    Claude Code and opencode hand on their whole environment. Gemini CLI drops names that look like
    secrets, so the variables are named one by one. `trust` is a person's yes (Gemini CLI).
    """
    program, *words = command
    if tool == "opencode":
        return {"type": "local", "command": list(command), "enabled": True}
    entry: dict[str, Any] = {"command": program, "args": words}
    if tool == "gemini":
        entry["env"] = {name: f"${name}" for name in VARIABLES}
        if trust:
            entry["trust"] = True
    return entry


def make_toml_entry(command: Sequence[str]) -> str:
    """The entry for Codex, which hands on only HOME, PATH and the like unless told otherwise."""
    program, *words = command
    return (
        f"{_TOML_TABLE}\n"
        f"command = {_toml(program)}\n"
        f"args = {_toml(words)}\n"
        f"env_vars = {_toml(VARIABLES)}\n"
    )


def _toml(value: str | Sequence[str]) -> str:
    """A text or a list of texts: JSON's form of both is TOML's, too."""
    return msgspec.json.encode(value).decode()


def add_to_json(settings: Mapping[str, Any], tool: str, entry: Mapping[str, Any]) -> dict[str, Any]:
    """The settings with our entry; Refused if another server has our name there."""
    group = TOOLS[tool].group
    servers = settings.get(group, {})
    if not isinstance(servers, dict):
        raise Malformed(
            f"{group} is no object", code="bad_settings", hint=f"mend {TOOLS[tool].file} first"
        )
    known = servers.get(SERVER)
    if known is not None and not is_ours(known):
        raise Refused(
            "mcp_name_taken",
            f"{TOOLS[tool].file} has another server called {SERVER}",
            hint=f"rename it there, or add `{SERVER} mcp` under another name by hand",
        )
    return {**settings, group: {**servers, SERVER: dict(entry)}}


def remove_from_json(settings: Mapping[str, Any], tool: str) -> dict[str, Any]:
    """The settings without our entry; a group that only held it goes, too."""
    group = TOOLS[tool].group
    servers = settings.get(group)
    if not isinstance(servers, dict) or not is_ours(servers.get(SERVER)):
        return dict(settings)
    others = {name: entry for name, entry in servers.items() if name != SERVER}
    rest = {name: value for name, value in settings.items() if name != group}
    return {**rest, group: others} if others else rest


def add_to_toml(text: str, command: Sequence[str]) -> str:
    """Codex's settings with our table; everything else stays to the letter."""
    without = remove_from_toml(text)
    if _TOML_ENTRY.search(without):
        raise Refused(
            "mcp_name_taken",
            f"{TOOLS['codex'].file} has another server called {SERVER}",
            hint="rename it there first",
        )
    gap = "" if not without or without.endswith("\n\n") else "\n"
    gap = f"\n{gap}" if without and not without.endswith("\n") else gap
    added = f"{without}{gap}{make_toml_entry(command)}"
    _require_only_ours_changed(text, added)
    return added


def _require_only_ours_changed(before: str, after: str) -> None:
    """TOML can say the same in many ways: whatever we do not see through is not touched."""
    if _without_ours(before, "is no TOML") != _without_ours(after, "names its servers in a way"):
        raise _toml_refused("names its servers in a way that ours does not fit into")


def _without_ours(text: str, why_not: str) -> dict[str, Any]:
    import tomllib

    try:
        settings = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise _toml_refused(f"{why_not} ({error})") from None
    servers = settings.pop("mcp_servers", {})
    others = {name: entry for name, entry in servers.items() if name != SERVER}
    return {**settings, **({"mcp_servers": others} if others else {})}


def _toml_refused(why: str) -> Refused:
    file = TOOLS["codex"].file
    return Refused(
        "settings_unreadable",
        f"{file} {why}; it was not touched",
        hint="add the server by hand as docs/mcp.md shows",
    )


def remove_from_toml(text: str) -> str:
    """The same without our table, if it is ours."""
    found = _TOML_ENTRY.search(text)
    if found is None or "mcp" not in _words_of_toml(found[0]):
        return text
    before, after = text[: found.start()], text[found.end() :]
    return before.rstrip("\n") + "\n" * bool(before.strip()) + ("\n" + after if after else "")


def _words_of_toml(table: str) -> list[str]:
    import tomllib

    try:
        entry = tomllib.loads(table)["mcp_servers"][SERVER]
        return [*entry.get("args", ())]
    except (tomllib.TOMLDecodeError, KeyError, TypeError, AttributeError):
        return []


def is_ours(entry: Any) -> bool:
    """Does this entry start `moot mcp`, whatever the path to it?"""
    if not isinstance(entry, Mapping):
        return False
    words = _words_of(entry)
    return len(words) > 1 and words[-1] == "mcp"


def read_entry(tool: str, text: str) -> tuple[str, ...] | None:
    """The words with which a tool's settings start our server; None if they do not."""
    if tool == "codex":
        import tomllib

        try:
            settings = tomllib.loads(text)
        except tomllib.TOMLDecodeError:
            return None
    else:
        try:
            settings = msgspec.json.decode(text)
        except (msgspec.DecodeError, ValueError):
            return None
    group = TOOLS[tool].group or "mcp_servers"
    servers = settings.get(group) if isinstance(settings, dict) else None
    entry = servers.get(SERVER) if isinstance(servers, dict) else None
    return _words_of(entry) if isinstance(entry, dict) and is_ours(entry) else None


def _words_of(entry: Mapping[str, Any]) -> tuple[str, ...]:
    command, args = entry.get("command"), entry.get("args") or []
    return (*([command] if isinstance(command, str) else command or []), *args)


def needs_consent(tool: str, entry: Mapping[str, Any] | None = None) -> str | None:
    """What a person may add so that the tool does not ask; None if there is nothing to add."""
    settings = TOOLS[tool]
    if not settings.consent or (entry or {}).get("trust"):
        return None
    return f"to be asked no more: {settings.consent} in {settings.consent_place}"
