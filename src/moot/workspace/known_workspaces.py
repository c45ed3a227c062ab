"""Where this user's workspaces are: a list in the key folder, one line each.

If a `.moot` folder vanishes (`git clean -xfd` removes it), nothing in the project shows that it
existed. A hook that finds no workspace reads this list before it stays silent. A list that cannot
be read or written counts as empty.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

FILE: Final = "workspaces"
MOST_BYTES: Final = 65_536


def remember_place(keys: Path, root: Path, origin: str) -> None:
    """Note that the workspace of this ledger is in `root`; a known one costs one read."""
    line = _line(root, origin)
    known = _read(keys)
    if line is None or line in known:
        return
    with suppress(OSError):
        if sum(map(len, known)) > MOST_BYTES:
            _write(keys, [*_existing(known), line])
            return
        with (keys / FILE).open("ab") as file:
            file.write(line)


def forget_place(keys: Path, root: Path) -> bool:
    """Remove a workspace from the list; True if it was there. OSError if it cannot be written."""
    path, known = os.fsencode(os.path.realpath(root)), _read(keys)
    others = [line for line in known if _path_of(line) != path]
    if others != known:
        _write(keys, others)
    return others != known


def find_known_place(keys: Path, folders: Iterable[Path]) -> Path | None:
    """Return the first of the folders in which a workspace of this user was."""
    known = {_path_of(line) for line in _read(keys)}
    return next((each for each in folders if known and os.fsencode(each) in known), None)


def _read(keys: Path) -> list[bytes]:
    try:
        return (keys / FILE).read_bytes().splitlines(keepends=True)
    except OSError:
        return []


def _write(keys: Path, lines: Iterable[bytes]) -> None:
    fresh = keys / f"{FILE}.{os.getpid()}"
    fresh.write_bytes(b"".join(lines))
    fresh.chmod(0o600)
    fresh.replace(keys / FILE)


def _existing(lines: Iterable[bytes]) -> Iterator[bytes]:
    return (line for line in lines if os.path.isdir(_path_of(line)))


def _line(root: Path, origin: str) -> bytes | None:
    path = os.fsencode(os.path.realpath(root))
    return None if b"\n" in path or b"\r" in path else origin.encode() + b"\t" + path + b"\n"


def _path_of(line: bytes) -> bytes:
    return line.partition(b"\t")[2].rstrip(b"\n")
