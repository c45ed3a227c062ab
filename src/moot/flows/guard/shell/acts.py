"""The destructive acts of a shell command's text: all that it would do to files, as far as told.

One rule for everything else: where an act has an operand that cannot be told, or a program is not
known, what counts is whether a word of the whole text names what another has not saved.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import Final

from moot.flows.guard.shell.act import DestructiveAct, Input, InputKind, Reach
from moot.flows.guard.shell.code_acts import (
    AWKS,
    SEDS,
    awk_acts,
    code_acts,
    is_interpreter,
    python_scripts,
    sed_acts,
)
from moot.flows.guard.shell.file_acts import (
    READERS,
    UNMISTAKABLE,
    input_acts,
    is_known_program,
    program_acts,
    read_standard_input,
    redirect_acts,
    unresolved,
)
from moot.flows.guard.shell.git_acts import (
    added_before_commit,
    git_acts,
    read_git_call,
    texts_run_by_git,
)
from moot.flows.guard.shell.inner_scripts import SHELLS, all_commands, inner_scripts
from moot.flows.guard.shell.listed_files import find_acts, listed_by, xargs_command
from moot.flows.guard.shell.options import read_arguments
from moot.flows.guard.shell.script import Redirect, SimpleCommand, Surroundings
from moot.flows.guard.shell.values import UNKNOWN, Word
from moot.flows.guard.shell.words import Steps, TooComplex
from moot.flows.guard.shell.wrappers import program_name, unwrap

_MOST_NESTED: Final = 6
# Each may start git to learn what it reaches.
MOST_ACTS: Final = 200
# What is not known of a command beyond the bounds: it may reach whatever others hold.
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
# What separates the words that may name a file, whatever they are part of; quotes are tried both
# as separators and as nothing.
_SEPARATORS: Final = re.compile(r"[\s;&|()<>`=,:{}$!\0]+")
_QUOTES: Final = re.compile(r"[\"'\\]")
_ESCAPED: Final = re.compile(r"\\(?:x([0-9a-fA-F]{1,2})|([0-7]{1,3})|u([0-9a-fA-F]{4}))")
_LINE_BREAKS: Final = re.compile(r"\\[nrt]")
_SEPARATING_QUOTES: Final = str.maketrans(dict.fromkeys("\"'`()[]{}<>,;:=|&$!\0", " "))


def destructive_acts(
    text: str, around: Surroundings, steps: Steps | None = None, nested: int = 0
) -> list[DestructiveAct]:
    """Everything in `text` that would write over, remove, put back or commit files.

    The last one is UNREAD if the text is beyond the bounds of what is read, or does too much.
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
    """All words of a text, wherever they are, without quotes: those that may name a file."""
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
        """The same acts on what the links lead to that the text itself makes."""
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
        """What a script does that the text itself has written before."""
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
    """What throws away staged files, also on those that the same command stages before. Where
    these are all files, or in another folder, nothing is said of what git would refuse."""
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
    """What one simple command would do, without its redirects."""
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
    """A shell that is started by `find` or `xargs`, or one that reads a file of commands."""
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
    """What a text does that some program hands to a shell."""
    around = Surroundings(UNKNOWN if command.folder is None else command.folder)
    for inner in all_commands(text, around, steps, nested):
        yield from redirect_acts(inner)
        yield from _acts_of(inner, steps, nested + 1)


def _acts_behind(
    name: str, command: SimpleCommand, steps: Steps, nested: int
) -> Iterator[DestructiveAct]:
    """A program that is not known may start another: one that is named in its arguments, or a text
    that is a command."""
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
