"""What a session was told already: an empty file for each, so that nothing is told twice.

Two processes that ask at the same time get one yes: the file is made by one of them.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Final

from moot.core.sha256 import sha256

FOLDER: Final = "hooks/told"
_OLD_SECONDS: Final = 30 * 24 * 3600
_MOST_SWEPT: Final = 200


def is_first_time(workspace: Path, *what: str) -> bool:
    """True for the first who asks. Where nothing can be remembered it is told again."""
    note = _note_of(workspace, what)
    try:
        note.parent.mkdir(parents=True, exist_ok=True)
        os.close(os.open(note, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except FileExistsError:
        return False
    except OSError:
        return True
    return True


def forget(workspace: Path, *what: str) -> None:
    """It could not be told after all: the next one who asks may."""
    with suppress(OSError):
        _note_of(workspace, what).unlink()


def _note_of(workspace: Path, what: tuple[str, ...]) -> Path:
    text = "\n".join(what).encode("utf-8", "surrogateescape")
    return workspace / FOLDER / sha256(text).hexdigest()[:32]


def forget_old(workspace: Path) -> None:
    """What was told a month ago may be told again."""
    with suppress(OSError):
        for note in list(islice((workspace / FOLDER).iterdir(), _MOST_SWEPT)):
            if time.time() - note.stat().st_mtime > _OLD_SECONDS:
                note.unlink()
