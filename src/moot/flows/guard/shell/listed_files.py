"""Files that a command finds by itself: `find ... -delete`, `find ... -exec`, `... | xargs`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from moot.flows.guard.shell.act import DestructiveAct, Reach
from moot.flows.guard.shell.options import read_arguments
from moot.flows.guard.shell.script import SimpleCommand
from moot.flows.guard.shell.values import Word
from moot.flows.guard.shell.words import TooComplex
from moot.flows.guard.shell.wrappers import program_name, unwrap

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
    """What `find` deletes, or what the program does that it runs on what it finds."""
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
    """The command that `xargs` runs, on what it is fed; and how its acts are to be marked."""
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
    """What a pipeline lists: its files or the folders it looks in, and the names it asks for."""
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
    """The folders that `grep` or `rg` looks in, and the names it is told to look at."""
    arguments = read_arguments(words, "e f g m A B C t --include --exclude --glob --type")
    has_pattern = arguments.has("e", "f")
    places = arguments.all_operands if has_pattern else arguments.all_operands[1:]
    names = (arguments.values.get(name) for name in ("--include", "--glob", "g"))
    called = tuple(word.text for word in names if word is not None and word.text[:1] != "!")
    return places or (_HERE,), called


def _places(words: tuple[Word, ...]) -> tuple[tuple[Word, ...], tuple[str, ...]]:
    """Where `find` starts, and the names it asks for; none if it asks for what is not so called."""
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
    """The files in place of the mark, also within a word; without one, behind the rest."""
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
    """What a command lists, as words: the folders with a slash at their end, or the names that it
    asks for. Nothing if it lists no files."""
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
