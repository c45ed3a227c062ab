"""List the files that a patch, an archive or a stash would write, without unpacking it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from fnmatch import fnmatch
from itertools import islice
from typing import IO, Final, cast

from moot.api.guard.git_changes import query_git
from moot.api.guard.shell.act import Input, InputKind

MOST_TEXT: Final = 4 * 1024 * 1024
MOST_SCRIPT: Final = 64 * 1024
_MOST_PACKED: Final = 64 * 1024 * 1024
_MOST_UNPACKED: Final = 256 * 1024 * 1024
_MOST_NAMES: Final = 20_000
_PATCHED: Final = re.compile(
    r"^(?:\+\+\+ |--- |rename (?:from|to) |copy to |Index: )([^\t\r\n]+)", re.MULTILINE
)
_NO_FILE: Final = "/dev/null"


def find_input_files(read_from: Input, folder: str) -> list[str] | None:
    """Return the names in it, relative to the folder where it is unpacked; None if it is
    unreadable."""
    try:
        names = list(islice(_names(read_from, folder), _MOST_NAMES + 1))
    except (OSError, ValueError, EOFError, RuntimeError, NotImplementedError):
        return None
    return None if len(names) > _MOST_NAMES else names


def read_script_file(read_from: Input) -> str | None:
    """Return the text of a script file; None if it is unreadable or too long."""
    try:
        with open(read_from.source.text, encoding="utf-8", errors="replace") as file:
            text = file.read(MOST_SCRIPT + 1)
    except (OSError, ValueError):
        return None
    return text if len(text) <= MOST_SCRIPT else None


def _names(read_from: Input, folder: str) -> Iterator[str]:
    if read_from.kind is InputKind.PATCH:
        yield from _patched(read_from)
    elif read_from.kind is InputKind.STASH:
        yield from _stashed(read_from.source.text, folder)
    else:
        packed = _in_tar(read_from) if read_from.kind is InputKind.TAR else _in_zip(read_from)
        for name in packed:
            parts = name.removeprefix("./").split("/")[read_from.strip :]
            if parts and _is_meant(name, read_from.members):
                yield "/".join(parts)


def _patched(read_from: Input) -> Iterator[str]:
    text = read_from.text
    if not text:
        with open(read_from.source.text, encoding="utf-8", errors="surrogateescape") as file:
            text = file.read(MOST_TEXT + 1)
    if len(text) > MOST_TEXT:
        raise ValueError("too long")
    for found in _PATCHED.finditer(text):
        name = found[1].strip().strip('"')
        parts = name.split("/")
        if name == _NO_FILE:
            continue
        if read_from.strip >= 0 and not found[0].startswith(("rename", "copy")):
            yield "/".join(parts[read_from.strip :])
        else:  # without `-p`, `patch` looks for what is there
            yield from ("/".join(parts[count:]) for count in range(len(parts)))


def _stashed(name: str, folder: str) -> Iterator[str]:
    """Yield the files of a stash, absolute: git counts from the worktree root."""
    words = ("stash", "show", "--name-only", "-z", "--include-untracked", name)
    answer = query_git(folder, words)
    top = query_git(folder, ("rev-parse", "--show-toplevel"))
    if answer is not None and top is not None:
        root = top.rstrip("\n")
        yield from (os.path.join(root, path) for path in answer.split("\0") if path)


def _in_tar(read_from: Input) -> Iterator[str]:
    import tarfile

    with open(read_from.source.text, "rb") as file:
        try:
            with tarfile.open(fileobj=cast("IO[bytes]", _Bounded(file)), mode="r|*") as archive:
                for member in archive:
                    if not member.isdir():
                        yield member.name
                    if member.offset_data + member.size > _MOST_UNPACKED:
                        raise ValueError("too long")
        except tarfile.TarError as error:
            raise ValueError(str(error)) from error


def _in_zip(read_from: Input) -> Iterator[str]:
    import zipfile

    file = read_from.source.text
    if not os.path.exists(file) and os.path.exists(f"{file}.zip"):
        file = f"{file}.zip"
    try:
        with zipfile.ZipFile(file) as archive:
            yield from (name for name in archive.namelist() if not name.endswith("/"))
    except zipfile.BadZipFile as error:
        raise ValueError(str(error)) from error


class _Bounded:
    """A file that raises ValueError after a maximum number of bytes."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file, self._left = file, _MOST_PACKED

    def read(self, size: int) -> bytes:
        if self._left <= 0:
            raise ValueError("too long")
        data = self._file.read(size)
        self._left -= len(data)
        return data


def _is_meant(name: str, members: tuple[str, ...]) -> bool:
    if not members:
        return True
    plain = name.removeprefix("./")
    return any(
        plain == member or plain.startswith(f"{member}/") or fnmatch(plain, member)
        for member in (each.removeprefix("./").rstrip("/") for each in members)
    )
