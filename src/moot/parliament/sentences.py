"""Counting sentences, and cutting a text after so many of them (C-08).

A sentence ends with `.`, `!`, `?` (or a full stop of another script) before a blank or the end.
Code, common abbreviations, initials and the numbers of a list end nothing; what is left without
a full stop is a sentence too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Final

_CODE: Final = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)
_CLOSING: Final = "\"'”’»)\\]}*_"
_STOP: Final = re.compile(rf"(?:[.!?…]+[{_CLOSING}]*(?=\s|\Z))|[。！？।؟]+[{_CLOSING}」』）]*")
_WORD: Final = re.compile(r"[^\s(\[\"'“‘]*\Z")
_MARKER: Final = re.compile(r"(?:\d{1,3}|[A-Za-z])\Z")
_ABBREVIATIONS: Final = (
    "a.m al approx art cf co corp dept dr e.g ed eq est fig i.e inc jr ltd max min mr mrs ms no nos"
    " p.m pp prof rep resp sec sen sr st u.s viz vol vs"
)
ABBREVIATIONS: Final = frozenset(_ABBREVIATIONS.split())


def count(text: str) -> int:
    return sum(1 for _ in _ends(text))


def cut(text: str, most: int) -> str:
    """The first `most` sentences, with the blanks between them as they were."""
    ends = tuple(islice(_ends(text), most))
    return text[: ends[-1]].rstrip() if ends else ""


def _ends(text: str) -> Iterator[int]:
    """Where each sentence ends."""
    plain = _CODE.sub(lambda code: "x" * len(code[0]), text)
    start = 0
    for stop in _STOP.finditer(plain):
        if _ends_a_sentence(plain, start, stop):
            yield stop.end()
            start = stop.end()
    if plain[start:].strip():
        yield len(text)


def _ends_a_sentence(plain: str, start: int, stop: re.Match[str]) -> bool:
    before = plain[start : stop.start()]
    if not any(map(str.isalnum, before)):
        return False
    if stop[0] != ".":
        return True
    found = _WORD.search(before)
    word = found[0] if found else ""
    if word.lower() in ABBREVIATIONS:
        return stop.end() == len(plain.rstrip())
    # `1. First` and `J. Smith`: a number or an initial that opens a line or a name.
    opens = not before[: len(before) - len(word)].rpartition("\n")[2].strip()
    initial = len(word) == 1 and word.isupper() and word != "I"
    ends_all = stop.end() == len(plain.rstrip())
    return ends_all or not (initial or (opens and _MARKER.match(word) is not None))
