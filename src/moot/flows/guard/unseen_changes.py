"""Uncommitted changes that an agent did not make and has not seen: a person's, or unknown whose.

What an agent holds is its own work, unless somebody changed it since the agent last left or read
it. What nobody holds is its own only if it left or read just these bytes.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from moot.workspace.file_versions import FILE, Act, FileVersion, FileVersions

if TYPE_CHECKING:
    from moot.core.clock import Millis

MOST_FILES: Final = 500


class Observer(NamedTuple):
    """Who asks: the agent (empty: nobody is known), its session, and what it holds of the files."""

    agent: str
    session: str
    held: frozenset[str] = frozenset()


class SplitChanges(NamedTuple):
    """Changed files: the agent's own (or seen by it), and those it has not seen as they are.

    `changed_since` are those of the latter that it holds itself.
    """

    own: tuple[str, ...]
    unseen: tuple[str, ...]
    changed_since: tuple[str, ...] = ()


def split_changes(
    workspace: Path, root: Path, paths: Iterable[str], observer: Observer
) -> SplitChanges:
    """Whose each of these changed files is, as far as this machine remembers."""
    files = [path for path in paths if (root / path).is_file()][:MOST_FILES]
    if not files:
        return SplitChanges((), ())
    if not observer.agent or not (workspace / FILE).exists():
        own = tuple(path for path in files if path in observer.held)
        return SplitChanges(own, tuple(path for path in files if path not in observer.held))
    with FileVersions(workspace) as versions:
        known = {path: _is_known(versions, root, path, observer) for path in files}
    own = tuple(path for path in files if known[path])
    unseen = tuple(path for path in files if not known[path])
    return SplitChanges(own, unseen, tuple(path for path in unseen if path in observer.held))


def remember_told(
    workspace: Path, root: Path, paths: Iterable[str], observer: Observer, now: Millis
) -> None:
    """The agent was told of these changes to what it holds: now it has seen them."""
    rows = [
        FileVersion(str(root), path, Act.READ, observer.agent, observer.session, now, blob or "")
        for path in paths
        if (blob := _present_blob(root, path)) is not None
    ]
    with FileVersions(workspace) as versions:
        versions.note(rows)


def _is_known(versions: FileVersions, root: Path, path: str, observer: Observer) -> bool:
    rows = [
        versions.last(str(root), path, act, agent=observer.agent) for act in (Act.LEFT, Act.READ)
    ]
    blobs = {row.blob for row in rows if row is not None}
    if not blobs:
        return path in observer.held
    return _present_blob(root, path) in blobs


def _present_blob(root: Path, path: str) -> str | None:
    """Git's id of the file as it is; None if it cannot be read, or is too long to look at."""
    from moot.system.git_objects import MOST_BYTES, blob_id, object_format
    from moot.workspace.find import git_common_dir

    common = git_common_dir(root)
    try:
        if (root / path).stat().st_size > MOST_BYTES:
            return None
        data = (root / path).read_bytes()
    except OSError:
        return None
    return blob_id(data, "sha1" if common is None else object_format(common))
