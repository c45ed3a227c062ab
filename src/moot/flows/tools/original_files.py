"""What was there before we installed: bytes, kept in the workspace, to be put back exactly.

A file nobody touched since is restored byte for byte. One that was edited meanwhile keeps the
edits and loses only what is ours.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import msgspec

from moot.core.errors import Malformed, StoreFailed

FILE: Final = "hooks/installed.json"

# A file's bytes without what is ours; None if nothing is left. Without ours in it: the same bytes.
Mend = Callable[[bytes], bytes | None]


def _as_it_is(data: bytes) -> bytes | None:
    return data


class Before(msgspec.Struct, frozen=True):
    """`data` is None if there was no file; `folders` are those made for it; `after` is a hash.

    `shared`: what we wrote is meant for everyone who has the project.
    """

    data: bytes | None
    after: str
    folders: tuple[str, ...] = ()
    shared: bool = False


class OriginalFiles:
    """The record of one workspace; one entry for each file, by absolute path."""

    def __init__(self, workspace: Path) -> None:
        self.path = workspace / FILE
        self._files: dict[str, Before] = self._read()

    def files_of_this_clone(self) -> tuple[Path, ...]:
        """The files we wrote that nobody else should get, but for those in the workspace."""
        workspace = self.path.parent.parent
        mine = (Path(name) for name, known in self._files.items() if not known.shared)
        return tuple(file for file in mine if not file.is_relative_to(workspace))

    def write(
        self, path: Path, data: bytes, mend: Mend = _as_it_is, *, shared: bool = False
    ) -> bool:
        """Put `data` in place of what is there, remembering that first. False: it was so.

        What others changed since the last time counts as theirs, without what is ours in it.
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
            known = Before(None if before is None else mend(before), "", folders)
        self._files[str(path)] = msgspec.structs.replace(known, after=_digest(data), shared=shared)
        self._save()
        put(path, data)
        return True

    def restore(self, path: Path, mend: Mend) -> bool:
        """Undo: exactly if the file is as we left it, else by `mend` (None: no file is left)."""
        now = bytes_of(path)
        known = self._files.pop(str(path), None)
        if known is not None and now is not None and _digest(now) == known.after:
            data = known.data
        else:
            data = now if now is None else mend(now)
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
        """Nothing of ours is there any more."""
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
                hint="remove that file; uninstalling then takes out only what is ours",
            ) from None

    def _save(self) -> None:
        data = msgspec.json.format(msgspec.json.encode(self._files)) if self._files else None
        put(self.path, data)
        if data is None:
            with suppress(OSError):
                self.path.parent.rmdir()


def put(path: Path, data: bytes | None) -> None:
    """Whole or not at all; None removes. The mode of a file that is replaced stays."""
    try:
        if data is None:
            path.unlink(missing_ok=True)
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        real = Path(os.path.realpath(path))
        fresh = real.with_name(f"{real.name}.moot-{os.getpid()}")
        fresh.write_bytes(data)
        if real.exists():
            fresh.chmod(real.stat().st_mode & 0o7777)
        fresh.replace(real)
    except OSError as error:
        raise StoreFailed(
            "settings_not_written",
            f"{path} cannot be written: {error.strerror or error}",
            hint="check its permissions",
        ) from error


def bytes_of(path: Path) -> bytes | None:
    """What is there; None if nothing is."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise StoreFailed(
            "settings_unreadable",
            f"{path} cannot be read: {error.strerror or error}",
            hint="check what is in its place, and its permissions",
        ) from error


@contextmanager
def all_or_nothing(files: Iterable[Path]) -> Iterator[None]:
    """A block that changes these files; if it fails, they are as they were, and so are folders."""
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


def _missing(folder: Path) -> tuple[str, ...]:
    """Folders that must be made, innermost first."""
    found = []
    while not folder.exists():
        found.append(str(folder))
        folder = folder.parent
    return tuple(found)


def _digest(data: bytes | None) -> str:
    return "" if data is None else hashlib.sha256(data).hexdigest()
