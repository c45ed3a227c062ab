"""What each type of message holds, as frozen values in the order the protocol prints them."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Final

import msgspec

# The closed vocabularies of the messages, spelled as the protocol spells them.

SPEAKER: Final = "speaker"
PRIME_MINISTER: Final = "prime_minister"

SEAT: Final = re.compile(r"rep_[1-9][0-9]{0,3}")
MESSAGE_ID: Final = re.compile(r"msg-[0-9]{3,9}")
AMENDMENT_ID: Final = re.compile(r"amend-[0-9]{3,9}")
PARLIAMENT_ID: Final = re.compile(r"parl-[0-9]{8}-[0-9]{3,9}")
BILL_ID: Final = re.compile(r"BILL-[0-9]{3,9}")
TIMESTAMP: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?(Z|\+00:00)", re.ASCII)


class Kind(StrEnum):
    """The ten types of message."""

    BILL_DRAFT = "BILL_DRAFT"
    OPENING_STATEMENT = "OPENING_STATEMENT"
    QUESTION = "QUESTION"
    ANSWER = "ANSWER"
    AMENDMENT = "AMENDMENT"
    MOTION = "MOTION"
    VOTE = "VOTE"
    SPEAKER_RULING = "SPEAKER_RULING"
    VOTE_TALLY = "VOTE_TALLY"
    PM_DECISION = "PM_DECISION"


class Stance(StrEnum):
    """Whether an answer moved."""

    MAINTAIN = "maintain"
    SOFTEN = "soften"
    CONCEDE = "concede"
    CHALLENGE = "challenge"


# What each stance says, for those who choose one and those who read it.
STANCE_MEANINGS: Final[dict[Stance, str]] = {
    Stance.MAINTAIN: "holds its position",
    Stance.SOFTEN: "is open to compromise on the point",
    Stance.CONCEDE: "accepts the concern and will address it",
    Stance.CHALLENGE: "disputes the premise of the question",
}


class Position(StrEnum):
    """A seat's position on an amendment."""

    ENDORSE = "endorse"
    OPPOSE = "oppose"
    ABSTAIN = "abstain"


class BillSection(StrEnum):
    """The sections of a bill."""

    PROBLEM = "problem"
    SCOPE = "scope"
    SOLUTION = "solution"
    IMPLEMENTATION = "implementation"


class AmendmentAction(StrEnum):
    """What an amendment does to its section."""

    ADD = "add"
    MODIFY = "modify"
    REMOVE = "remove"
    REPLACE = "replace"


class MotionType(StrEnum):
    CALL_VOTE = "call_vote"
    TABLE_DISCUSSION = "table_discussion"
    REQUEST_AMENDMENT = "request_amendment"
    POINT_OF_ORDER = "point_of_order"
    REQUEST_COMPROMISE = "request_compromise"


class Ballot(StrEnum):
    YES = "YES"
    NO = "NO"


class Lean(StrEnum):
    """Where a seat leans in a round's summary."""

    YES = "YES"
    NO = "NO"
    UNDECIDED = "UNDECIDED"


class RulingType(StrEnum):
    ORDER = "order"
    OBSERVATION = "observation"
    PROCEDURE = "procedure"


class RulingAction(StrEnum):
    REDIRECT = "redirect"
    QUIET = "quiet"
    CALL_VOTE = "call_vote"
    DEADLOCK_WARNING = "deadlock_warning"
    PROGRESS_NOTE = "progress_note"
    NEXT_SPEAKER = "next_speaker"
    ROUND_START = "round_start"
    ROUND_END = "round_end"


# Which actions each type of ruling knows; no other pair is valid.
ACTIONS_BY_RULING_TYPE: Final[dict[RulingType, tuple[RulingAction, ...]]] = {
    RulingType.ORDER: (RulingAction.REDIRECT, RulingAction.QUIET, RulingAction.CALL_VOTE),
    RulingType.OBSERVATION: (RulingAction.DEADLOCK_WARNING, RulingAction.PROGRESS_NOTE),
    RulingType.PROCEDURE: (
        RulingAction.NEXT_SPEAKER,
        RulingAction.ROUND_START,
        RulingAction.ROUND_END,
    ),
}
# These rulings concern one seat and name it.
RULINGS_ABOUT_A_SEAT: Final = (RulingAction.REDIRECT, RulingAction.QUIET, RulingAction.NEXT_SPEAKER)


class NextAction(StrEnum):
    """What follows a tally."""

    ADVANCE_TO_PM = "advance_to_pm"
    CONTINUE_DEBATE = "continue_debate"
    END_WITHOUT_PASSAGE = "end_without_passage"


class PrimeMinisterChoice(StrEnum):
    """The prime minister's decisions."""

    APPROVE = "approve"
    VETO = "veto"
    AMEND_AND_APPROVE = "amend_and_approve"
    OPENING_GUIDANCE = "opening_guidance"


class SessionStatus(StrEnum):
    """The phases of a session, in their order."""

    SETUP = "setup"
    OPENING_STATEMENTS = "opening_statements"
    EVALUATING_STATEMENTS = "evaluating_statements"
    DRAFTING = "drafting"
    DEBATE = "debate"
    VOTING = "voting"
    PM_REVIEW = "pm_review"
    SYNTHESIS = "synthesis"
    COMPLETE = "complete"


class AmendmentStatus(StrEnum):
    PROPOSED = "proposed"
    DEBATING = "debating"
    INCORPORATED = "incorporated"
    REJECTED = "rejected"
    WITHDRAWN = "withdrawn"


class Content(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The `content` of a message. An optional key without a value is left out."""


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
