"""What a message must look like, type by type: one table of fields, then how its fields must
agree. Nothing here knows a session; whether a message fits the moment is for the rules.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from moot.core.findings import Finding, Severity
from moot.protocols.parliament.messages import words
from moot.protocols.parliament.messages.limits import is_majority
from moot.protocols.parliament.messages.shapes import (
    Check,
    Field,
    boolean,
    breach,
    fields,
    join,
    like,
    listed,
    mapped,
    maybe,
    one_of,
    said,
    shown,
    text,
    texts,
    whole,
)
from moot.protocols.parliament.messages.words import Kind

Document = dict[str, Any]

SEAT_ID: Final = "rep_1"


def seat(rule: str) -> Check:
    return like(rule, words.SEAT, SEAT_ID)


def scores(rule: str) -> Check:
    """PAR-033 and C-15: a few of the seat's motives, each 1 to 5."""
    return mapped(rule, whole("PAR-033", 1, 5), least=1)


SCOPE: Final = fields(
    "PAR-016",
    Field("in_scope", "PAR-016", texts("PAR-016")),
    Field("out_of_scope", "PAR-016", texts("PAR-016")),
    Field("assumptions", "PAR-016", texts("PAR-016")),
    Field("definitions", "PAR-110", texts("PAR-110"), required=False),
)
SECTIONS: Final = fields(
    "PAR-015",
    Field("problem", "PAR-015", said("PAR-015")),
    Field("scope", "PAR-015", SCOPE),
    Field("solution", "PAR-015", said("PAR-015")),
    Field("implementation", "PAR-015", text("PAR-015")),
)
BILL_DRAFT: Final = fields(
    "PAR-014",
    Field("bill_version", "PAR-014", whole("PAR-014", 1)),
    Field("title", "PAR-014", said("PAR-014")),
    Field("summary", "PAR-014", text("PAR-014")),
    Field("sections", "PAR-014", SECTIONS),
)
OPENING_STATEMENT: Final = fields(
    "PAR-020",
    Field(
        "briefing",
        "PAR-020",
        fields(
            "PAR-020",
            Field("facts", "PAR-020", texts("PAR-020")),
            Field("constraints", "PAR-020", texts("PAR-020")),
            Field("precedents", "PAR-020", texts("PAR-020")),
            Field("open_questions", "PAR-020", texts("PAR-020")),
        ),
    ),
    Field(
        "direction",
        "PAR-021",
        fields(
            "PAR-021",
            Field("approach", "PAR-021", said("PAR-021")),
            Field("principle", "PAR-021", said("PAR-021")),
            Field("trade_offs", "PAR-021", text("PAR-021")),
        ),
    ),
)
QUESTION: Final = fields(
    "PAR-025",
    Field("topic", "PAR-025", said("PAR-025")),
    Field("question", "PAR-025", said("PAR-025")),
    Field("motive_context", "PAR-025", text("PAR-025")),
)
AMENDMENT_POSITION: Final = fields(
    "PAR-037",
    Field("amendment_id", "PAR-037", like("PAR-037", words.AMENDMENT_ID, "amend-001")),
    Field("position", "PAR-037", one_of("PAR-038", words.Position)),
    Field("reason", "PAR-037", text("PAR-037")),
)
ANSWER: Final = fields(
    "PAR-028",
    Field("answer", "PAR-028", said("PAR-028")),
    Field("concessions", "PAR-028", text("PAR-028")),
    Field("stance", "PAR-028", one_of("PAR-029", words.Stance)),
    Field("motive_scores", "PAR-031", scores("PAR-031")),
    Field("amendment_position", "PAR-036", maybe(AMENDMENT_POSITION), required=False),
)
AMENDMENT: Final = fields(
    "PAR-043",
    Field("amendment_id", "PAR-043", like("PAR-044", words.AMENDMENT_ID, "amend-001")),
    Field("target_section", "PAR-043", one_of("PAR-046", words.Section)),
    Field("action", "PAR-043", one_of("PAR-045", words.Action)),
    Field("description", "PAR-043", said("PAR-043")),
    Field("rationale", "PAR-043", text("PAR-043")),
    Field("proposed_text", "PAR-043", text("PAR-043")),
)
MOTION: Final = fields(
    "PAR-049",
    Field("motion_type", "PAR-049", one_of("PAR-050", words.MotionType)),
    Field("reason", "PAR-049", said("PAR-049")),
)
VOTE: Final = fields(
    "PAR-052",
    Field("vote", "PAR-052", one_of("PAR-053", words.Ballot)),
    Field("reasoning", "PAR-052", said("PAR-054")),
    Field("motive_scores", "PAR-052", scores("PAR-054")),
    Field("reservations", "PAR-052", text("PAR-054")),
    Field("conditions", "PAR-052", texts("PAR-055")),
)
SPEAKER_RULING: Final = fields(
    "PAR-059",
    Field("ruling_type", "PAR-059", one_of("PAR-068", words.RulingType)),
    Field("ruling", "PAR-059", said("PAR-059")),
    Field("target", "PAR-059", maybe(seat("PAR-059"))),
    Field("action", "PAR-059", one_of("PAR-068", words.RulingAction)),
)
TALLY: Final = fields(
    "PAR-070",
    Field("yes", "PAR-070", whole("PAR-070", 0)),
    Field("no", "PAR-070", whole("PAR-070", 0)),
    Field("total", "PAR-070", whole("PAR-070", 1)),
)
OBJECTION: Final = fields(
    "PAR-070",
    Field("from", "PAR-070", seat("PAR-070")),
    Field("concern", "PAR-070", text("PAR-070")),
)
VOTE_TALLY: Final = fields(
    "PAR-070",
    Field("bill_version", "PAR-070", whole("PAR-070", 1)),
    Field("yes_votes", "PAR-070", listed("PAR-070", seat("PAR-070"))),
    Field("no_votes", "PAR-070", listed("PAR-070", seat("PAR-070"))),
    Field("tally", "PAR-070", TALLY),
    Field("passed", "PAR-070", boolean("PAR-070")),
    Field("key_objections", "PAR-070", listed("PAR-070", OBJECTION)),
    Field("next_action", "PAR-070", one_of("PAR-070", words.NextAction)),
)
PM_DECISION: Final = fields(
    "PAR-075",
    Field("decision", "PAR-075", one_of("PAR-076", words.Word)),
    Field("reason", "PAR-075", text("PAR-075")),
    Field("guidance", "PAR-075", text("PAR-075")),
)

