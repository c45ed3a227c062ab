"""Find versions of files that exist in other worktrees or branches and are not in this worktree.

A version counts if it differs from our commit and from our file on disk, and if the other place
changed the file since its merge base with us.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from moot.api.guard.other_places import read_bytes
from moot.system.git_commands import GitQuestion, ask_git, find_blobs
from moot.system.git_objects import blob_id, object_format

if TYPE_CHECKING:
    from moot.api.guard.other_places import OtherPlaces
    from moot.system.git_worktrees import Head, Worktree

_FIELDS: Final = ("%S", "%H", "%an", "%at")
_LOG: Final = ("log", "-1", "--source", "--no-show-signature", f"--format={'%x00'.join(_FIELDS)}")
_DIFF: Final = ("diff", "--raw", "--no-ext-diff", "--no-renames")
_MOST_NAME: Final = 80
# The time limit for all questions that git is asked at the same time.
SECONDS: Final = 2.0
MOST_VERSIONS: Final = 5


class OtherVersion(NamedTuple):
    """A version of `path` in another place: committed (`commit`, `author`), or only in `worktree`.

    `blob` is None if the file was deleted there. `at` is in seconds.
    """

    path: str
    blob: str | None
    head: Head
    worktree: Path | None
    at: int
    commit: str = ""
    author: str = ""


class _OwnVersions(NamedTuple):
    """Our versions of a file: in our commit, and on disk."""

    committed: str | None
    on_disk: str | None

    def has(self, blob: str | None) -> bool:
        return (
            blob in (self.committed, self.on_disk) if blob is not None else self.committed is None
        )


def find_other_versions(places: OtherPlaces, paths: Sequence[str]) -> tuple[OtherVersion, ...]:
    """Return them, uncommitted ones first. Empty if git does not answer."""
    commits = [commit for commit in (places.own.commit, *places.other_commits) if commit]
    names = [f"{commit}:{path}" for path in paths for commit in commits]
    blobs = find_blobs(places.root, names, SECONDS) if names else {}
    if blobs is None:
        return ()
    algorithm = object_format(places.common)
    versions: list[OtherVersion] = []
    for path in paths:
        on_disk = read_bytes(places.root / path)
        own = _OwnVersions(
            blobs.get(f"{places.own.commit}:{path}"),
            None if on_disk is None else blob_id(on_disk, algorithm),
        )
        versions += _other_versions_of(places, path, own, blobs, algorithm)
    return tuple(versions)


class _Uncommitted(NamedTuple):
    """A file of another worktree that may differ from the commit there."""

    worktree: Worktree
    blob: str
    committed: str | None


class _Committed(NamedTuple):
    """A version that is committed elsewhere, and the heads that contain it."""

    blob: str | None
    commits: tuple[str, ...]


def _other_versions_of(
    places: OtherPlaces,
    path: str,
    own: _OwnVersions,
    blobs: dict[str, str | None],
    algorithm: str,
) -> Iterator[OtherVersion]:
    """Ask git all questions at the same time, so that the edit waits only for the slowest
    answer."""
    on_disk = list(_differing_files(places, path, own, blobs, algorithm))[:MOST_VERSIONS]
    heads = _differing_heads(places, path, own, blobs)[:MOST_VERSIONS]
    questions = [
        *(_ask_if_changed(each.worktree, path, each.committed) for each in on_disk),
        *(_ask_newest_change(places, path, each.commits) for each in heads),
        *(_ask_net_change(places, path, each.commits[0]) for each in heads),
    ]
    answers = ask_git(questions, SECONDS)
    ends = len(on_disk), len(on_disk) + len(heads)
    yield from _uncommitted(path, zip(on_disk, answers[: ends[0]], strict=True))
    newest, net = answers[ends[0] : ends[1]], answers[ends[1] :]
    yield from _committed(places, path, zip(heads, newest, net, strict=True))


def _differing_files(
    places: OtherPlaces,
    path: str,
    own: _OwnVersions,
    blobs: dict[str, str | None],
    algorithm: str,
) -> Iterator[_Uncommitted]:
    for worktree in places.worktrees:
        data = read_bytes(worktree.root / path)
        if data is None:
            continue
        committed = blobs.get(f"{worktree.head.commit}:{path}")
        plain = blob_id(data.replace(b"\r\n", b"\n"), algorithm)
        blob = blob_id(data, algorithm)
        if committed not in (blob, plain) and not own.has(blob):
            yield _Uncommitted(worktree, blob, committed)


def _differing_heads(
    places: OtherPlaces, path: str, own: _OwnVersions, blobs: dict[str, str | None]
) -> list[_Committed]:
    by_blob: dict[str | None, list[str]] = {}
    for commit in places.other_commits:
        blob = blobs.get(f"{commit}:{path}")
        if not own.has(blob):
            by_blob.setdefault(blob, []).append(commit)
    return [_Committed(blob, tuple(commits)) for blob, commits in by_blob.items()]


def _uncommitted(
    path: str, files: Iterable[tuple[_Uncommitted, bytes | None]]
) -> Iterator[OtherVersion]:
    for (worktree, blob, committed), answer in files:
        # `hash-object` prints the id as git would store it; `check-ignore` prints an ignored path.
        is_clean = answer is not None and (
            committed is None or answer.decode("ascii", "replace").strip() == committed
        )
        if not is_clean:
            at = _changed_at(worktree.root / path)
            yield OtherVersion(path, blob, worktree.head, worktree.root, at)


def _ask_if_changed(worktree: Worktree, path: str, committed: str | None) -> GitQuestion:
    """Ask whether the file really changed: a clean filter or .gitignore may explain the
    difference."""
    if committed is None:
        return GitQuestion(worktree.root, ("check-ignore", "--", path))
    return GitQuestion(worktree.root, ("hash-object", "--", path))


def _changed_at(file: Path) -> int:
    try:
        return int(file.stat().st_mtime)
    except OSError:
        return 0


def _committed(
    places: OtherPlaces,
    path: str,
    heads: Iterable[tuple[_Committed, bytes | None, bytes | None]],
) -> Iterator[OtherVersion]:
    """Yield the newest commit of each version, except where we already have all changes."""
    worktrees = (worktree.head for worktree in places.worktrees)
    by_commit = {head.commit: head for head in (*worktrees, *places.branches)}
    for (blob, commits), newest, net_of_first in heads:
        fields = (newest or b"").decode("utf-8", "replace").strip().split("\0")
        if len(fields) != len(_FIELDS):
            continue
        source, commit, author, at = fields
        net = net_of_first
        if source != commits[0]:
            (net,) = ask_git([_ask_net_change(places, path, source)], SECONDS)
        if net is None or net.strip():
            head, name = by_commit[source], author[:_MOST_NAME]
            yield OtherVersion(path, blob, head, None, int(at), commit, name)


def _ask_newest_change(places: OtherPlaces, path: str, commits: tuple[str, ...]) -> GitQuestion:
    """Ask for the newest commit of the path that these heads have and we lack."""
    not_ours = ("--not", places.own.commit) if places.own.commit else ()
    return GitQuestion(places.root, (*_LOG, *commits, *not_ours, *_limit_to(path)))


def _ask_net_change(places: OtherPlaces, path: str, commit: str) -> GitQuestion:
    """Ask for the difference to the merge base: there is none if a change was reverted."""
    own = places.own.commit
    if own is None:  # everything there is a change; ask for any output
        return GitQuestion(places.root, ("rev-parse", commit))
    return GitQuestion(places.root, (*_DIFF, f"{own}...{commit}", *_limit_to(path)))


def _limit_to(path: str) -> tuple[str, ...]:
    return "--", f":(top,literal){path}"
