"""What an argument came to: who voted what, who changed after whom, who disagrees in full."""

from __future__ import annotations

import msgspec


class Vote(msgspec.Struct, frozen=True):
    """`sure` is empty where a chamber knows no confidence; `entry` is the chamber's own id."""

    round: int
    agent: str
    stance: str
    sure: str
    summary: str
    entry: str


class Heard(msgspec.Struct, frozen=True):
    agent: str
    summary: str
    entry: str


class Change(msgspec.Struct, frozen=True):
    """One who moved, and what was said by others since it last spoke, the newest last."""

    agent: str
    before: str
    now: str
    round: int
    entry: str
    heard: tuple[Heard, ...] = ()


class Voice(msgspec.Struct, frozen=True):
    """One who does not agree with what came out, in full."""

    agent: str
    stance: str
    sure: str
    round: int
    summary: str
    text: str
    evidence: tuple[str, ...] = ()


class Count(msgspec.Struct, frozen=True):
    """The vote at one moment."""

    round: int
    in_favour: tuple[str, ...]
    against: tuple[str, ...]
    others: tuple[str, ...]


class Argued(msgspec.Struct, frozen=True):
    """`text` is what was voted on last, where that is more than the motion; `outcome` is what the
    vote came to in words, where those say more than the result on record; `heard` is the last word
    that a person spoke in the session itself."""

    votes: tuple[Vote, ...] = ()
    first: Count | None = None
    last: Count | None = None
    changes: tuple[Change, ...] = ()
    dissent: tuple[Voice, ...] = ()
    text: str = ""
    outcome: str = ""
    heard: str = ""


NOTHING = Argued()
