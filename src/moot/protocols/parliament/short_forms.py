"""Messages in a few words, as people type them: `vote`, `ask`, `endorse`, ...

One table of forms. A form takes the words that were typed and the state, fills in what the session
knows (the open question, the last scores, the next version or id) and gives the message in the
Agent Response Format. The rules then judge it like any other message.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from shlex import quote
from typing import Any, Final, NamedTuple

from moot.core.errors import Malformed
from moot.protocols.parliament.case import next_bill_version
from moot.protocols.parliament.messages.contents import (
    ACTIONS_BY_RULING_TYPE,
    Kind,
    Position,
    RulingAction,
    Stance,
)
from moot.protocols.parliament.messages.limits import shorten
from moot.protocols.parliament.messages.message import to_document
from moot.protocols.parliament.model import OpenQuestion, Seat, State, message_order
from moot.protocols.parliament.votes import next_amendment_id

Document = dict[str, Any]

_TOPIC_BYTES: Final = 60
_RULINGS: Final[dict[RulingAction, str]] = {
    RulingAction.REDIRECT: "Speak to the point.",
    RulingAction.QUIET: "This seat is quiet until the next round.",
    RulingAction.CALL_VOTE: "The debate is closed. We vote.",
    RulingAction.DEADLOCK_WARNING: "The debate goes in circles.",
    RulingAction.PROGRESS_NOTE: "We make progress.",
    RulingAction.NEXT_SPEAKER: "This seat has the floor.",
    RulingAction.ROUND_START: "The round begins.",
    RulingAction.ROUND_END: "The round ends.",
}


class Speech(NamedTuple):
    """What was typed, by whom, in which session; the speaker has no seat."""

    state: State
    seat: Seat | None
    words: Mapping[str, Any]

    def text(self, name: str) -> str:
        return str(self.words.get(name) or "")

    def texts(self, name: str) -> list[str]:
        return [str(text) for text in self.words.get(name) or ()]

    @property
    def speaker(self) -> Seat:
        assert self.seat is not None
        return self.seat


class ShortForm(NamedTuple):
    """`words` are those that the form knows. `compose` gives the content, and with it what else the
    message needs at its top: `to`, `in_reply_to`."""

    kind: Kind
    words: tuple[str, ...]
    compose: Callable[[Speech], tuple[Document, Document]]


def compose(state: State, form: str, sender: str, words: Mapping[str, Any]) -> Document:
    """Return the message of a form, as `sender` (a seat, or the speaker) would send it.

    Malformed if the form or a word is unknown, or something is missing that only the sender knows.
    """
    known = SHORT_FORMS.get(form)
    if known is None:
        hint = f"one of {', '.join(SHORT_FORMS)}"
        raise Malformed(f"{form} is no short form", code="unknown_form", hint=hint)
    unknown = sorted(set(words) - set(known.words))
    if unknown:
        hint = f"{form} takes {', '.join(known.words)}"
        raise Malformed(f"{form} takes no {unknown[0]}", code="unknown_word", hint=hint)
    content, head = known.compose(Speech(state, state.seats.get(sender), words))
    return {"type": str(known.kind), "from": sender, **head, "content": content}


def _statement(speech: Speech) -> tuple[Document, Document]:
    lists = ("facts", "constraints", "precedents", "open_questions")
    texts = ("approach", "principle", "trade_offs")
    content = {
        "briefing": {name: speech.texts(name) for name in lists},
        "direction": {name: speech.text(name) for name in texts},
    }
    return content, {}


def _draft(speech: Speech) -> tuple[Document, Document]:
    """Compose a draft; parts that were not typed stay as in the bill."""
    bill = speech.state.bill
    if bill is not None and not any(speech.words.values()):
        raise Malformed(
            "nothing in this would change the bill",
            code="empty_draft",
            hint="such as --solution TEXT; what is not said stays as it is",
        )
    before: Document = {} if bill is None else to_document(bill)
    sections = before.get("sections", {})
    scope = sections.get("scope", {})
    content = {
        "bill_version": next_bill_version(speech.state),
        **{name: speech.text(name) or before.get(name, "") for name in ("title", "summary")},
        "sections": {
            "problem": speech.text("problem") or sections.get("problem", ""),
            "scope": {
                name: speech.texts(name) or scope.get(name, [])
                for name in ("in_scope", "out_of_scope", "assumptions", "definitions")
            },
            "solution": speech.text("solution") or sections.get("solution", ""),
            "implementation": speech.text("implementation") or sections.get("implementation", ""),
        },
    }
    return content, {}


def _ask(speech: Speech) -> tuple[Document, Document]:
    question = speech.text("question")
    content = {
        "topic": speech.text("topic") or shorten(question, _TOPIC_BYTES),
        "question": question,
        "motive_context": speech.text("because"),
    }
    to = speech.text("to")
    return content, {"to": speech.state.holders.get(to, to)}


def _answer(speech: Speech) -> tuple[Document, Document]:
    question = _find_question(speech)
    content = {
        "answer": speech.text("answer"),
        "concessions": speech.text("concessions"),
        "stance": speech.text("stance") or str(Stance.MAINTAIN),
        "motive_scores": _read_scores(speech),
    }
    return content, {"to": question.asker, "in_reply_to": question.id}


def _take(position: Position) -> Callable[[Speech], tuple[Document, Document]]:
    """Return an answer whose point is the seat's position on an amendment."""

    def take(speech: Speech) -> tuple[Document, Document]:
        amendment, reason = speech.text("amendment"), speech.text("reason")
        content, head = _answer(speech)
        content["answer"] = reason or f"I {position} {amendment}."
        content["amendment_position"] = {
            "amendment_id": amendment,
            "position": str(position),
            "reason": reason,
        }
        return content, head

    return take


