"""Worktrees and branches in which agents worked, and who of them is still there.

Known from what agents said when they joined. Never among them: the main checkout, the worktree one
stands in, and branches that everyone builds on.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from moot.system.git_worktrees import Worktree, list_worktrees, read_branch, read_head

if TYPE_CHECKING:
    from moot.core.registry.model import State as Registry
    from moot.protocols.presence.model import Member, State

# Branches that are nobody's own, whoever worked on them.
SHARED_BRANCHES: Final = frozenset({"main", "master", "trunk", "develop", "development"})


class LeftWork(NamedTuple):
    """A worktree (`root`) or a branch alone (`root` is None), and who worked there.

    `still_here` are those who have not left, and those who hold something on that branch.
    """

    root: Path | None
    branch: str | None
    commit: str | None
    agents: tuple[str, ...]
    still_here: tuple[str, ...]


def find_left_work(
    state: State, registry: Registry, common: Path, own_root: Path
) -> Iterator[LeftWork]:
    """Worktrees first. `common` is git's own folder; the worktree `own_root` is not offered."""
    worktrees = list(list_worktrees(common))
    for worktree in worktrees:
        if worktree.root != common.parent and worktree.root.resolve() != own_root.resolve():
            there = [member for member in state.members if _worked_in(member, worktree)]
            if there:
                yield _describe(worktree.root, worktree.head, there, state, registry)
    kept = {worktree.head.branch for worktree in worktrees} | SHARED_BRANCHES
    kept.add(read_head(common, common).branch)
    for branch in sorted({member.branch for member in state.members if member.branch} - kept):
        commit = read_branch(common, branch)
        if commit is not None:
            there = [member for member in state.members if member.branch == branch]
            yield _describe(None, (branch, commit), there, state, registry)


def _worked_in(member: Member, worktree: Worktree) -> bool:
    branch = worktree.head.branch
    named = member.worktree and Path(member.worktree).resolve() == worktree.root.resolve()
    return bool(named) or (branch is not None and member.branch == branch)


def _describe(
    root: Path | None,
    head: tuple[str | None, str | None],
    there: list[Member],
    state: State,
    registry: Registry,
) -> LeftWork:
    branch, commit = head
    present = {member.name for member in there if not _has_ended(member, registry)}
    present |= {held.owner for held in state.live if branch and held.branch == branch}
    names = dict.fromkeys(member.name for member in there)
    return LeftWork(root, branch, commit, tuple(names), tuple(sorted(present)))


def _has_ended(member: Member, registry: Registry) -> bool:
    agent = registry.agents.get(member.name)
    ended = agent is not None and registry.keys[agent.kid].ending is not None
    return member.left or ended
