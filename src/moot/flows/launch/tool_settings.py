"""Which settings a coding tool reads when it is started so: its files, layer by layer.

A row for each tool gives the layers that it loads with these arguments, in this environment and
folder, as it was measured or as its documentation says. Files that are missing are left out; one
that does not parse is an empty layer, since the tool drops it too. Nothing here writes.
"""

from __future__ import annotations

import os
import re
import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec

from moot.core.errors import MootError
from moot.flows.launch.started_tools import StartedTool
from moot.flows.tools import json_settings
from moot.flows.tools.codex_folders import reads_project_hooks
from moot.workspace.find import git_common_dir, worktree_root

MANAGED, USER, PROJECT, LOCAL, FLAG = "managed", "user", "project", "local", "flag"
_COMMENTS: Final = re.compile(r'("(?:\\.|[^"\\])*")|//[^\n]*|/\*.*?\*/', re.DOTALL)
_TRAILING: Final = re.compile(r'("(?:\\.|[^"\\])*")|,(?=\s*[}\]])', re.DOTALL)


class Layer(NamedTuple):
    """One file of settings: whose it is (`scope`), where it is, and what stands in it."""

    scope: str
    path: str
    document: Mapping[str, Any]


class ToolStart(msgspec.Struct, frozen=True):
    """A tool's start with what the tool makes of it: the folder it works in, and its layers."""

    started: StartedTool
    folder: Path
    layers: tuple[Layer, ...]

    @property
    def env(self) -> Mapping[str, str]:
        return self.started.env

    def has_flag(self, *names: str) -> bool:
        return any(word.partition("=")[0] in names for word in before_dashes(self.started))

    def values_of(self, *names: str) -> list[str]:
        return option_values(self.started, *names)


def read_tool_start(started: StartedTool) -> ToolStart:
    folder = Path(os.path.normpath(_folder_of(started)))
    layers = tuple(_LAYERS[started.tool](started, folder))
    return ToolStart(started, folder, layers)


def before_dashes(started: StartedTool) -> tuple[str, ...]:
    """The tool's arguments up to `--`: what stands behind is no option."""
    words = started.arguments
    return words[: words.index("--")] if "--" in words else words


def option_values(started: StartedTool, *names: str) -> list[str]:
    """The values of an option, in order: `--x v`, `--x=v`, and `-xv` for a short one."""
    words, found = before_dashes(started), []
    for at, word in enumerate(words):
        name, equals, value = word.partition("=")
        if name in names:
            found.append(value if equals else next(iter(words[at + 1 : at + 2]), ""))
        else:
            short = [each for each in names if len(each) == 2 and word.startswith(each)]
            found += [word[2:].removeprefix("=") for _ in short]
    return found


def home_folder(env: Mapping[str, str]) -> Path:
    return Path(env.get("HOME") or os.path.expanduser("~"))


def codex_home(env: Mapping[str, str]) -> Path:
    return Path(env.get("CODEX_HOME") or home_folder(env) / ".codex")


def gemini_home(env: Mapping[str, str]) -> Path:
    return Path(env.get("GEMINI_CLI_HOME") or home_folder(env)) / ".gemini"


def opencode_home(env: Mapping[str, str]) -> Path:
    return Path(env.get("XDG_CONFIG_HOME") or home_folder(env) / ".config") / "opencode"


# Tools that are told to work in another folder than the one they are started in.
_FOLDER_OPTIONS: Final[Mapping[str, tuple[str, ...]]] = {
    "codex": ("-C", "--cd"),
    "opencode": ("--dir",),
}


def _folder_of(started: StartedTool) -> Path:
    here = Path(started.folder)
    for value in option_values(started, *_FOLDER_OPTIONS.get(started.tool, ()))[-1:]:
        return here / value
    if started.tool == "opencode" and started.arguments:  # `opencode DIR`
        named = here / started.arguments[0]
        if not started.arguments[0].startswith("-") and named.is_dir():
            return named
    return here


def _claude_layers(started: StartedTool, folder: Path) -> Iterator[Layer]:
    """The project's files are those of the folder it is started in, not of the repository."""
    given = option_values(started, "--setting-sources")
    sources = set(given[-1].replace(" ", "").split(",")) if given else {USER, PROJECT, LOCAL}
    user = Path(started.env.get("CLAUDE_CONFIG_DIR") or home_folder(started.env) / ".claude")
    own = {
        USER: user / "settings.json",
        PROJECT: folder / ".claude" / "settings.json",
        LOCAL: folder / ".claude" / "settings.local.json",
    }
    for path in _claude_managed():
        yield from _json_layer(MANAGED, path)
    for scope, path in own.items():
        if scope in sources:
            yield from _json_layer(scope, path)
    for text in option_values(started, "--settings"):
        if text.lstrip().startswith("{"):
            yield Layer(FLAG, "--settings", _parse(text))
        else:
            yield from _json_layer(FLAG, folder / text)


def _claude_managed() -> list[Path]:
    places = {"darwin": "/Library/Application Support/ClaudeCode", "win32": r"C:\ProgramData"}
    folder = Path(places.get(sys.platform, "/etc/claude-code"))
    return [folder / "managed-settings.json", *sorted(folder.glob("managed-settings.d/*.json"))]


