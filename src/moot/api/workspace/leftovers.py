"""List worktrees and branches that agents left behind, and remove those that lose nothing."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

from moot.api.operation import operation
from moot.core.text import Quoted, quote_optional
from moot.system.git_commands import GitQuestion, ask_git, delete_branch, remove_worktree
from moot.system.git_status import find_dirty_files
from moot.system.git_worktrees import (
    Worktree,
    find_git_folder,
    list_worktrees,
    read_branch,
    read_head,
)

if TYPE_CHECKING:
    from moot.api.session import Session
    from moot.core.registry.model import State as Registry
    from moot.protocols.presence.model import Member, State


class Leftover(msgspec.Struct, frozen=True):
    """A worktree, or a branch that is checked out nowhere.

    `keep` are the reasons why it must stay; empty: all of it is merged and committed, so it may be
    removed. `commit` is its newest commit: `git branch NAME COMMIT` restores a branch.
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
    """List worktrees and branches that agents left here, each with the reasons to keep it.

    With `remove` those are removed that git proves to be merged into the main checkout, if they
    have no uncommitted or ignored files and no agent works there. Only people may remove: an agent
    is refused as `human_key_required`. A repeat removes nothing.
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
    """Return git's own folder and the main checkout; Unavailable (`no_repository`) without git."""
    from moot.core.errors import Unavailable
    from moot.workspace.find import git_common_dir

    common = git_common_dir(session.folder)
    if common is None or common.name != ".git":
        raise Unavailable(
            "no_repository", "there is no git repository here", hint="go to one: `cd PROJECT`"
        )
    return common, common.parent


def _find(session: Session) -> list[LeftoverWork]:
    from moot.protocols.presence import STREAM
    from moot.protocols.presence.machine import MACHINE as PRESENCE
    from moot.workspace.find import worktree_root

    engine = session.workspace.engine
    common, main = _repository(session)
    own = worktree_root(session.folder) or main
    return list(find_leftover_work(engine.state(PRESENCE, STREAM), engine.registry(), common, own))


def _describe(session: Session, work: LeftoverWork, main: Path, *, remove: bool) -> Leftover:
    from moot.api.hook_setup.original_files import OriginalFiles

    ours = frozenset(OriginalFiles(session.workspace_folder).files_of_this_clone())
    keep = list_reasons_to_keep(work, main, ours)
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


def _remove(work: LeftoverWork, main: Path) -> str | None:
    if work.root is not None:
        return remove_worktree(main, work.root)
    assert work.branch is not None, "what is no worktree is a branch"
    assert work.commit is not None, "a branch without a commit is kept"
    return delete_branch(main, work.branch, work.commit)


# Branches that are never offered for removal, even if an agent worked on them.
SHARED_BRANCHES: Final = frozenset({"main", "master", "trunk", "develop", "development"})


class LeftoverWork(NamedTuple):
    """A worktree (`root`) or a branch alone (`root` is None), and who worked there.

    `still_here` are agents that have not left, and those that hold something on that branch.
    """

    root: Path | None
    branch: str | None
    commit: str | None
    agents: tuple[str, ...]
    still_here: tuple[str, ...]


def find_leftover_work(
    state: State, registry: Registry, common: Path, own_root: Path
) -> Iterator[LeftoverWork]:
    """Yield worktrees, then branches, in which agents worked, as presence records it.

    `common` is git's own folder. The main checkout, the worktree `own_root` and shared branches are
    never among them.
    """
    worktrees = list(list_worktrees(common))
    for worktree in worktrees:
        if worktree.root != common.parent and worktree.root.resolve() != own_root.resolve():
            there = [member for member in state.members if _worked_in(member, worktree)]
            if there:
                yield _describe_branch(worktree.root, worktree.head, there, state, registry)
    kept = {worktree.head.branch for worktree in worktrees} | SHARED_BRANCHES
    kept.add(read_head(common, common).branch)
    for branch in sorted({member.branch for member in state.members if member.branch} - kept):
        commit = read_branch(common, branch)
        if commit is not None:
            there = [member for member in state.members if member.branch == branch]
            yield _describe_branch(None, (branch, commit), there, state, registry)


