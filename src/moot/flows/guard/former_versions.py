"""Versions of files that can be brought back, and bringing one back: exact bytes, exact mode."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from moot.core.errors import NotFound
from moot.core.quoted import quote_name
from moot.store.named_files import unwritable_file

if TYPE_CHECKING:
    from moot.flows.guard.copies import Copies
    from moot.flows.guard.present_files import PresentFile
    from moot.workspace.file_versions import FileVersion

_PERMISSIONS: Final = 0o7777


class FormerVersion(NamedTuple):
    """`number` counts from the newest version of its file that is not there now.

    `successor` is what came after it, if that was seen.
    """

    number: int
    version: FileVersion
    successor: FileVersion | None


def list_former(copies: Copies, path: str) -> list[FormerVersion]:
    """What was seen of this file, has a copy, and is not what stands there now; newest first."""
    history = copies.versions.list_history(str(copies.root), path)
    present = copies.read(path)
    former = list[FormerVersion]()
    seen = {None if present is None else (present.blob, _comparable(present.mode))}
    for at, version in enumerate(history):
        if version.is_stored and _state(version) not in seen:
            seen.add(_state(version))
            successor = _successor(version, reversed(history[:at]))
            former.append(FormerVersion(len(former) + 1, version, successor))
    return former


def read_copy(root: Path, version: FileVersion) -> bytes:
    """The bytes of a version; NotFound if git has pruned them."""
    from moot.system.git_objects import read_blob, read_loose_blob
    from moot.workspace.find import git_common_dir

    repository = git_common_dir(root)
    data = read_loose_blob(repository, version.blob) if repository is not None else None
    data = read_blob(root, version.blob) if data is None else data
    if data is None:
        raise NotFound(
            "copy_gone",
            f"git does not have {version.blob[:12]} of {quote_name(version.path)} any more",
            hint="git prunes what nothing refers to after some weeks; `moot undo` lists the rest",
        )
    return data


def put_back(file: Path, data: bytes, mode: int) -> None:
    """Make this file what it was: its bytes, its permissions, or a link; whole or not at all."""
    fresh = file.with_name(f".{file.name[:100]}.moot-{os.getpid()}")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        if stat.S_ISLNK(mode):
            os.symlink(os.fsdecode(data), fresh)
        else:
            with open(fresh, "xb") as stream:
                stream.write(data)
                stream.flush()
                os.fsync(stream.fileno())
            fresh.chmod(mode & _PERMISSIONS or 0o644)
        fresh.replace(file)
    except OSError as error:
        fresh.unlink(missing_ok=True)
        raise unwritable_file(file, error) from None


def describe_difference(path: str, now: bytes, then: bytes) -> str | None:
    """What bringing a version back would change, line by line; None if that is no text."""
    import difflib

    try:
        before, after = (data.decode().splitlines(keepends=True) for data in (now, then))
    except UnicodeDecodeError:
        return None
    return "".join(difflib.unified_diff(before, after, f"{path} (now)", f"{path} (then)"))


def _state(version: FileVersion | PresentFile) -> tuple[str, int]:
    return version.blob, _comparable(version.mode)


def _comparable(mode: int) -> int:
    """The kind of file, and whether it may be run: what git knows of a mode."""
    return stat.S_IFMT(mode) | (mode & stat.S_IXUSR)


def _successor(version: FileVersion, later: Iterable[FileVersion]) -> FileVersion | None:
    """The next version that was another one; `later` are those after it, the oldest first."""
    others: Iterator[FileVersion] = (each for each in later if each.blob != version.blob)
    return next(others, None)
