"""Are the hooks installed, and do they work? For `moot ledger doctor`.

An installed hook that its tool silently skips is worse than none: everyone believes in it. Each
row looks at one way in which that happens. Tools that are not set up here are not mentioned.
"""

from __future__ import annotations

import shutil
import subprocess
import tomllib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from moot.core.errors import MootError
from moot.core.findings import Finding, Rule, Severity, check_all
from moot.flows.guard.guarded_paths import GuardedPaths, find_guarded_folder
from moot.flows.tools import hook_entries, install, json_settings, tool_trust

Breaches = Iterator[tuple[str, str | None]]
NODE_SECONDS: Final = 15


class Setup(NamedTuple):
    """One worktree as its tools see it: parsed settings by tool, where there are any of ours."""

    guarded: GuardedPaths
    env: Mapping[str, str]
    settings: Mapping[str, json_settings.Document]


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
    return check_all(RULES, Setup(guarded, env, dict(_settings_with_ours(guarded))))


def _settings_with_ours(guarded: GuardedPaths) -> Iterator[tuple[str, json_settings.Document]]:
    for tool, wanted in hook_entries.SETTINGS.items():
        document = _document(guarded.worktree_root / wanted.file)
        said = [one for event in wanted.events for one in json_settings.commands(document, event)]
        if any(hook_entries.is_ours(tool, one) for one in said):
            yield tool, document
    document = _document(guarded.worktree_root / install.OPENCODE_FILE)
    if _plugins(document):
        yield "opencode", document


def _document(path: Path) -> json_settings.Document:
    try:
        return json_settings.parse(path.read_text("utf-8"), str(path))
    except (OSError, ValueError, MootError):
        return {}


def _plugins(document: json_settings.Document) -> list[str]:
    known = document.get("plugin")
    listed = known if isinstance(known, list) else []
    return [one for one in listed if isinstance(one, str) and install.is_plugin(one)]


def no_moot(setup: Setup) -> Breaches:
    if setup.settings and shutil.which("moot", path=setup.env.get("PATH")) is None:
        yield "", None


def incomplete(setup: Setup) -> Breaches:
    for tool, wanted in hook_entries.SETTINGS.items():
        if tool in setup.settings:
            said = {one: json_settings.commands(setup.settings[tool], one) for one in wanted.events}
            gone = [one for one in said if hook_entries.command(tool, one) not in said[one]]
            if gone:
                yield f"{', '.join(gone)} of {tool} is missing or was changed", wanted.file


def claude_off(setup: Setup) -> Breaches:
    if "claude" not in setup.settings:
        return
    home = Path(setup.env.get("HOME") or Path.home())
    project = setup.guarded.worktree_root / ".claude"
    files = (project / "settings.json", project / "settings.local.json")
    for path in (*files, home / ".claude" / "settings.json"):
        if _document(path).get("disableAllHooks") is True:
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
        yield f"{len(skipped) or 'all'} of our hooks are skipped by Codex", ".codex/hooks.json"


def _codex_by_file(setup: Setup) -> Breaches:
    """Codex cannot be asked: its file at least says whether anything was trusted."""
    home = setup.env.get("CODEX_HOME") or Path(setup.env.get("HOME") or Path.home()) / ".codex"
    try:
        said: dict[str, Any] = tomllib.loads((Path(home) / "config.toml").read_text("utf-8"))
    except (OSError, ValueError):
        said = {}
    hooks = said.get("hooks")
    state = hooks.get("state") if isinstance(hooks, dict) else None
    file = str(setup.guarded.worktree_root / ".codex/hooks.json")
    if not any(str(key).startswith(f"{file}:") for key in state or {}):
        yield "no trust is stored for them", ".codex/hooks.json"


def gemini_untrusted(setup: Setup) -> Breaches:
    if "gemini" in setup.settings and not tool_trust.gemini_trusts(
        setup.guarded.worktree_root, setup.env
    ):
        yield "", str(setup.guarded.worktree_root)


def gemini_off(setup: Setup) -> Breaches:
    config = setup.settings.get("gemini", {}).get("hooksConfig")
    if isinstance(config, dict) and config.get("enabled") is False:
        yield "", ".gemini/settings.json"


def plugin_missing(setup: Setup) -> Breaches:
    for named in _plugins(setup.settings.get("opencode", {})):
        path = setup.guarded.worktree_root / named
        try:
            same = path.read_text("utf-8") == install.plugin_text()
        except OSError:
            yield "the plugin is not there: opencode goes on without it", str(path)
            continue
        if not same:
            yield "the plugin is not the one this moot installs", str(path)
        elif problem := why_not_loaded(path, setup.env):
            yield f"the plugin does not load: {problem}", str(path)


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
        "moot is not on PATH: every edit of a tool with hooks is blocked",
        no_moot,
        "put moot on the PATH that your tools see",
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
)
