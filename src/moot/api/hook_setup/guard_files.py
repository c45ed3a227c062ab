"""The files that contain our hooks, and the checks that an agent does not remove them.

An edit of such a file must keep our entries and switch nothing off (`require_hooks_kept`); a shell
command must not write it (`require_out_of_reach`). Claude Code reloads settings while it runs, and
people change them too, so its `ConfigChange` hook checks the files on disk (`is_guard_whole`), and
`moot run` watches those of its program (`read_guard`).
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from moot.api.guard.guarded_paths import GuardedPaths, may_carry_hooks
from moot.api.guard.who_changed import Announced, predict_content
from moot.api.hook_setup import companion_hooks, git_hook
from moot.api.hook_setup.worktrees import place_of
from moot.coding_tools import all_tools, find_tool
from moot.coding_tools.settings import VARIABLE, Marks
from moot.core.errors import MootError, Refused

GIT: Final = "git"
SETTINGS: Final = "settings.json"  # a name that many files have
_ASK: Final = "ask the person you work for"


class GuardFile(NamedTuple):
    """A file that a tool (or git) reads its hooks from."""

    tool: str
    path: Path


def find_guard_files(guarded: GuardedPaths, env: Mapping[str, str]) -> list[GuardFile]:
    """Return the files of every tool that has our hooks here, including those that could disable
    them."""
    found: list[GuardFile] = []
    place = place_of(guarded, env)
    for tool in all_tools():
        files = [GuardFile(tool.name, path) for path in tool.guard_files(place)]
        if any(read_marks(tool.name, file.path, _bytes_of(file.path)).ours for file in files):
            found += files
    return [*found, *_git_files(guarded.worktree_root)]


def read_marks(tool: str, path: Path, data: bytes | None) -> Marks:
    """Return what these bytes say about our hooks; nothing if the tool could not read them."""
    if data is None:
        return Marks()
    try:
        text = data.decode()
        return _marks_of_script(text) if tool == GIT else find_tool(tool).read_marks(path, text)
    except (ValueError, MootError):
        return Marks()


def read_guard(tool: str, guarded: GuardedPaths, env: Mapping[str, str]) -> Marks:
    """Return what all files of a tool together say about our hooks now."""
    marks = [read_marks(tool, path, _bytes_of(path)) for path in _files_of(tool, guarded, env)]
    return Marks(
        frozenset(one for each in marks for one in each.ours),
        frozenset(one for each in marks for one in each.switches),
    )


def fingerprint_guard(
    tool: str, guarded: GuardedPaths, env: Mapping[str, str]
) -> tuple[object, ...]:
    """Return a value that stays the same as long as none of the tool's files changes."""
    return tuple(_stamp(path) for path in _files_of(tool, guarded, env))


def is_weaker(before: Marks, after: Marks) -> bool:
    """True if one of our entries is missing or changed, or if something new switches hooks off."""
    return bool(before.ours - after.ours or after.switches - before.switches)


def is_guard_whole(tool: str, guarded: GuardedPaths, env: Mapping[str, str]) -> bool:
    """True if one of the tool's files has all that this moot installs, and nothing switches it off.

    Stronger settings count: more calls in a matcher, a longer timeout.
    """
    switches = read_guard(tool, guarded, env).switches
    if any(not switch.startswith(VARIABLE) for switch in switches):
        return False
    return find_tool(tool).is_guard_whole(place_of(guarded, env))


def require_hooks_kept(
    paths: Iterable[str],
    announced: Mapping[str, Announced],
    guarded: GuardedPaths,
    env: Mapping[str, str],
) -> None:
    """Refuse an edit of one of these files that would remove or switch off one of our hooks.

    `announced` is the new content of each. Refused if it is unknown; if there are several possible
    contents, each must keep the hooks.
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
        results = predict_content(announced[path], data) if path in announced else []
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
    """Refuse a shell command that would write one of these files, or remove a folder around one."""
    reached = {_real(path) for path in paths}
    for file in find_guard_files(guarded, env):
        real = _real(str(file.path))
        is_around = removes and any(real.startswith(f"{path}{os.sep}") for path in reached)
        if (real in reached or is_around) and (file.path.exists() or not removes):
            raise _refused(
                file, f"{act} would write or remove", "use your edit tool, and keep them"
            )


def require_unnamed(act: str, text: str, guarded: GuardedPaths, env: Mapping[str, str]) -> None:
    """Refuse a command that names a file with hooks if it is unknown what the command writes."""
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
    return find_tool(tool).guard_files(place_of(guarded, env))


def _git_files(root: Path) -> Iterator[GuardFile]:
    """Yield git's hooks that contain our mark."""
    try:
        place = git_hook.place_for(root)
    except MootError:
        return
    names = ("pre-commit", "pre-commit.legacy", *companion_hooks.NAMES)
    for path in dict.fromkeys((place.file, *(place.file.with_name(name) for name in names))):
        if read_marks(GIT, path, _bytes_of(path)).ours:
            yield GuardFile(GIT, path)


def _marks_of_script(text: str) -> Marks:
    """Return our line in a project's own hook, or a whole script of ours."""
    lines = {git_hook.LINE, git_hook.FIRST_LINE} & set(text.splitlines())
    if not lines and "# moot: " in text:
        lines = {text}
    return Marks(frozenset(lines))


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
