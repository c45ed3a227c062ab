"""What an argument came to: who voted what, who changed after whom, who disagrees in full."""

from __future__ import annotations

import msgspec

from moot.core.quoted import Quoted


class ArguedVote(msgspec.Struct, frozen=True):
    """`sure` is empty where a chamber knows no confidence; `entry` is the chamber's own id."""

    round: int
    agent: str
    stance: str
    sure: str
    summary: Quoted
    entry: str


class HeardEntry(msgspec.Struct, frozen=True):
    """What another said, in short."""

    agent: str
    summary: Quoted
    entry: str


class StanceChange(msgspec.Struct, frozen=True):
    """One who moved, and what was said by others since it last spoke, the newest last."""

    agent: str
    before: str
    now: str
    round: int
    entry: str
    heard: tuple[HeardEntry, ...] = ()


class VoiceInFull(msgspec.Struct, frozen=True):
    """What one said in the last vote, in full."""

    agent: str
    stance: str
    sure: str
    round: int
    summary: Quoted
    text: Quoted
    evidence: tuple[str, ...] = ()


class DissentingVoice(VoiceInFull, frozen=True):
    """One who does not agree with what came out."""


class SupportingVoice(VoiceInFull, frozen=True):
    """One who stands behind what was voted on, with the reasons."""


class AbsentVoice(msgspec.Struct, frozen=True):
    """One who took no part in a round, in the sentence by which the machine tells why."""

    agent: str
    round: int
    why: Quoted


class VoteCount(msgspec.Struct, frozen=True):
    """The vote at one moment; whoever is `absent` stands on no side."""

    round: int
    in_favour: tuple[str, ...]
    against: tuple[str, ...]
    others: tuple[str, ...]
    absent: tuple[str, ...] = ()


class Argument(msgspec.Struct, frozen=True):
    """What was argued and voted on. Its fields stand in receipts: their names are kept.

    `text` is what was voted on last, where that is more than the motion; `outcome` is what the
    vote came to in words, where those say more than the result on record; `heard` is the last
    ruling that a person gave in the session itself.
    """

    votes: tuple[ArguedVote, ...] = ()
    first: VoteCount | None = None
    last: VoteCount | None = None
    changes: tuple[StanceChange, ...] = ()
    dissent: tuple[DissentingVoice, ...] = ()
    text: Quoted = Quoted("")
    outcome: str = ""
    heard: str = ""
    absent: tuple[AbsentVoice, ...] = ()
    support: tuple[SupportingVoice, ...] = ()


NO_ARGUMENT = Argument()
