"""The files that carry our hooks, and whether a change of one would take them out.

No agent removes its own guard: an edit of such a file must keep every entry of ours and switch
nothing off (`require_hooks_kept`), a shell command must leave it alone (`require_out_of_reach`).
Claude Code reads settings while it runs, and people change them too. So the same question is asked
of what is on the disk: by its `ConfigChange` hook (`is_guard_whole`), and by `moot run`, which
watches the files its program depends on (`read_guard`).
"""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

from moot.core.errors import MootError, Refused
from moot.flows.guard.guarded_paths import GuardedPaths
from moot.flows.guard.off_limits import may_carry_hooks
from moot.flows.guard.who_changed import Announced, predict
from moot.flows.tools import (
    HOOK_TOOLS,
    companion_hooks,
    git_hook,
    hook_command,
    hook_entries,
    hook_files,
    json_settings,
    opencode_plugin,
)
from moot.flows.tools.settings_files import Reach, project_file, settings_files

GIT: Final = "git"
SETTINGS: Final = "settings.json"  # a name that many files have
# Of the environment that settings give a tool: by these our hook could be led elsewhere.
_LEADING: Final = ("MOOT_", "PYTHON", "PATH", "HOME")
_VARIABLE: Final = "env "
# Keys of a handler with which it still runs, and its answer counts.
_HARMLESS: Final = frozenset({"type", "command", "timeout", "statusMessage", "name", "onFailure"})
_ASK: Final = "ask the person you work for"


class Marks(NamedTuple):
    """What one file says about the guard: entries of ours, and what would switch hooks off."""

    ours: frozenset[str] = frozenset()
    switches: frozenset[str] = frozenset()


class GuardFile(NamedTuple):
    """A file that a tool reads its hooks from, and which tool (or git)."""

    tool: str
    path: Path


def find_guard_files(guarded: GuardedPaths, env: Mapping[str, str]) -> list[GuardFile]:
    """The files of every tool that has our hooks here, also those that could only switch them
    off."""
    found: list[GuardFile] = []
    for tool in HOOK_TOOLS:
        files = [GuardFile(tool, path) for path in _files_of(tool, guarded, env)]
        if any(read_marks(tool, file.path, _bytes_of(file.path)).ours for file in files):
            found += files
    return [*found, *_git_files(guarded.worktree_root)]


def read_marks(tool: str, path: Path, data: bytes | None) -> Marks:
    """What these bytes would say in this file; nothing if the tool could not read them."""
    if data is None:
        return Marks()
    try:
        text = data.decode()
        if tool == GIT:
            return _marks_of_script(text)
        if path.suffix == ".js":
            return Marks(frozenset({hook_command.without_key_folder(text)}))
        if path.suffix == ".toml":
            return _marks_of_toml(tomllib.loads(text))
        return _marks_of_settings(tool, json_settings.parse(text, str(path)))
    except (ValueError, MootError):
        return Marks()


def read_guard(tool: str, guarded: GuardedPaths, env: Mapping[str, str]) -> Marks:
    """What all files of a tool together say about the guard now."""
    marks = [read_marks(tool, path, _bytes_of(path)) for path in _files_of(tool, guarded, env)]
    return Marks(
        frozenset(one for each in marks for one in each.ours),
        frozenset(one for each in marks for one in each.switches),
    )


def stamp_guard(tool: str, guarded: GuardedPaths, env: Mapping[str, str]) -> tuple[object, ...]:
    """Return a value that stays the same as long as none of the tool's files changes."""
    return tuple(_stamp(path) for path in _files_of(tool, guarded, env))


def is_weaker(before: Marks, after: Marks) -> bool:
    """True if an entry of ours is gone or was changed, or something new switches hooks off."""
    return bool(before.ours - after.ours or after.switches - before.switches)