def _find_question(speech: Speech) -> OpenQuestion:
    """Return the open question that is meant: the one named, else the only one put to this seat; of
    several the one about the amendment that is named."""
    waiting = [
        question
        for question in sorted(speech.state.round.questions.values(), key=message_order)
        if question.asked == speech.speaker.id
    ]
    named, amendment = speech.text("re"), speech.text("amendment")
    meant = [question for question in waiting if named in ("", question.id)]
    about = [question for question in meant if amendment and amendment in question.amendments]
    found = about or meant
    if len(found) == 1:
        return found[0]
    if found:
        asked = ", ".join(f"{question.id} ({question.topic})" for question in found)
        raise Malformed(
            f"several questions wait for {speech.speaker.id}: {asked}",
            code="question_required",
            hint=f"add --re {found[0].id}, or another of them",
        )
    why = f"{named} does not wait for {speech.speaker.id}" if named else "no question waits"
    subject = f" about {amendment}" if amendment else ""
    raise Malformed(
        f"{why}: {speech.speaker.id} has nothing to answer",
        code="no_open_question",
        hint=f"another seat asks first: `moot parliament ask DIR {speech.speaker.id} QUESTION`"
        f"{subject}; `moot parliament next DIR` shows what waits",
    )


def _read_scores(speech: Speech) -> dict[str, int]:
    """The seat's scores: those typed (`speed=4`, or `4` for every motive) over its last ones."""
    seat = speech.speaker
    example = quote(f"{seat.motives[0]}=4")
    scores = {motive: score for motive, score in seat.scores_by_motive() if score is not None}
    for text in speech.texts("scores"):
        motive, sign, number = text.rpartition("=")
        if not number.strip().isdigit() or (sign and not motive.strip()):
            raise Malformed(
                f"{text!r} is no score",
                code="bad_score",
                hint=f"such as --score {example}; 1 is unaddressed, 5 fully addressed",
            )
        named = [motive.strip()] if sign else list(seat.motives)
        scores |= dict.fromkeys(named, int(number))
    if not scores:
        raise Malformed(
            f"{seat.id} has scored none of its motives: {', '.join(seat.motives)}",
            code="scores_required",
            hint=f"such as --score {example} for one of them, or --score 4 for all: "
            "1 is unaddressed, 5 fully addressed",
        )
    return scores


def _amend(speech: Speech) -> tuple[Document, Document]:
    text = speech.text("text")
    if not text and not speech.text("description"):
        raise Malformed(
            "the amendment has neither a text nor a description",
            code="text_required",
            hint="say the text; to leave the wording of a modify to the drafter, --describe it",
        )
    content = {
        "amendment_id": next_amendment_id(speech.state),
        "target_section": speech.text("section"),
        "action": speech.text("action"),
        "description": speech.text("description") or shorten(text, _TOPIC_BYTES),
        "rationale": speech.text("because"),
        "proposed_text": text,
    }
    return content, {}


def _motion(speech: Speech) -> tuple[Document, Document]:
    return {"motion_type": speech.text("motion"), "reason": speech.text("reason")}, {}


def _vote(speech: Speech) -> tuple[Document, Document]:
    content = {
        "vote": speech.text("vote").upper(),
        "reasoning": speech.text("reason"),
        "motive_scores": _read_scores(speech),
        "reservations": speech.text("reservations"),
        "conditions": speech.texts("conditions"),
    }
    return content, {}


def _rule(speech: Speech) -> tuple[Document, Document]:
    """Compose a ruling of the speaker; each action belongs to one type of ruling."""
    action, target = speech.text("action"), speech.text("target")
    kinds = [kind for kind, actions in ACTIONS_BY_RULING_TYPE.items() if action in actions]
    content = {
        "ruling_type": str(kinds[0]) if kinds else "",
        "ruling": speech.text("text") or (_RULINGS[RulingAction(action)] if kinds else ""),
        "target": speech.state.holders.get(target, target) or None,
        "action": action,
    }
    return content, {}


_POSITION: Final = ("amendment", "reason", "concessions", "stance", "scores", "re")
SHORT_FORMS: Final[dict[str, ShortForm]] = {
    "statement": ShortForm(
        Kind.OPENING_STATEMENT,
        (
            *("approach", "principle", "trade_offs"),
            *("facts", "constraints", "precedents", "open_questions"),
        ),
        _statement,
    ),
    "draft": ShortForm(
        Kind.BILL_DRAFT,
        (
            *("title", "summary", "problem", "solution", "implementation"),
            *("in_scope", "out_of_scope", "assumptions", "definitions"),
        ),
        _draft,
    ),
    "ask": ShortForm(Kind.QUESTION, ("to", "question", "topic", "because"), _ask),
    "answer": ShortForm(Kind.ANSWER, ("answer", "concessions", "stance", "scores", "re"), _answer),
    "endorse": ShortForm(Kind.ANSWER, _POSITION, _take(Position.ENDORSE)),
    "oppose": ShortForm(Kind.ANSWER, _POSITION, _take(Position.OPPOSE)),
    "abstain": ShortForm(Kind.ANSWER, _POSITION, _take(Position.ABSTAIN)),
    "amend": ShortForm(
        Kind.AMENDMENT, ("action", "section", "text", "description", "because"), _amend
    ),
    "motion": ShortForm(Kind.MOTION, ("motion", "reason"), _motion),
    "vote": ShortForm(Kind.VOTE, ("vote", "reason", "scores", "reservations", "conditions"), _vote),
    "rule": ShortForm(Kind.SPEAKER_RULING, ("action", "target", "text"), _rule),
}
