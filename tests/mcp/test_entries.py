"""How each tool is told to start the server: added, found again, taken out, no more than that."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest

from moot.core.errors import Malformed, Refused
from moot.flows.tools import mcp_entries
from moot.flows.tools.mcp_entries import VARIABLES

COMMAND = ("/opt/moot/bin/moot", "mcp")
WITH_JSON = ("claude", "gemini", "opencode")
OTHER = {"command": "other", "args": ["serve"]}


@pytest.mark.parametrize("tool", WITH_JSON)
def test_an_entry_is_added_beside_others_and_taken_out_again(tool: str) -> None:
    group = mcp_entries.TOOLS[tool].group
    for before in ({}, {"theme": "dark"}, {group: {"other": OTHER}, "x": [1]}):
        entry = mcp_entries.make_entry(tool, COMMAND)
        added = mcp_entries.add_to_json(before, tool, entry)
        assert added[group]["moot"] == entry
        assert mcp_entries.is_ours(entry)
        assert mcp_entries.add_to_json(added, tool, entry) == added
        assert mcp_entries.remove_from_json(added, tool) == before


@pytest.mark.parametrize("tool", WITH_JSON)
def test_another_server_of_our_name_is_kept(tool: str) -> None:
    group = mcp_entries.TOOLS[tool].group
    before: dict[str, Any] = {group: {"moot": OTHER}}
    with pytest.raises(Refused) as refused:
        mcp_entries.add_to_json(before, tool, mcp_entries.make_entry(tool, COMMAND))
    assert refused.value.code == "mcp_name_taken"
    assert mcp_entries.remove_from_json(before, tool) == before


def test_settings_of_another_shape_are_refused() -> None:
    with pytest.raises(Malformed) as refused:
        mcp_entries.add_to_json({"mcpServers": []}, "claude", OTHER)
    assert refused.value.code == "bad_settings"


def test_each_tool_hands_on_the_variables_it_would_drop() -> None:
    assert "env" not in mcp_entries.make_entry("claude", COMMAND)
    assert mcp_entries.make_entry("opencode", COMMAND)["command"] == list(COMMAND)
    gemini = mcp_entries.make_entry("gemini", COMMAND)
    assert gemini["env"] == {name: f"${name}" for name in VARIABLES}
    assert "trust" not in gemini
    codex = tomllib.loads(mcp_entries.make_toml_entry(COMMAND))["mcp_servers"]["moot"]
    assert (codex["command"], codex["args"]) == ("/opt/moot/bin/moot", ["mcp"])
    assert codex["env_vars"] == list(VARIABLES)


def test_trust_is_written_only_on_a_person_s_yes() -> None:
    asked = mcp_entries.make_entry("gemini", COMMAND, trust=True)
    assert asked["trust"] is True
    assert mcp_entries.needs_consent("gemini", asked) is None
    assert '"trust": true' in str(mcp_entries.needs_consent("gemini"))
    assert "mcp__moot" in str(mcp_entries.needs_consent("claude"))
    assert mcp_entries.needs_consent("opencode") is None


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
    added = mcp_entries.add_to_toml(before, COMMAND)
    read = tomllib.loads(added)
    assert read["mcp_servers"]["moot"]["command"] == "/opt/moot/bin/moot"
    assert added.startswith(before)
    assert mcp_entries.add_to_toml(added, COMMAND) == added
    assert mcp_entries.remove_from_toml(added).rstrip("\n") == before.rstrip("\n")
    moved = f"{added}\n[last]\nx = 1\n"
    without = mcp_entries.remove_from_toml(moved)
    assert tomllib.loads(without) == {**tomllib.loads(before), "last": {"x": 1}}


def test_another_table_of_our_name_is_kept() -> None:
    before = '[mcp_servers.moot]\ncommand = "other"\nargs = ["serve"]\n'
    assert mcp_entries.remove_from_toml(before) == before
    with pytest.raises(Refused) as refused:
        mcp_entries.add_to_toml(before, COMMAND)
    assert refused.value.code == "mcp_name_taken"
