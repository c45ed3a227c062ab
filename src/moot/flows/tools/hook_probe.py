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
from moot.flows.tools.coding_tools import READING_HEARD, TEST_SESSION, TOOLS, HookMoment
from moot.flows.tools.hook_command import is_ours
from moot.flows.tools.install import find_installed
from moot.flows.tools.settings_files import SettingsFile
from moot.workspace.settings import tells_reading

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


_PLUGIN_READING: Final = """
import(process.argv[1]).then(async (plugin) => {
  const call = JSON.parse(process.argv[2])
  const hooks = await plugin.Moot({ directory: call.cwd })
  const input = { tool: call.tool_name, sessionID: call.session_id, callID: "test" }
  const output = { output: "" }
  await hooks["tool.execute.after"]({ ...input, args: call.tool_input }, output)
  console.log(output.output)
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
    return _send(tool, file, _edit_call(tool, guarded), guarded, env)


def send_reading(tool: str, guarded: GuardedPaths, env: Mapping[str, str]) -> str | None:
    """What comes of a reading that is sent through the same hooks, which are installed; None if the
    tool reads by its shell."""
    file = find_installed(tool, guarded, env)
    if file is None or not TOOLS[tool].reads:
        return None
    if hook_files.is_outdated(tool, file, guarded):
        return "outdated"
    answer = _send(tool, file, _reading_call(tool, guarded), guarded, env)
    if answer.exit_status == 0 and READING_HEARD in answer.out:
        return "told"
    return "failed" if tells_reading(guarded.worktree_root, env) else "silent"


def _send(
    tool: str,
    file: SettingsFile,
    call: Mapping[str, Any],
    guarded: GuardedPaths,
    env: Mapping[str, str],
) -> Probe:
    """Run what is installed for this call, as the tool would."""
    if tool == "opencode":
        words, said = _plugin_words(file, call, env), ""
        shown = f"the plugin {words[-2]}"
    else:
        shown = _command(tool, file, call["hook_event_name"])
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


def _command(tool: str, file: SettingsFile, event: str) -> str:
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
    is_edit = call["hook_event_name"] == TOOLS["opencode"].event_named(HookMoment.BEFORE)
    code = _PLUGIN_CALL if is_edit else _PLUGIN_READING
    return [node, "--no-warnings", "-e", code, plugin.as_uri(), json.dumps(call)]


def _edit_call(tool: str, guarded: GuardedPaths) -> dict[str, Any]:
    """The event before an edit, in the tool's own words."""
    edit, written = _edit(tool, str(guarded.workspace / PROBE_FILE))
    return _call(tool, HookMoment.BEFORE, guarded, edit, written)


def _reading_call(tool: str, guarded: GuardedPaths) -> dict[str, Any]:
    """The event after a file was read."""
    name, field = next(iter(TOOLS[tool].reads.items()))
    shown = {field: str(guarded.workspace / PROBE_FILE)}
    return _call(tool, HookMoment.AFTER, guarded, name, shown)


def _call(
    tool: str, moment: HookMoment, guarded: GuardedPaths, name: str, sent: Mapping[str, str]
) -> dict[str, Any]:
    return {
        "session_id": TEST_SESSION,
        "cwd": str(guarded.worktree_root),
        "hook_event_name": TOOLS[tool].event_named(moment),
        "tool_name": name,
        "tool_input": sent,
        "tool_use_id": "test",
    }


def _edit(tool: str, file: str) -> tuple[str, dict[str, str]]:
    if tool == "codex":
        patch = f"*** Begin Patch\n*** Add File: {file}\n+probe\n*** End Patch\n"
        return "apply_patch", {"command": patch}
    if tool == "opencode":
        return "write", {"filePath": file, "content": "probe"}
    return _EDITS[tool], {"file_path": file, "content": "probe"}
