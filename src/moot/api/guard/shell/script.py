"""Split a shell text into simple commands, each with the folder it runs in.

A plain `cd` and variables set in the same text are followed. All parts of loops and conditions are
read as if they ran once. `folder` is None after a `cd` that is not understood.

`TooComplex` is raised if a text is too long, too deeply nested, or makes too large values: the rest
is unknown then.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from moot.api.guard.shell.values import MOST_VALUE, UNKNOWN, Word, expand
from moot.core.shell_words import (
    Part,
    PartKind,
    Steps,
    Token,
    TokenKind,
    TooComplex,
    split_words,
)

_MOST_NESTED: Final = 8
_MOST_COMMANDS: Final = 5_000
_MOST_FEEDING: Final = 50
_LONGEST_FOLDER: Final = 4_096
_KEYWORDS: Final = frozenset(
    ("if", "then", "elif", "else", "fi", "while", "until", "do", "done", "esac", "{", "}", "!")
)
_LOOPS: Final = frozenset({"for", "select"})
_DECLARING: Final = frozenset({"export", "local", "declare", "readonly", "typeset"})
_ASSIGNMENT: Final = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)\+?=")
_FOLDER_CHANGES: Final = frozenset({"cd", "pushd", "popd"})
_PIPES: Final = frozenset({"|", "|&"})
_TOP_FOLDER: Final = re.compile(r"\s*git\s+rev-parse\s+--show-toplevel\s*(2>\s*/dev/null\s*)?")
_TEMPORARY: Final = re.compile(r"\s*mktemp(\s[^;&|]*)?")
_FRESH: Final = "made-by-mktemp"  # a new path, so no agent holds it


class Surroundings(NamedTuple):
    """Where a shell starts: its folder, the root of the worktree there, its variables."""

    folder: str
    root: str = ""
    variables: Mapping[str, str] = {}


class Redirect(NamedTuple):
    """`body` is the text of a heredoc."""

    operator: str
    target: Word
    body: str = ""


class SimpleCommand(NamedTuple):
    """A program with its arguments; no words if there are redirects only.

    `fed_by` are the commands whose output it reads, the nearest first. `settings` are variables
    that are set for it alone. `is_inner`: its output becomes words of another command.
    """

    words: tuple[Word, ...]
    redirects: tuple[Redirect, ...]
    folder: str | None
    fed_by: tuple[SimpleCommand, ...] = ()
    settings: tuple[Word, ...] = ()
    is_inner: bool = False


class _State:
    """What a shell remembers from one command to the next."""

    def __init__(self, folder: str | None, values: dict[str, tuple[str, ...]]) -> None:
        self.folder = folder
        self.before: str | None = None
        self.stack: list[str | None] = []
        self.values = values
        self._note_folder()

    def copy(self, steps: Steps) -> _State:
        steps.take(1 + len(self.values) // 32 + len(self.stack) // 32)
        copy = _State(self.folder, dict(self.values))
        copy.before, copy.stack = self.before, list(self.stack)
        return copy

    def _note_folder(self) -> None:
        self.values["PWD"] = (UNKNOWN if self.folder is None else self.folder,)

    def go(self, folder: str | None) -> None:
        self.before, self.folder = self.folder, folder
        self._note_folder()


def read_script(
    text: str, around: Surroundings, steps: Steps | None = None
) -> Iterator[SimpleCommand]:
    """Yield every simple command in `text`; those inside of `$(...)` come before the one that uses
    them.

    At a limit, it yields what was read so far, then raises TooComplex.
    """
    values: dict[str, tuple[str, ...]] = {
        name: (value,) for name, value in around.variables.items() if len(value) <= MOST_VALUE
    }
    reader = _Reader(around.root, values.get("TMPDIR", ("/tmp",))[0], steps or Steps())
    try:
        reader.read(text, _State(os.path.normpath(around.folder), values), 0)
    except TooComplex:
        yield from reader.commands
        raise
    yield from reader.commands


class _Reader:
    def __init__(self, root: str, temporary: str, steps: Steps) -> None:
        self.commands: list[SimpleCommand] = []
        self._root = root
        self._temporary = temporary
        self._steps = steps

    def read(self, text: str, state: _State, nested: int) -> None:
        if nested > _MOST_NESTED:
            raise TooComplex
        outer: list[_State] = []
        pending: list[Token] = []
        fed_by: tuple[SimpleCommand, ...] = ()
        was_or = False
        for token in (*split_words(text, self._steps), Token(TokenKind.OPERATOR, ";")):
            if token.kind is not TokenKind.OPERATOR:
                pending.append(token)
                continue
            command = self._finish(pending, state, nested, fed_by, was_or)
            pending = []
            is_piped = token.text in _PIPES
            nearest = fed_by[: _MOST_FEEDING - 1]
            fed_by = (command, *nearest) if is_piped and command is not None else ()
            was_or = token.text == "||"
            if token.text == "(":
                outer.append(state)
                state = state.copy(self._steps)
            elif token.text == ")" and outer:
                state = outer.pop()

    def _finish(
        self,
        tokens: list[Token],
        state: _State,
        nested: int,
        fed_by: tuple[SimpleCommand, ...],
        was_or: bool,
    ) -> SimpleCommand | None:
        """Return the simple command that these tokens make, and apply its effects on the next
        ones."""
        tokens = _without_keywords(tokens)
        if not tokens:
            return None
        if len(self.commands) >= _MOST_COMMANDS:
            raise TooComplex
        self._read_inner_commands(tokens, state, nested)
        if _plain(tokens[0]) in _LOOPS:
            self._bind_loop(tokens, state)
            return None
        settings, tokens = self._take_settings(tokens, state)
        words = tuple(
            word
            for token in tokens
            if token.kind is TokenKind.WORD
            for word in self._expand(token.parts, state)
        )
        redirects = tuple(
            Redirect(token.text, target, token.body)
            for token in tokens
            if token.kind is TokenKind.REDIRECT
            for target in self._expand(token.parts, state)[:1]
        )
        if not words and not redirects:
            self._set(settings, state)
            return None
        command = SimpleCommand(words, redirects, state.folder, fed_by, settings, nested > 0)
        self.commands.append(command)
        self._follow(command, state, was_or)
        return command

    def _read_inner_commands(self, tokens: list[Token], state: _State, nested: int) -> None:
        for token in tokens:
            for part in token.parts:
                if part.kind is PartKind.OUTPUT:
                    self.read(part.text, state.copy(self._steps), nested + 1)
            is_quoted = any(part.is_quoted for part in token.parts)
            if token.body and not is_quoted and ("$(" in token.body or "`" in token.body):
                inner = split_words('"' + token.body.replace('"', '\\"') + '"', self._steps)
                self._read_inner_commands(inner, state, nested)

    def _bind_loop(self, tokens: list[Token], state: _State) -> None:
        """Bind the name in `for NAME in WORDS` to all of the words."""
        name = _plain(tokens[1]) if len(tokens) > 1 else ""
        words = [word for token in tokens[3:] for word in self._expand(token.parts, state)]
        if name and words:
            state.values[name] = tuple(word.text for word in words)
        elif name:
            state.values.pop(name, None)

    def _take_settings(
        self, tokens: list[Token], state: _State
    ) -> tuple[tuple[Word, ...], list[Token]]:
        """Split the assignments before a command from the rest."""
        settings: list[Word] = []
        for place, token in enumerate(tokens):
            if token.kind is not TokenKind.WORD or _assignment(token) is None:
                return tuple(settings), tokens[place:]
            settings.append(self._expand_whole(token.parts, state))
        return tuple(settings), []

    def _set(self, settings: tuple[Word, ...], state: _State) -> None:
        for setting in settings:
            name, _equals, value = setting.text.partition("=")
            if name.endswith("+"):
                name = name.removesuffix("+")
                before = state.values.get(name, (UNKNOWN,))
                self._steps.take(len(before))
                state.values[name] = tuple(f"{each}{value}"[: MOST_VALUE + 1] for each in before)
            else:
                state.values[name] = (value,)

    def _follow(self, command: SimpleCommand, state: _State, was_or: bool) -> None:
        """Apply what this command changes for the next ones."""
        name = command.words[0].text if command.words else ""
        if name in _DECLARING:
            self._set(tuple(word for word in command.words[1:] if "=" in word.text), state)
        elif name in ("read", "unset", "mapfile", "readarray"):
            for word in command.words[1:]:
                state.values.pop(word.text, None)
        elif name in _FOLDER_CHANGES and not command.fed_by:
            state.go(None if was_or else _folder_after(name, command.words[1:], state))

    def _expand(self, parts: tuple[Part, ...], state: _State) -> tuple[Word, ...]:
        return expand(parts, state.values, lambda text: self._output(text, state), self._steps)

    def _expand_whole(self, parts: tuple[Part, ...], state: _State) -> Word:
        """Expand an assignment to one word: blanks in its value do not split it."""
        whole = tuple(part._replace(is_quoted=True) for part in parts)
        return next(iter(self._expand(whole, state)), Word(""))

    def _output(self, text: str, state: _State) -> str | None:
        """Return what an inner command prints, for the few where it is known."""
        if text.strip() == "pwd":
            return state.folder
        if self._root and _TOP_FOLDER.fullmatch(text):
            return self._root
        if _TEMPORARY.fullmatch(text):
            return f"{self._temporary}/{_FRESH}"
        return None


def _folder_after(name: str, words: tuple[Word, ...], state: _State) -> str | None:
    """Return the folder after a `cd`, `pushd` or `popd`; None if unknown."""
    if name == "popd":
        return state.stack.pop() if state.stack else None
    if name == "pushd":
        state.stack.append(state.folder)
    targets = [word for word in words if word.text not in ("-P", "-L", "-e", "--")]
    if not targets:
        home = state.values.get("HOME")
        return home[0] if home and name == "cd" else None
    target = targets[0]
    if target.text == "-":
        return state.before
    if target.pattern is not None or len(targets) > 1 or target.text.startswith(UNKNOWN):
        return None
    if state.folder is None and not target.text.startswith("/"):
        return None
    return join_folder(state.folder or "/", target.text)


def join_folder(folder: str, path: str) -> str | None:
    """Join a path to a folder; None if it is longer than any system allows."""
    joined = os.path.join(folder, path)
    return os.path.normpath(joined) if len(joined) <= _LONGEST_FOLDER else None


def _without_keywords(tokens: list[Token]) -> list[Token]:
    """Strip `if`, `do`, `time` and the like; the body of a `case` begins after `in`."""
    place = behind = 0
    while place < len(tokens):
        word = _plain(tokens[place])
        if word == "case":
            while behind < len(tokens) and (behind <= place or _plain(tokens[behind - 1]) != "in"):
                behind += 1
            has_in = _plain(tokens[behind - 1]) == "in"
            place = behind if has_in else place + 1
        elif word in _KEYWORDS:
            place += 1
        elif word == "function":
            place += 2
        else:
            break
    return tokens[place:]


def _plain(token: Token) -> str:
    """Return the text of a word without quotes or variables; empty for any other word."""
    if token.kind is not TokenKind.WORD or len(token.parts) != 1:
        return ""
    (part,) = token.parts
    return part.text if part.kind is PartKind.TEXT and not part.is_quoted else ""


def _assignment(token: Token) -> re.Match[str] | None:
    first = token.parts[0] if token.parts else None
    if first is None or first.kind is not PartKind.TEXT or first.is_quoted:
        return None
    return _ASSIGNMENT.match(first.text)
