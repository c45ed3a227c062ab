"""Prints where the newest Python is that we claim, that is newer than this one, and that starts.

    python -m tools.newest_python

What pyproject.toml claims is looked for on the search path and among what pyenv and uv installed.
A file of that name is not enough: the one that a version manager puts on the path may only say
that it is not switched on. If none starts, a person is told so on standard error.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator
from itertools import product
from pathlib import Path
from typing import Final

Version = tuple[int, int]

PYPROJECT: Final = Path(__file__).parents[1] / "pyproject.toml"
CLAIM: Final = "Programming Language :: Python :: 3."
# What an environment with Moot in it needs, and which version this really is.
QUESTION: Final = "import sqlite3, ssl, sys, venv; print('{}.{}'.format(*sys.version_info))"
LONGEST_SECONDS: Final = 20


def claimed_versions() -> list[Version]:
    """Newest first."""
    classifiers = tomllib.loads(PYPROJECT.read_text("utf-8"))["project"]["classifiers"]
    minors = [int(one.removeprefix(CLAIM)) for one in classifiers if one.startswith(CLAIM)]
    return [(3, minor) for minor in sorted(minors, reverse=True)]


def folders_with_programs() -> Iterator[Path]:
    """The search path first, then what is installed but not on it."""
    yield from map(Path, os.get_exec_path())
    home = Path.home()
    pyenv = Path(os.environ.get("PYENV_ROOT") or home / ".pyenv")
    yield from sorted(pyenv.glob("versions/*/bin"), reverse=True)
    yield from sorted(home.glob(".local/share/uv/python/*/bin"), reverse=True)


def does_start(python: Path, version: Version) -> bool:
    try:
        done = subprocess.run(
            [python, "-c", QUESTION],
            capture_output=True,
            encoding="utf-8",
            timeout=LONGEST_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.stdout.strip() == name_of(version)


def find_newest(versions: Iterable[Version], folders: Iterable[Path]) -> Path | None:
    """The first of these versions that starts, wherever that is."""
    for version, folder in product(versions, folders):
        python = folder / f"python{name_of(version)}"
        if python.exists() and does_start(python, version):
            return python
    return None


def name_of(version: Version) -> str:
    return "{}.{}".format(*version)


def main() -> int:
    this = sys.version_info[:2]
    newer = [version for version in claimed_versions() if version > this]
    newest = find_newest(newer, folders_with_programs())
    if newest is not None:
        print(newest)
        return 0
    wanted = ", ".join(map(name_of, newer))
    looked = f"none of {wanted} starts here" if newer else "there is none that we claim"
    print(
        f"newer than {name_of(this)}: {looked}, so nothing was run on another Python",
        file=sys.stderr,
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
