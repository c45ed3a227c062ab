"""Counting sentences, and cutting a text after so many of them (C-08).

A sentence ends with `.`, `!`, `?` (or a full stop of another script) before a blank or the end,
and with a paragraph or an item of a list. Code, common abbreviations, initials and the numbers of
a list end nothing; what is left without a full stop is a sentence too. Every step looks at a few
characters only, so that the time grows with the length of the text and no faster.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Final

# A fence that nobody closes is code only where it opens a line.
_CODE: Final = re.compile(r"```.*?```|(?<![^\n])[ \t]{0,3}```.*\Z|`[^`\n]*`", re.DOTALL)
# Also characters that are invisible: a full stop before one would otherwise not end its sentence.
_BLANK: Final = r"\s\u00ad\u200b-\u200f\u2060-\u2064\u2800\u3164\ufeff"
_STOPS: Final = ".!?…‥‼⁇⁈⁉"
_FOREIGN: Final = "。｡．！？।॥؟۔։።፧၊။។៕᠃᠉"
_STOP: Final = re.compile(
    rf"(?<![{_STOPS}])[{_STOPS}]++[^\w{_BLANK}{_STOPS},;:]*+(?=[{_BLANK}]|\Z)"
    rf"|[{_FOREIGN}]++[^\w{_BLANK}{_STOPS}{_FOREIGN},;:]*+"
    r"|(?P<gap>\n(?=[ \t]*+(?:\n|[-*+•][ \t]|[0-9]{1,3}[.)][ \t])))"
)
_LAST_WORD: Final = re.compile(r"[^\s(\[\"'“‘]*\Z")
_MARKER: Final = re.compile(r"(?:[0-9]{1,3}|[A-Za-z])\Z")
_ABBREVIATIONS: Final = (
    "a.m al cf co corp dept dr e.g ed i.e inc jr ltd mr mrs ms p.m prof rep resp sen sr st u.s"
    " viz vs"
)
# These shorten something only before a number: `no. 5`, but `They say no.`
_NUMBERED: Final = "approx art eq est fig max min no nos p pp sec vol"
ABBREVIATIONS: Final = frozenset(_ABBREVIATIONS.split())
NUMBERED: Final = frozenset(_NUMBERED.split())
_LONGEST_WORD: Final = 12


def count(text: str) -> int:
    return sum(1 for _ in _sentence_ends(text))


def cut(text: str, most: int) -> str:
    """The first `most` sentences, with the blanks between them as they were."""
    ends = tuple(islice(_sentence_ends(text), most))
    return text[: ends[-1]].rstrip() if ends else ""


def _sentence_ends(text: str) -> Iterator[int]:
    """Where each sentence ends."""
    plain = _CODE.sub(lambda code: "x" * len(code[0]), text)
    last = len(plain.rstrip())
    start = seen = 0
    has_words = False
    for stop in _STOP.finditer(plain):
        has_words = has_words or any(map(str.isalnum, plain[seen : stop.start()]))
        seen = stop.start()
        if has_words and (stop.end() >= last or _ends_sentence(plain, start, stop)):
            start = seen = stop.start() if stop["gap"] else stop.end()
            has_words = False
            yield start
    if plain[start:].strip():
        yield len(text)


def _ends_sentence(plain: str, start: int, stop: re.Match[str]) -> bool:
    """Is this the end of a sentence, with more to come?"""
    if stop["gap"]:
        return plain[_start_of_blanks(plain, start, stop.start()) - 1] not in ":,;"
    if stop[0] != ".":
        return True
    match = _LAST_WORD.search(plain, max(start, stop.start() - _LONGEST_WORD), stop.start())
    word = match[0] if match else ""
    if word.lower() in ABBREVIATIONS:
        return False
    if word.lower() in NUMBERED:
        return not plain[stop.end() : stop.end() + 2].strip()[:1].isdigit()
    # `1. First` and `J. Smith`: a number or an initial that opens a line or a name.
    before = stop.start() - len(word)
    blank = _start_of_blanks(plain, start, before)
    opens = blank == 0 or "\n" in plain[blank:before]
    initial = len(word) == 1 and word.isupper() and word != "I"
    return not (initial or (opens and _MARKER.match(word) is not None))


def _start_of_blanks(plain: str, start: int, end: int) -> int:
    """Where the blanks before `end` begin."""
    while end > start and plain[end - 1].isspace():
        end -= 1
    return end
