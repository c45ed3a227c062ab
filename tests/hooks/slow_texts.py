"""Texts that a regular expression may be slow on, made from the expression's own structure.

For each repetition in it: what leads there, the repeated part many times, and something that does
not fit. Where a pattern is slow, it is because a part can be read in more than one way, or is read
again from every place where the pattern may begin.
"""

from __future__ import annotations

import random
import re._constants as kinds  # type: ignore[import-not-found]
import re._parser as parser  # type: ignore[import-not-found]
import string
from collections.abc import Callable, Iterator
from typing import Any, Final

TRIES: Final = 3
USUAL: Final = ("\n", " ", "a", "1", ";", "a ")
NOT_FITTING: Final = ("\x01", "\n")
_CATEGORIES: Final = {
    kinds.CATEGORY_SPACE: " \t\n",
    kinds.CATEGORY_NOT_SPACE: "ab=;/",
    kinds.CATEGORY_WORD: "ab1_",
    kinds.CATEGORY_NOT_WORD: " ;/",
    kinds.CATEGORY_DIGIT: "12",
    kinds.CATEGORY_NOT_DIGIT: "a ",
}

Make = Callable[[int], str]


def hostile_texts(pattern: str, flags: int) -> Iterator[Make]:
    """Each makes a text of about the size it is given."""
    tree = parser.parse(pattern, flags)
    pairs = {("", each) for each in USUAL}
    for seed in range(TRIES):
        choose = random.Random(seed)
        pairs |= {("", _sample(tree, choose)), *_repeated(tree, choose)}
    pairs |= {("", led + once) for led, once in pairs}
    for led, once in sorted(pairs):
        for end in NOT_FITTING if once else ():
            yield _pump(led, once, end)


def _pump(before: str, unit: str, after: str) -> Make:
    return lambda size: before + unit * (size // len(unit)) + after


def _repeated(tree: Any, choose: random.Random, led: str = "") -> Iterator[tuple[str, str]]:
    """What leads to each repetition, and a sample of what it repeats."""
    for kind, value in tree:
        for inner in _inside(kind, value):
            if kind in (kinds.MAX_REPEAT, kinds.MIN_REPEAT, kinds.POSSESSIVE_REPEAT):
                yield led, _sample(inner, choose)
            yield from _repeated(inner, choose, led)
        led += _sample([(kind, value)], choose)


def _inside(kind: Any, value: Any) -> list[Any]:
    if kind in (kinds.MAX_REPEAT, kinds.MIN_REPEAT, kinds.POSSESSIVE_REPEAT):
        return [value[2]]
    if kind is kinds.SUBPATTERN:
        return [value[3]]
    if kind is kinds.BRANCH:
        return list(value[1])
    if kind is kinds.ATOMIC_GROUP:
        return [value]
    return []


def _sample(tree: Any, choose: random.Random) -> str:
    """Some text that fits, or nearly: what is only looked at is left out."""
    text = ""
    for kind, value in tree:
        if kind is kinds.LITERAL:
            text += chr(value)
        elif kind is kinds.NOT_LITERAL:
            text += "b" if value == ord("a") else "a"
        elif kind is kinds.ANY:
            text += '"'
        elif kind is kinds.IN:
            text += _one_of(value, choose)
        elif kind is kinds.BRANCH:
            text += _sample(choose.choice(value[1]), choose)
        elif kind in (kinds.MAX_REPEAT, kinds.MIN_REPEAT, kinds.POSSESSIVE_REPEAT):
            least, most, inner = value
            text += _sample(inner, choose) * max(least, min(most, choose.choice((0, 1, 2))))
        else:
            text += "".join(_sample(inner, choose) for inner in _inside(kind, value))
    return text


def _one_of(value: Any, choose: random.Random) -> str:
    fitting = set[str]()
    for kind, each in value:
        if kind is kinds.LITERAL:
            fitting.add(chr(each))
        elif kind is kinds.RANGE:
            fitting.update(map(chr, (each[0], each[1])))
        elif kind is kinds.CATEGORY:
            fitting.update(_CATEGORIES[each])
    if value[0][0] is kinds.NEGATE:
        fitting = set(string.printable) - fitting
        fitting = fitting & set(" ab1=;-'\"/\\{,") or fitting
    return choose.choice(sorted(fitting))
