"""Whose bytes are whose, as the simulation itself knows: who holds what, who wrote which version,
who has seen it, and whether a version that is gone can still be had.
"""

from __future__ import annotations

import subprocess
from collections import defaultdict
from collections.abc import Iterator
from types import TracebackType
from typing import NamedTuple, Self

from bench.loss.rehearsal import Effect
from bench.loss.trees import Place, Tree, blob_of
from bench.loss.world import World


class Hold(NamedTuple):
    """An agent that edited a path and has not given it back, and the worktree it did so in."""

    agent: str
    worktree: str


class Version(NamedTuple):
    """Bytes that git's history does not have, where they stood, and who wrote them."""

    place: Place
    blob: str
    size: int
    writer: str


class Truth:
    """Use it in a `with` block: git answers for its objects as long as it lasts."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.holds: dict[str, Hold] = {}
        self.writers: dict[Place, str] = {}
        self._seen: defaultdict[tuple[str, Place], set[str]] = defaultdict(set)
        self._committed = set[str]()
        self._git = subprocess.Popen(
            ["git", "cat-file", "--batch-check"],
            cwd=world.main,
            env=world.env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self.note_commits("--all")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        assert self._git.stdin is not None
        self._git.stdin.close()
        self._git.wait(timeout=60)
        assert self._git.stdout is not None
        self._git.stdout.close()

    def note_commits(self, *which: str) -> None:
        """Whatever a commit has is git's, and nobody's to lose."""
        listed = self._world.git("rev-list", "--objects", *which)
        self._committed |= {line.split(" ", 1)[0] for line in listed.splitlines()}

    def note_seen(self, name: str, place: Place, data: bytes | None) -> None:
        if data is not None:
            self._seen[name, place].add(blob_of(data))

    def note_changes(self, name: str, before: Tree, after: Tree) -> None:
        """Whatever is new on the disk was written by whoever acted."""
        for place, data in after.items():
            if before.get(place) != data:
                self.writers[place] = name
                self.note_seen(name, place, data)

    def find_unsaved(self, place: Place, tree: Tree) -> Version | None:
        """What stands there, if git's history does not have it."""
        data = tree.get(place)
        blob = blob_of(data) if data else ""
        if data is None or not blob or blob in self._committed:
            return None
        return Version(place, blob, len(data), self.writers.get(place, ""))

    def find_gone(self, name: str, before: Tree, after: Tree) -> Iterator[Version]:
        """Versions of others that stood there before this act and stand nowhere any more."""
        remaining = {blob_of(data) for data in after.values()}
        for place, data in before.items():
            version = self.find_unsaved(place, before) if after.get(place) != data else None
            if version is not None and version.writer != name and version.blob not in remaining:
                yield version

    def is_in_git(self, blob: str) -> bool:
        """Does the repository have these bytes as an object, of whatever origin?"""
        assert self._git.stdin is not None
        assert self._git.stdout is not None
        self._git.stdin.write(f"{blob}\n".encode())
        self._git.stdin.flush()
        return not self._git.stdout.readline().endswith(b" missing\n")

    def harmed_holders(self, name: str, effect: Effect, *, is_edit: bool) -> dict[str, Hold]:
        """By path: others that hold what the act reaches, in the worktree they work in; an edit
        must not reach the same path elsewhere either."""
        return self.held_in_removed(name, effect) | {
            place.path: hold
            for place in effect.places
            if (hold := self.holds.get(place.path)) is not None
            and hold.agent != name
            and (is_edit or hold.worktree == place.worktree)
        }

    def held_in_removed(self, name: str, effect: Effect) -> dict[str, Hold]:
        """By path: what others hold in worktrees that the act removes, whether a file is there
        just now or not."""
        return {
            path: hold
            for path, hold in self.holds.items()
            if hold.agent != name and hold.worktree in effect.removed
        }

    def would_harm(self, name: str, effect: Effect, before: Tree) -> bool:
        """Does it reach what another holds, or another's unsaved bytes that `name` has not seen?"""
        if self.held_in_removed(name, effect):
            return True
        for place in effect.places:
            hold = self.holds.get(place.path)
            if hold is not None and hold.agent != name:
                return True
            version = self.find_unsaved(place, before) if place in effect.changed else None
            if version is None or version.writer == name:
                continue
            if version.blob not in self._seen[name, place]:
                return True
        return False

    def own_paths(self, name: str) -> list[str]:
        return sorted(path for path, hold in self.holds.items() if hold.agent == name)

    def held_by_others(self, name: str, worktree: str) -> list[str]:
        return sorted(
            path
            for path, hold in self.holds.items()
            if hold.agent != name and hold.worktree == worktree
        )

    def release(self, name: str) -> None:
        self.holds = {path: hold for path, hold in self.holds.items() if hold.agent != name}
