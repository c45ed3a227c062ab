"""Where this user's workspaces are: a list in the key folder, one line each.

A `.moot` folder that vanishes (`git clean -xfd` removes it) leaves nothing behind in the project
that could say so. This list does: a hook that finds no workspace asks it before it stays silent.
It is a reminder, not a record: what cannot be read or written counts as nothing known.
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
    """Note that the workspace of this ledger is in `root`; what is known already costs one read."""
    line = _line(root, origin)
    known = _read(keys)
    if line is None or line in known:
        return
    with suppress(OSError):
        if sum(map(len, known)) > MOST_BYTES:
            _write(keys, [*_still_there(known), line])
            return
        with (keys / FILE).open("ab") as file:
            file.write(line)


def forget_place(keys: Path, root: Path) -> bool:
    """True if it was known. Raises OSError if the list cannot be written."""
    place, known = os.fsencode(os.path.realpath(root)), _read(keys)
    rest = [line for line in known if _place(line) != place]
    if rest != known:
        _write(keys, rest)
    return rest != known


def find_known_place(keys: Path, folders: Iterable[Path]) -> Path | None:
    """The first of the folders in which a workspace of this user was."""
    known = {_place(line) for line in _read(keys)}
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


def _still_there(lines: Iterable[bytes]) -> Iterator[bytes]:
    return (line for line in lines if os.path.isdir(_place(line)))


def _line(root: Path, origin: str) -> bytes | None:
    place = os.fsencode(os.path.realpath(root))
    return None if b"\n" in place or b"\r" in place else origin.encode() + b"\t" + place + b"\n"


def _place(line: bytes) -> bytes:
    return line.partition(b"\t")[2].rstrip(b"\n")
