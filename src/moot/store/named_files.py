"""Files that somebody named: read within bounds, written whole or not at all.

Whatever goes wrong becomes Unavailable or Malformed, with a hint; no caller handles OSError.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from moot.core.errors import Malformed, Unavailable
from moot.store.files import replace_named_file, replace_own_file

MAX_BYTES: Final = 16 * 1024 * 1024
_HINTS: Final = {
    errno.ENOSPC: "free some space and try again",
    errno.EDQUOT: "free some space and try again",
    errno.EISDIR: "name a file in it",
}


def read_bounded(file: Path, most: int = MAX_BYTES) -> bytes:
    """The bytes of a file; refused if there are more than `most`."""
    return require_bounded(read_at_most(file, most + 1), str(file), most)


def read_at_most(file: Path, most: int) -> bytes:
    """The first bytes of a file, for whoever says themselves what is too long."""
    try:
        with file.open("rb") as stream:
            return stream.read(most)
    except OSError as error:
        raise unreadable_file(file, error) from None


def require_bounded(data: bytes, where: str, most: int = MAX_BYTES) -> bytes:
    """The same bytes; Malformed if there are more than `most`."""
    if len(data) > most:
        hint = "put the long part into a file and name it"
        raise Malformed(f"{where} is longer than {most} bytes", code="too_large", hint=hint)
    return data


def decode_text(data: bytes, where: str) -> str:
    """UTF-8 text, or Malformed with where it came from."""
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        problem = f"{where} is not UTF-8: {error.reason}"
        raise Malformed(problem, code="not_utf8", hint="save it as UTF-8 text") from None


def write_file(file: Path, data: bytes) -> None:
    """Write a file that somebody named, whole or not at all."""
    write_pieces(file, (data,))


def write_own_file(file: Path, data: bytes) -> None:
    """Write a file whose name and place we chose ourselves; a link there is not followed."""
    try:
        replace_own_file(file, data)
    except OSError as error:
        raise unwritable_file(file, error) from None


def write_pieces(file: Path, pieces: Iterable[bytes]) -> tuple[str, int]:
    """Write a named file from pieces, without holding them all; returns their SHA-256 and size.

    Its folder is made if it is not there: whoever named it wants the file.
    """
    try:
        Path(os.path.realpath(file)).parent.mkdir(parents=True, exist_ok=True)
        return replace_named_file(file, pieces)
    except OSError as error:
        raise unwritable_file(file, error) from None


def unreadable_file(file: Path, error: OSError) -> Unavailable:
    problem = f"{file}: {error.strerror or error}"
    return Unavailable("unreadable_file", problem, hint="check the path")


def unwritable_file(file: Path, error: OSError) -> Unavailable:
    hint = _HINTS.get(error.errno or 0, "check the folder and its permissions")
    return Unavailable("unwritable_file", f"{file}: {error.strerror or error}", hint=hint)