def is_guard_whole(tool: str, guarded: GuardedPaths, env: Mapping[str, str]) -> bool:
    """True if one of the tool's files has all that this moot installs, and nothing switches it off.

    What a person made stronger counts: more calls in a matcher, more time.
    """
    switches = read_guard(tool, guarded, env).switches
    if any(not switch.startswith(_VARIABLE) for switch in switches):
        return False
    files = settings_files(tool, guarded, env)
    if tool == "opencode":
        return any(hook_files.is_complete(tool, file, guarded) for file in files)
    forms = hook_files.accepted_forms(tool, guarded)
    return any(_has_all(tool, hook_files.read_document(file.path), forms) for file in files)


def require_hooks_kept(
    paths: Iterable[str],
    announced: Mapping[str, Announced],
    guarded: GuardedPaths,
    env: Mapping[str, str],
) -> None:
    """Refused if an edit of one of these files would remove or switch off a hook of ours.

    `announced` is what the edit makes of each. A file of which that cannot be told may not be
    edited so; where there are several readings, each of them must keep the hooks.
    """
    asked = {_real(path): path for path in paths if may_carry_hooks(path)}
    if not asked:
        return
    for file in find_guard_files(guarded, env):
        path = asked.get(_real(str(file.path)))
        if path is None:
            continue
        data = _bytes_of(file.path)
        before = read_marks(file.tool, file.path, data)
        results = predict(announced[path], data) if path in announced else []
        if not results:
            raise _refused(
                file, "this edit may change", "write the file whole, with all of its hooks"
            )
        after = (read_marks(file.tool, file.path, each) for each in results)
        if any(is_weaker(before, marks) for marks in after):
            raise _refused(file, "this edit would remove or change", f"keep them; else {_ASK}")


def require_out_of_reach(
    act: str, paths: Iterable[str], removes: bool, guarded: GuardedPaths, env: Mapping[str, str]
) -> None:
    """Refused if a shell command would write one of these files, or remove a folder around one."""
    reached = {_real(path) for path in paths}
    for file in find_guard_files(guarded, env):
        real = _real(str(file.path))
        is_around = removes and any(real.startswith(f"{path}{os.sep}") for path in reached)
        if (real in reached or is_around) and (file.path.exists() or not removes):
            raise _refused(
                file, f"{act} would write or remove", "use your edit tool, and keep them"
            )


def require_unnamed(act: str, text: str, guarded: GuardedPaths, env: Mapping[str, str]) -> None:
    """Refused if a command of which it cannot be told what it reaches names a file with hooks."""
    for file in find_guard_files(guarded, env):
        if file.path.name in text and (file.path.parent.name in text or file.path.name != SETTINGS):
            raise _refused(file, f"{act} may write or remove", "name the files you mean plainly")


def _refused(file: GuardFile, what: str, hint: str) -> Refused:
    return Refused(
        "not_for_agents",
        f"{what} hooks in {file.path}, by which {file.tool} is guarded: no agent removes them",
        hint=hint,
    )


def _files_of(tool: str, guarded: GuardedPaths, env: Mapping[str, str]) -> Iterator[Path]:
    known = [file.path for file in settings_files(tool, guarded, env)]
    yield from known
    if tool == "codex":  # its switches, and which hooks its user trusts
        yield from dict.fromkeys(path.with_name("config.toml") for path in known)
    elif tool == "opencode":
        yield from (path.with_suffix(".jsonc") for path in known)
        yield from (
            opencode_plugin.place(guarded, reach, env) for reach in (Reach.PROJECT, Reach.USER)
        )
        yield project_file(tool, guarded).with_name(opencode_plugin.SHARED)


def _git_files(root: Path) -> Iterator[GuardFile]:
    """Git's hooks that have our mark."""
    try:
        place = git_hook.place_for(root)
    except MootError:
        return
    names = ("pre-commit", "pre-commit.legacy", *companion_hooks.NAMES)
    for path in dict.fromkeys((place.file, *(place.file.with_name(name) for name in names))):
        if read_marks(GIT, path, _bytes_of(path)).ours:
            yield GuardFile(GIT, path)


def _marks_of_script(text: str) -> Marks:
    """A line of ours in a project's own hook, or a script that is all ours."""
    lines = {git_hook.LINE, git_hook.FIRST_LINE} & set(text.splitlines())
    if not lines and "# moot: " in text:
        lines = {text}
    return Marks(frozenset(lines))


