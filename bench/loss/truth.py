"""Who really wrote what: every actor logs its writes, in the order in which they happened.

Each worktree has a lock that an actor holds while it writes and while it logs the write. Moot does
not know of it. Hooks are called outside of it, so that calls of several agents overlap freely.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, Literal

import msgspec

LOG_FOLDER: Final = "truth"
_LEFT_OUT: Final = frozenset(
    {".git", ".moot", "build", ".claude", ".codex", ".gemini", ".opencode"}
)


class Change(msgspec.Struct, frozen=True, array_like=True):
    """A file that an act changed: git's ids of its bytes before and after; empty: no file."""

    path: str
    before: str
    after: str


class Write(msgspec.Struct, frozen=True, tag="write"):
    """An act that changed files, and when. Sizes are in `sizes`, by id."""

    actor: str
    step: int
    kind: str
    worktree: str
    at_ns: int
    changes: tuple[Change, ...]
    sizes: dict[str, int]


class HookCall(msgspec.Struct, frozen=True, tag="hook"):
    """A call of the hook. `targets` are the files that the act would reach.

    `is_needless`: it was refused although nobody else has a stake in the targets. `is_accused`: a
    harmless command whose model was told that it changed what others hold.
    """

    actor: str
    step: int
    kind: str
    worktree: str
    moment: Literal["before", "after"]
    is_command: bool
    began_ns: int
    ended_ns: int
    targets: tuple[str, ...] = ()
    reason: str = ""
    is_needless: bool = False
    is_accused: bool = False
    as_process: bool = False


Entry = Write | HookCall


class TruthLog:
    """The log of one actor below `top`."""

    def __init__(self, top: Path, actor: str) -> None:
        (top / LOG_FOLDER).mkdir(exist_ok=True)
        self._top, self.actor = top, actor
        self._file = (top / LOG_FOLDER / f"{actor.replace(' ', '-')}.jsonl").open("ab", buffering=0)

    def add(self, entry: Entry) -> None:
        self._file.write(msgspec.json.encode(entry) + b"\n")

    def perform(self, worktree: str, kind: str, step: int, act: Callable[[], None]) -> None:
        """Do it, and log what it changed, while nobody else of the simulation writes there."""
        root = self._top / worktree
        with locked(self._top, worktree):
            before = read_tree(root)
            act()
            at_ns, after = time.time_ns(), read_tree(root)
            paths = {path for path in (*before, *after) if before.get(path) != after.get(path)}
            if paths:
                found = {path: (before.get(path, b""), after.get(path, b"")) for path in paths}
                changes = [
                    Change(
                        path,
                        blob_of(before[path]) if path in before else "",
                        blob_of(after[path]) if path in after else "",
                    )
                    for path in sorted(paths)
                ]
                sizes = {blob_of(data): len(data) for pair in found.values() for data in pair}
                entry = Write(self.actor, step, kind, worktree, at_ns, tuple(changes), sizes)
                self.add(entry)


@contextmanager
def locked(top: Path, worktree: str) -> Iterator[None]:
    with (top / f"{worktree}.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def read_tree(root: Path) -> dict[str, bytes]:
    """The files of a worktree, but for git's, Moot's and the tools' own."""
    tree: dict[str, bytes] = {}
    for folder, folders, files in os.walk(root):
        folders[:] = [name for name in folders if name not in _LEFT_OUT]
        for name in files:
            path = os.path.join(folder, name)
            if name not in _LEFT_OUT and not name.endswith(".log"):
                with open(path, "rb") as file:
                    tree[os.path.relpath(path, root)] = file.read()
    return tree


def blob_of(data: bytes) -> str:
    """Git's id of these bytes."""
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def read_log(top: Path) -> list[Entry]:
    entries = list[Entry]()
    for file in sorted((top / LOG_FOLDER).glob("*.jsonl")):
        entries += msgspec.json.decode(
            b"[" + b",".join(file.read_bytes().splitlines()) + b"]", type=list[Write | HookCall]
        )
    return sorted(
        entries, key=lambda each: each.at_ns if isinstance(each, Write) else each.ended_ns
    )


def main() -> None:
    """`python -m bench.loss.truth TOP ACTOR STEP KIND WORKTREE TEXT FILE...`: write inside of a
    script that an agent runs. An empty text removes the files."""
    import sys

    top, actor, step, kind, worktree, text, *files = sys.argv[1:]

    def write() -> None:
        for name in files:
            file = Path(top) / worktree / name
            if text:
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(f"{text}\n")
            else:
                file.unlink(missing_ok=True)

    TruthLog(Path(top), actor).perform(worktree, kind, int(step), write)


if __name__ == "__main__":
    main()
