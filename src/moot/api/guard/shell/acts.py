"""Find the destructive acts of a shell text.

If an operand or a program is unknown, one rule applies: the act counts for every file with unsaved
work of others that a word of the text names.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from typing import Final

from moot.api.guard.shell.act import DestructiveAct, Input, InputKind, Reach, read_arguments
from moot.api.guard.shell.code_acts import (
    AWKS,
    SEDS,
    awk_acts,
    code_acts,
    is_interpreter,
    python_scripts,
    sed_acts,
)
from moot.api.guard.shell.file_acts import (
    READERS,
    UNMISTAKABLE,
    input_acts,
    is_known_program,
    program_acts,
    read_standard_input,
    redirect_acts,
    unresolved,
)
from moot.api.guard.shell.git_acts import (
    added_before_commit,
    git_acts,
    read_git_call,
    texts_run_by_git,
)
from moot.api.guard.shell.script import Redirect, SimpleCommand, Surroundings
from moot.api.guard.shell.values import UNKNOWN, Word
from moot.api.guard.shell.wrappers import SHELLS, all_commands, inner_scripts, program_name, unwrap
from moot.core.shell_words import Steps, TooComplex

# Commands that find files themselves: `find ... -delete`, `find ... -exec`, `... | xargs`.

_HERE: Final = Word(".")
_NAME_TESTS: Final = frozenset({"-name", "-iname", "-path", "-ipath", "-wholename"})
_NEGATIONS: Final = frozenset({"!", "-not"})
_ENDS: Final = frozenset({";", "+"})
_RUNNING: Final = frozenset({"-exec", "-execdir", "-ok", "-okdir"})
_MOST_RUN: Final = 20
_MOST_FILES: Final = 20_000
_XARGS_WITH_VALUE: Final = "I n P L d E s a --max-args --max-procs --replace --delimiter"
_PRINTING: Final = frozenset({"echo", "printf"})

ActsOf = Callable[[SimpleCommand], Iterator[DestructiveAct]]


def find_acts(command: SimpleCommand, acts_of: ActsOf) -> Iterator[DestructiveAct]:
    """Yield what `find` deletes, and what the program does that it runs on the found files."""
    words = command.words[1:]
    starts, called = _places(words)
    texts = [word.text for word in words]
    if "-delete" in texts:
        yield DestructiveAct(
            "find -delete", Reach.WRITTEN, command.folder, starts, only_called=called
        )
    end = 0
    if sum(text in _RUNNING for text in texts) > _MOST_RUN:
        raise TooComplex
    for place, text in enumerate(texts):
        if text in _RUNNING and place >= end:  # one before its end belongs to the inner command
            end = next((at for at in range(place, len(texts)) if texts[at] in _ENDS), len(texts))
            expanded = _with_files(words[place + 1 : end], "{}", starts)
            for act in acts_of(SimpleCommand(expanded, (), command.folder)):
                yield act._replace(only_called=called)


def xargs_command(
    command: SimpleCommand,
) -> tuple[SimpleCommand | None, Callable[[DestructiveAct], DestructiveAct]]:
    """Return the command that `xargs` runs, with the files it reads, and a function that marks its
    acts."""
    arguments = read_arguments(command.words[1:], _XARGS_WITH_VALUE, stops_at_operand=True)
    files, called, is_listed = _fed_files(command)

    def mark(act: DestructiveAct) -> DestructiveAct:
        return act._replace(only_called=called, is_understood=is_listed)

    if not arguments.all_operands:
        return None, mark
    replaced = arguments.values.get("I")
    mark_text = replaced.text if replaced is not None else ""
    words = _with_files(arguments.all_operands, mark_text, files)
    return SimpleCommand(words, (), command.folder), mark


def _fed_files(command: SimpleCommand) -> tuple[tuple[Word, ...], tuple[str, ...], bool]:
    """Return the files or folders that a pipeline lists, and the name patterns that it filters
    by."""
    for source in command.fed_by:
        inner = unwrap(source)
        name = program_name(inner.words[0]) if inner.words else ""
        words = inner.words[1:]
        if name == "find":
            return (*_places(words), True)
        if name in _PRINTING:
            return tuple(word for word in words if not word.text.startswith("-")), (), True
        if name == "ls":
            operands = read_arguments(words).all_operands
            return operands or (_HERE,), (), True
        if name in ("grep", "rg", "ag"):
            return (*_searched(words), False)
    return (_HERE,), (), False


def _searched(words: tuple[Word, ...]) -> tuple[tuple[Word, ...], tuple[str, ...]]:
    """Return the folders that `grep` or `rg` searches, and the name patterns it is limited to."""
    arguments = read_arguments(words, "e f g m A B C t --include --exclude --glob --type")
    has_pattern = arguments.has("e", "f")
    places = arguments.all_operands if has_pattern else arguments.all_operands[1:]
    names = (arguments.values.get(name) for name in ("--include", "--glob", "g"))
    called = tuple(word.text for word in names if word is not None and word.text[:1] != "!")
    return places or (_HERE,), called


def _places(words: tuple[Word, ...]) -> tuple[tuple[Word, ...], tuple[str, ...]]:
    """Return the folders where `find` starts, and its name patterns; negated patterns are left
    out."""
    starts: list[Word] = []
    for word in words:
        if word.text.startswith("-") and word.text not in ("-H", "-L", "-P"):
            break
        if word.text in ("(", "!", ","):
            break
        if not word.text.startswith("-"):
            starts.append(word)
    called = tuple(
        words[place + 1].text
        for place, word in enumerate(words[:-1])
        if word.text in _NAME_TESTS
        and not (place and words[place - 1].text in _NEGATIONS)
        and words[place + 1].is_known
    )
    return tuple(starts) or (_HERE,), called


def _with_files(words: tuple[Word, ...], mark: str, files: tuple[Word, ...]) -> tuple[Word, ...]:
    """Put the files in place of the mark, also within a word; without a mark, after the other
    words."""
    if not mark or not any(mark in word.text for word in words):
        return words + files
    if sum(mark in word.text for word in words) * len(files) > _MOST_FILES:
        raise TooComplex
    expanded: list[Word] = []
    for word in words:
        if word.text == mark:
            expanded += files
        elif mark in word.text:
            expanded.append(Word(word.text.replace(mark, " ".join(file.text for file in files))))
        else:
            expanded.append(word)
    return tuple(expanded)


def listed_by(command: SimpleCommand) -> tuple[str, ...]:
    """Return what a command lists: folders with a trailing slash, or name patterns; nothing if no
    files."""
    name = program_name(command.words[0]) if command.words else ""
    words = command.words[1:]
    if name == "find":
        starts, called = _places(words)
        return called or tuple(f"{start.text.rstrip('/')}/" for start in starts)
    if name in ("grep", "rg", "ag") and any(
        flag in read_arguments(words).flags for flag in ("l", "--files-with-matches", "--files")
    ):
        places, called = _searched(words)
        return called or tuple(f"{place.text.rstrip('/')}/" for place in places)
    if name in ("ls", "fd", "tree"):
        return tuple(f"{word.text.rstrip('/')}/" for word in read_arguments(words).operands) or (
            "./",
        )
    if name == "git" and words:
        lists = words[0].text in ("ls-files", "status") or any(
            word.text in ("--name-only", "--name-status") for word in words
        )
        return ("./",) if lists and not any("." in word.text for word in words[1:]) else ()
    return ()


_MOST_NESTED: Final = 6
# Each act may start git to find out what it reaches.
MOST_ACTS: Final = 200
# Stands for the unread rest of a command: it may reach every held file.
UNREAD: Final = DestructiveAct(
    "a command too long or too deeply nested to be checked",
    Reach.WRITTEN,
    None,
    is_understood=False,
)
_MOST_LINKS: Final = 50
_ANY_PROGRAM: Final = "a program that is not named"
_SOURCING: Final = frozenset({"source", "."})
_TAKING_LISTS: Final = frozenset({"read", "mapfile", "readarray", "parallel", "xargs"})
# What separates words that may name a file; quotes are tried as separators and as nothing.
_SEPARATORS: Final = re.compile(r"[\s;&|()<>`=,:{}$!\0]+")
_QUOTES: Final = re.compile(r"[\"'\\]")
_ESCAPED: Final = re.compile(r"\\(?:x([0-9a-fA-F]{1,2})|([0-7]{1,3})|u([0-9a-fA-F]{4}))")
_LINE_BREAKS: Final = re.compile(r"\\[nrt]")
_SEPARATING_QUOTES: Final = str.maketrans(dict.fromkeys("\"'`()[]{}<>,;:=|&$!\0", " "))


def destructive_acts(
    text: str, around: Surroundings, steps: Steps | None = None, nested: int = 0
) -> list[DestructiveAct]:
    """Return everything in `text` that would overwrite, remove, discard or commit files.

    The last act is UNREAD if the text is too long or too complex, or contains too many acts.
    """
    acts: dict[DestructiveAct, None] = {}
    steps, seen = steps or Steps(), _Seen()
    try:
        for act in _all_acts(text, around, steps, seen, nested):
            steps.take(1 + len(act.paths) + len(act.copied))
            if len(acts) >= MOST_ACTS:
                raise TooComplex
            acts[act] = None
        acts.update(dict.fromkeys(seen.through_links(tuple(acts), steps)))
    except TooComplex:
        acts[UNREAD] = None
    acts.update(dict.fromkeys([_unresolved_part(act) for act in acts if _has_unknown(act)]))
    if not any(act.reach is Reach.NAMED for act in acts):
        return list(acts)
    named = name_words(text).union(seen.listed)
    return [
        act._replace(named=act.named | named) if act.reach is Reach.NAMED else act
        for act in acts
        if act.name != _ANY_PROGRAM or not UNMISTAKABLE.isdisjoint(named)
    ]


def _all_acts(
    text: str, around: Surroundings, steps: Steps, seen: _Seen, nested: int
) -> Iterator[DestructiveAct]:
    added: dict[DestructiveAct, None] = {}
    for command in all_commands(text, around, steps):
        seen.note(command)
        yield from redirect_acts(command)
        made = seen.made_scripts(command, around, steps, nested)
        for act in (*_acts_of(command, steps), *made):
            if act.reach.is_commit:
                yield from added
            yield from _after_adding(act, list(added)) if act.reach is Reach.STAGED else (act,)
        added.update(dict.fromkeys(_added(command)))


def name_words(text: str) -> frozenset[str]:
    """Return all words of a text, without quotes, that may name a file."""
    plain = _ESCAPED.sub(_unescape, text.replace("\\\n", " "))
    joined = _SEPARATORS.split(_QUOTES.sub("", plain))
    apart = _LINE_BREAKS.sub(" ", plain).translate(_SEPARATING_QUOTES).split()
    words = {word for word in (*joined, *apart) if word}
    return frozenset(words.union(word.lstrip("-+?#%") for word in words))


def _unescape(found: re.Match[str]) -> str:
    code = int(found[1] or found[3], 16) if found[1] or found[3] else int(found[2], 8)
    return chr(code) if 0 < code < 0x110000 else ""


def _has_unknown(act: DestructiveAct) -> bool:
    return act.reach in (Reach.WRITTEN, Reach.HIDDEN) and any(
        not word.is_known for word in act.paths
    )


def _unresolved_part(act: DestructiveAct) -> DestructiveAct:
    unknown = tuple(word for word in act.paths if not word.is_known)
    return DestructiveAct(act.name, Reach.NAMED, act.folder, unknown, is_understood=False)


class _Seen:
    """What earlier commands of the same text did that later ones may use."""

    def __init__(self) -> None:
        self.listed: set[str] = set()
        self._links: dict[str, Word] = {}
        self._scripts: dict[str, str] = {}

    def note(self, command: SimpleCommand) -> None:
        name = program_name(command.words[0]) if command.words else ""
        if command.is_inner:
            self.listed.update(listed_by(command))
        if name in _TAKING_LISTS:
            for source in command.fed_by:
                self.listed.update(listed_by(unwrap(source)))
        if name == "find":  # `find -exec sh -c ...`
            self.listed.update(listed_by(command))
        if name in ("ln", "cp", "link"):
            self._note_links(name, command)
        _file, text = read_standard_input(command) if name in ("cat", "tee") else (None, "")
        if name in ("echo", "printf"):
            text = " ".join(word.text for word in command.words[1:])
        if text:
            operands = command.words[1:] if name == "tee" else ()
            targets = (each.target for each in command.redirects if each.operator.startswith(">"))
            for word in (*targets, *operands):
                self._scripts[_full(command.folder, word)] = text

    def _note_links(self, name: str, command: SimpleCommand) -> None:
        arguments = read_arguments(command.words[1:], "t S")
        operands = arguments.all_operands
        if name == "cp" and not arguments.has("l", "--link", "s", "--symbolic-link"):
            return
        if len(operands) == 2 and len(self._links) < _MOST_LINKS:
            source, link = operands
            folder = os.path.dirname(link.text) if arguments.has("s", "--symbolic") else ""
            target = Word(os.path.join(folder, source.text)) if folder else source
            self._links[_full(command.folder, link)] = target

    def through_links(self, acts: tuple[DestructiveAct, ...], steps: Steps) -> list[DestructiveAct]:
        """Return the same acts on the targets of links that the text itself creates."""
        steps.take(len(self._links) * sum(len(act.paths) for act in acts))
        return [
            act._replace(paths=(Word(target.text + _full(act.folder, word)[len(link) :]),))
            for link, target in self._links.items()
            for act in acts
            if act.reach is Reach.WRITTEN and act.name != "ln"
            for word in act.paths
            if _full(act.folder, word).startswith(f"{link}/")
            or (_full(act.folder, word) == link and act.name not in ("rm", "unlink", "mv"))
        ]

    def made_scripts(
        self, command: SimpleCommand, around: Surroundings, steps: Steps, nested: int
    ) -> Iterator[DestructiveAct]:
        """Yield the acts of a script that the text itself has written before."""
        if not command.words or not self._scripts or nested > 1:
            return
        name = program_name(command.words[0])
        runs = name in SHELLS or is_interpreter(name) or name in _SOURCING
        for word in command.words[1:2] if runs else command.words[:1]:
            text = self._scripts.get(_full(command.folder, word))
            if text is None:
                continue
            if is_interpreter(name):
                body = (Redirect("<<", Word(""), text),)
                yield from code_acts(name, command._replace(redirects=body))
            else:
                inside = around._replace(folder=command.folder or around.folder)
                yield from destructive_acts(text, inside, steps, nested + 1)


def _full(folder: str | None, word: Word) -> str:
    return os.path.normpath(os.path.join(folder or "", word.text))


def _after_adding(act: DestructiveAct, added: list[DestructiveAct]) -> Iterator[DestructiveAct]:
    """Apply an act on staged files also to those that the same command stages before.

    If that is everything, or in another folder, it is unknown what git would refuse.
    """
    is_plain = all(each.paths and each.folder == act.folder for each in added)
    informed = act._replace(
        is_all_or_nothing=act.is_all_or_nothing and is_plain,
        staged_before=tuple(word for each in added for word in each.paths),
    )
    for each in added:
        yield informed._replace(
            reach=Reach.CHANGED,
            folder=each.folder,
            paths=each.paths,
            also_untracked=each.also_untracked,
            git_options=each.git_options,
        )
    yield informed


def _acts_of(command: SimpleCommand, steps: Steps, nested: int = 0) -> Iterator[DestructiveAct]:
    """Yield what one simple command would do, without its redirects."""
    command = unwrap(command)
    steps.take()
    if nested > _MOST_NESTED:
        raise TooComplex
    if not command.words:
        return
    name, words = program_name(command.words[0]), command.words[1:]
    if name == "git":
        yield from _acts_of_git(command, steps, nested)
    elif name == "xargs" or (name == "parallel" and command.fed_by):
        inner, mark = xargs_command(command)
        if inner is not None:
            yield from (mark(act) for act in _acts_of(inner, steps, nested + 1))
    elif name == "find":
        yield from find_acts(command, lambda inner: _acts_of(inner, steps, nested + 1))
    elif name in SHELLS or name in _SOURCING:
        yield from _shell_acts(command, steps, nested)
    else:
        yield from program_acts(name, words, command.folder)
        yield from input_acts(name, command)
        yield from _acts_of_code(name, command, steps, nested)
        if not (is_known_program(name) or name in READERS):
            yield from _acts_behind(name, command, steps, nested)


def _acts_of_git(command: SimpleCommand, steps: Steps, nested: int) -> Iterator[DestructiveAct]:
    words = command.words[1:]
    yield from git_acts(words, command.folder, command)
    for text in texts_run_by_git(words):
        yield from _acts_of_text(text, command, steps, nested)


def _acts_of_code(
    name: str, command: SimpleCommand, steps: Steps, nested: int
) -> Iterator[DestructiveAct]:
    if is_interpreter(name):
        yield from code_acts(name, command)
        for script in python_scripts(name, command):
            yield from _acts_of_text(script, command, steps, nested)
    elif name in AWKS:
        yield from awk_acts(name, command)
    elif name in SEDS:
        yield from sed_acts(name, command)


def _shell_acts(command: SimpleCommand, steps: Steps, nested: int) -> Iterator[DestructiveAct]:
    """Read a shell that `find` or `xargs` starts, or one that reads a file of commands."""
    if any(word.text == UNKNOWN for word in command.words[1:2]):  # `sh <(...)`
        yield unresolved(_ANY_PROGRAM, command.folder)
    texts = tuple(inner_scripts(command))
    for text in texts if nested else ():
        yield from _acts_of_text(text, command, steps, nested)
    source, _text = read_standard_input(command)
    if texts or source is None or any(not word.text.startswith("-") for word in command.words[1:]):
        return
    if source.is_known and command.folder is not None:
        read_from = Input(InputKind.SCRIPT, Word(os.path.join(command.folder, source.text)))
        yield DestructiveAct("a script", Reach.WRITTEN, command.folder, read_from=read_from)
    else:
        yield unresolved("a script", command.folder)


def _acts_of_text(
    text: str, command: SimpleCommand, steps: Steps, nested: int
) -> Iterator[DestructiveAct]:
    """Yield the acts of a text that a program hands to a shell."""
    around = Surroundings(UNKNOWN if command.folder is None else command.folder)
    for inner in all_commands(text, around, steps, nested):
        yield from redirect_acts(inner)
        yield from _acts_of(inner, steps, nested + 1)


def _acts_behind(
    name: str, command: SimpleCommand, steps: Steps, nested: int
) -> Iterator[DestructiveAct]:
    """Handle an unknown program: it may start a program that its arguments name, or run one as a
    command."""
    words = command.words[1:]
    if UNKNOWN in name:
        yield unresolved(_ANY_PROGRAM, command.folder)
    if name == "alias" and any(word.text.rpartition("=")[2] in UNMISTAKABLE for word in words):
        yield unresolved(name, command.folder)
    for place, word in enumerate(words):
        if word.text in UNMISTAKABLE or word.text in SHELLS:
            inner = command._replace(words=words[place:], redirects=())
            for act in _acts_of(inner, steps, nested + 1):
                yield act._replace(is_understood=False)
            if ":::" in (each.text for each in words):
                yield unresolved(name, command.folder)
            return
        first = word.text.split(None, 1)
        if len(first) == 2 and program_name(Word(first[0])) in UNMISTAKABLE | SHELLS:
            text = word.text.replace("{}", UNKNOWN)
            for act in _acts_of_text(text, command, steps, nested):
                yield act._replace(is_understood=False)


def _added(command: SimpleCommand) -> list[DestructiveAct]:
    if not command.words or program_name(command.words[0]) != "git":
        return []
    call = read_git_call(command.words[1:], command.folder)
    act = added_before_commit(call) if call is not None else None
    return [] if act is None else [act]
