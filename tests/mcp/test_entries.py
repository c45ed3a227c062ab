"""How each tool is told to start the server: added, found again, taken out, no more than that."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest

from moot.coding_tools import codex, find_tool, server_entries
from moot.coding_tools.server_entries import VARIABLES
from moot.core.errors import Malformed, Refused

COMMAND = ("/opt/moot/bin/moot", "mcp")
WITH_JSON = ("claude", "gemini", "opencode")
OTHER = {"command": "other", "args": ["serve"]}


def add_to_toml(text: str) -> str:
    return codex.TOOL.add_server(text, COMMAND, trust=False, where="config.toml")


@pytest.mark.parametrize("tool", WITH_JSON)
def test_an_entry_is_added_beside_others_and_taken_out_again(tool: str) -> None:
    group = find_tool(tool).server_group
    for before in ({}, {"theme": "dark"}, {group: {"other": OTHER}, "x": [1]}):
        entry = find_tool(tool).make_server_entry(COMMAND)
        added = server_entries.add_to_json(find_tool(tool), before, entry)
        assert added[group]["moot"] == entry
        assert server_entries.is_ours(entry)
        assert server_entries.add_to_json(find_tool(tool), added, entry) == added
        assert server_entries.remove_from_json(find_tool(tool), added) == before


@pytest.mark.parametrize("tool", WITH_JSON)
def test_another_server_of_our_name_is_kept(tool: str) -> None:
    group = find_tool(tool).server_group
    before: dict[str, Any] = {group: {"moot": OTHER}}
    with pytest.raises(Refused) as refused:
        server_entries.add_to_json(
            find_tool(tool), before, find_tool(tool).make_server_entry(COMMAND)
        )
    assert refused.value.code == "mcp_name_taken"
    assert server_entries.remove_from_json(find_tool(tool), before) == before


def test_settings_of_another_shape_are_refused() -> None:
    with pytest.raises(Malformed) as refused:
        server_entries.add_to_json(find_tool("claude"), {"mcpServers": []}, OTHER)
    assert refused.value.code == "bad_settings"


def test_each_tool_hands_on_the_variables_it_would_drop() -> None:
    assert "env" not in find_tool("claude").make_server_entry(COMMAND)
    assert find_tool("opencode").make_server_entry(COMMAND)["command"] == list(COMMAND)
    gemini = find_tool("gemini").make_server_entry(COMMAND)
    assert gemini["env"] == {name: f"${name}" for name in VARIABLES}
    assert "trust" not in gemini
    table = tomllib.loads(codex.make_table(COMMAND))["mcp_servers"]["moot"]
    assert (table["command"], table["args"]) == ("/opt/moot/bin/moot", ["mcp"])
    assert table["env_vars"] == list(VARIABLES)


def test_trust_is_written_only_on_a_person_s_yes() -> None:
    asked = find_tool("gemini").make_server_entry(COMMAND, trust=True)
    assert asked["trust"] is True
    assert server_entries.needs_consent(find_tool("gemini"), asked) is None
    assert '"trust": true' in str(server_entries.needs_consent(find_tool("gemini")))
    assert "mcp__moot" in str(server_entries.needs_consent(find_tool("claude")))
    assert server_entries.needs_consent(find_tool("opencode")) is None


@pytest.mark.parametrize(
    "before",
    [
        "",
        "# mine\nmodel = 'x'\n",
        "model = 'x'",
        "[mcp_servers.other]\ncommand = 'a'\n\n[tools]\nweb = true\n",
    ],
)
def test_a_toml_table_is_added_and_taken_out(before: str) -> None:
    added = add_to_toml(before)
    read = tomllib.loads(added)
    assert read["mcp_servers"]["moot"]["command"] == "/opt/moot/bin/moot"
    assert added.startswith(before)
    assert add_to_toml(added) == added
    assert codex.remove_table(added).rstrip("\n") == before.rstrip("\n")
    moved = f"{added}\n[last]\nx = 1\n"
    without = codex.remove_table(moved)
    assert tomllib.loads(without) == {**tomllib.loads(before), "last": {"x": 1}}


def test_another_table_of_our_name_is_kept() -> None:
    before = '[mcp_servers.moot]\ncommand = "other"\nargs = ["serve"]\n'
    assert codex.remove_table(before) == before
    with pytest.raises(Refused) as refused:
        add_to_toml(before)
    assert refused.value.code == "mcp_name_taken"
