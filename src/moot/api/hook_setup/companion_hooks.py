"""Git's hooks other than pre-commit, for commands that change files without it.

    pre-merge-commit     a merge that makes a commit is stopped
    prepare-commit-msg   a cherry-pick or revert is stopped before its commit
    pre-rebase           a rebase is stopped before it begins
    post-merge           a merge or pull without a commit is recorded: git cannot be stopped then
    commit-msg           if `git config moot.trailer true`: a trailer that names the record

An existing hook is kept as `NAME.before-moot` and runs first. With husky, only its pre-commit gets
a line of ours.
"""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Final

from moot.coding_tools import all_tools
from moot.coding_tools.hook_command import moot_words

NAMES: Final = ("pre-merge-commit", "prepare-commit-msg", "pre-rebase", "post-merge", "commit-msg")
_OLD: Final = ".before-moot"
# Every commit passes here; only those that no pre-commit hook has seen are looked at. While a
# rebase goes on, stopping in the middle would not help.
_ONLY_TAKEN_OVER: Final = """git_folder="$(git rev-parse --git-dir)"
[ -d "$git_folder/rebase-merge" ] && exit 0
[ -e "$git_folder/CHERRY_PICK_HEAD" ] || head -n 1 "$1" | grep -q '^Revert "' || exit 0
"""
# Only a clone that asks for the trailer starts a program at each commit.
_ONLY_IF_WANTED: Final = """wanted="$(git config --type=bool moot.trailer 2>/dev/null)"
[ "$wanted" = true ] || exit 0
"""
_CONDITIONS: Final = {"prepare-commit-msg": _ONLY_TAKEN_OVER, "commit-msg": _ONLY_IF_WANTED}
_SCRIPT: Final = """#!/bin/sh
# moot: @name@, written by `moot hook install git`, removed by `moot hook uninstall git`
old="$(dirname "$0")/@name@.before-moot"
if [ -x "$old" ]; then
  "$old" "$@" || exit $?
fi
@condition@[ -x @program@ ] && exec @moot@ hook git @name@ "$@"
if command -v moot >/dev/null 2>&1; then
  exec moot hook git @name@ "$@"
fi
[ -z "$MOOT_AGENT@sessions@" ] && exit 0
echo "moot is not there: an agent's @name@ cannot be checked" >&2
exit 1
"""


def script(name: str) -> str:
    words = moot_words()
    parts = {
        "@condition@": _CONDITIONS.get(name, ""),
        "@name@": name,
        "@program@": shlex.quote(words[0]),
        "@moot@": shlex.join(words),
        "@sessions@": session_words(),
    }
    text = _SCRIPT
    for mark, part in parts.items():
        text = text.replace(mark, part)
    return text


def session_words() -> str:
    """Return the shell variables that contain an agent's session id, to detect an agent's
    commit."""
    return "".join(f"${name}" for tool in all_tools() for name in tool.session_variables)


def install(folder: Path) -> list[Path]:
    """Install the hooks and return their files; a hook that cannot be kept is left as it is."""
    written = []
    for name in NAMES:
        file, old = folder / name, folder / f"{name}{_OLD}"
        is_there = file.exists() or file.is_symlink()
        if _is_ours(file, name) or (is_there and old.exists()):
            continue
        folder.mkdir(parents=True, exist_ok=True)
        if is_there:
            file.rename(old)
        file.write_bytes(script(name).encode())
        file.chmod(0o755)
        written.append(file)
    return written


def uninstall(folder: Path) -> list[Path]:
    """Remove our hooks, restore the old ones, and return the files."""
    removed = []
    for name in NAMES:
        file, old = folder / name, folder / f"{name}{_OLD}"
        if _is_ours(file, name):
            file.unlink()
            if old.exists():
                old.rename(file)
            removed.append(file)
    return removed


def _is_ours(file: Path, name: str) -> bool:
    try:
        return f"# moot: {name}," in file.read_text("utf-8", "replace")
    except OSError:
        return False
