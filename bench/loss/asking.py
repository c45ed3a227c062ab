"""Asking the hook: the installed command as a process, or the same function within this one.

Processes are slow, so only every so many calls are asked that way; both give the same answers.
"""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from bench.loss.repository import MOOT
from bench.loss.world import Agent
from moot.surfaces.hooks.entry import Reply, answer

_SETTINGS: Final = {
    "claude": ".claude/settings.local.json",
    "codex": ".codex/hooks.json",
    "gemini": ".gemini/settings.json",
}
_SECONDS: Final = 60


class Asked(NamedTuple):
    """What a hook answered: the reason if it refused, and how long it took; `told` is what it put
    into the model's context."""

    reason: str
    millis: float
    as_process: bool
    told: str = ""

    @property
    def is_refused(self) -> bool:
        return bool(self.reason)


class Hooks:
    """The hooks of all tools; every `process_every`th call starts the installed command."""

    def __init__(self, main: Path, env: Mapping[str, str], process_every: int) -> None:
        self._env = env
        self._process_every = process_every
        self._count = 0
        self._commands = {tool: _read_commands(main, tool) for tool in _SETTINGS}

    def ask(self, agent: Agent, message: dict[str, Any]) -> Asked:
        self._count += 1
        as_process = bool(self._process_every) and self._count % self._process_every == 0
        env = {**self._env, "MOOT_AGENT": agent.name}
        data, folder = json.dumps(message).encode(), message["cwd"]
        began = time.perf_counter()
        if as_process:
            reply = self._run(agent.tool, message["hook_event_name"], data, env, folder)
        else:
            reply = answer(agent.tool, data, env, folder)
        millis = (time.perf_counter() - began) * 1_000
        return Asked(_reason(reply), millis, as_process, _told(reply))

    def _run(self, tool: str, event: str, data: bytes, env: dict[str, str], folder: str) -> Reply:
        """As the tool does: by the shell; opencode's plugin starts `moot hook` itself."""
        command = self._commands[tool][event] if tool in self._commands else ""
        done = subprocess.run(
            ["sh", "-c", command] if command else [*MOOT, "hook", tool],
            input=data,
            cwd=folder,
            env=env,
            capture_output=True,
            check=False,
            timeout=_SECONDS,
        )
        return Reply(done.stdout.decode().strip(), done.stderr.decode().strip(), done.returncode)


def _read_commands(root: Path, tool: str) -> dict[str, str]:
    """The command of each event, out of the tool's own settings."""
    settings = json.loads((root / _SETTINGS[tool]).read_text("utf-8"))
    return {event: rows[0]["hooks"][0]["command"] for event, rows in settings["hooks"].items()}


def _told(reply: Reply) -> str:
    said = json.loads(reply.out) if reply.out.startswith("{") else {}
    return str(said.get("hookSpecificOutput", {}).get("additionalContext", ""))


def _reason(reply: Reply) -> str:
    """Why it was refused; empty if it was not. Exit code 2 refuses in every tool."""
    if reply.code:
        return reply.err or f"exit code {reply.code}"
    said = json.loads(reply.out) if reply.out.startswith("{") else {}
    return str(said["reason"]) if said.get("decision") == "block" else ""
