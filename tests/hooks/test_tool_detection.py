"""Which coding tool a command line starts: behind every wrapper, and never by accident."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from shlex import join, quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.coding_tools import NAMES as HOOK_TOOLS
from moot.coding_tools.started_tools import UNWRAP, find_program_paths, find_started_tools
from moot.coding_tools.starts import StartedTool
from moot.core.shell_words import MOST_STEPS

FOLDER = "/project"
ENV = {"PATH": "/bin", "HOME": "/home/me", "CODEX_HOME": "/old", "TOOL": "claude"}


def no_paths(_word: str, _env: Mapping[str, str], _folder: str) -> tuple[str, ...]:
    return ()


def started(*words: str) -> list[tuple[str, tuple[str, ...]]]:
    return [(one.tool, one.arguments) for one in tools(*words)]


def tools(*words: str) -> tuple[StartedTool, ...]:
    return find_started_tools(words, ENV, FOLDER, no_paths)


WRAPPED = [
    "claude -p hello",
    "/opt/bin/claude -p hello",
    "env claude -p hello",
    "env -i A=b PATH=/bin claude -p hello",
    "env -u A --unset=B -C /elsewhere -- claude -p hello",
    "env -S 'A=b claude' -p hello",
    "timeout 10 claude -p hello",
    "timeout -k 5 --signal=KILL 10m claude -p hello",
    "nice claude -p hello",
    "nice -n 5 claude -p hello",
    "nice -n5 claude -p hello",
    "nice -5 claude -p hello",
    "nohup claude -p hello",
    "setsid -w claude -p hello",
    "stdbuf -oL -e 0 claude -p hello",
    "ionice -c 3 claude -p hello",
    "time -p claude -p hello",
    "caffeinate -i claude -p hello",
    "sudo -u me -E A=b claude -p hello",
    "npx @anthropic-ai/claude-code -p hello",
    "npx -y @anthropic-ai/claude-code@2.1.197 -p hello",
    "npx --yes --package @anthropic-ai/claude-code claude -p hello",
    "npx -c 'claude -p hello'",
    "npm exec -- @anthropic-ai/claude-code -p hello",
    "npm x @anthropic-ai/claude-code -- -p hello",
    "bunx @anthropic-ai/claude-code@latest -p hello",
    "bun x @anthropic-ai/claude-code -p hello",
    "pnpm dlx @anthropic-ai/claude-code -p hello",
    "pnpm exec claude -p hello",
    "yarn dlx @anthropic-ai/claude-code -p hello",
    "uvx claude -p hello",
    "uvx --from thing claude -p hello",
    "uv tool run claude -p hello",
    "deno run -A npm:@anthropic-ai/claude-code@2 -p hello",
    "node /usr/lib/node_modules/@anthropic-ai/claude-code/cli.js -p hello",
    "node --no-warnings -r hook.js /opt/claude-code/cli.js -p hello",
    "bash -c 'exec claude -p hello'",
    "sh -lc 'claude -p hello'",
    "zsh -i -c 'cd x && A=b claude -p hello; echo done'",
    "bash -euo pipefail -c 'set -x; claude -p hello'",
    "bash -o pipefail -c 'claude -p hello 2>/dev/null | tee log'",
    "bash -c 'exec \"$@\"' name claude -p hello",
    "bash -c '\"$0\" -p hello' claude",
    "bash -c '$TOOL -p hello'",
    "bash -c 'if true; then claude -p hello; fi'",
    "bash -c 'echo start\nclaude -p hello'",
    "mise exec node@22 -- claude -p hello",
    "env A=b timeout 5 nice -n 3 bash -c 'exec env C=d npx -y @anthropic-ai/claude-code -p hello'",
]


@pytest.mark.parametrize("line", WRAPPED)
def test_the_tool_behind_a_wrapper_is_found_with_its_own_arguments(line: str) -> None:
    import shlex

    assert started(*shlex.split(line)) == [("claude", ("-p", "hello"))]


@pytest.mark.parametrize(
    ("package", "tool"),
    [
        ("@anthropic-ai/claude-code", "claude"),
        ("@openai/codex@0.166.0", "codex"),
        ("@google/gemini-cli", "gemini"),
        ("opencode-ai@latest", "opencode"),
    ],
)
def test_every_tool_has_its_package(package: str, tool: str) -> None:
    (one,) = tools("npx", "-y", package, "--version")
    assert (one.tool, one.arguments) == (tool, ("--version",))
    assert one.command == ("npx", "-y", package)


@pytest.mark.parametrize(
    "line",
    [
        "true",
        "python claude.py",
        "cat claude",
        "vim codex",
        "grep gemini notes.txt",
        "echo claude",
        "bash build.sh",
        "bash",
        "bash -c",
        "bash -c 'echo claude'",
        "bash -c 'unclosed",
        "npx",
        "npx eslint codex",
        "npm run claude",
        "pnpm install opencode-ai",
        "env",
        "env A=b",
        "timeout 10",
        "node",
        "node server.js claude",
        "git commit -m claude",
        "/srv/opencode-ai/bin/python",
        "claude-squad",
        "mise exec claude",
        "",
    ],
)
def test_other_programs_start_no_tool(line: str) -> None:
    words = line.split(" ") if "'" in line else line.split()
    assert started(*words) == []


def test_every_tool_of_a_shells_text_is_found() -> None:
    assert started("sh", "-c", "claude -p a && codex exec b; (gemini)") == [
        ("claude", ("-p", "a")),
        ("codex", ("exec", "b")),
        ("gemini", ()),
    ]
    assert started("sh", "-c", 'x=$(claude -p a) && echo "$(codex exec b)" # gemini') == [
        ("claude", ("-p", "a")),
        ("codex", ("exec", "b")),
    ]


def test_a_quoted_variable_is_a_text() -> None:
    assert started("sh", "-c", "'$TOOL' -p hello") == []
    assert started("sh", "-c", '"$TOOL" -p hello') == [("claude", ("-p", "hello"))]


def test_a_text_that_is_too_complex_starts_nothing_that_is_known() -> None:
    assert started("sh", "-c", "claude;" + "a;" * MOST_STEPS) == []
    deep = "$(" * 500 + "claude" + ")" * 500
    assert started("sh", "-c", f"codex {deep}") == [("codex", ("",))]


@pytest.mark.parametrize(
    ("line", "home"),
    [
        ("codex", "/old"),
        ("env CODEX_HOME=/new codex", "/new"),
        ("env -u CODEX_HOME codex", None),
        ("env -i codex", None),
        ("env - codex", None),
        ("bash -c 'CODEX_HOME=/new codex'", "/new"),
        ("bash -c 'export CODEX_HOME=/new; codex'", "/new"),
        ("bash -c 'CODEX_HOME=/new; codex'", "/new"),
        ("bash -c 'CODEX_HOME=$HOME/x codex'", "/home/me/x"),
        ("bash -c 'unset CODEX_HOME; codex'", None),
        ("bash -c 'CODEX_HOME=/new true; codex'", "/old"),
    ],
)
def test_changes_of_the_environment_are_the_tools(line: str, home: str | None) -> None:
    import shlex

    (one,) = tools(*shlex.split(line))
    assert one.env.get("CODEX_HOME") == home


@pytest.mark.parametrize(
    ("line", "folder"),
    [
        ("codex", "/project"),
        ("env -C sub codex", "/project/sub"),
        ("env --chdir=/else codex", "/else"),
        ("bash -c 'cd sub && cd ../other && codex'", "/project/other"),
    ],
)
def test_changes_of_the_folder_are_the_tools(line: str, folder: str) -> None:
    import shlex

    (one,) = tools(*shlex.split(line))
    assert one.folder == folder


def test_another_users_tool_is_marked() -> None:
    assert [one.is_other_user for one in tools("sudo", "-u", "me", "codex")] == [True]
    assert [one.is_other_user for one in tools("nice", "codex")] == [False]


def test_a_tool_is_found_through_links_by_any_name_on_the_way(tmp_path: Path) -> None:
    versions = tmp_path / "share/versions"
    versions.mkdir(parents=True)
    (versions / "2.1.197").write_text("#!/bin/sh\n")
    (versions / "2.1.197").chmod(0o755)
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "claude").symlink_to("../share/versions/2.1.197")
    (folder / "ai").symlink_to("claude")
    (folder / "loop").symlink_to("loop")
    env = {"PATH": str(folder)}
    for word in ("ai", str(folder / "ai"), "bin/ai"):
        (one,) = find_started_tools([word, "-p"], env, str(tmp_path), find_program_paths)
        assert (one.tool, one.arguments, one.command) == ("claude", ("-p",), (word,))
    for word in ("loop", "bin/loop", "absent", "bin/absent"):
        assert find_started_tools([word], env, str(tmp_path), find_program_paths) == ()


def test_a_link_into_a_package_is_the_packages_tool(tmp_path: Path) -> None:
    script = tmp_path / "node_modules/@google/gemini-cli/dist/index.js"
    script.parent.mkdir(parents=True)
    script.write_text("")
    script.chmod(0o755)
    (tmp_path / "g").symlink_to(script)
    (one,) = find_started_tools(["./g"], {}, str(tmp_path), find_program_paths)
    assert one.tool == "gemini"


# Properties.

ARGUMENT = st.text(st.characters(exclude_characters="\x00$`", codec="utf-8"), max_size=8)
LAYERS = st.lists(
    st.sampled_from(
        [
            ("env", "A=b"),
            ("env", "-u", "A"),
            ("timeout", "--foreground", "5"),
            ("nice", "-n", "3"),
            ("nohup",),
            ("setsid", "--wait"),
            ("stdbuf", "-o", "L"),
            ("bash", "-c"),
            ("sh", "-lc"),
        ]
    ),
    max_size=6,
)


def wrap(layers: list[tuple[str, ...]], words: tuple[str, ...]) -> tuple[str, ...]:
    for layer in reversed(layers):
        words = (*layer, f"exec {join(words)}") if layer[0] in ("bash", "sh") else (*layer, *words)
    return words


@given(LAYERS, st.sampled_from(HOOK_TOOLS), st.lists(ARGUMENT, max_size=4))
def test_no_pile_of_wrappers_hides_a_tool(
    layers: list[tuple[str, ...]], tool: str, arguments: list[str]
) -> None:
    found = started(*wrap(layers, (tool, *arguments)))
    assert found[0][0] == tool
    plain = [each for each in arguments if not set(each) & set("();<>|&\n")]
    if plain == arguments:
        assert found == [(tool, tuple(arguments))]


@given(st.lists(st.one_of(st.sampled_from([*UNWRAP, "-c", "--", "claude", "A=b"]), st.text())))
def test_any_words_are_read_without_a_crash(words: list[str]) -> None:
    for one in find_started_tools(words, ENV, FOLDER, no_paths):
        assert one.tool in HOOK_TOOLS


@given(st.text())
def test_any_shell_text_is_read_without_a_crash(text: str) -> None:
    started("bash", "-c", text)
    assert started("bash", "-c", f"claude {quote(text)}")[0][0] == "claude"


def test_a_file_that_is_not_utf8_on_the_way_is_no_trouble(tmp_path: Path) -> None:
    name = os.fsdecode(b"\xff-tool")
    (tmp_path / name).symlink_to("/nowhere/claude")
    (one,) = find_started_tools([f"./{name}"], {}, str(tmp_path), find_program_paths)
    assert one.tool == "claude"
