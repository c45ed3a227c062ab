"""A destructive act: what a command is about to do to which files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import NamedTuple

from moot.api.guard.shell.values import Word


class Reach(StrEnum):
    """Which of the files below its paths an act reaches.

    WRITTEN are all of them; of the others those that git calls changed: not staged, changed at
    all, staged, not tracked. COMMITTED and COMMITTED_INDEX are not destroyed, but committed: all
    that is changed, or what is staged. HIDDEN: git is told not to look at them any more. NAMED:
    which ones cannot be told, so that those count which a word of the text names. HEAD: no file,
    but the branch or commit that the worktree is on.
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
    """What a command reads the names of the files from that it writes."""

    PATCH = "patch"
    TAR = "tar"
    ZIP = "zip"
    STASH = "stash"
    SCRIPT = "script"


class Input(NamedTuple):
    """`source` is the file, or the stash; `text` is given if the command itself holds the patch.

    `strip` leading folders of a name are left out, and only `members` are meant if there are any.
    """

    kind: InputKind
    source: Word = Word("")
    text: str = ""
    strip: int = 0
    members: tuple[str, ...] = ()


class Safer(StrEnum):
    """What to do instead, with one's own files alone: the beginning of that command.

    Empty: there is no such command, and these files are to be left out.
    """

    RESTORE = "git restore --"
    STASH = "git stash push --"
    CLEAN = "git clean -f --"
    COMMIT = "git commit --"
    WORKTREE = "git worktree add"
    LEAVE_OUT = ""


class DestructiveAct(NamedTuple):
    """What is done (`name`, as in "git checkout"), in which folder, to what.

    `paths` are relative to `folder`; none: all of the worktree around it. `folder` None: it cannot
    be told. `also_untracked` and `also_ignored`: with those that git does not track or ignores.
    `may_be_branches`: what is not there as a file is the name of a branch or commit.
    `only_called` are patterns of file names, if only such files are meant. `copied` are what is
    put into the last of the paths, if that is a folder. `keeps_content`: what stands in a file is
    added to or edited, and not lost. `is_understood` False: it is only known that these are named.
    `git_options` lead git to another repository. `target` is the commit that the worktree is forced
    to, if one is named. `is_all_or_nothing`: git does nothing if a staged file was changed again
    since; `staged_before` are those that the same command stages just before. `read_from`: what it
    writes is named in a patch or an archive. `named`, of NAMED: the words of the whole text;
    `paths` are then the operands that cannot be told.
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


# The options and operands of a program's arguments, by the table of those that take a value.


class Arguments(NamedTuple):
    """`flags` are the options: short ones as single letters, long ones with their dashes.

    `values` are those given to an option, by its name. `operands` is the rest, `marked` what
    is behind `--`, `words` all of it as it was given.
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
    """`with_value` are the options that take a value: "m e --source" for `-m`, `-e`, `--source`.

    `stops_at_operand`: as for `env` and `sudo`, options end where the program begins.
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
    """`-xfd`, `-mTEXT`, `-m TEXT`."""
    for place, letter in enumerate(text[1:], 1):
        flags.add(letter)
        if letter in taking:
            if text[place + 1 :]:
                values[letter] = Word(text[place + 1 :])
            elif following := next(rest, None):
                values[letter] = following
            return
