"""A line in a commit's message that leads to the record: `Moot-Event: STREAM:NUMBER sha256:HASH`.

It names the newest event of what the hooks of the committing agent have seen; the hash of an event
covers all that stand before it. It is a pointer and no proof: anyone can type such a line, and it
counts only if the record, once checked, has that event. git adds it, so that it stands where git's
own tools look for trailers.
"""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Final

TRAILER: Final = "Moot-Event"
_SECONDS: Final = 5.0


def write_trailer(message: Path, text: str, folder: Path) -> bool:
    """Add it to the message that is about to be committed; once, whatever is repeated."""
    words = ("interpret-trailers", "--in-place", "--if-exists", "replace", "--trailer")
    try:
        done = subprocess.run(
            ["git", *words, f"{TRAILER}: {text}", str(message)],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0