def _worked_in(member: Member, worktree: Worktree) -> bool:
    branch = worktree.head.branch
    named = member.worktree and Path(member.worktree).resolve() == worktree.root.resolve()
    return bool(named) or (branch is not None and member.branch == branch)


def _describe_branch(
    root: Path | None,
    head: tuple[str | None, str | None],
    there: list[Member],
    state: State,
    registry: Registry,
) -> LeftoverWork:
    branch, commit = head
    present = {member.name for member in there if not _has_ended(member, registry)}
    present |= {held.owner for held in state.live if branch and held.branch == branch}
    names = dict.fromkeys(member.name for member in there)
    return LeftoverWork(root, branch, commit, tuple(names), tuple(sorted(present)))


def _has_ended(member: Member, registry: Registry) -> bool:
    agent = registry.agents.get(member.name)
    ended = agent is not None and registry.keys[agent.kid].ending is not None
    return member.left or ended


SECONDS: Final = 20.0
SHOWN_FILES: Final = 3
# What git leaves in a worktree's folder while something is not finished.
_UNFINISHED: Final = (
    "MERGE_HEAD",
    "CHERRY_PICK_HEAD",
    "REVERT_HEAD",
    "rebase-merge",
    "rebase-apply",
)


def list_reasons_to_keep(work: LeftoverWork, main: Path, ours: Collection[Path]) -> tuple[str, ...]:
    """Return why a worktree or branch must stay; `ours` are files that Moot wrote there.

    Merged means what git can prove: every commit is reachable from the main checkout's. A branch
    that was squashed into another commit is not, and stays.
    """
    return tuple(_reasons(work, main, ours))


def _reasons(work: LeftoverWork, main: Path, ours: Collection[Path]) -> Iterator[str]:
    if work.still_here:
        yield f"{', '.join(work.still_here)} has not left"
    if work.root is not None:
        yield from _reasons_in(work.root, ours)
    if work.commit is None:
        yield "its commit cannot be read"
    elif not is_merged(main, work.commit):
        yield "it has commits that are not merged into the main checkout"


def is_merged(main: Path, commit: str) -> bool:
    """Return True if git says that the main checkout contains `commit`."""
    words = ("merge-base", "--is-ancestor", commit, "HEAD")
    (answer,) = ask_git([GitQuestion(main, words)], SECONDS)
    return answer is not None


def _reasons_in(root: Path, ours: Collection[Path]) -> Iterator[str]:
    folder = find_git_folder(root)
    if folder is None:
        yield "it is not a worktree any more"
        return
    if (folder / "locked").exists():
        yield "it is locked (`git worktree unlock`)"
    if any((folder / name).exists() for name in _UNFINISHED):
        yield "a merge or rebase is not finished there"
    dirty = find_dirty_files(root)
    if dirty.paths is None:
        yield dirty.why
    elif dirty.paths:
        yield f"not committed: {_first(dirty.paths)}"
    ignored = _ignored_files(root, ours)
    if ignored is None:
        yield "git did not say which files it ignores there"
    elif ignored:
        yield f"ignored by git, so the only copy: {_first(ignored)}"


def _ignored_files(root: Path, ours: Collection[Path]) -> tuple[str, ...] | None:
    words = ("ls-files", "--others", "--ignored", "--exclude-standard", "-z", "--directory")
    (answer,) = ask_git([GitQuestion(root, words)], SECONDS)
    if answer is None:
        return None
    names = answer.decode("utf-8", "backslashreplace").split("\0")
    return tuple(name for name in names if name and not _is_ours(root / name, ours))


def _is_ours(path: Path, ours: Collection[Path]) -> bool:
    """Return True for a file that Moot wrote, or a folder with only such files."""
    if not path.is_dir() or path.is_symlink():
        return path in ours
    return all(each in ours for each in path.rglob("*") if not each.is_dir())


def _first(paths: Collection[str]) -> str:
    shown = ", ".join(list(paths)[:SHOWN_FILES])
    return f"{shown} and {len(paths) - SHOWN_FILES} more" if len(paths) > SHOWN_FILES else shown
