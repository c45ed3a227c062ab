"""How many exchanges a round has, how long a response may be, and how many votes pass a bill.

Both a running session and a check of files count with these functions, so they cannot disagree.

Round 1 has two exchanges a seat, round 6 and later one; ours fall evenly between (C-05).
A response has six sentences in round 1 and three from round 4 on (C-06). Files from elsewhere may
have other numbers between these ends: the document fixes the ends alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Final

import msgspec

_LAST_STEP: Final = 6
_SHORTEST_FROM: Final = 4


def max_exchanges(seats: int, round_number: int) -> int:
    """PAR-100, PAR-101 and PAR-102. Round 0 shows what round 1 will have."""
    step = min(max(round_number, 1), _LAST_STEP)
    return 2 * seats - (seats * (step - 1)) // (_LAST_STEP - 1)


def possible_caps(seats: int, round_number: int) -> range:
    """C-05: the caps that the document allows a round; one number where it names one."""
    low = 2 * seats if round_number <= 1 else seats
    high = seats if round_number >= _LAST_STEP else 2 * seats
    return range(low, high + 1)


def possible_budgets(round_number: int) -> range:
    """C-06: the budgets that the document allows a round; one number where it names one."""
    low = response_budget(1) if round_number <= 1 else response_budget(_SHORTEST_FROM)
    high = low if round_number >= _SHORTEST_FROM else response_budget(1)
    return range(low, high + 1)


def response_budget(round_number: int) -> int:
    """PAR-103: the most sentences of a response."""
    return max(3, 7 - max(round_number, 1))


def is_majority(yes: int, seats: int) -> bool:
    """C-11: a strict majority of all seats, not of those who voted."""
    return 2 * yes > seats


# Counting sentences, and cutting a text after so many of them (C-08).
#
# A sentence ends with `.`, `!`, `?` (or a full stop of another script) before a blank or the end,
# and with a paragraph or an item of a list. Code, common abbreviations, initials and the numbers
# of a list end nothing; what is left without a full stop is a sentence too. Every step looks at a
# few characters only, so that the time grows with the length of the text and no faster.

# A fence that is never closed is code only where it opens a line.
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
    """Return the first `most` sentences, with the blanks between them as they were."""
    ends = tuple(islice(_sentence_ends(text), most))
    return text[: ends[-1]].rstrip() if ends else ""


def _sentence_ends(text: str) -> Iterator[int]:
    """Yield where each sentence ends."""
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
    """True if a sentence ends here and more text follows."""
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
    """Return where the blanks before `end` begin."""
    while end > start and plain[end - 1].isspace():
        end -= 1
    return end


# What the clerk quotes of a message in its own summaries and tallies: a bounded beginning.
#
# A summary or a tally quotes every seat in one event, which has room for 64 kB. Without a bound
# one seat could keep a round or a vote from ending by writing long texts. The messages stay whole.

MAX_TOPIC_BYTES: Final = 200
# Shared by all seats: what each of them holds against the bill.
MAX_CONCERN_BYTES: Final = 12_000
# The same for what would change their votes.
MAX_CONDITION_BYTES: Final = 4_000
_ELLIPSIS: Final = "…"


def shorten(text: str, most: int = MAX_TOPIC_BYTES) -> str:
    """Return a text, or its beginning in at most `most` bytes of JSON."""
    if _json_size(text[: most + 1]) <= most:
        return text
    used, length = _json_size(_ELLIPSIS), 0
    for sign in text:
        used += _json_size(sign)
        if used > most:
            break
        length += 1
    return text[:length] + _ELLIPSIS


def shorten_concern(text: str, seats: int) -> str:
    """Return what a seat holds against the bill, within its share of what all seats may take."""
    return shorten(text, MAX_CONCERN_BYTES // max(1, seats))


def shorten_conditions(text: str, seats: int) -> str:
    """Return what would change a seat's vote, within its share."""
    return shorten(text, MAX_CONDITION_BYTES // max(1, seats))


def _json_size(text: str) -> int:
    return len(msgspec.json.encode(text)) - 2
