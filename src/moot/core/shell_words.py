"""Split the text of a shell command into words and operators, as a POSIX shell does.

A quote or parenthesis that is not closed ends with the text. Tokens keep the information what was
quoted, because a quoted star is no wildcard. The text inside `$(...)` and backticks is kept, so
that the caller can read it as a command.

Time and memory are bounded for every text: `Steps` counts the work and raises `TooComplex`.
"""

from __future__ import annotations

import re
from enum import StrEnum
from itertools import groupby
from typing import Final, NamedTuple

_BLANKS: Final = " \t\r"
_BLANK_RUN: Final = re.compile(r"[ \t\r]*")
_OPERATORS: Final = (";;&", "&>>", "&&", "||", "|&", ";;", ";&", "&>", "|", ";", "&", "(", ")")
_REDIRECTS: Final = ("<<<", "<<-", "<<", "<>", "<&", "<", ">>", ">|", ">&", ">")
_CONTINUING: Final = frozenset("&|;<>-")  # may follow the first character of an operator
_BOTH_STREAMS: Final = frozenset({"&>", "&>>"})
_HEREDOCS: Final = frozenset({"<<", "<<-"})
_ENDS_A_WORD: Final = frozenset(" \t\r\n;&|()<>")
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|[0-9@*#?$!-]")
# Characters without a special meaning, outside of quotes and inside double quotes.
_UNQUOTED: Final = re.compile(r"""[^\s;&|()<>'"\\$`]+""")
_IN_QUOTES: Final = re.compile(r"""[^"\\$`]+""")
# A whole word of such characters that is no number, comment or test. Most words match it.
_PLAIN_WORD: Final = re.compile(
    r"""[ \t\r]*+([^\s;&|()<>'"\\$`#\[\]0-9][^\s;&|()<>'"\\$`]*+)(?=[ \t\r\n;&|()]|\Z)"""
)
_IN_GROUP: Final = re.compile(r"""[\\'"()]""")
_MOST_NESTED: Final = 40
# Bounds for one shell command, nested commands included. A step is a token, a part of a word, or a
# word that an expansion gives; it takes a few microseconds.
MOST_TEXT: Final = 1 << 20
MOST_STEPS: Final = 40_000
LETTERS_A_STEP: Final = 64
_LETTERS_SEARCHED: Final = 8  # for each step, in a search for parentheses
_CODE: Final = re.compile(r"\\(?:[xu]([0-9a-fA-F]{1,4})|([0-7]{1,3}))")
_ANSI: Final = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "e": "\x1b", "0": ""}


class TooComplex(Exception):
    """Reading the command would exceed a bound, so it is not known what the command does."""


class Steps:
    """Count the work of reading one shell command, and stop it at a bound."""

    def __init__(self, most: int = MOST_STEPS) -> None:
        self.taken = 0
        self._most = most

    def take(self, count: int = 1) -> None:
        """Count steps; TooComplex beyond the bound."""
        self.taken += count
        if self.taken > self._most:
            raise TooComplex


class PartKind(StrEnum):
    """What a part of a word is: literal text, a variable, or the output of a command."""

    TEXT = "text"
    VARIABLE = "variable"
    OUTPUT = "output"


class Part(NamedTuple):
    """A part of a word. `text` is the literal text, the variable's name or the inner command.

    The name is empty for anything but a plain variable, such as `${x%y}`.
    """

    kind: PartKind
    text: str
    is_quoted: bool


class TokenKind(StrEnum):
    WORD = "word"
    OPERATOR = "operator"
    REDIRECT = "redirect"


class Token(NamedTuple):
    """A word, operator or redirect. `text` is the operator; `body` is the heredoc of a redirect."""

    kind: TokenKind
    text: str = ""
    parts: tuple[Part, ...] = ()
    body: str = ""


