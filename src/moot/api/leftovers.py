"""Worktrees and branches that agents left behind: listed, and removed if nothing is lost."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from moot.api.operation import operation
from moot.core.quoted import Quoted, quote_optional

if TYPE_CHECKING:
    from pathlib import Path

    from moot.api.session import Session
    from moot.flows.leftovers.left_work import LeftWork


class Leftover(msgspec.Struct, frozen=True):
    """A worktree, or a branch that is checked out nowhere.

    `keep` are the reasons why it must stay; none: everything in it is merged and committed, so it
    may go. `commit` is where it stood: `git branch NAME COMMIT` brings a branch back.
    """

    kind: str
    worktree: Quoted | None
    branch: Quoted | None
    commit: str | None
    agents: tuple[str, ...]
    keep: tuple[str, ...]
    removed: bool


class Leftovers(msgspec.Struct, frozen=True):
    leftovers: tuple[Leftover, ...]


@operation("clean", writes=True, runs_programs=True)
def clean(session: Session, *, remove: bool = False) -> Leftovers:
    """What agents left in this repository: worktrees and branches, each with what keeps it.

    With `remove` those go that are provably merged into what the main checkout stands at, with
    nothing uncommitted or ignored in them and nobody at work there. Removing is for people: an
    agent is refused as `human_key_required`. Doing it again removes nothing.
    """
    if remove:
        session.require_no_agent("removing what others left")
    session.require_workspace()
    _, main = _repository(session)
    listed = [_describe(session, work, main, remove=remove) for work in _find(session)]
    if any(each.removed and each.kind == "worktree" for each in listed):
        branches = {each.branch for each in listed if each.removed and each.branch}
        listed += [
            _describe(session, work, main, remove=remove)
            for work in _find(session)
            if work.root is None and work.branch in branches
        ]
    return Leftovers(tuple(listed))


def _repository(session: Session) -> tuple[Path, Path]:
    """Git's own folder and the main checkout; Unavailable (`no_repository`) without git."""
    from moot.core.errors import Unavailable
    from moot.workspace.find import git_common_dir

    common = git_common_dir(session.folder)
    if common is None or common.name != ".git":
        raise Unavailable(
            "no_repository", "there is no git repository here", hint="go to one: `cd PROJECT`"
        )
    return common, common.parent


def _find(session: Session) -> list[LeftWork]:
    from moot.flows.leftovers.left_work import find_left_work
    from moot.protocols.presence import STREAM
    from moot.protocols.presence.machine import MACHINE as PRESENCE
    from moot.workspace.find import worktree_root

    engine = session.workspace.engine
    common, main = _repository(session)
    own = worktree_root(session.folder) or main
    return list(find_left_work(engine.state(PRESENCE, STREAM), engine.registry(), common, own))


def _describe(session: Session, work: LeftWork, main: Path, *, remove: bool) -> Leftover:
    from moot.flows.leftovers.removable import reasons_to_keep
    from moot.flows.tools.original_files import OriginalFiles

    ours = frozenset(OriginalFiles(session.workspace_folder).files_of_this_clone())
    keep = reasons_to_keep(work, main, ours)
    if remove and not keep:
        refused = _remove(work, main)
        keep = () if refused is None else (refused,)
    return Leftover(
        kind="branch" if work.root is None else "worktree",
        worktree=None if work.root is None else Quoted(str(work.root)),
        branch=quote_optional(work.branch),
        commit=work.commit,
        agents=work.agents,
        keep=keep,
        removed=remove and not keep,
    )


def _remove(work: LeftWork, main: Path) -> str | None:
    from moot.system.git_removal import delete_branch, remove_worktree

    if work.root is not None:
        return remove_worktree(main, work.root)
    assert work.branch is not None, "what is no worktree is a branch"
    assert work.commit is not None, "a branch without a commit is kept"
    return delete_branch(main, work.branch, work.commit)
