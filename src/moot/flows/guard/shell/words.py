"""A shell command's text as words and operators, the way a POSIX shell splits it.

It never fails: what is not closed ends with the text. Quoting is kept, because a quoted star is no
wildcard; what stands inside `$(...)` and backticks is kept as text, to be read as a command.

Reading takes bounded time and memory, whatever the text is: every step is counted (`Steps`).
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
_CONTINUING: Final = frozenset("&|;<>-")  # behind the first sign of an operator
_BOTH_STREAMS: Final = frozenset({"&>", "&>>"})
_HEREDOCS: Final = frozenset({"<<", "<<-"})
_ENDS_A_WORD: Final = frozenset(" \t\r\n;&|()<>")
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|[0-9@*#?$!-]")
# Letters that mean nothing else, outside of quotes and within double ones.
_UNQUOTED: Final = re.compile(r"""[^\s;&|()<>'"\\$`]+""")
_IN_QUOTES: Final = re.compile(r"""[^"\\$`]+""")
# A whole word of such letters that is no number, comment or test: most words are.
_PLAIN_WORD: Final = re.compile(
    r"""[ \t\r]*+([^\s;&|()<>'"\\$`#\[\]0-9][^\s;&|()<>'"\\$`]*+)(?=[ \t\r\n;&|()]|\Z)"""
)
_IN_GROUP: Final = re.compile(r"""[\\'"()]""")
_MOST_NESTED: Final = 40
# Of one shell command with all that is nested in it. A step is a token, a part of a word, or a word
# that one stands for; it takes a few microseconds.
MOST_TEXT: Final = 1 << 20
MOST_STEPS: Final = 40_000
LETTERS_A_STEP: Final = 64
_LETTERS_SEARCHED: Final = 8  # a step, where each letter may be a parenthesis
_CODE: Final = re.compile(r"\\(?:[xu]([0-9a-fA-F]{1,4})|([0-7]{1,3}))")
_ANSI: Final = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "e": "\x1b", "0": ""}


class TooComplex(Exception):
    """The text is beyond a bound: what it does is unknown."""


class Steps:
    """Counts the work of reading one shell command, and ends it at a bound."""

    def __init__(self, most: int = MOST_STEPS) -> None:
        self.taken = 0
        self._most = most

    def take(self, count: int = 1) -> None:
        """Raises TooComplex beyond the bound."""
        self.taken += count
        if self.taken > self._most:
            raise TooComplex


class PartKind(StrEnum):
    """What a part of a word is: text as it stands, a variable, the output of a command."""

    TEXT = "text"
    VARIABLE = "variable"
    OUTPUT = "output"


class Part(NamedTuple):
    """`text` is the text, the variable's name (empty: not a plain one) or the inner command."""

    kind: PartKind
    text: str
    is_quoted: bool


class TokenKind(StrEnum):
    WORD = "word"
    OPERATOR = "operator"
    REDIRECT = "redirect"


class Token(NamedTuple):
    """`text` is the operator's; of a redirect, `body` is its heredoc."""

    kind: TokenKind
    text: str = ""
    parts: tuple[Part, ...] = ()
    body: str = ""


def split_words(text: str, steps: Steps) -> list[Token]:
    """All tokens of a shell command, in order. TooComplex if the text is too long."""
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
        """The parts of the word that begins here, up to its end."""
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
        """As many letters without a meaning of their own as there are; one in any case."""
        found = letters.match(self._text, self._at)
        end = self._at + 1 if found is None else found.end()
        parts.append(Part(PartKind.TEXT, self._text[self._at : end], is_quoted))
        self._at = end

    def _read_double_quotes(self, parts: list[Part]) -> None:
        """Up to the closing quote; empty quotes are a word too."""
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
        """`$'...'` with the escapes that occur in commands; rarer ones stay as they are."""
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
        """Is the `((` at `at` closed by `))`? `((a) )` is a subshell in a subshell."""
        end = _end_of_group(self._text, at + 1)
        self._steps.take((end - at) // _LETTERS_SEARCHED)
        return end >= len(self._text) or self._text[end] == ")"

    def _find(self, letter: str, start: int) -> int:
        at = self._text.find(letter, start)
        return len(self._text) if at < 0 else at


def _end_of_group(text: str, at: int, nested: int = 0) -> int:
    """Behind the parenthesis that closes the one at `at`; quotes in between do not count."""
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
    """Where the double quotes close that were open before `at`."""
    while at < len(text) and text[at] != '"':
        if text.startswith("$(", at):
            at = _end_of_group(text, at + 1, nested + 1)
        else:
            at += 2 if text[at] == "\\" else 1
    return at


def _joined(parts: list[Part]) -> tuple[Part, ...]:
    """Neighbours of the same kind as one part."""
    joined: list[Part] = []
    for (kind, is_quoted), alike in groupby(parts, lambda part: (part.kind, part.is_quoted)):
        if kind is PartKind.TEXT:
            joined.append(Part(kind, "".join(part.text for part in alike), is_quoted))
        else:
            joined.extend(alike)
    return tuple(joined)
