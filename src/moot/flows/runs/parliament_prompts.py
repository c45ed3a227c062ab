"""What a seat of a parliament is asked for: the shape of each reply, and the task in words."""

from __future__ import annotations

from typing import Final, NamedTuple

import msgspec

from moot.agents.brief import schema_of
from moot.protocols.parliament.messages import contents
from moot.protocols.parliament.messages.words import AmendmentAction, BillSection, Kind, Stance


class BillReply(msgspec.Struct, forbid_unknown_fields=True):
    """A version of the bill."""

    title: str
    summary: str
    sections: contents.Sections


class AmendmentReply(msgspec.Struct, forbid_unknown_fields=True):
    """A change of one section of the bill."""

    target_section: BillSection
    action: AmendmentAction
    description: str
    rationale: str
    proposed_text: str


class Beside(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """What may come with anything that is said in a round."""

    motion: contents.Motion | None = None
    amendment: AmendmentReply | None = None


class QuestionReply(Beside, forbid_unknown_fields=True):
    """A question to the seat that `ask` names."""

    question: str
    motive_context: str
    to: str = ""
    topic: str = ""


class SpeechReply(Beside, forbid_unknown_fields=True):
    """A question to another seat, an amendment, or both."""

    to: str = ""
    topic: str = ""
    question: str = ""
    motive_context: str = ""


class AnswerReply(Beside, forbid_unknown_fields=True):
    """An answer, with a position where it is about an amendment."""

    answer: str
    concessions: str
    stance: Stance
    motive_scores: dict[str, int]
    amendment_position: contents.AmendmentPosition | None = None


class Wanted(NamedTuple):
    """What a due asks for: the kind of message, its shape, and the task in words."""

    kind: Kind
    shape: type[msgspec.Struct]
    task: str


INCORPORATE: Final = "incorporate"
# Here an amendment alone is enough.
SPEECHES: Final = ("be heard", "speak")
_BOUND: Final = " Keep every text within the number of sentences that `response_budget` names."
_BESIDE: Final = (
    " You may add an `amendment` if the bill should say something else (which section, what is "
    "done to it, the text itself; a removal quotes the text to be removed), and a `motion` to the "
    "speaker; leave both away where there is no need."
)
_SPEAK: Final = Wanted(
    Kind.QUESTION,
    SpeechReply,
    "It is your turn to be heard. Ask one other seat a question that serves what you stand for, "
    "or only propose an amendment." + _BESIDE + _BOUND,
)
WANTED: Final[dict[str, Wanted]] = {
    "make an opening statement": Wanted(
        Kind.OPENING_STATEMENT,
        contents.OpeningStatement,
        "Make your opening statement on the problem: what you know, and which direction you would "
        "take, from the point of view of your motives. The approach has three to five sentences.",
    ),
    "draft the bill": Wanted(
        Kind.BILL_DRAFT,
        BillReply,
        "You draft the bill. Write its first version from the problem and the opening statements, "
        "so that it serves every motive as far as it can.",
    ),
    INCORPORATE: Wanted(
        Kind.BILL_DRAFT,
        BillReply,
        "You keep the bill. The amendment that `amendment` names has its support: write the whole "
        "bill anew with it worked into its section, and leave every other section as it is.",
    ),
    "answer": Wanted(
        Kind.ANSWER,
        AnswerReply,
        "Answer the question quoted last. Say what you concede, your stance, and score from 1 to "
        "5 how well the bill serves each of your own motives. If the question is about a pending "
        "amendment, endorse it, oppose it or abstain in `amendment_position`." + _BESIDE + _BOUND,
    ),
    "ask": Wanted(
        Kind.QUESTION,
        QuestionReply,
        "Ask the seat that `ask` names about what it names, a motive or an amendment, so that it "
        "serves what you stand for." + _BESIDE + _BOUND,
    ),
    "be heard": _SPEAK,
    "speak": _SPEAK,
    "vote": Wanted(
        Kind.VOTE,
        contents.Vote,
        "Vote YES or NO on the bill, with your reasons and a score from 1 to 5 for each of your "
        "own motives. A NO names the conditions under which you would agree.",
    ),
}
SCHEMAS: Final = {what: schema_of(wanted.shape) for what, wanted in WANTED.items()}
