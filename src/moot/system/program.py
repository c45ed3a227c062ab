"""Which file a command's first word is, by the folder and the variables it will run with.

The same name may be another file tomorrow, or under another PATH. So the file is looked for once,
recorded, and run by that very path.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final, NamedTuple

# A larger file is known by its path only: reading it would take longer than most commands.
MOST_BYTES: Final = 32 * 1024 * 1024


class Program(NamedTuple):
    """Where it was found, and the hash of its bytes; both empty if it was not, or cannot be."""

    path: str = ""
    sha256: str = ""


def find_program(word: str, folder: Path, env: Mapping[str, str]) -> Program:
    for path in find_places(word, folder, env):
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return Program(path, _digest(path))
    return Program()


def find_places(word: str, folder: Path, env: Mapping[str, str]) -> Iterator[str]:
    """As the system itself looks: a word with a folder in it is a path, another is searched."""
    if sys.platform == "win32":
        yield shutil.which(word, path=env.get("PATH")) or ""
    elif os.path.dirname(word):
        yield os.path.join(folder, word)
    else:
        for place in os.get_exec_path(env):
            yield os.path.join(folder, place, word)


def _digest(path: str) -> str:
    try:
        with open(path, "rb") as file:
            if os.fstat(file.fileno()).st_size > MOST_BYTES:
                return ""
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""