def _codex_layers(started: StartedTool, folder: Path) -> Iterator[Layer]:
    """Its own home, and `.codex` from the root of the repository down to the folder.

    In a linked worktree hooks are those of the main checkout, and read only where the worktree has
    a folder of that name as well; other settings are the worktree's.
    """
    home = codex_home(started.env)
    yield from _json_layer(USER, home / "hooks.json")
    yield from _toml_layer(USER, home / "config.toml")
    root = worktree_root(folder) or folder
    main = main_checkout(root)
    for inner in _from_root(root, folder):
        of_hooks = main / inner.relative_to(root)
        if reads_project_hooks(inner):
            yield from _json_layer(PROJECT, of_hooks / ".codex" / "hooks.json")
        yield from _toml_layer(PROJECT, inner / ".codex" / "config.toml")


def main_checkout(root: Path) -> Path:
    """The first worktree of the repository that `root` is a worktree of.

    A submodule's shared folder is no `.git` of a checkout: it is its own.
    """
    common = git_common_dir(root)
    return common.parent if common is not None and common.name == ".git" else root


def _gemini_layers(started: StartedTool, folder: Path) -> Iterator[Layer]:
    system = started.env.get("GEMINI_CLI_SYSTEM_SETTINGS_PATH") or "/etc/gemini-cli/settings.json"
    yield from _json_layer(MANAGED, Path(system))
    yield from _json_layer(USER, gemini_home(started.env) / "settings.json")
    yield from _json_layer(PROJECT, folder / ".gemini" / "settings.json")


def _opencode_layers(started: StartedTool, folder: Path) -> Iterator[Layer]:
    """Its own home, a file or text that the environment names, and the project's, root first."""
    env = started.env
    for name in _OPENCODE_FILES:
        yield from _json_layer(USER, opencode_home(env) / name)
    if env.get("OPENCODE_CONFIG"):
        yield from _json_layer(FLAG, folder / env["OPENCODE_CONFIG"])
    if not is_switched_on(env.get("OPENCODE_DISABLE_PROJECT_CONFIG")):
        for inner in _from_root(worktree_root(folder) or folder, folder):
            for name in _OPENCODE_FILES:
                yield from _json_layer(PROJECT, inner / name)
    if env.get("OPENCODE_CONFIG_DIR"):
        for name in _OPENCODE_FILES:
            yield from _json_layer(FLAG, folder / env["OPENCODE_CONFIG_DIR"] / name)
    if env.get("OPENCODE_CONFIG_CONTENT"):
        yield Layer(FLAG, str(folder / "opencode.json"), _parse(env["OPENCODE_CONFIG_CONTENT"]))


_OPENCODE_FILES: Final = ("opencode.json", "opencode.jsonc")


def opencode_plugin_files(started: StartedTool, folder: Path) -> list[Path]:
    """Files that opencode loads as plugins because of the folder they are in."""
    env = started.env
    homes = [opencode_home(env)]
    if not is_switched_on(env.get("OPENCODE_DISABLE_PROJECT_CONFIG")):
        around = _from_root(worktree_root(folder) or folder, folder)
        homes += [inner / ".opencode" for inner in around]
    if env.get("OPENCODE_CONFIG_DIR"):
        homes.append(folder / env["OPENCODE_CONFIG_DIR"])
    patterns = ("plugin/*.js", "plugin/*.ts", "plugins/*.js", "plugins/*.ts")
    return [file for home in homes for pattern in patterns for file in sorted(home.glob(pattern))]


def is_switched_on(value: str | None) -> bool:
    return (value or "").lower() in ("1", "true")


def _from_root(root: Path, folder: Path) -> Sequence[Path]:
    """The folders from `root` down to `folder`, both included."""
    if folder != root and root in folder.parents:
        inner = [folder, *folder.parents]
        return list(reversed(inner[: inner.index(root) + 1]))
    return [root] if folder == root else [root, folder]


def _json_layer(scope: str, path: Path) -> Iterator[Layer]:
    try:
        text = path.read_text("utf-8")
    except (OSError, ValueError):
        return
    yield Layer(scope, str(path), _parse(text))


def _toml_layer(scope: str, path: Path) -> Iterator[Layer]:
    try:
        yield Layer(scope, str(path), tomllib.loads(path.read_text("utf-8")))
    except (OSError, ValueError):
        return


def _parse(text: str) -> Mapping[str, Any]:
    """JSON, with comments if need be; empty if it is neither."""
    for attempt in (text, _without_comments(text)):
        try:
            return json_settings.parse(attempt, "")
        except MootError:
            continue
    return {}


def _without_comments(text: str) -> str:
    plain = _COMMENTS.sub(lambda match: match[1] or " ", text)
    return _TRAILING.sub(lambda match: match[1] or "", plain)


_LAYERS: Final[Mapping[str, Callable[[StartedTool, Path], Iterator[Layer]]]] = {
    "claude": _claude_layers,
    "codex": _codex_layers,
    "gemini": _gemini_layers,
    "opencode": _opencode_layers,
}
