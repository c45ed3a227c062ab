"""What an act would have done: it is done in a copy of all worktrees, which is then thrown away."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Final, NamedTuple

from bench.loss.acts import Act
from bench.loss.trees import Place, changed_places, read_trees
from bench.loss.world import WORKTREES, World

_NOT_COPIED: Final = frozenset({".moot", "objects", "hooks"})


class Effect(NamedTuple):
    """What an act changes on the disk, what it commits, and the worktrees that it removes: with
    one goes whatever is held in it, a file or just the place of one."""

    changed: set[Place]
    committed: set[Place]
    removed: frozenset[str]

    @property
    def places(self) -> set[Place]:
        return self.changed | self.committed


def rehearse(world: World, act: Act, worktree: str, folder: Path) -> Effect:
    """Do it in a copy below `folder`: without Moot, without git's hooks."""
    for name in WORKTREES:
        if world.root(name).is_dir():
            _copy_folder(world.root(name), folder / name, {})
    _move_git(world.top, folder)
    before, heads, there = read_trees(folder), read_heads(world, folder), list_worktrees(folder)
    env = {**world.env, "HOME": str(folder / "home")}
    act.perform(folder / worktree, env)
    effect = Effect(
        changed_places(before, read_trees(folder)),
        find_committed(world, folder, heads),
        there - list_worktrees(folder),
    )
    shutil.rmtree(folder)
    return effect


def list_worktrees(top: Path) -> frozenset[str]:
    """Those that are there."""
    return frozenset(name for name in WORKTREES if (top / name / ".git").exists())


def _copy_folder(source: Path, target: Path, copied: dict[int, str]) -> None:
    """Hard links stay what they are; objects, which are many, are only referred to."""
    target.mkdir(parents=True)
    for entry in os.scandir(source):
        to = str(target / entry.name)
        if entry.name in _NOT_COPIED:
            continue
        if entry.is_symlink():
            os.symlink(_inside(os.readlink(entry.path), source, target), to)
        elif entry.is_dir():
            _copy_folder(Path(entry.path), Path(to), copied)
        elif entry.inode() in copied:
            os.link(copied[entry.inode()], to)
        else:
            shutil.copy2(entry.path, to)
            copied[entry.inode()] = to


def _inside(leads_to: str, source: Path, target: Path) -> str:
    """A link to a file beside it must lead to the copy."""
    return leads_to.replace(str(source), str(target), 1)


def _move_git(top: Path, folder: Path) -> None:
    """Git's own pointers between the worktrees, and to the objects, which stay where they are."""
    common = folder / WORKTREES[0] / ".git"
    objects = common / "objects" / "info"
    objects.mkdir(parents=True)
    (common / "objects" / "pack").mkdir()
    (objects / "alternates").write_text(f"{top / WORKTREES[0]}/.git/objects\n", encoding="utf-8")
    pointers = [folder / name / ".git" for name in WORKTREES[1:]]
    pointers += (common / "worktrees").glob("*/gitdir")
    for pointer in pointers:
        if pointer.is_file():
            text = pointer.read_text("utf-8").replace(str(top), str(folder))
            pointer.write_text(text, encoding="utf-8")


def read_heads(world: World, top: Path) -> dict[str, str]:
    """The commit that each worktree is at."""
    return {
        name: _read_head(top, name) or world.git("rev-parse", "HEAD", cwd=top / name).strip()
        for name in WORKTREES
        if (top / name / ".git").exists()
    }


def _read_head(top: Path, name: str) -> str:
    """Git's own files say it quickest; empty if the branch is not a file of its own."""
    common = top / WORKTREES[0] / ".git"
    inner = common if name == WORKTREES[0] else common / "worktrees" / name
    head = (inner / "HEAD").read_text("utf-8").strip()
    branch = common / head.removeprefix("ref: ")
    if not head.startswith("ref: "):
        return head
    return branch.read_text("utf-8").strip() if branch.is_file() else ""


def find_committed(world: World, top: Path, heads: dict[str, str]) -> set[Place]:
    """Files in commits that were made since, on the branch that each worktree was on."""
    committed = set[Place]()
    for name, head in read_heads(world, top).items():
        if head != heads.get(name, head):
            words = ("log", "--format=", "--name-only", f"{heads[name]}..{head}")
            names = world.git(*words, cwd=top / name).splitlines()
            committed |= {Place(name, path) for path in names if path}
    return committed
