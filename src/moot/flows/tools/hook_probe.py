"""Trying installed hooks: an edit that must be refused, sent as the tool itself would send it.

The file is one in the workspace's own folder, which no agent may write. The check refuses that
before it opens the record, so nothing is written, whoever asks; and nobody can really hold it.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from moot.core.errors import Refused, Unavailable
from moot.flows.guard.guarded_paths import GuardedPaths
from moot.flows.tools import hook_files, json_settings, opencode_plugin
from moot.flows.tools.coding_tools import TEST_SESSION, TOOLS, HookMoment
from moot.flows.tools.hook_command import is_ours
from moot.flows.tools.install import find_installed
from moot.flows.tools.settings_files import SettingsFile

REFUSAL: Final = "not_for_agents"
PROBE_FILE: Final = "hook-test"
SECONDS: Final = 30.0
# What each tool calls the edit, and what it sends with it.
_EDITS: Final[Mapping[str, str]] = {"claude": "Write", "gemini": "write_file"}
_PLUGIN_CALL: Final = """
import(process.argv[1]).then(async (plugin) => {
  const call = JSON.parse(process.argv[2])
  const hooks = await plugin.Moot({ directory: call.cwd })
  const input = { tool: call.tool_name, sessionID: call.session_id, callID: "test" }
  try {
    await hooks["tool.execute.before"](input, { args: call.tool_input })
  } catch (error) {
    console.log(JSON.stringify({ decision: "block", reason: error.message }))
  }
})
"""


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
    """Refused if the tool's hooks are not installed here; Unavailable if they cannot be tried."""
    file = find_installed(tool, guarded, env)
    if file is None:
        raise Refused(
            "hook_not_installed",
            f"the hooks of {tool} are not installed in {guarded.worktree_root}, or not whole",
            hint=f"moot hook install {tool}",
        )
    call = _call(tool, guarded)
    if tool == "opencode":
        words, said = _plugin_words(file, call, env), ""
        shown = f"the plugin {words[-2]}"
    else:
        shown = _command(tool, file)
        words, said = ["sh", "-c", shown], json.dumps(call)
    try:
        done = subprocess.run(
            words,
            cwd=guarded.worktree_root,
            env=dict(env),
            input=said,
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


def _command(tool: str, file: SettingsFile) -> str:
    event = TOOLS[tool].event_named(HookMoment.BEFORE)
    commands = json_settings.commands(hook_files.read_document(file.path), event)
    return next(command for command in commands if is_ours(tool, command))


def _plugin_words(file: SettingsFile, call: Mapping[str, Any], env: Mapping[str, str]) -> list[str]:
    node = shutil.which("node", path=env.get("PATH"))
    if node is None:
        raise Unavailable(
            "no_node",
            "opencode's plugin can only be tried with node, which is not on PATH",
            hint="install node, or start opencode and look at `moot hook status`",
        )
    plugin = opencode_plugin.named(hook_files.read_document(file.path), file.path)[0]
    return [node, "--no-warnings", "-e", _PLUGIN_CALL, plugin.as_uri(), json.dumps(call)]


def _call(tool: str, guarded: GuardedPaths) -> dict[str, Any]:
    """The event before an edit, in the tool's own words."""
    probe = str(guarded.workspace / PROBE_FILE)
    edit, written = _edit(tool, probe)
    return {
        "session_id": TEST_SESSION,
        "cwd": str(guarded.worktree_root),
        "hook_event_name": TOOLS[tool].event_named(HookMoment.BEFORE),
        "tool_name": edit,
        "tool_input": written,
        "tool_use_id": "test",
    }


def _edit(tool: str, file: str) -> tuple[str, dict[str, str]]:
    if tool == "codex":
        patch = f"*** Begin Patch\n*** Add File: {file}\n+probe\n*** End Patch\n"
        return "apply_patch", {"command": patch}
    if tool == "opencode":
        return "write", {"filePath": file, "content": "probe"}
    return _EDITS[tool], {"file_path": file, "content": "probe"}
