"""Expand the words of a shell command: variables, `~`, braces and wildcards.

UNKNOWN replaces what only the running shell knows. A word may expand to several, as `{a,b}.txt` or
the variable of a `for` does.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from itertools import islice, product
from typing import Final, NamedTuple

from moot.core.shell_words import LETTERS_A_STEP, Part, PartKind, Steps, TooComplex

UNKNOWN: Final = "\0"
MOST_WORDS: Final = 500
# Words that variables make longer than this are not read.
MOST_VALUE: Final = 1 << 16
_MOST_BRACES: Final = 20
_WILDCARDS: Final = re.compile(r"[*?\[]")
_BRACES: Final = re.compile(r"\{([^{},]*+,[^{}]*+)\}")
_RANGE: Final = re.compile(r"\{(\d{1,4})\.\.(\d{1,4})\}")
_BLANKS: Final = re.compile(r"[ \t\n]+")
# A text without these characters needs no expansion.
_SPECIAL: Final = re.compile(r"[*?\[{~ \t\n]")


class Word(NamedTuple):
    """`text` as a program would get it. `pattern`, for `glob`: None if it has no wildcards."""

    text: str
    pattern: str | None = None

    @property
    def is_known(self) -> bool:
        return UNKNOWN not in self.text


class _Piece(NamedTuple):
    """`is_given`: the text comes from a variable or a command."""

    text: str
    is_quoted: bool
    is_given: bool = False


# The possible values of each variable; a missing name is unknown.
Values = Mapping[str, tuple[str, ...]]
# Returns what a command inside of `$(...)` prints; None if unknown.
OutputOf = Callable[[str], str | None]


def expand(
    parts: tuple[Part, ...], values: Values, output_of: OutputOf, steps: Steps
) -> tuple[Word, ...]:
    """Return all words that this one may expand to, in order; after MOST_WORDS an unknown one.

    Raises TooComplex if a word is too long, or if expanding takes too many steps.
    """
    steps.take(len(parts))
    if len(parts) == 1 and parts[0].kind is PartKind.TEXT:
        text = parts[0].text
        if parts[0].is_quoted or (text and not _SPECIAL.search(text)):
            return (Word(text),)
    choices = [tuple(_choices(part, values, output_of)) for part in parts]
    words = tuple(islice(_all_words(choices, values, steps), MOST_WORDS + 1))
    return words if len(words) <= MOST_WORDS else (*words[:MOST_WORDS], Word(UNKNOWN))


def _all_words(choices: list[tuple[_Piece, ...]], values: Values, steps: Steps) -> Iterator[Word]:
    has_variables = any(piece.is_given for pieces in choices for piece in pieces)
    for pieces in product(*choices):
        if _take_steps(pieces, steps) > MOST_VALUE and has_variables:
            raise TooComplex
        for field in _fields(pieces):
            for alternative in _without_braces(field):
                _take_steps(alternative, steps)
                yield _word(_with_home(alternative, values))


def _take_steps(pieces: tuple[_Piece, ...], steps: Steps) -> int:
    """Count the work on these pieces, and return their total length."""
    length = sum(len(piece.text) for piece in pieces)
    steps.take(1 + length // LETTERS_A_STEP + len(pieces) // 8)
    return length


def _choices(part: Part, values: Values, output_of: OutputOf) -> Iterator[_Piece]:
    if part.kind is PartKind.TEXT:
        yield _Piece(part.text, part.is_quoted)
    elif part.kind is PartKind.OUTPUT:
        printed = output_of(part.text)
        yield _Piece(UNKNOWN if printed is None else printed, True, True)
    else:
        for value in values.get(part.text) or (UNKNOWN,):
            yield _Piece(value, part.is_quoted, True)


def _fields(pieces: tuple[_Piece, ...]) -> Iterator[tuple[_Piece, ...]]:
    """Split an unquoted variable at its blanks."""
    field: list[_Piece] = []
    for piece in pieces:
        first, *more = (piece.text,) if piece.is_quoted else _BLANKS.split(piece.text)
        field.append(_Piece(first, piece.is_quoted))
        for text in more:
            yield tuple(field)
            field = [_Piece(text, False)]
    if any(piece.text or piece.is_quoted for piece in field):
        yield tuple(field)


def _without_braces(field: tuple[_Piece, ...]) -> Iterator[tuple[_Piece, ...]]:
    """Yield every alternative of the braces; braces that contain quotes are not expanded."""
    for place, piece in enumerate(field):
        alternatives = None if piece.is_quoted else _alternatives(piece.text)
        if alternatives is not None:
            for text in alternatives:
                yield from _without_braces(
                    (*field[:place], _Piece(text, False), *field[place + 1 :])
                )
            return
    yield field


def _alternatives(text: str) -> list[str] | None:
    if not 0 < text.count("{") <= _MOST_BRACES:
        return None
    found = _BRACES.search(text)
    if found is not None:
        options = found[1].split(",")
    else:
        found = _RANGE.search(text)
        if found is None:
            return None
        first, last = int(found[1]), int(found[2])
        step = 1 if first <= last else -1
        options = [str(number) for number in range(first, last + step, step)[: MOST_WORDS + 1]]
    return [f"{text[: found.start()]}{option}{text[found.end() :]}" for option in options]


def _with_home(field: tuple[_Piece, ...], values: Values) -> tuple[_Piece, ...]:
    """Expand `~` and `~/x` to the home folder; another user's home is unknown."""
    if not field or field[0].is_quoted or not field[0].text.startswith("~"):
        return field
    name, slash, rest = field[0].text.partition("/")
    home = values.get("HOME") if name == "~" else None
    return (_Piece(home[0] if home else UNKNOWN, True), _Piece(slash + rest, False), *field[1:])


def _word(field: tuple[_Piece, ...]) -> Word:
    text = "".join(piece.text for piece in field)
    if not any(_WILDCARDS.search(piece.text) for piece in field if not piece.is_quoted):
        return Word(text)
    pattern = (
        _WILDCARDS.sub(r"[\g<0>]", piece.text) if piece.is_quoted else piece.text for piece in field
    )
    return Word(text, "".join(pattern))
