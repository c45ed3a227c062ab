"""Which versions of some files exist elsewhere and are not in a worktree, as git knows it.

A version counts if it is neither the one that is committed here nor the one that lies here, and if
the place where it is has changed the file since it last had everything in common with us.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from moot.flows.guard.elsewhere import Elsewhere, read_bytes
from moot.system.git_objects import blob_id, object_format
from moot.system.git_questions import GitQuestion, ask_git, find_blobs
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
    lying: str | None

    def has(self, blob: str | None) -> bool:
        return blob in (self.committed, self.lying) if blob is not None else self.committed is None


def find_other_versions(elsewhere: Elsewhere, paths: Sequence[str]) -> tuple[OtherVersion, ...]:
    """Not committed ones first. Nothing if git gives no answer."""
    commits = [commit for commit in (elsewhere.own.commit, *elsewhere.other_commits) if commit]
    names = [f"{commit}:{path}" for path in paths for commit in commits]
    blobs = find_blobs(elsewhere.root, names, SECONDS) if names else {}
    if blobs is None:
        return ()
    algorithm = object_format(elsewhere.common)
    versions: list[OtherVersion] = []
    for path in paths:
        lying = read_bytes(elsewhere.root / path)
        own = _OwnVersions(
            blobs.get(f"{elsewhere.own.commit}:{path}"),
            None if lying is None else blob_id(lying, algorithm),
        )
        versions += _uncommitted(elsewhere, path, own, blobs, algorithm)
        versions += _committed(elsewhere, path, own, blobs)
    return tuple(versions)


def _uncommitted(
    elsewhere: Elsewhere,
    path: str,
    own: _OwnVersions,
    blobs: dict[str, str | None],
    algorithm: str,
) -> Iterator[OtherVersion]:
    """Files of other worktrees that are not as committed there."""
    candidates = []
    for worktree in elsewhere.worktrees:
        data = read_bytes(worktree.root / path)
        if data is None:
            continue
        committed = blobs.get(f"{worktree.head.commit}:{path}")
        plain = blob_id(data.replace(b"\r\n", b"\n"), algorithm)
        blob = blob_id(data, algorithm)
        if committed not in (blob, plain) and not own.has(blob):
            candidates.append((worktree, blob, committed))
    candidates = candidates[:MOST_VERSIONS]
    questions = [_is_really_changed(worktree, path, was) for worktree, _, was in candidates]
    for (worktree, blob, committed), answer in zip(
        candidates, ask_git(questions, SECONDS), strict=True
    ):
        # `hash-object` gives the id as git would store it; `check-ignore` gives an ignored path.
        is_clean = answer is not None and (
            committed is None or answer.decode("ascii", "replace").strip() == committed
        )
        if not is_clean:
            at = _changed_at(worktree.root / path)
            yield OtherVersion(path, blob, worktree.head, worktree.root, at)


def _is_really_changed(worktree: Worktree, path: str, committed: str | None) -> GitQuestion:
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
    elsewhere: Elsewhere, path: str, own: _OwnVersions, blobs: dict[str, str | None]
) -> Iterator[OtherVersion]:
    """The newest commit elsewhere for each version; none where we have all that is there."""
    by_blob: dict[str | None, list[str]] = {}
    for commit in elsewhere.other_commits:
        blob = blobs.get(f"{commit}:{path}")
        if not own.has(blob):
            by_blob.setdefault(blob, []).append(commit)
    versions = list(_newest_changes(elsewhere, path, list(by_blob.items())[:MOST_VERSIONS]))
    for version, is_net in zip(versions, _are_net_changes(elsewhere, versions), strict=True):
        if is_net:
            yield version


def _newest_changes(
    elsewhere: Elsewhere, path: str, groups: Sequence[tuple[str | None, list[str]]]
) -> Iterator[OtherVersion]:
    """For each version and the heads that have it: the newest commit of the path that we lack."""
    worktrees = (worktree.head for worktree in elsewhere.worktrees)
    heads = {head.commit: head for head in (*worktrees, *elsewhere.branches)}
    not_ours = ("--not", elsewhere.own.commit) if elsewhere.own.commit else ()
    questions = [
        GitQuestion(elsewhere.root, (*_LOG, *commits, *not_ours, *_only(path)))
        for _, commits in groups
    ]
    for (blob, _), answer in zip(groups, ask_git(questions, SECONDS), strict=True):
        fields = (answer or b"").decode("utf-8", "replace").strip().split("\0")
        if len(fields) == len(_FIELDS):
            source, commit, author, at = fields
            yield OtherVersion(
                path, blob, heads[source], None, int(at), commit, author[:_MOST_NAME]
            )


def _are_net_changes(elsewhere: Elsewhere, versions: Sequence[OtherVersion]) -> list[bool]:
    """False for those that have taken back what they changed: the merge base has the same."""
    own = elsewhere.own.commit
    if own is None:
        return [True] * len(versions)
    questions = [
        GitQuestion(elsewhere.root, (*_DIFF, f"{own}...{each.head.commit}", *_only(each.path)))
        for each in versions
    ]
    return [answer is None or bool(answer.strip()) for answer in ask_git(questions, SECONDS)]


def _only(path: str) -> tuple[str, ...]:
    return "--", f":(top,literal){path}"
