"""What the next commit would change, as git says inside its own hook."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Final

from moot.core.errors import StoreFailed

GIT_SECONDS: Final = 10.0


def staged_files(root: Path) -> tuple[str, ...]:
    """Relative to `root`, with both sides of a rename: each is a file that changes.

    Git's own variables are left as they are: in a hook they say which index is committed.
    """
    try:
        done = subprocess.run(
            ["git", "diff", "--cached", "--name-only", "--no-renames", "-z"],
            cwd=root,
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=GIT_SECONDS,
            check=True,
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise StoreFailed("git_failed", f"git does not say what is staged: {error}") from None
    names = done.stdout.decode("utf-8", "surrogateescape").split("\0")
    return tuple(name for name in names if name)
