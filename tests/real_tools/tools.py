"""The four tools: how each is pointed at our model, started, and what its calls are called."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple, Protocol

from tests.real_tools.scripted_model import Use

PACKAGES = {
    "claude": "@anthropic-ai/claude-code@2.1.326",
    "codex": "@openai/codex@0.169.0",
    "gemini": "@google/gemini-cli@0.61.0",
    "opencode": "opencode-ai@1.18.33",
}
SECONDS = 300.0


class Write(Protocol):
    def __call__(self, file: str, line: str = "written") -> Use: ...


class Tool(NamedTuple):
    """How a tool is started, and what its calls are called. `write` writes a file whole.

    `prepare` writes what the tool needs to find the model; `env` does the same by variables."""

    name: str
    command: tuple[str, ...]
    prepare: Callable[[Path, Path, str], None]
    env: Callable[[str], Mapping[str, str]]
    write: Write
    read: Callable[[str], Use]
    shell: Callable[[str], Use]


def cache() -> Path:
    """Outside of the repository; MOOT_AGENT_TOOLS names another place."""
    chosen = os.environ.get("MOOT_AGENT_TOOLS")
    return Path(chosen) if chosen else Path.home() / ".cache" / "moot-agent-tools"


def installed() -> Path:
    """The folder with the tools' commands; installed from npm on first use (1.1 GB).

    They need Node 22 or newer.
    """
    folder = cache() / "node_modules" / ".bin"
    if not all((folder / name).exists() for name in PACKAGES):
        cache().mkdir(parents=True, exist_ok=True)
        npm = shutil.which("npm") or "npm"
        install = [npm, "install", "--no-audit", "--no-fund", *PACKAGES.values()]
        subprocess.run(install, cwd=cache(), check=True)
    return folder


def _nothing(_root: Path, _home: Path, _url: str) -> None:
    """Variables are enough."""


def _codex(root: Path, home: Path, url: str) -> None:
    """What is there stays, except for where the model is: trust is stored in the same file."""
    file = home / ".codex" / "config.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    there = file.read_text("utf-8") if file.exists() else ""
    if "base_url" in there:
        text = re.sub(r'base_url = "[^"]*"', f'base_url = "{url}/v1"', there)
    else:
        project = f'[projects."{root}"]\n'
        trust = "" if project in there else f'{project}trust_level = "trusted"\n'
        text = f"""model_provider = "fake"
[model_providers.fake]
name = "fake"
base_url = "{url}/v1"
env_key = "FAKE_KEY"
wire_api = "responses"
{trust}{there}"""
    file.write_text(text, encoding="utf-8")


def _gemini(_root: Path, home: Path, _url: str) -> None:
    (home / ".gemini").mkdir(parents=True, exist_ok=True)
    said = {"security": {"auth": {"selectedType": "gemini-api-key"}}}
    (home / ".gemini" / "settings.json").write_text(json.dumps(said), encoding="utf-8")


def _opencode(_root: Path, home: Path, url: str) -> None:
    """The user's own settings name the model; the project's name only the plugin."""
    folder = home / ".config" / "opencode"
    folder.mkdir(parents=True, exist_ok=True)
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "options": {"baseURL": f"{url}/v1", "apiKey": "fake"},
        "models": {"fake-model": {"tool_call": True}},
    }
    said = {
        "provider": {"fake": provider},
        "model": "fake/fake-model",
        "autoupdate": False,
        "snapshot": False,
    }
    (folder / "opencode.json").write_text(json.dumps(said), encoding="utf-8")


def _patch(file: str, line: str) -> str:
    return f"*** Begin Patch\n*** Add File: {file}\n+{line}\n*** End Patch\n"


TOOLS = {
    tool.name: tool
    for tool in (
        Tool(
            "claude",
            ("claude", "-p", "do it", "--output-format", "json", "--dangerously-skip-permissions"),
            _nothing,
            lambda url: {
                "ANTHROPIC_BASE_URL": url,
                "ANTHROPIC_API_KEY": "fake",
                "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
                "IS_SANDBOX": "1",
            },
            lambda file, line="written": Use("Write", {"file_path": file, "content": f"{line}\n"}),
            lambda file: Use("Read", {"file_path": file}),
            lambda text: Use("Bash", {"command": text, "description": "x"}),
        ),
        Tool(
            "codex",
            (
                *("codex", "exec", "--dangerously-bypass-approvals-and-sandbox"),
                *("--dangerously-bypass-hook-trust", "-m", "gpt-5.5", "--json", "do it"),
            ),
            _codex,
            lambda _url: {"FAKE_KEY": "fake"},
            lambda file, line="written": Use("apply_patch", {}, _patch(file, line)),
            lambda file: Use("exec_command", {"cmd": f"cat {file}"}),
            lambda text: Use("exec_command", {"cmd": text, "yield_time_ms": 30_000}),
        ),
        Tool(
            "gemini",
            ("gemini", "--yolo", "-o", "json", "-p", "do it"),
            _gemini,
            lambda url: {
                "GOOGLE_GEMINI_BASE_URL": url,
                "GEMINI_API_KEY": "fake",
                "GEMINI_CLI_TRUST_WORKSPACE": "true",
            },
            lambda file, line="written": Use(
                "write_file", {"file_path": file, "content": f"{line}\n"}
            ),
            lambda file: Use("read_file", {"file_path": file}),
            lambda text: Use("run_shell_command", {"command": text, "description": "x"}),
        ),
        Tool(
            "opencode",
            ("opencode", "run", "do it"),
            _opencode,
            lambda _url: {"OPENCODE_DISABLE_AUTOUPDATE": "1"},
            lambda file, line="written": Use("write", {"filePath": file, "content": f"{line}\n"}),
            lambda file: Use("read", {"filePath": file}),
            lambda text: Use("bash", {"command": text, "description": "x"}),
        ),
    )
}
