"""Are the hooks installed, and do they work? For `moot ledger doctor`.

An installed hook that its tool silently skips is worse than none: everyone believes in it. Each
row looks at one way in which that happens. Tools that are not set up here are not mentioned.
"""

from __future__ import annotations

import shutil
import subprocess
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from moot.core.errors import MootError
from moot.core.findings import Breach, Finding, Rule, Severity, check_all
from moot.flows.guard.guarded_paths import GuardedPaths, find_guarded_folder
from moot.flows.tools import (
    HOOK_TOOLS,
    hook_entries,
    hook_files,
    json_settings,
    manual,
    opencode_plugin,
    tool_trust,
)
from moot.flows.tools.hook_command import missing_file
from moot.flows.tools.original_files import OriginalFiles
from moot.flows.tools.settings_files import Reach, SettingsFile, settings_files

Breaches = Iterator[Breach]
NODE_SECONDS: Final = 15


class Setup(NamedTuple):
    """One worktree as its tools see it: by tool the file that holds ours, and what it says."""

    guarded: GuardedPaths
    env: Mapping[str, str]
    settings: Mapping[str, json_settings.Document]
    files: Mapping[str, SettingsFile]


def find_problems(
    folder: Path, env: Mapping[str, str], home: Path | None = None
) -> tuple[Finding, ...]:
    """What keeps installed hooks from working, in the worktree around `folder`."""
    try:
        guarded = find_guarded_folder(folder, home)
    except MootError:
        guarded = None
    if guarded is None:
        return ()
    return check_all(RULES, _setup_of(HOOK_TOOLS, guarded, env))


def find_problems_of(
    tool: str, guarded: GuardedPaths, env: Mapping[str, str]
) -> tuple[Finding, ...]:
    """What keeps the hooks of one tool from working in one worktree, if it has any there."""
    return check_all(RULES, _setup_of((tool,), guarded, env))


def _setup_of(tools: Iterable[str], guarded: GuardedPaths, env: Mapping[str, str]) -> Setup:
    files = {}
    for tool in tools:
        ours = [
            file
            for file in settings_files(tool, guarded, env)
            if hook_files.may_hold_ours(tool, file.path)
        ]
        whole = (file for file in ours if hook_files.is_complete(tool, file, guarded))
        if ours:
            files[tool] = next(whole, ours[0])
    documents = {tool: hook_files.read_document(file.path) for tool, file in files.items()}
    return Setup(guarded, env, documents, files)


def no_moot(setup: Setup) -> Breaches:
    for tool, document in setup.settings.items():
        path = setup.env.get("PATH")
        missing = {missing_file(one, path) for one in hook_files.our_commands(tool, document)}
        if any(Path(one).name == opencode_plugin.SHARED for one in _plugins(setup, tool)):
            missing.add(None if shutil.which("moot", path=path) else "moot")
        for file in sorted(filter(None, missing)):
            message = f"{file} is not there, and {tool} asks it: every edit is blocked"
            yield message, None, None, {"TOOL": tool}


def incomplete(setup: Setup) -> Breaches:
    for tool, document in setup.settings.items():
        if tool not in hook_entries.SETTINGS:
            continue
        forms = hook_files.accepted_forms(tool, setup.guarded)
        gone = hook_files.missing_events(tool, document, forms)
        if gone:
            message = f"{', '.join(gone)} of {tool} is missing or was changed"
            yield message, str(setup.files[tool].path), None, {"TOOL": tool}


def _plugins(setup: Setup, tool: str) -> list[Path]:
    if tool != "opencode" or tool not in setup.files:
        return []
    return opencode_plugin.named(setup.settings[tool], setup.files[tool].path)


def claude_off(setup: Setup) -> Breaches:
    if "claude" not in setup.settings:
        return
    home = Path(setup.env.get("HOME") or Path.home())
    project = setup.guarded.worktree_root / ".claude"
    files = (project / "settings.json", project / "settings.local.json")
    user = Path(setup.env.get("CLAUDE_CONFIG_DIR") or home / ".claude")
    for path in (*files, user / "settings.json"):
        if hook_files.read_document(path).get("disableAllHooks") is True:
            yield "", str(path)


def codex_untrusted(setup: Setup) -> Breaches:
    if "codex" not in setup.settings:
        return
    try:
        hooks = tool_trust.codex_hooks(setup.guarded.worktree_root, setup.env)
    except MootError:
        yield from _codex_by_file(setup)
        return
    skipped = [hook for hook in hooks if hook.status not in ("trusted", "managed")]
    if skipped or not hooks:
        what = f"{len(skipped) or 'all'} of our hooks are skipped by Codex"
        yield what, str(setup.files["codex"].path)


