"""Find changes of a file on other worktrees and branches that are not merged into this worktree.

Looks at the other worktrees, committed and on disk, and at the branches that agents here worked on.
Git's files and the bytes are compared first, which is cheap; git is asked only if something
differs. A difference does not count if only this worktree is ahead. Not reported: ignored files,
files larger than `MOST_BYTES`, uncommitted deletions, and what git did not answer in time.

The agent is named if Moot saw it write that version (`workspace/file_versions.py`). Otherwise the
text names git's author and the agents that work there; Moot does not guess.
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

    `blob` is git's id of it, empty if the file is deleted there. `worktree` is set if it is not
    committed, else `commit` is the newest change. `agent` made it, if known; `agents` work there.
    `sentence` says all of this.
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
    """Return the unmerged changes, or refuse (`unmerged_changes`) if the settings say so.

    `name` is the agent that edits these paths; `env` locates the user's own settings.
    """
    changes = look_for_unmerged(workspace, guarded, name)
    if not changes:
        return ()
    from moot.workspace.settings import read_settings_or_strictest
    from moot.workspace.user_folders import user_settings_file

    settings = read_settings_or_strictest(guarded.worktree_root, user_settings_file(env))
    if settings.protect.unmerged != "block":
        return changes
    why = f" The strictest settings apply, because {settings.problem}" if settings.problem else ""
    raise Refused(
        "unmerged_changes",
        f"{explain_unmerged(changes)}{why}".rstrip("."),
        hint="merge it first, or agree with the agent that works there; then repeat the edit",
    )


def claim_untold(
    changes: Sequence[UnmergedChange], guarded: GuardedPaths, reader: tuple[str, str]
) -> tuple[UnmergedChange, ...]:
    """Return the changes that a reader (session, agent) was not told about, and mark them as
    told."""
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
    """Return the unmerged changes of these paths; `name` is the agent that edits them."""
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
    """True if there is another worktree, or another branch of an agent; quick, because every edit
    asks."""
    from moot.api.guard.guarded_paths import branch_of

    common = git_common_dir(root)
    if common is None:
        return False
    if os.path.isdir(os.path.join(common, "worktrees")):
        return True  # git removes this folder with the last worktree
    return not state.branches <= {branch_of(root)}


def explain_unmerged(changes: Sequence[UnmergedChange]) -> str:
    """Return the text for the model."""
    sentences = " ".join(change.sentence for change in changes[:SHOWN_VERSIONS])
    tail = " There are more such versions." if len(changes) > SHOWN_VERSIONS else ""
    return f"{sentences}{tail}"


def _describe(
    version: OtherVersion, places: OtherPlaces, state: State, workspace: Path, name: str
) -> UnmergedChange:
    """Describe a version; `name`, who is about to edit the file, is not listed among the agents
    there."""
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
    except StoreFailed:  # without the database less is known
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
    present = f"; {others} worked there" if others else ""
    return f"{what}, which is not in {here}{present}."