def split_words(text: str, steps: Steps) -> list[Token]:
    """Return the tokens of a shell command, in order. TooComplex if the text is too long."""
    if len(text) > MOST_TEXT:
        raise TooComplex
    steps.take(len(text) // LETTERS_A_STEP)
    return _Lexer(text, steps).read_all()


class _Lexer:
    def __init__(self, text: str, steps: Steps) -> None:
        self._text = text
        self._steps = steps
        self._at = 0
        self._tokens: list[Token] = []
        self._waiting: list[int] = []  # heredocs whose body begins at the next line
        self._in_test = False  # inside `[[ ]]`, where < and > compare

    def read_all(self) -> list[Token]:
        while self._at < len(self._text):
            self._steps.take()
            found = _PLAIN_WORD.match(self._text, self._at)
            if found is None:
                self._read_one()
                continue
            self._at = found.end()
            part = Part(PartKind.TEXT, found[1], False)
            self._tokens.append(Token(TokenKind.WORD, "", (part,)))
        self._read_heredocs()
        return self._tokens

    def _read_one(self) -> None:
        text, at = self._text, self._at
        letter = text[at]
        if letter in _BLANKS:
            self._at = _BLANK_RUN.match(text, at).end()  # type: ignore[union-attr]
        elif text.startswith("\\\n", at):
            self._at += 2
        elif letter == "\n":
            self._at += 1
            self._tokens.append(Token(TokenKind.OPERATOR, "\n"))
            self._read_heredocs()
        elif letter == "#":
            end = text.find("\n", at)
            self._at = len(text) if end < 0 else end
        elif letter in "&|;()" or (letter in "<>" and not self._in_test):
            self._read_operator()
        else:
            self._read_word()

    def _read_operator(self) -> None:
        text, at = self._text, self._at
        if text.startswith("((", at) and self._begins_a_command() and self._is_arithmetic(at):
            self._at = _end_of_group(text, at)
            return
        if text[at : at + 2] in ("<(", ">("):
            self._read_word()
            return
        symbol = text[at]
        if text[at + 1 : at + 2] in _CONTINUING:
            symbols = _REDIRECTS if symbol in "<>" else _OPERATORS
            symbol = next(symbol for symbol in symbols if text.startswith(symbol, at))
        self._at += len(symbol)
        if symbol in _REDIRECTS or symbol in _BOTH_STREAMS:
            self._read_redirect(symbol)
        else:
            self._tokens.append(Token(TokenKind.OPERATOR, symbol))

    def _begins_a_command(self) -> bool:
        return not self._tokens or self._tokens[-1].kind is TokenKind.OPERATOR

    def _read_redirect(self, symbol: str) -> None:
        while self._at < len(self._text) and self._text[self._at] in _BLANKS:
            self._at += 1
        parts = self._word_parts()
        if symbol in _HEREDOCS:
            self._waiting.append(len(self._tokens))
        self._tokens.append(Token(TokenKind.REDIRECT, symbol, parts))

    def _read_word(self) -> None:
        at = self._at
        parts = self._word_parts()
        word = self._text[at : self._at]
        follows = self._text[self._at : self._at + 1]
        if word.isdigit() and follows and follows in "<>" and not self._in_test:
            return  # a descriptor's number belongs to the redirect
        if self._at == at:  # nothing that could begin a word: take it as it is
            self._at += 1
            parts = (Part(PartKind.TEXT, self._text[at], False),)
        self._in_test = word == "[[" or (self._in_test and word != "]]")
        self._tokens.append(Token(TokenKind.WORD, "", parts))

    def _read_heredocs(self) -> None:
        waiting, self._waiting = self._waiting, []
        for place in waiting:
            token = self._tokens[place]
            end = "".join(part.text for part in token.parts)
            lines: list[str] = []
            while self._at < len(self._text):
                newline = self._find("\n", self._at)
                line, self._at = self._text[self._at : newline], newline + 1
                plain = line.lstrip("\t") if token.text == "<<-" else line
                if plain.rstrip("\r") == end:
                    break
                lines.append(plain)
            self._tokens[place] = token._replace(body="\n".join(lines))

    def _word_parts(self) -> tuple[Part, ...]:
        """Read the word that begins here and return its parts."""
        parts: list[Part] = []
        while self._at < len(self._text):
            letter = self._text[self._at]
            if letter in "<>" and self._text[self._at + 1 : self._at + 2] == "(" and not parts:
                self._read_output(self._at + 1, parts, False)
            elif letter in _ENDS_A_WORD and not (self._in_test and letter in "<>"):
                break
            elif letter == "'":
                end = self._find("'", self._at + 1)
                parts.append(Part(PartKind.TEXT, self._text[self._at + 1 : end], True))
                self._at = end + 1
            elif letter == '"':
                self._at += 1
                self._read_double_quotes(parts)
            else:
                self._read_unquoted(letter, parts)
        self._steps.take(len(parts))
        return _joined(parts) if len(parts) > 1 else tuple(parts)

    def _read_unquoted(self, letter: str, parts: list[Part]) -> None:
        following = self._text[self._at + 1 : self._at + 2]
        if letter == "\\":
            if following != "\n":
                parts.append(Part(PartKind.TEXT, following, True))
            self._at += 2
        elif letter == "$" and following == "'":
            self._read_ansi(parts)
        elif letter == "$" and following == '"':
            self._at += 2
            self._read_double_quotes(parts)
        elif letter in "$`":
            self._read_expansion(parts, False)
        else:
            self._read_run(_UNQUOTED, parts, False)

    def _read_run(self, letters: re.Pattern[str], parts: list[Part], is_quoted: bool) -> None:
        """Read characters without a special meaning as one part; at least one character."""
        found = letters.match(self._text, self._at)
        end = self._at + 1 if found is None else found.end()
        parts.append(Part(PartKind.TEXT, self._text[self._at : end], is_quoted))
        self._at = end

    def _read_double_quotes(self, parts: list[Part]) -> None:
        """Read up to the closing quote. Empty quotes give an empty part, since they are a word."""
        parts.append(Part(PartKind.TEXT, "", True))
        while self._at < len(self._text):
            letter = self._text[self._at]
            if letter == '"':
                break
            if letter == "\\" and self._text[self._at + 1 : self._at + 2] in ("$", "`", '"', "\\"):
                parts.append(Part(PartKind.TEXT, self._text[self._at + 1], True))
                self._at += 2
            elif self._text.startswith("\\\n", self._at):
                self._at += 2
            elif letter in "$`":
                self._read_expansion(parts, True)
            else:
                self._read_run(_IN_QUOTES, parts, True)
        self._at += 1

    def _read_ansi(self, parts: list[Part]) -> None:
        """Read `$'...'` and decode the common escapes; rare ones stay as they are."""
        at, letters = self._at + 2, []
        while at < len(self._text) and self._text[at] != "'":
            code = _CODE.match(self._text, at)
            if code is not None:
                letters.append(chr(int(code[1], 16) if code[1] else int(code[2], 8)))
                at = code.end()
                continue
            if self._text[at] == "\\" and at + 1 < len(self._text):
                at += 1
                letters.append(_ANSI.get(self._text[at], self._text[at]))
            else:
                letters.append(self._text[at])
            at += 1
        parts.append(Part(PartKind.TEXT, "".join(letters), True))
        self._at = at + 1

    def _read_expansion(self, parts: list[Part], is_quoted: bool) -> None:
        text, at = self._text, self._at
        if text[at] == "`":
            end = at + 1
            while end < len(text) and text[end] != "`":
                end += 2 if text[end] == "\\" else 1
            inner = text[at + 1 : end].replace("\\`", "`")
            parts.append(Part(PartKind.OUTPUT, inner, is_quoted))
            self._at = end + 1
        elif text.startswith("$((", at) and self._is_arithmetic(at + 1):
            parts.append(Part(PartKind.VARIABLE, "", is_quoted))
            self._at = _end_of_group(text, at + 1)
        elif text.startswith("$(", at):
            self._read_output(at + 1, parts, is_quoted)
        elif text.startswith("${", at):
            end = self._find("}", at)
            name = text[at + 2 : end]
            is_plain = _NAME.fullmatch(name) is not None
            parts.append(Part(PartKind.VARIABLE, name if is_plain else "", is_quoted))
            self._at = end + 1
        else:
            found = _NAME.match(text, at + 1)
            kind = PartKind.TEXT if found is None else PartKind.VARIABLE
            parts.append(Part(kind, "$" if found is None else found[0], is_quoted))
            self._at = at + 1 if found is None else found.end()

    def _read_output(self, parenthesis: int, parts: list[Part], is_quoted: bool) -> None:
        end = _end_of_group(self._text, parenthesis)
        inner = self._text[parenthesis + 1 : end].removesuffix(")")
        parts.append(Part(PartKind.OUTPUT, inner, is_quoted))
        self._at = end

    def _is_arithmetic(self, at: int) -> bool:
        """True if the `((` at `at` is closed by `))`: `((a) )` is a subshell in a subshell."""
        end = _end_of_group(self._text, at + 1)
        self._steps.take((end - at) // _LETTERS_SEARCHED)
        return end >= len(self._text) or self._text[end] == ")"

    def _find(self, letter: str, start: int) -> int:
        at = self._text.find(letter, start)
        return len(self._text) if at < 0 else at


def _end_of_group(text: str, at: int, nested: int = 0) -> int:
    """Return the position after the parenthesis that closes the one at `at`, ignoring quoted
    ones."""
    depth = 0
    while nested < _MOST_NESTED and (found := _IN_GROUP.search(text, at)):
        at = found.start()
        letter = text[at]
        if letter == "\\":
            at += 1
        elif letter == "'":
            end = text.find("'", at + 1)
            at = len(text) if end < 0 else end
        elif letter == '"':
            at = _end_of_quotes(text, at + 1, nested)
        elif letter == "(":
            depth += 1
        elif letter == ")":
            depth -= 1
            if depth == 0:
                return at + 1
        at += 1
    return len(text)


def _end_of_quotes(text: str, at: int, nested: int) -> int:
    """Return the position of the closing double quote of a quotation that began before `at`."""
    while at < len(text) and text[at] != '"':
        if text.startswith("$(", at):
            at = _end_of_group(text, at + 1, nested + 1)
        else:
            at += 2 if text[at] == "\\" else 1
    return at


def _joined(parts: list[Part]) -> tuple[Part, ...]:
    """Join neighbouring text parts with the same quoting."""
    joined: list[Part] = []
    for (kind, is_quoted), alike in groupby(parts, lambda part: (part.kind, part.is_quoted)):
        if kind is PartKind.TEXT:
            joined.append(Part(kind, "".join(part.text for part in alike), is_quoted))
        else:
            joined.extend(alike)
    return tuple(joined)