def _codex_by_file(setup: Setup) -> Breaches:
    """Codex cannot be asked: its file at least says whether anything was trusted."""
    home = setup.env.get("CODEX_HOME") or Path(setup.env.get("HOME") or Path.home()) / ".codex"
    try:
        said: dict[str, Any] = tomllib.loads((Path(home) / "config.toml").read_text("utf-8"))
    except (OSError, ValueError):
        said = {}
    hooks = said.get("hooks")
    state = hooks.get("state") if isinstance(hooks, dict) else None
    file = str(setup.files["codex"].path)
    if not any(str(key).startswith(f"{file}:") for key in state or {}):
        yield "no trust is stored for them", file


def gemini_untrusted(setup: Setup) -> Breaches:
    file = setup.files.get("gemini")
    if file is None or file.reach is Reach.USER:  # those run in every folder
        return
    if not tool_trust.gemini_trusts(setup.guarded.worktree_root, setup.env):
        yield "", str(setup.guarded.worktree_root)


def gemini_off(setup: Setup) -> Breaches:
    if "gemini" not in setup.settings:
        return
    for file in settings_files("gemini", setup.guarded, setup.env):
        config = hook_files.read_document(file.path).get("hooksConfig")
        if isinstance(config, dict) and config.get("enabled") is False:
            yield "", str(file.path)


def plugin_missing(setup: Setup) -> Breaches:
    file = setup.files.get("opencode")
    for path, text in hook_files.plugin_texts(file, setup.guarded) if file is not None else ():
        if not path.is_file():
            yield "the plugin is not there: opencode goes on without it", str(path)
        elif not hook_files.is_same_plugin(path, text):
            yield "the plugin is not the one this moot installs", str(path)
        elif problem := why_not_loaded(path, setup.env):
            yield f"the plugin does not load: {problem}", str(path)


def notes_hidden(setup: Setup) -> Breaches:
    mine = OriginalFiles(setup.guarded.workspace).files_of_this_clone()
    for tool in setup.settings:
        file = setup.guarded.worktree_root / manual.FILES[tool]
        text = file.read_text("utf-8", "replace") if file in mine and file.is_file() else None
        if text is not None and not manual.is_only_ours(tool, text):
            yield "", str(file), None, {"TOOL": tool}


def why_not_loaded(path: Path, env: Mapping[str, str]) -> str:
    """What node says if it cannot load a plugin; empty if it can, or if there is no node."""
    node = shutil.which("node", path=env.get("PATH"))
    if node is None:
        return ""
    code = "import(process.argv[1]).then((m) => m.Moot({ directory: '.' }))"
    try:
        done = subprocess.run(
            [node, "--no-warnings", "-e", code, path.absolute().as_uri()],
            capture_output=True,
            text=True,
            timeout=NODE_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    said = done.stderr.strip().splitlines()
    return "" if done.returncode == 0 else (said[-1] if said else "node failed")


def _rule(
    code: str,
    sentence: str,
    check: Callable[[Setup], Breaches],
    hint: str,
    severity: Severity = Severity.WARNING,
) -> Rule[Setup]:
    return Rule("hooks", code, sentence, check, hint, severity)


RULES: Final[tuple[Rule[Setup], ...]] = (
    _rule(
        "hook_moot_missing",
        "moot is not where the hooks look for it: every edit is blocked",
        no_moot,
        "`moot hook install TOOL` names it anew; shared lines need it on PATH",
    ),
    _rule(
        "hook_incomplete",
        "a hook is missing",
        incomplete,
        "`moot hook install TOOL` puts it back",
    ),
    _rule(
        "hook_switched_off",
        "Claude Code's hooks are switched off: nothing is checked",
        claude_off,
        "remove disableAllHooks there",
    ),
    _rule(
        "hook_untrusted",
        "Codex skips hooks that are not trusted, without a word",
        codex_untrusted,
        "review them with /hooks in Codex, or `moot hook install codex --trust`",
    ),
    _rule(
        "hook_untrusted",
        "Gemini CLI does not trust this folder: it runs none of its hooks",
        gemini_untrusted,
        "trust the folder in Gemini CLI, or `moot hook install gemini --trust`",
    ),
    _rule(
        "hook_switched_off",
        "Gemini CLI's hooks are switched off: nothing is checked",
        gemini_off,
        "set hooksConfig.enabled to true there",
    ),
    _rule(
        "hook_plugin_broken",
        "opencode runs without our plugin, and says nothing",
        plugin_missing,
        "`moot hook install opencode` writes it anew",
    ),
    _rule(
        "hook_hides_notes",
        "git ignores these notes because of ours, and others have written there since",
        notes_hidden,
        "`moot hook install TOOL` takes ours out, and git sees them again",
    ),
)
