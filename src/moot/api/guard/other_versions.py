"""Which versions of some files exist elsewhere and are not in a worktree, as git knows it.

A version counts if it is neither the one that is committed here nor the one that lies here, and if
the place where it is has changed the file since it last had everything in common with us.
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
# For all questions to git that are asked at the same time.
SECONDS: Final = 2.0
MOST_VERSIONS: Final = 5


class OtherVersion(NamedTuple):
    """One version of `path` elsewhere: committed (`commit`, its author), or only in `worktree`.

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
    """What we have of a file: as committed, and as it lies here."""

    committed: str | None
    on_disk: str | None

    def has(self, blob: str | None) -> bool:
        return (
            blob in (self.committed, self.on_disk) if blob is not None else self.committed is None
        )


def find_other_versions(places: OtherPlaces, paths: Sequence[str]) -> tuple[OtherVersion, ...]:
    """Not committed ones first. Nothing if git gives no answer."""
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
    """A file of another worktree that may not be as committed there."""

    worktree: Worktree
    blob: str
    committed: str | None


class _Committed(NamedTuple):
    """A version that is committed elsewhere, and the heads that have it."""

    blob: str | None
    commits: tuple[str, ...]


def _other_versions_of(
    places: OtherPlaces,
    path: str,
    own: _OwnVersions,
    blobs: dict[str, str | None],
    algorithm: str,
) -> Iterator[OtherVersion]:
    """All questions are asked at once: whoever edits waits for the slowest, not for each."""
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
        # `hash-object` gives the id as git would store it; `check-ignore` gives an ignored path.
        is_clean = answer is not None and (
            committed is None or answer.decode("ascii", "replace").strip() == committed
        )
        if not is_clean:
            at = _changed_at(worktree.root / path)
            yield OtherVersion(path, blob, worktree.head, worktree.root, at)


def _ask_if_changed(worktree: Worktree, path: str, committed: str | None) -> GitQuestion:
    """What a filter made of the committed file is no change, and neither is what git ignores."""
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
    """The newest commit elsewhere for each version; none where we have all that is there."""
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
    """Which is the newest commit of the path that these heads have and we lack?"""
    not_ours = ("--not", places.own.commit) if places.own.commit else ()
    return GitQuestion(places.root, (*_LOG, *commits, *not_ours, *_limit_to(path)))


def _ask_net_change(places: OtherPlaces, path: str, commit: str) -> GitQuestion:
    """No difference if what was changed there was taken back: the merge base has the same."""
    own = places.own.commit
    if own is None:  # then all that is there is a change; the answer is just not empty
        return GitQuestion(places.root, ("rev-parse", commit))
    return GitQuestion(places.root, (*_DIFF, f"{own}...{commit}", *_limit_to(path)))


def _limit_to(path: str) -> tuple[str, ...]:
    return "--", f":(top,literal){path}"
