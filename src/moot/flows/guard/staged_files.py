"""What a commit, merge or rebase would change, as git says inside its own hooks."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from moot.core.errors import StoreFailed

GIT_SECONDS: Final = 10.0
PRE_COMMIT: Final = "pre-commit"
_STAGED: Final = ("--cached",)
# By the name of git's hook: what to compare. `@1` is the hook's own first argument.
_COMPARED: Final[Mapping[str, tuple[str, ...]]] = {
    PRE_COMMIT: _STAGED,
    "pre-merge-commit": _STAGED,
    "prepare-commit-msg": _STAGED,
    "pre-rebase": ("HEAD...@1",),
    "post-merge": ("ORIG_HEAD", "HEAD"),
}
# Hooks whose answer git does not ask for: what they see has happened.
TOO_LATE: Final = frozenset({"post-merge"})


def files_to_change(root: Path, hook: str, arguments: Sequence[str] = ()) -> tuple[str, ...]:
    """Relative to `root`, with both sides of a rename: each is a file that changes.

    Git's own variables are left as they are: in a hook they say which index is committed.
    """
    compared = _COMPARED.get(hook, _STAGED)
    first = arguments[0] if arguments else "HEAD"
    words = [word.replace("@1", first) for word in compared]
    try:
        done = subprocess.run(
            ["git", "diff", "--name-only", "--no-renames", "-z", *words, "--"],
            cwd=root,
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=GIT_SECONDS,
            check=True,
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise StoreFailed("git_failed", f"git does not say what is changed: {error}") from None
    names = done.stdout.decode("utf-8", "surrogateescape").split("\0")
    return tuple(name for name in names if name)
