"""What each type of message holds, as frozen values in the order the protocol prints them."""

from __future__ import annotations

from typing import Final

import msgspec

from moot.protocols.parliament.messages.words import (
    AmendmentAction,
    Ballot,
    BillSection,
    Kind,
    MotionType,
    NextAction,
    Position,
    PrimeMinisterChoice,
    RulingAction,
    RulingType,
    Stance,
)


class Content(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The `content` of a message. An optional key that says nothing is left away."""


class Scope(Content, frozen=True):
    in_scope: tuple[str, ...]
    out_of_scope: tuple[str, ...]
    assumptions: tuple[str, ...]
    definitions: tuple[str, ...] = ()


class Sections(Content, frozen=True):
    problem: str
    scope: Scope
    solution: str
    implementation: str


class BillDraft(Content, frozen=True):
    bill_version: int
    title: str
    summary: str
    sections: Sections


class Briefing(Content, frozen=True):
    facts: tuple[str, ...]
    constraints: tuple[str, ...]
    precedents: tuple[str, ...]
    open_questions: tuple[str, ...]


class Direction(Content, frozen=True):
    approach: str
    principle: str
    trade_offs: str


class OpeningStatement(Content, frozen=True):
    briefing: Briefing
    direction: Direction


class Question(Content, frozen=True):
    topic: str
    question: str
    motive_context: str


class AmendmentPosition(Content, frozen=True):
    amendment_id: str
    position: Position
    reason: str


class Answer(Content, frozen=True):
    answer: str
    concessions: str
    stance: Stance
    motive_scores: dict[str, int]
    amendment_position: AmendmentPosition | None = None


class AmendmentContent(Content, frozen=True):
    amendment_id: str
    target_section: BillSection
    action: AmendmentAction
    description: str
    rationale: str
    proposed_text: str


class Motion(Content, frozen=True):
    motion_type: MotionType
    reason: str


class Vote(Content, frozen=True):
    vote: Ballot
    reasoning: str
    motive_scores: dict[str, int]
    reservations: str
    conditions: tuple[str, ...]


class SpeakerRuling(Content, frozen=True):
    ruling_type: RulingType
    ruling: str
    target: str | None
    action: RulingAction


class Tally(Content, frozen=True):
    yes: int
    no: int
    total: int


class Objection(Content, frozen=True, rename={"sender": "from"}):
    sender: str
    concern: str


class VoteTally(Content, frozen=True):
    bill_version: int
    yes_votes: tuple[str, ...]
    no_votes: tuple[str, ...]
    tally: Tally
    passed: bool
    key_objections: tuple[Objection, ...]
    next_action: NextAction


class PmDecision(Content, frozen=True):
    decision: PrimeMinisterChoice
    reason: str
    guidance: str


CONTENT_TYPES: Final[dict[Kind, type[Content]]] = {
    Kind.BILL_DRAFT: BillDraft,
    Kind.OPENING_STATEMENT: OpeningStatement,
    Kind.QUESTION: Question,
    Kind.ANSWER: Answer,
    Kind.AMENDMENT: AmendmentContent,
    Kind.MOTION: Motion,
    Kind.VOTE: Vote,
    Kind.SPEAKER_RULING: SpeakerRuling,
    Kind.VOTE_TALLY: VoteTally,
    Kind.PM_DECISION: PmDecision,
}
