"""What drivers print, read with suspicion, and the rows that are kept of it.

A driver's output is another program's: whatever it prints, only `Malformed` comes out of here.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from statistics import median
from typing import Final, Literal

import msgspec

from bench.peers.questions import BY_NAME

LONGEST_LINE: Final = 100_000
LONGEST_TEXT: Final = 1_000


class Malformed(Exception):
    """A line that is not of the driver's protocol."""


class Offer(msgspec.Struct, frozen=True):
    """What a driver can be asked: by which call, and what must be known when comparing it."""

    question: str
    way: Literal["program", "mcp"]
    how: str
    caveat: str = ""


class Ready(msgspec.Struct, frozen=True, tag_field="type", tag="ready"):
    """Everything is prepared; a round may be asked for."""


class Value(msgspec.Struct, frozen=True, tag_field="type", tag="value"):
    """The result of one round."""

    value: float


class Failed(msgspec.Struct, frozen=True, tag_field="type", tag="failed"):
    """The peer could not do it, and says why."""

    reason: str


class Offers(msgspec.Struct, frozen=True, tag_field="type", tag="offers"):
    """All that a driver can be asked."""

    offers: list[Offer]


Line = Ready | Value | Failed | Offers
_DECODER: Final = msgspec.json.Decoder(Line)


def parse_line(line: bytes) -> Line:
    """One line that a driver printed."""
    if len(line) > LONGEST_LINE:
        raise Malformed(f"a line of {len(line):,} bytes")
    try:
        answer: Line = _DECODER.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise Malformed(f"not a line of the protocol: {line[:80]!r}") from error
    if isinstance(answer, Value) and not (math.isfinite(answer.value) and answer.value >= 0):
        raise Malformed(f"not a measured value: {answer.value}")
    if isinstance(answer, Offers):
        _require_known(answer.offers)
    return answer


def _require_known(offers: Sequence[Offer]) -> None:
    names = [offer.question for offer in offers]
    if unknown := set(names) - set(BY_NAME):
        raise Malformed(f"offers what nobody asks: {', '.join(sorted(unknown))[:80]}")
    if len(set(names)) != len(names):
        raise Malformed("offers one thing twice")
    if any(len(offer.how) + len(offer.caveat) > LONGEST_TEXT for offer in offers):
        raise Malformed("explains too much")


class Environment(msgspec.Struct, frozen=True):
    """Where a peer was installed, or the last line of why it was not."""

    peer: str
    package: str
    version: str = ""
    python: str = ""
    megabytes: float = 0
    packages: int = 0
    failure: str = ""


class Row(msgspec.Struct, frozen=True):
    """One peer's answers to one question, a value for each round; or why there is none."""

    peer: str
    question: str
    way: str
    values: list[float]
    how: str
    caveat: str = ""
    failure: str = ""

    @property
    def middle(self) -> float:
        return median(self.values)


class Run(msgspec.Struct, frozen=True):
    """Everything that is kept of one run; the page is made of it alone."""

    machine: str
    minutes: float
    rounds: int
    environments: list[Environment]
    rows: list[Row]
    note: str = ""
    has_installed: bool = True


def find_moot(rows: Iterable[Row], row: Row, moot: Sequence[str]) -> Row | None:
    """Moot's own answer to the same question, if there is one by the same way."""
    answers = [
        each for each in rows if each.peer in moot and each.question == row.question and each.values
    ]
    return next((each for each in answers if each.way == row.way), None)