def _marks_of_toml(document: Mapping[str, Any]) -> Marks:
    """Codex's own settings: what its user trusts, and what switches hooks off."""
    hooks, features = _table(document, "hooks"), _table(document, "features")
    trusted = {f"trust {key}={_text(value)}" for key, value in _table(hooks, "state").items()}
    switches = {
        f"features.{name}" for name in ("hooks", "codex_hooks") if features.get(name) is False
    }
    for folder, project in _table(document, "projects").items():
        if isinstance(project, dict) and project.get("trust_level") == "untrusted":
            switches.add(f"untrusted {folder}")
    return Marks(frozenset(trusted), frozenset(switches))


def _marks_of_settings(tool: str, document: json_settings.Document) -> Marks:
    ours = {
        _text([event, entry])
        for event in _table(document, "hooks")
        for entry in json_settings.entries(document, event)
        if any(map(partial(hook_command.is_ours, tool), json_settings.commands_of(entry)))
    }
    if tool == "opencode":
        listed = document.get("plugin")
        ours |= {
            one
            for one in (listed if isinstance(listed, list) else ())
            if isinstance(one, str) and opencode_plugin.is_ours(one)
        }
    return Marks(frozenset(ours), frozenset(_SWITCHES.get(tool, _no_switches)(document)))


def _no_switches(_document: Mapping[str, Any]) -> Iterator[str]:
    yield from ()


def _claude_switches(document: Mapping[str, Any]) -> Iterator[str]:
    if document.get("disableAllHooks") is True:
        yield "disableAllHooks"
    for name, value in _table(document, "env").items():
        if name.startswith(_LEADING):
            yield f"{_VARIABLE}{name}={value}"


def _gemini_switches(document: Mapping[str, Any]) -> Iterator[str]:
    config = _table(document, "hooksConfig")
    if config.get("enabled") is False:
        yield "hooksConfig.enabled"
    if _table(document, "tools").get("enableHooks") is False:
        yield "tools.enableHooks"
    disabled = config.get("disabled")
    for name in disabled if isinstance(disabled, list) else ():
        if isinstance(name, str) and hook_command.is_ours("gemini", name):
            yield f"disabled {name}"


_SWITCHES: Final[Mapping[str, Callable[[Mapping[str, Any]], Iterator[str]]]] = {
    "claude": _claude_switches,
    "gemini": _gemini_switches,
}


def _has_all(
    tool: str, document: json_settings.Document, forms: Sequence[hook_files.CommandOf]
) -> bool:
    """Does each event of ours run one of these commands, for all of our calls, and in time?"""
    settings = hook_entries.SETTINGS[tool]
    plain = hook_command.without_key_folder
    for event in settings.events:
        commands = {plain(form(event)) for form in forms}
        matcher = hook_entries.matcher_of(settings, event)
        wanted = set((matcher or "").split("|"))
        for entry in json_settings.entries(document, event):
            given = str(entry.get("matcher") or "") if isinstance(entry, dict) else ""
            is_asked = given in hook_files.MATCHES_ALL or wanted <= set(given.split("|"))
            handlers = json_settings.handlers_of(entry) if is_asked else []
            least = settings.shorter.get(event, settings.timeout)
            if any(
                _is_strong(one, least) and plain(one["command"]) in commands for one in handlers
            ):
                break
        else:
            return False
    return True


def _is_strong(handler: Mapping[str, Any], least: int) -> bool:
    time = handler.get("timeout", least)
    return not set(handler) - _HARMLESS and isinstance(time, int | float) and time >= least


def _table(document: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = document.get(name)
    return found if isinstance(found, dict) else {}


def _text(value: object) -> str:
    return json.dumps(value, sort_keys=True, default=str)


def _bytes_of(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None


def _stamp(path: Path) -> tuple[int, int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_ctime_ns


def _real(path: str) -> str:
    return os.path.realpath(path)