CONTENTS: Final[dict[str, Check]] = {
    Kind.BILL_DRAFT: BILL_DRAFT,
    Kind.OPENING_STATEMENT: OPENING_STATEMENT,
    Kind.QUESTION: QUESTION,
    Kind.ANSWER: ANSWER,
    Kind.AMENDMENT: AMENDMENT,
    Kind.MOTION: MOTION,
    Kind.VOTE: VOTE,
    Kind.SPEAKER_RULING: SPEAKER_RULING,
    Kind.VOTE_TALLY: VOTE_TALLY,
    Kind.PM_DECISION: PM_DECISION,
}
# Who may send what: the norm, and what `from` must be. Everything else comes from a seat.
OFFICES: Final[dict[str, tuple[str, str]]] = {
    Kind.SPEAKER_RULING: ("PAR-058", words.SPEAKER),
    Kind.VOTE_TALLY: ("PAR-069", words.SPEAKER),
    Kind.PM_DECISION: ("PAR-074", words.PRIME_MINISTER),
}
SEAT_RULES: Final[dict[str, str]] = {
    Kind.BILL_DRAFT: "PAR-013",
    Kind.AMENDMENT: "PAR-042",
    Kind.MOTION: "PAR-048",
}
ADDRESSED: Final = (Kind.QUESTION, Kind.ANSWER)


def owed(kind: str, content: Document, path: str) -> Iterator[Finding]:
    """Where the fields of one content disagree; asked only once each of them is sound."""
    return _CONTENT_CHECKS.get(kind, _no_findings)(content, path)


def _no_findings(_content: Document, _path: str) -> Iterator[Finding]:
    return iter(())


def _amendment_findings(content: Document, path: str) -> Iterator[Finding]:
    # C-26: nothing is deleted silently; only the drafter's own wording may be left open.
    if content["action"] != words.Action.MODIFY and not content["proposed_text"].strip():
        why = f"an amendment that would {content['action']} names the text"
        where = join(path, "proposed_text")
        yield breach("PAR-043", "text_required", why, where, "quote the exact text")


