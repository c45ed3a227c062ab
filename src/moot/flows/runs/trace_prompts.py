"""What the roles of a trace are asked for: the shape of each reply, and the task in words."""

from __future__ import annotations

from typing import Annotated, Final, Literal, NamedTuple

import msgspec

from moot.agents.brief import schema_of


class ProposalReply(msgspec.Struct, forbid_unknown_fields=True):
    objective: str
    tools: list[str]
    assumptions: list[str] = []
    expected_evidence: list[str] = []


class ReviewReply(msgspec.Struct, forbid_unknown_fields=True):
    verdict: Literal["approved", "conditional", "rejected", "blocked"]
    rationale: str
    conditions: list[str] = []


class IntentReply(msgspec.Struct, forbid_unknown_fields=True):
    """`command` is the program and its arguments, without a shell."""

    tool: str
    command: list[str]
    risk: Literal["low", "medium", "high", "critical"]
    why: str
    writes: list[str] = []


class IntentReviewReply(msgspec.Struct, forbid_unknown_fields=True):
    verdict: Literal["approved", "blocked"]
    rationale: str


class ClaimReply(msgspec.Struct, forbid_unknown_fields=True):
    """`evidence` names outputs of runs, such as x1/stdout."""

    text: str
    confidence: Annotated[float, msgspec.Meta(ge=0, le=1)]
    evidence: list[str]


class ClaimReviewReply(msgspec.Struct, forbid_unknown_fields=True):
    verdict: Literal["stands", "challenged"]
    reason: str = ""


class ChallengeReply(msgspec.Struct, forbid_unknown_fields=True):
    """A better claim in the place of the challenged one, or its withdrawal."""

    action: Literal["revise", "withdraw"]
    reason: str
    text: str = ""
    confidence: Annotated[float, msgspec.Meta(ge=0, le=1)] = 0.0
    evidence: list[str] = []


class StatementReply(msgspec.Struct, forbid_unknown_fields=True):
    statement: str


class ReplyRequest(NamedTuple):
    """What a due asks for: its short name, the shape of the reply, the task in words."""

    what: str
    shape: type[msgspec.Struct]
    task: str


_PROPOSE: Final = ReplyRequest(
    "proposal",
    ProposalReply,
    "You plan. Propose how to do the task quoted below: the objective, the tools it needs, what "
    "you assume, and which evidence will show that it is done.",
)
JUDGE: Final = "judge a claim"
REVISE_INTENT: Final = "revise a blocked intent"
REVISE_PROPOSAL: Final = "revise a blocked proposal"
REPLY_REQUESTS: Final[dict[str, ReplyRequest]] = {
    "propose": _PROPOSE,
    REVISE_PROPOSAL: _PROPOSE,
    "review a proposal": ReplyRequest(
        "review",
        ReviewReply,
        "You are the critic. Judge the proposal that waits: approved, conditional (each intent "
        "needs you too), rejected, or blocked until it is revised. Say why.",
    ),
    "say what you will run": ReplyRequest(
        "intent",
        IntentReply,
        "You execute. Say exactly what you would run for the approved proposal: the program and "
        "its arguments, how risky it is, what it writes, and why. Nothing runs by saying so.",
    ),
    REVISE_INTENT: ReplyRequest(
        "intent",
        IntentReply,
        "You execute. The critic has blocked the intent that `about` names. Say what you would run "
        "instead, so that the critic's reason is met. Nothing runs by saying so.",
    ),
    "review an intent": ReplyRequest(
        "intent_review",
        IntentReviewReply,
        "You are the critic. Approve the intent that waits, or block it, and say why.",
    ),
    "claim what was found": ReplyRequest(
        "claim",
        ClaimReply,
        "You execute. Claim what the finished runs show, how sure you are, and on which of their "
        "outputs it rests.",
    ),
    JUDGE: ReplyRequest(
        "claim_review",
        ClaimReviewReply,
        "You are the critic. Look at the claim that `about` names and at its evidence. Say that it "
        "stands, or challenge it and say why the evidence is weak or contradicts it.",
    ),
    "answer a challenge": ReplyRequest(
        "challenge_answer",
        ChallengeReply,
        "You execute. The claim that `about` names is challenged. Put a better one in its place, "
        "with its evidence and how sure you are, or withdraw it; and say why.",
    ),
    "finish with a final statement": ReplyRequest(
        "statement", StatementReply, "You execute. Close the work with a final statement."
    ),
}
SCHEMAS: Final = {wanted.what: schema_of(wanted.shape) for wanted in REPLY_REQUESTS.values()}
