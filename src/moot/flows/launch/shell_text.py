"""A shell's text as its simple commands: enough to see which programs it starts, and how.

Pure, and no shell: what it cannot follow (substitutions, functions, loops over data) is left out
or stays as it is written. It only ever adds to what is known; whoever relies on it must also look
at what really runs.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

_PUNCTUATION: Final = "();<>|&\n"
# Words in front of a command that are no part of it.
_KEYWORDS: Final = frozenset({"if", "then", "else", "elif", "do", "while", "until", "!", "{"})
_VARIABLE: Final = re.compile(r"\$(?:\{(\w+)\}|(\w+))")


class ShellCommand(NamedTuple):
    """One simple command, its words without their quotes."""

    words: tuple[str, ...]


def split_commands(text: str) -> Iterator[ShellCommand]:
    """The simple commands in order; none if the quotes do not close."""
    words: list[str] = []
    is_target = False  # the word behind a redirection names a file
    for token in (*_tokens(text), ";"):
        if token and all(letter in _PUNCTUATION for letter in token):
            is_target = token[-1] in "<>"
            if is_target and words and words[-1].isdecimal():
                words.pop()  # the number of a stream: `2>errors`
            if not is_target and words:
                yield ShellCommand(tuple(words))
            words = words if is_target else []
        elif is_target:
            is_target = False
        elif words or token not in _KEYWORDS:
            words.append(token)


def _tokens(text: str) -> tuple[str, ...]:
    lexer = shlex.shlex(text, posix=True, punctuation_chars=_PUNCTUATION)
    lexer.whitespace = " \t\r"
    lexer.whitespace_split = True
    lexer.commenters = ""
    try:
        return tuple(lexer)
    except ValueError:
        return ()


def expand(
    words: tuple[str, ...], arguments: tuple[str, ...], env: Mapping[str, str]
) -> tuple[str, ...]:
    """The words with plain variables put in; `arguments` are `$0` and those behind it."""
    made: list[str] = []
    for word in words:
        if word in ("$@", "$*", "${@}", "${*}"):
            made += arguments[1:]
        else:
            made.append(_expand_word(word, arguments, env))
    return tuple(made)


def _expand_word(word: str, arguments: tuple[str, ...], env: Mapping[str, str]) -> str:
    def value(match: re.Match[str]) -> str:
        name = match[1] or match[2]
        if name.isdecimal():
            return arguments[int(name)] if int(name) < len(arguments) else ""
        return env.get(name, "")

    return _VARIABLE.sub(value, word)