def _ruling_findings(content: Document, path: str) -> Iterator[Finding]:
    kind, action = words.RulingType(content["ruling_type"]), content["action"]
    if action not in words.RULINGS[kind]:
        actions = ", ".join(words.RULINGS[kind])
        why = f"{kind} does not go with {action}"
        yield breach("PAR-068", "bad_ruling", why, join(path, "action"), f"{kind}: {actions}")
    if action in words.NAMES_A_SEAT and content["target"] is None:
        why, where = f"{action} concerns one seat", join(path, "target")
        yield breach("PAR-059", "target_required", why, where, "name the seat, such as rep_1")


def _vote_findings(content: Document, path: str) -> Iterator[Finding]:
    if content["vote"] == words.Ballot.NO and not any(map(str.strip, content["conditions"])):
        why, where = "a NO says what would change it", join(path, "conditions")
        yield breach("PAR-055", "conditions_required", why, where, "name at least one condition")


def _tally_findings(content: Document, path: str) -> Iterator[Finding]:
    """PAR-071: the lists and the numbers say the same."""
    yes, no, tally = content["yes_votes"], content["no_votes"], content["tally"]
    passes, count = is_majority(len(yes), tally["total"]), f"{len(yes)} of {tally['total']}"
    facts = (
        ("tally.yes", tally["yes"] == len(yes), f"{len(yes)} are listed"),
        ("tally.no", tally["no"] == len(no), f"{len(no)} are listed"),
        ("tally.total", tally["total"] >= len(yes) + len(no), "more voted than there are seats"),
        ("no_votes", len({*yes, *no}) == len(yes) + len(no), "someone is listed twice"),
        ("passed", content["passed"] == passes, f"{count} is {'a' if passes else 'no'} majority"),
        (
            "next_action",
            _advances_if_passed(content),
            "only a passed bill advances to the prime minister",
        ),
    )
    for name, holds, why in facts:
        if not holds:
            hint = "count the ballots again"
            yield breach("PAR-071", "wrong_tally", why, join(path, name), hint)


def _advances_if_passed(content: Document) -> bool:
    return bool(content["passed"] == (content["next_action"] == words.NextAction.ADVANCE_TO_PM))


def _decision_findings(content: Document, path: str) -> Iterator[Finding]:
    """C-40: a veto and opening guidance need a text that guides."""
    word = content["decision"]
    guides = word in (words.Word.VETO, words.Word.OPENING_GUIDANCE)
    if guides and not content["guidance"].strip():
        why, where = f"{word} needs guidance", join(path, "guidance")
        yield breach("PAR-075", "guidance_required", why, where, "say what should change")


_CONTENT_CHECKS: Final[dict[str, Callable[[Document, str], Iterator[Finding]]]] = {
    Kind.AMENDMENT: _amendment_findings,
    Kind.SPEAKER_RULING: _ruling_findings,
    Kind.VOTE: _vote_findings,
    Kind.VOTE_TALLY: _tally_findings,
    Kind.PM_DECISION: _decision_findings,
}


def sender_findings(kind: str, sender: Any, path: str) -> Iterator[Finding]:
    """PAR-009: who may send this type at all."""
    where = join(path, "from")
    if kind in OFFICES:
        rule, office = OFFICES[kind]
        if sender != office:
            why = f"{kind} comes from {office}, not from {shown(sender)}"
            yield breach(rule, "wrong_sender", why, where, f'"from" is "{office}"')
    elif not isinstance(sender, str) or not words.SEAT.fullmatch(sender):
        rule = SEAT_RULES.get(kind, "PAR-009")
        why = f"{kind} comes from a representative, not from {shown(sender)}"
        yield breach(rule, "wrong_sender", why, where, '"from" is a seat, such as rep_1')


def ignored(name: str, path: str) -> Finding:
    """C-30: the clerk fills these three."""
    why = f"{name} is filled in by the clerk; what was sent is ignored"
    where, hint = join(path, name), f'leave "{name}" away'
    return breach("PAR-081", "field_ignored", why, where, hint, Severity.WARNING)
