"""Trust: Codex runs only hooks its user has trusted, Gemini CLI only those of trusted folders.

Whether to trust is the user's decision: `store_trust` is called for an explicit flag and nothing
else. Codex is asked through its own app server, so that no file of its is written by us.
"""

from __future__ import annotations

import json
import os
import shutil
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from moot.core.errors import Refused, Unavailable
from moot.core.version import VERSION
from moot.flows.guard.guarded_paths import GuardedPaths
from moot.flows.tools import json_settings
from moot.flows.tools.hook_command import is_ours
from moot.flows.tools.original_files import put
from moot.flows.tools.worktrees import main_checkout
from moot.system.line_server import converse

CODEX_SECONDS: Final = 20.0
TRUST_FOLDER: Final = "TRUST_FOLDER"
TRUST_PARENT: Final = "TRUST_PARENT"


class CodexHook(NamedTuple):
    key: str
    hash: str
    status: str


def store_trust(tool: str, guarded: GuardedPaths, env: Mapping[str, str]) -> str:
    """Remember the user's trust; returns what was done. Only on the user's explicit word."""
    if tool == "codex":
        return _trust_codex(guarded.worktree_root, env)
    if tool == "gemini":
        return _trust_gemini(guarded, env)
    return f"{tool} asks for no trust"


def codex_hooks(
    root: Path, env: Mapping[str, str], command: Sequence[str] = ("codex",)
) -> list[CodexHook]:
    """Our hooks as Codex sees them in a folder; Unavailable if it is not here or does not answer.

    `command` starts Codex, if it is not the one on PATH.
    """
    (answer,) = _codex(env, [("hooks/list", {"cwds": [str(root)]})], command)
    return list(_ours(answer))


def _ours(answer: Mapping[str, Any]) -> Iterator[CodexHook]:
    for entry in answer.get("data", []):
        for hook in entry.get("hooks", []):
            if is_ours("codex", str(hook.get("command", ""))):
                yield CodexHook(
                    str(hook.get("key", "")),
                    str(hook.get("currentHash", "")),
                    str(hook.get("trustStatus", "")),
                )


def _trust_codex(root: Path, env: Mapping[str, str]) -> str:
    """Codex sees no hooks of a project that it does not trust, so that comes first."""
    hooks = codex_hooks(root, env)
    project = main_checkout(root)
    if not hooks and not _is_marked_untrusted((root, project), env):
        key = f"projects.{json.dumps(str(project))}.trust_level"
        _write_codex_setting(key, "trusted", env)
        hooks = codex_hooks(root, env)
    if not hooks:
        raise Unavailable(
            "codex_hooks_missing",
            "Codex does not see the hooks",
            hint="mark the project as trusted in Codex first, then run this again",
        )
    state = {hook.key: {"trusted_hash": hook.hash} for hook in hooks}
    _write_codex_setting("hooks.state", state, env)
    return f"Codex trusts {len(hooks)} hooks of this project from now on"


def _write_codex_setting(key: str, value: object, env: Mapping[str, str]) -> None:
    edit = {"keyPath": key, "value": value, "mergeStrategy": "upsert"}
    _codex(env, [("config/batchWrite", {"edits": [edit]})])


def _is_marked_untrusted(folders: Sequence[Path], env: Mapping[str, str]) -> bool:
    """Somebody said no to this project: that is not ours to turn round."""
    home = env.get("CODEX_HOME") or Path(env.get("HOME") or Path.home()) / ".codex"
    try:
        projects = tomllib.loads((Path(home) / "config.toml").read_text("utf-8")).get("projects")
    except (OSError, ValueError):
        return False
    marked = projects if isinstance(projects, dict) else {}
    levels = (marked.get(str(folder), {}) for folder in folders)
    return any(isinstance(one, dict) and one.get("trust_level") == "untrusted" for one in levels)


def _codex(
    env: Mapping[str, str], asked: list[tuple[str, Any]], command: Sequence[str] = ("codex",)
) -> list[dict[str, Any]]:
    """Ask Codex's app server, one JSON object a line."""
    codex = shutil.which(command[0], path=env.get("PATH", os.defpath))
    if codex is None:
        raise Unavailable("codex_missing", "codex is not on PATH", hint="install Codex first")
    client = {"clientInfo": {"name": "moot", "version": VERSION}}
    lines: list[dict[str, Any]] = [{"id": 0, "method": "initialize", "params": client}]
    lines.append({"method": "initialized"})
    lines += [
        {"id": number, "method": method, "params": params}
        for number, (method, params) in enumerate(asked, 1)
    ]
    try:
        replies = converse(
            [codex, *command[1:], "app-server"],
            lines,
            env=env,
            last=len(asked),
            seconds=CODEX_SECONDS,
        )
    except (OSError, ValueError) as error:
        raise Unavailable("codex_failed", f"codex app-server: {error}") from None
    for number, (method, _params) in enumerate(asked, 1):
        if "result" not in replies.get(number, {}):
            why = json.dumps(replies.get(number, {}).get("error", "no answer"))[:200]
            raise Unavailable(
                "codex_failed",
                f"codex did not do {method}: {why}",
                hint="review the hooks with /hooks in Codex instead",
            )
    return [replies[number]["result"] for number in range(1, len(asked) + 1)]


def gemini_trusts(root: Path, env: Mapping[str, str]) -> bool:
    """Its environment says so, or its list of folders does: the entry nearest to the folder."""
    if env.get("GEMINI_CLI_TRUST_WORKSPACE") == "true":
        return True
    try:
        known = json_settings.parse(_trusted_folders(env).read_text("utf-8"), "")
    except (OSError, ValueError, Refused):
        return False
    near = {os.path.dirname(key): level for key, level in known.items() if level == TRUST_PARENT}
    near |= {key: level for key, level in known.items() if level != TRUST_PARENT}
    levels = (near[str(folder)] for folder in (root, *root.parents) if str(folder) in near)
    return next(levels, None) in (TRUST_FOLDER, TRUST_PARENT)


def _trust_gemini(guarded: GuardedPaths, env: Mapping[str, str]) -> str:
    path = _trusted_folders(env)
    before = path.read_text("utf-8") if path.exists() else ""
    known = json_settings.parse(before, str(path))
    known[str(guarded.worktree_root)] = TRUST_FOLDER
    put(path, json_settings.render(known, before).encode())
    return f"Gemini CLI trusts {guarded.worktree_root} from now on"


def _trusted_folders(env: Mapping[str, str]) -> Path:
    if env.get("GEMINI_CLI_TRUSTED_FOLDERS_PATH"):
        return Path(env["GEMINI_CLI_TRUSTED_FOLDERS_PATH"])
    home = env.get("GEMINI_CLI_HOME") or env.get("HOME") or os.path.expanduser("~")
    return Path(home) / ".gemini" / "trustedFolders.json"
