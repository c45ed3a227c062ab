"""What depends on which coding tool it is stands in that tool's module, and nowhere else."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest

from moot.coding_tools import NAMES, all_tools, is_settings_name
from tests.tidy.source import modules

# Where a tool is named all the same, and why.
NAMED: dict[str, str] = {
    "protocols.mail.message": "a thread's subject names roles by the model that plays them",
    "surfaces.demo.stage": "the demonstration shows the hook of one tool",
}


def named_tools(tree: ast.AST) -> Iterator[str]:
    """Every text in the code that is a tool's name: compared with, a key, or a member."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and node.value in NAMES:
            yield f"{node.lineno} {node.value}"


def test_no_other_module_names_a_coding_tool() -> None:
    named = {
        module.name: found
        for module in modules()
        if module.top != "coding_tools" and (found := list(named_tools(module.tree)))
    }
    assert {name: found for name, found in named.items() if name not in NAMED} == {}
    assert set(NAMED) == set(named), "an exception is needed no more"


@pytest.mark.parametrize(
    "code",
    [
        'tool == "codex"',
        'tool in ("claude", "other")',
        'TABLE = {"gemini": 1}',
        'MARKS = {"SOME_VARIABLE": "opencode"}',
        'known.get("claude")',
        'match tool:\n case "codex": pass',
    ],
)
def test_a_comparison_or_a_table_would_be_found(code: str) -> None:
    assert list(named_tools(ast.parse(code)))


def test_a_text_that_only_mentions_a_tool_is_none() -> None:
    assert list(named_tools(ast.parse('hint = "start it with `moot run -- codex`"'))) == []


def test_tools_do_not_name_each_other() -> None:
    named = {
        module.name: {found.split()[1] for found in named_tools(module.tree)}
        for module in modules()
        if module.top == "coding_tools" and module.name != "coding_tools"
    }
    assert {name: found for name, found in named.items() if found} == {
        f"coding_tools.{name}": {name} for name in NAMES
    }


def test_every_file_that_may_carry_hooks_is_known_by_its_name() -> None:
    """So that an edit of any other file loads no tool."""
    for tool in all_tools():
        files = {tool.settings_file, tool.local_file or "", tool.user_file[2]}
        names = {file.rpartition("/")[2] for file in files if file}
        assert names <= set(tool.carriers)
        assert all(is_settings_name(name.lower()) for name in tool.carriers)
