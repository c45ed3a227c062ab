"""A destructive act of a shell command, and the parser of a program's arguments."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import NamedTuple

from moot.api.guard.shell.values import Word


class Reach(StrEnum):
    """Which of the files below its paths an act reaches.

    WRITTEN: all of them. UNSTAGED, CHANGED, STAGED, UNTRACKED: those that git reports so. COMMITTED
    and COMMITTED_INDEX: they are committed, not destroyed; all changes, or what is staged. HIDDEN:
    git will ignore their changes. NAMED: the files are unknown, so every held file that the text
    names counts. HEAD: no file, but the branch or commit of the worktree.
    """

    WRITTEN = "written"
    UNSTAGED = "unstaged"
    CHANGED = "changed"
    STAGED = "staged"
    UNTRACKED = "untracked"
    COMMITTED = "committed"
    COMMITTED_INDEX = "committed index"
    HIDDEN = "hidden"
    NAMED = "named"
    HEAD = "head"

    @property
    def is_commit(self) -> bool:
        return self in (Reach.COMMITTED, Reach.COMMITTED_INDEX)


class InputKind(StrEnum):
    """The kind of input that names the files which a command writes."""

    PATCH = "patch"
    TAR = "tar"
    ZIP = "zip"
    STASH = "stash"
    SCRIPT = "script"


class Input(NamedTuple):
    """`source` is the file, or the stash; `text` is the patch if it is part of the command.

    `strip` leading folders of a name are removed; if there are `members`, only those are written.
    """

    kind: InputKind
    source: Word = Word("")
    text: str = ""
    strip: int = 0
    members: tuple[str, ...] = ()


class Safer(StrEnum):
    """The beginning of a safer command for the agent's own files only.

    Empty: there is none, and the files must be left out.
    """

    RESTORE = "git restore --"
    STASH = "git stash push --"
    CLEAN = "git clean -f --"
    COMMIT = "git commit --"
    WORKTREE = "git worktree add"
    LEAVE_OUT = ""


class DestructiveAct(NamedTuple):
    """What is done (`name`, as in "git checkout"), in which folder, to which files.

    `paths` are relative to `folder`; none means the whole worktree. `folder` is None if unknown.
    `also_untracked`, `also_ignored`: untracked or ignored files too. `may_be_branches`: a path that
    does not exist is a branch or commit. `only_called` are patterns, if only files of such names
    are meant. `copied` are put into the last path, if that is a folder. `keeps_content`: the
    content of a file is edited or appended to, not lost. `is_understood` False: the paths are only
    named. `git_options` select another repository. `target` is the commit that the worktree is
    forced to. `is_all_or_nothing`: git does nothing if a staged file was changed again since;
    `staged_before` are files that the same command stages just before. `read_from` is the patch or
    archive that names the written files. `named`, for NAMED, are the words of the whole text;
    `paths` are then the unknown operands.
    """

    name: str
    reach: Reach
    folder: str | None
    paths: tuple[Word, ...] = ()
    safer: Safer = Safer.LEAVE_OUT
    also_untracked: bool = False
    also_folders: bool = True
    also_ignored: bool = False
    may_be_branches: bool = False
    only_called: tuple[str, ...] = ()
    copied: tuple[Word, ...] = ()
    keeps_content: bool = False
    is_understood: bool = True
    git_options: tuple[str, ...] = ()
    target: str = ""
    is_all_or_nothing: bool = False
    staged_before: tuple[Word, ...] = ()
    read_from: Input | None = None
    named: frozenset[str] = frozenset()


class Arguments(NamedTuple):
    """`flags` are the options: short ones as single letters, long ones with their dashes.

    `values` are the values of options by name. `operands` are the others, `marked` those after
    `--`, `words` all of them as given.
    """

    flags: frozenset[str]
    values: dict[str, Word]
    operands: tuple[Word, ...]
    marked: tuple[Word, ...]
    has_mark: bool
    words: tuple[Word, ...] = ()

    def has(self, *names: str) -> bool:
        return any(name in self.flags for name in names)

    @property
    def all_operands(self) -> tuple[Word, ...]:
        return self.operands + self.marked


def read_arguments(
    words: Iterable[Word], with_value: str = "", *, stops_at_operand: bool = False
) -> Arguments:
    """Split words into options and operands; `with_value` lists the options that take a value, such
    as "m e --source" for `-m`, `-e`, `--source`.

    `stops_at_operand`: options end at the first operand, as for `env` and `sudo`.
    """
    taking = frozenset(with_value.split())
    flags: set[str] = set()
    values: dict[str, Word] = {}
    operands: list[Word] = []
    given = tuple(words)
    rest = iter(given)
    for word in rest:
        text = word.text
        if text == "--":
            return Arguments(frozenset(flags), values, tuple(operands), tuple(rest), True, given)
        if not text.startswith("-") or text == "-":
            operands.append(word)
            if stops_at_operand:
                operands += rest
                break
        elif text.startswith("--"):
            name, equals, value = text.partition("=")
            flags.add(name)
            if equals:
                values[name] = Word(value)
            elif name in taking and (following := next(rest, None)):
                values[name] = following
        else:
            _read_short(text, taking, flags, values, rest)
    return Arguments(frozenset(flags), values, tuple(operands), (), False, given)


def _read_short(
    text: str,
    taking: frozenset[str],
    flags: set[str],
    values: dict[str, Word],
    rest: Iterator[Word],
) -> None:
    """Read `-xfd`, `-mTEXT` or `-m TEXT`."""
    for place, letter in enumerate(text[1:], 1):
        flags.add(letter)
        if letter in taking:
            if text[place + 1 :]:
                values[letter] = Word(text[place + 1 :])
            elif following := next(rest, None):
                values[letter] = following
            return
