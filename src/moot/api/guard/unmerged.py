"""Changes of a file that exist elsewhere in this repository and are not in this worktree.

Looked at are the other worktrees, as committed and as their files are now, and the branches that
agents here have worked on; of all these only the one path. First git's files and the bytes are
compared, which costs next to nothing; git itself is asked only if something differs. A file that
differs because this worktree is ahead is no such change. Not told: what git ignores, files of more
than `MOST_BYTES`, files that are deleted and not committed, and what git did not answer in time.

What an agent left in a worktree is remembered with its name (`workspace/file_versions.py`). Where
that is not so, git's author is named, and who works there: nobody's name is guessed.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from moot.api.session import read_presence
from moot.core.errors import Refused, StoreFailed
from moot.core.text import Quoted, quote_name, quote_optional
from moot.workspace.find import git_common_dir

if TYPE_CHECKING:
    from moot.api.guard.guarded_paths import GuardedPaths
    from moot.api.guard.other_places import OtherPlaces
    from moot.api.guard.other_versions import OtherVersion
    from moot.core.clock import Millis
    from moot.protocols.presence.model import State
    from moot.workspace.workspace import Workspace

MOST_PATHS: Final = 20
SHOWN_VERSIONS: Final = 4
SHOWN_AGENTS: Final = 3


class UnmergedChange(msgspec.Struct, frozen=True):
    """A version of `path` elsewhere that is not in this worktree: where, by whom, since when.

    `blob` is git's id of it, empty if the file is deleted there. `worktree` is named if it is not
    committed, else `commit` is the newest change. `agent` made it, if that is known; `agents` are
    those who work there. `sentence` says all of it.
    """

    path: Quoted
    blob: str
    branch: Quoted | None
    worktree: Quoted | None
    commit: str
    agent: str
    agents: tuple[str, ...]
    at: Millis
    sentence: Quoted


def require_merged(
    workspace: Workspace, guarded: GuardedPaths, name: str, env: Mapping[str, str]
) -> tuple[UnmergedChange, ...]:
    """What is to be told, unless the settings want a refusal (`unmerged_changes`) instead.

    `name` is who is about to edit these paths; `env` leads to the user's own settings.
    """
    changes = look_for_unmerged(workspace, guarded, name)
    if not changes:
        return ()
    from moot.workspace.settings import read_settings_or_strictest
    from moot.workspace.user_folders import user_settings_file

    settings = read_settings_or_strictest(guarded.worktree_root, user_settings_file(env))
    if settings.protect.unmerged != "block":
        return changes
    why = f" The strictest settings count, because {settings.problem}" if settings.problem else ""
    raise Refused(
        "unmerged_changes",
        f"{explain_unmerged(changes)}{why}".rstrip("."),
        hint="merge that first, or agree with whoever works there; then repeat the edit",
    )


def claim_untold(
    changes: Sequence[UnmergedChange], guarded: GuardedPaths, reader: tuple[str, str]
) -> tuple[UnmergedChange, ...]:
    """Those that a reader (its session, its agent) was not told of yet; now it is told."""
    if not changes:
        return ()
    from moot.api.guard.notices import claim_notice

    root = str(guarded.worktree_root)
    return tuple(
        change
        for change in changes
        if claim_notice(guarded.workspace, *reader, root, change.path, change.blob)
    )


def look_for_unmerged(
    workspace: Workspace, guarded: GuardedPaths, name: str
) -> tuple[UnmergedChange, ...]:
    """What there is of these paths elsewhere; `name` is who edits them."""
    state = read_presence(workspace)
    if not _is_anything_elsewhere(state, guarded.worktree_root):
        return ()
    from moot.api.guard.other_places import find_other_places, may_differ

    places = find_other_places(state, guarded.worktree_root)
    if places is None or not (places.worktrees or places.branches):
        return ()
    paths = [path for path in guarded.scopes[:MOST_PATHS] if "\n" not in path]
    differing = [path for path in paths if may_differ(places, path)]
    if not differing:
        return ()
    from moot.api.guard.other_versions import find_other_versions

    versions = find_other_versions(places, differing)
    return tuple(_describe(version, places, state, guarded.workspace, name) for version in versions)


def _is_anything_elsewhere(state: State, root: Path) -> bool:
    """A quick look, because every edit asks: another worktree, or another branch of an agent?"""
    from moot.api.guard.guarded_paths import branch_of

    common = git_common_dir(root)
    if common is None:
        return False
    if os.path.isdir(os.path.join(common, "worktrees")):
        return True  # git removes the folder together with the last of them
    return not state.branches <= {branch_of(root)}


def explain_unmerged(changes: Sequence[UnmergedChange]) -> str:
    """What the model is told."""
    sentences = " ".join(change.sentence for change in changes[:SHOWN_VERSIONS])
    tail = " There are more such versions." if len(changes) > SHOWN_VERSIONS else ""
    return f"{sentences}{tail}"


def _describe(
    version: OtherVersion, places: OtherPlaces, state: State, workspace: Path, name: str
) -> UnmergedChange:
    """`name` is who is about to edit the file: never one of those who work elsewhere."""
    from moot.core.clock import SECOND

    roots = [tree.root for tree in places.worktrees if tree.head == version.head]
    agent = _who_left_it(version, roots, workspace)
    agents = tuple(
        member.name
        for member in sorted(state.members, key=lambda member: member.last_at, reverse=True)
        if member.name != name and _worked_there(member.branch, member.worktree, version, roots)
    )[:SHOWN_AGENTS]
    return UnmergedChange(
        path=Quoted(version.path),
        blob=version.blob or "",
        branch=quote_optional(version.head.branch),
        worktree=None if version.worktree is None else Quoted(str(version.worktree)),
        commit=version.commit,
        agent=agent,
        agents=agents,
        at=version.at * SECOND,
        sentence=Quoted(_sentence(version, places, agent, agents)),
    )


def _worked_there(
    branch: str | None, worktree: str, version: OtherVersion, roots: list[Path]
) -> bool:
    if branch is not None and branch == version.head.branch:
        return True
    return bool(worktree) and Path(worktree) in roots


def _who_left_it(version: OtherVersion, roots: list[Path], workspace: Path) -> str:
    from moot.workspace.file_versions import FILE, Act, FileVersions

    if version.blob is None or not (workspace / FILE).exists():
        return ""
    try:
        with FileVersions(workspace) as versions:
            for root in roots:
                left = versions.last(str(root), version.path, Act.LEFT)
                if left is not None and left.blob == version.blob:
                    return left.agent
    except StoreFailed:  # the memory may be lost: then less is known
        return ""
    return ""


def _sentence(
    version: OtherVersion, places: OtherPlaces, agent: str, agents: tuple[str, ...]
) -> str:
    from moot.core.clock import SECOND, to_text

    own, path = places.own.branch, quote_name(version.path)
    here = quote_name(own) if own else "this worktree"
    branch = f"branch {quote_name(version.head.branch)}" if version.head.branch else "no branch"
    by = f" by {agent}" if agent else ""
    at = to_text(version.at * SECOND)
    if version.worktree is not None:
        there = quote_name(str(version.worktree))
        what = f"{path} has changes in {there} ({branch}) that are not committed"
        what = f"{what}, made{by} at {at}" if by else f"{what}, of {at}"
    else:
        verb = "changed" if version.blob is not None else "deleted"
        where = f"on {branch}" if version.head.branch else f"at commit {version.head.commit}"
        short = f"commit {version.commit[:12]} by {quote_name(version.author)}"
        what = f"{path} was {verb} {where}{by} at {at} ({short})"
    others = ", ".join(other for other in agents if other != agent)
    present = f"; there work or worked {others}" if others else ""
    return f"{what}, which is not in {here}{present}."
