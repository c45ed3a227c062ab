"""Find unsaved files of others that a shell text names, if it is unknown what the text writes.

The words of the text are compared with the held paths: exactly, by the end of a path, as a pattern,
or as a folder. Held files without uncommitted changes do not count, because nothing is lost.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from fnmatch import fnmatch, fnmatchcase
from itertools import islice
from pathlib import Path
from typing import Final

from moot.api.guard.destruction import ReachedFiles
from moot.api.guard.git_changes import changed_files
from moot.api.guard.shell.values import UNKNOWN, Word
from moot.core.errors import StoreFailed

_MOST_PATTERNS: Final = 100
_MOST_NAMED: Final = 200
_MAGIC: Final = frozenset("*?[")


def find_named(reached: ReachedFiles, held: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """Return the held files (by key and worktree) that the text names and that have unsaved
    changes."""
    root, act = reached.guarded.worktree_root, reached.act
    folder = act.folder if act.folder is not None and UNKNOWN not in act.folder else str(root)
    words = _Words(act.named, os.path.relpath(folder, root), str(root))
    keys = [key for key, worktree in held if worktree in ("", str(root))]
    found = dict.fromkeys(
        path
        for key in keys
        for path in words.find(key)
        if any(_may_be(operand, os.path.join(root, path), folder) for operand in act.paths)
    )
    named = tuple(found)[:_MOST_NAMED]
    return tuple(path for path in named if path in _unsaved(root, named)) if named else ()


def _may_be(operand: Word, path: str, folder: str) -> bool:
    """True if an operand, of which only the two ends are known, may be this file."""
    first, _unknown, _rest = operand.text.partition(UNKNOWN)
    last = operand.text.rpartition(UNKNOWN)[2].rstrip("/")
    begins = os.path.join(folder, first) if first else ""
    begins = os.path.normpath(begins) + ("/" if first.endswith("/") else "") if begins else ""
    return path.startswith(begins) and path.endswith(last)


def _unsaved(root: Path, paths: tuple[str, ...]) -> frozenset[str]:
    """Return the files that git reports as changed or untracked; all if git does not answer."""
    pathspecs = tuple(f":(top,literal){path}" for path in paths)
    try:
        changed = changed_files(str(root), pathspecs, untracked="all", also_ignored=True)
    except StoreFailed:
        return frozenset(paths)
    return frozenset(
        path
        for path in paths
        if any(each == path or each.startswith(f"{path}/") for each in changed)
        or any(each.endswith("/") and path.startswith(each) for each in changed)
    )


class _Words:
    """The words of a text, as paths relative to the worktree root where possible."""

    def __init__(self, words: frozenset[str], folder: str, root: str) -> None:
        self._plain: set[str] = set()
        self._patterns: list[str] = []
        self._folders: set[str] = set()
        for word in words:
            if word.startswith(f"{root}/"):
                self._plain.add(os.path.normpath(word[len(root) + 1 :]))
            elif _MAGIC.intersection(word):
                self._patterns.append(word.removeprefix("./").removesuffix("/"))
            else:
                self._plain.add(os.path.normpath(word))
                self._plain.add(os.path.normpath(os.path.join(folder, word)))
            if word.endswith("/"):
                self._folders.add(os.path.normpath(os.path.join(folder, word)))
        self._patterns = sorted(filter(_is_narrow, self._patterns))[:_MOST_PATTERNS]

    def find(self, key: str) -> Iterator[str]:
        """Yield the files below the held `key` that a word names."""
        parts = key.split("/")
        ends = {"/".join(parts[count:]) for count in range(len(parts))}
        if key and (
            not self._plain.isdisjoint(ends)
            or any(word.endswith(f"/{key}") for word in self._plain)
            or any(self._is_below(folder, key) for folder in self._folders)
            or any(self._matches(pattern, key, parts[-1]) for pattern in self._patterns)
        ):
            yield key
        yield from (word for word in self._plain if not key or word.startswith(f"{key}/"))

    @staticmethod
    def _is_below(folder: str, key: str) -> bool:
        return folder == "." or key.startswith(f"{folder}/")

    @staticmethod
    def _matches(pattern: str, key: str, name: str) -> bool:
        is_plain = "/" not in pattern
        return fnmatchcase(key, pattern) or (is_plain and fnmatchcase(name, pattern))


def _is_narrow(pattern: str) -> bool:
    """False for patterns such as `*` that match nearly everything."""
    return sum(letter.isalnum() for letter in pattern) >= 2


_MOST_LOOKED_AT: Final = 20_000


def contains_file_named(root: Path, below: str, patterns: tuple[str, ...]) -> bool:
    """True if `below` (relative to the root), a folder of it, or a file in it matches, as `find
    -name`.

    Also True if there are too many files to look at.
    """
    top = os.path.normpath(root / below)
    names = list(islice(_paths(str(root), top), _MOST_LOOKED_AT + 1))
    is_too_much = len(names) > _MOST_LOOKED_AT
    return is_too_much or any(_matches(name, patterns) for name in names)


def _matches(path: str, patterns: tuple[str, ...]) -> bool:
    """Match a pattern with a slash against the path, any other against each part of it."""
    return any(
        fnmatch(f"./{path}", f"*{pattern.removeprefix('.')}")
        if "/" in pattern
        else any(fnmatch(part, pattern) for part in path.split("/"))
        for pattern in patterns
    )


def _paths(root: str, top: str) -> Iterator[str]:
    yield os.path.relpath(top, root)
    for folder, folders, files in os.walk(top):
        folders[:] = [name for name in folders if name != ".git"]
        yield from (os.path.relpath(os.path.join(folder, name), root) for name in files)
