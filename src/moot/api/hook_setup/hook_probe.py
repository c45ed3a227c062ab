"""Try installed hooks: send an edit that must be refused, as the tool itself would send it.

The file is in the workspace's own folder, which no agent may write. The check refuses it before it
opens the record, so nothing is written.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from moot.api.guard.guarded_paths import GuardedPaths
from moot.api.hook_setup.install import find_installed
from moot.api.hook_setup.worktrees import place_of
from moot.coding_tools import find_tool
from moot.coding_tools.settings import SettingsFile
from moot.coding_tools.tool import READING_HEARD, TEST_SESSION, CodingTool, HookMoment
from moot.core.errors import Refused, Unavailable
from moot.core.version import VERSION
from moot.system.programs import converse
from moot.workspace.settings import shows_readers_holders

REFUSAL: Final = "not_for_agents"
PROBE_FILE: Final = "hook-test"
SECONDS: Final = 30.0
REVISION: Final = "2025-06-18"
_CLIENT: Final = {"name": "moot hook test", "version": VERSION}
_HELLO: Final = {"protocolVersion": REVISION, "capabilities": {}, "clientInfo": _CLIENT}
_LINES: Final[tuple[Mapping[str, Any], ...]] = (
    {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": _HELLO},
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
    {"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": {}},
)


class Probe(NamedTuple):
    """What was run, and exactly what came back."""

    file: Path
    command: str
    exit_status: int | None
    out: str
    err: str

    @property
    def passed(self) -> bool:
        """True if the answer is the refusal that was asked for."""
        try:
            answer = json.loads(self.out)
        except ValueError:
            return False
        is_block = isinstance(answer, dict) and answer.get("decision") == "block"
        return self.exit_status == 0 and is_block and f"[{REFUSAL}]" in str(answer.get("reason"))


def send_probe(tool: str, guarded: GuardedPaths, env: Mapping[str, str]) -> Probe:
    """Send an edit that must be refused. Raises Refused if the hooks are not installed here,
    Unavailable if they cannot be tried."""
    file = find_installed(tool, guarded, env)
    if file is None:
        raise Refused(
            "hook_not_installed",
            f"the hooks of {tool} are missing or incomplete in {guarded.worktree_root}",
            hint=f"moot hook install {tool}",
        )
    known = find_tool(tool)
    edit, written = known.make_edit(str(guarded.workspace / PROBE_FILE))
    call = _make_call(known, HookMoment.BEFORE, guarded, edit, written)
    return _send(known, file, call, guarded, env)


def send_reading(tool: str, guarded: GuardedPaths, env: Mapping[str, str]) -> str | None:
    """Send a read through the same hooks and return the result; None if the tool reads by its
    shell."""
    file, known = find_installed(tool, guarded, env), find_tool(tool)
    if file is None or not known.reads:
        return None
    if known.is_outdated(file, place_of(guarded, env)):
        return "outdated"
    name, field = next(iter(known.reads.items()))
    shown = {field: str(guarded.workspace / PROBE_FILE)}
    call = _make_call(known, HookMoment.AFTER, guarded, name, shown)
    answer = _send(known, file, call, guarded, env)
    if answer.exit_status == 0 and READING_HEARD in answer.out:
        return "told"
    return "failed" if shows_readers_holders(guarded.worktree_root, env) else "silent"


def _send(
    tool: CodingTool,
    file: SettingsFile,
    call: Mapping[str, Any],
    guarded: GuardedPaths,
    env: Mapping[str, str],
) -> Probe:
    """Run what is installed for this call, as the tool would."""
    words, sent, shown = tool.probe(file, call, place_of(guarded, env))
    try:
        done = subprocess.run(
            words,
            cwd=guarded.worktree_root,
            env=dict(env),
            input=sent,
            capture_output=True,
            text=True,
            errors="backslashreplace",
            timeout=SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return Probe(file.path, shown, None, "", f"no answer within {SECONDS:.0f} seconds")
    except OSError as error:
        raise Unavailable(
            "hook_not_run", f"{words[0]}: {error.strerror or error}", hint="check your PATH"
        ) from None
    return Probe(file.path, shown, done.returncode, done.stdout.strip(), done.stderr.strip())


def _make_call(
    tool: CodingTool, moment: HookMoment, guarded: GuardedPaths, name: str, sent: Mapping[str, str]
) -> dict[str, Any]:
    return {
        "session_id": TEST_SESSION,
        "cwd": str(guarded.worktree_root),
        "hook_event_name": tool.event_named(moment),
        "tool_name": name,
        "tool_input": sent,
        "tool_use_id": "test",
    }


class ServerProbe(NamedTuple):
    """`answer` are the names of its tools, or what went wrong."""

    passed: bool
    answer: str


def probe_server(command: Sequence[str], folder: Path, env: Mapping[str, str]) -> ServerProbe:
    """Start the server as the tool would, in the project's folder, and ask for its tools.

    No tool is called, so no agent joins and nothing is recorded.
    """
    try:
        replies = converse(command, _LINES, env=env, last=2, seconds=SECONDS, folder=folder)
    except (OSError, ValueError) as error:
        return ServerProbe(False, str(error))
    result = replies.get(2, {}).get("result")
    listed = result.get("tools") if isinstance(result, dict) else None
    if not isinstance(listed, list):
        return ServerProbe(False, f"no list of tools within {SECONDS:.0f} seconds")
    names = [str(tool.get("name")) for tool in listed if isinstance(tool, dict)]
    return ServerProbe(bool(names), ", ".join(names))
