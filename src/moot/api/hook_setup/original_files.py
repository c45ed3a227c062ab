"""Keep the bytes of each file before we installed, to restore them exactly.

An unchanged file is restored byte for byte. A file that was edited since keeps the edits and loses
only what is ours.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import msgspec

from moot.api.hook_setup.worktrees import all_worktrees
from moot.coding_tools.settings import InstalledFile, bytes_of, put
from moot.core.errors import Malformed, Refused, StoreFailed
from moot.workspace.find import git_common_dir

FILE: Final = "hooks/installed.json"

# Returns a file's bytes without our part; None if nothing is left.
TakeOut = Callable[[bytes], bytes | None]


def _unchanged(data: bytes) -> bytes | None:
    return data


class Before(msgspec.Struct, frozen=True):
    """`data` is None if there was no file; `folders` were made for it; `after` is a hash.

    `shared`: what we wrote is for everyone who has the project.
    """

    data: bytes | None
    after: str
    folders: tuple[str, ...] = ()
    shared: bool = False


class OriginalFiles:
    """The original files of one workspace, by absolute path."""

    def __init__(self, workspace: Path) -> None:
        self.path = workspace / FILE
        self._files: dict[str, Before] = self._read()

    def files_of_this_clone(self) -> tuple[Path, ...]:
        """Return the files that we wrote for this clone only, outside of the workspace."""
        workspace = self.path.parent.parent
        mine = (Path(name) for name, known in self._files.items() if not known.shared)
        return tuple(file for file in mine if not file.is_relative_to(workspace))

    def write(
        self, path: Path, data: bytes, take_out: TakeOut = _unchanged, *, shared: bool = False
    ) -> bool:
        """Write `data` and remember what was there before; False if it was already the same.

        What others changed since the last write counts as theirs, without our part.
        """
        before = bytes_of(path)
        known = self._files.get(str(path))
        if before == data:
            if known is not None and known.shared != shared:
                self._files[str(path)] = msgspec.structs.replace(known, shared=shared)
                self._save()
            return False
        if known is None or _digest(before) != known.after:
            folders = known.folders if known is not None else _missing(path.parent)
            known = Before(None if before is None else take_out(before), "", folders)
        self._files[str(path)] = msgspec.structs.replace(known, after=_digest(data), shared=shared)
        self._save()
        put(path, data)
        return True

    def restore(self, path: Path, take_out: TakeOut) -> bool:
        """Restore the file exactly if it is as we left it; otherwise remove our part with
        `take_out`."""
        now = bytes_of(path)
        known = self._files.pop(str(path), None)
        if known is not None and now is not None and _digest(now) == known.after:
            data = known.data
        else:
            data = now if now is None else take_out(now)
        changed = data != now
        if changed:
            put(path, data)
        for folder in known.folders if known is not None and data is None else ():
            with suppress(OSError):
                os.rmdir(folder)
        if known is not None:
            self._save()
        return changed

    def forget(self, path: Path) -> None:
        """Forget a file that contains nothing of ours any more."""
        if self._files.pop(str(path), None) is not None:
            self._save()

    def _read(self) -> dict[str, Before]:
        try:
            return msgspec.json.decode(self.path.read_bytes(), type=dict[str, Before])
        except FileNotFoundError:
            return {}
        except (OSError, msgspec.DecodeError) as error:
            raise Malformed(
                f"{self.path} cannot be read: {error}",
                code="hooks_record_damaged",
                hint="remove that file; `moot hook uninstall` then removes only our part",
            ) from None

    def _save(self) -> None:
        data = msgspec.json.format(msgspec.json.encode(self._files)) if self._files else None
        put(self.path, data)
        if data is None:
            with suppress(OSError):
                self.path.parent.rmdir()


@contextmanager
def all_or_nothing(files: Iterable[Path]) -> Iterator[None]:
    """Restore these files and folders if the block fails."""
    before = {file: bytes_of(file) for file in files}
    made = [folder for file in before for folder in _missing(file.parent)]
    try:
        yield
    except BaseException:
        for file, data in before.items():
            with suppress(StoreFailed):
                if bytes_of(file) != data:
                    put(file, data)
        for folder in sorted(made, key=len, reverse=True):
            with suppress(OSError):
                os.rmdir(folder)
        raise


def plan_bytes(file: InstalledFile) -> bytes:
    """Return the content of a file with our part added."""
    before = bytes_of(file.path)
    return file.merge(None if before is None else _decode(before, file.path)).encode()


def remover_for(file: InstalledFile) -> TakeOut:
    """Return a function that removes our part from a file's bytes; it refuses unreadable bytes."""

    def take_out(now: bytes) -> bytes | None:
        left = file.take_out(_decode(now, file.path))
        return None if left is None else left.encode()

    return take_out


def require_readable(file: InstalledFile) -> None:
    """Refuse a file from which our part could not be removed."""
    before = bytes_of(file.path)
    if before is not None:
        remover_for(file)(before)


def _decode(data: bytes, path: Path) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise Refused(
            "settings_unreadable", f"{path} is not UTF-8; it was not changed", hint="fix the file"
        ) from None


def _missing(folder: Path) -> tuple[str, ...]:
    """Return the folders that must be made, innermost first."""
    found = []
    while not folder.exists():
        found.append(str(folder))
        folder = folder.parent
    return tuple(found)


def _digest(data: bytes | None) -> str:
    return "" if data is None else hashlib.sha256(data).hexdigest()


# Files of ours that this clone alone has: a block of `.git/info/exclude` hides them from git.

BEGIN: Final = "# moot: begin (`moot hook uninstall` removes this)"
END: Final = "# moot: end"


def exclude_file(root: Path) -> Path | None:
    """Return git's list of files that only this clone ignores; None outside of git."""
    common = git_common_dir(root)
    return None if common is None else common / "info" / "exclude"


def hide_installed_files(root: Path, originals: OriginalFiles) -> Path | None:
    """Let git ignore the files that are installed for this clone only; return the list if it
    changed."""
    file = exclude_file(root)
    if file is None:
        return None
    lines = sorted(_lines(originals.files_of_this_clone(), root, file.parent.parent))
    now = _read(file)
    if not lines:
        return file if BEGIN in now and originals.restore(file, _without_block) else None
    data = _with_block(now, lines)
    if data == now:
        return None
    originals.write(file, data.encode("utf-8", "surrogateescape"), _without_block)
    return file


def _lines(files: Iterable[Path], root: Path, common: Path) -> set[str]:
    """Return the ignore patterns, relative to the root of any worktree."""
    roots = sorted(all_worktrees(root), key=lambda each: -len(each.parts))
    lines = set()
    for file in files:
        around = next((each for each in roots if file.is_relative_to(each)), None)
        if around is not None and not file.is_relative_to(common):
            lines.add(f"/{file.relative_to(around).as_posix()}")
    return lines


def _with_block(text: str, lines: list[str]) -> str:
    clean = _without(text)
    gap = "" if not clean or clean.endswith("\n") else "\n"
    return "\n".join([clean + gap + BEGIN, *lines, END, ""])


def _without(text: str) -> str:
    before, begin, rest = text.partition(BEGIN)
    _ours, end, after = rest.partition(END)
    return before + after.removeprefix("\n") if begin and end else text


def _without_block(data: bytes) -> bytes | None:
    left = _without(data.decode("utf-8", "surrogateescape"))
    return left.encode("utf-8", "surrogateescape") or None


def _read(file: Path) -> str:
    try:
        return file.read_bytes().decode("utf-8", "surrogateescape")
    except OSError:
        return ""
