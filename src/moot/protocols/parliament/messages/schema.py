"""What a message must look like, type by type: one table of fields, then how its fields must
agree. Nothing here knows a session; whether a message fits the moment is for the rules.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from moot.core.findings import Finding, Severity
from moot.protocols.parliament.messages import contents
from moot.protocols.parliament.messages.contents import Kind
from moot.protocols.parliament.messages.limits import is_majority
from moot.protocols.parliament.messages.shapes import (
    Check,
    ShapeField,
    any_text,
    boolean,
    join_path,
    list_of,
    list_of_texts,
    make_finding,
    map_of,
    nonblank_text,
    null_or,
    object_of,
    one_of,
    show_value,
    text_like,
    whole_number,
)

Document = dict[str, Any]

SEAT_ID: Final = "rep_1"


def seat_id(rule: str) -> Check:
    return text_like(rule, contents.SEAT, SEAT_ID)


def motive_scores(rule: str) -> Check:
    """PAR-033 and C-15: a few of the seat's motives, each 1 to 5."""
    return map_of(rule, whole_number("PAR-033", 1, 5), least=1)


SCOPE: Final = object_of(
    "PAR-016",
    ShapeField("in_scope", "PAR-016", list_of_texts("PAR-016")),
    ShapeField("out_of_scope", "PAR-016", list_of_texts("PAR-016")),
    ShapeField("assumptions", "PAR-016", list_of_texts("PAR-016")),
    ShapeField("definitions", "PAR-110", list_of_texts("PAR-110"), required=False),
)
SECTIONS: Final = object_of(
    "PAR-015",
    ShapeField("problem", "PAR-015", nonblank_text("PAR-015")),
    ShapeField("scope", "PAR-015", SCOPE),
    ShapeField("solution", "PAR-015", nonblank_text("PAR-015")),
    ShapeField("implementation", "PAR-015", any_text("PAR-015")),
)
BILL_DRAFT: Final = object_of(
    "PAR-014",
    ShapeField("bill_version", "PAR-014", whole_number("PAR-014", 1)),
    ShapeField("title", "PAR-014", nonblank_text("PAR-014")),
    ShapeField("summary", "PAR-014", any_text("PAR-014")),
    ShapeField("sections", "PAR-014", SECTIONS),
)
OPENING_STATEMENT: Final = object_of(
    "PAR-020",
    ShapeField(
        "briefing",
        "PAR-020",
        object_of(
            "PAR-020",
            ShapeField("facts", "PAR-020", list_of_texts("PAR-020")),
            ShapeField("constraints", "PAR-020", list_of_texts("PAR-020")),
            ShapeField("precedents", "PAR-020", list_of_texts("PAR-020")),
            ShapeField("open_questions", "PAR-020", list_of_texts("PAR-020")),
        ),
    ),
    ShapeField(
        "direction",
        "PAR-021",
        object_of(
            "PAR-021",
            ShapeField("approach", "PAR-021", nonblank_text("PAR-021")),
            ShapeField("principle", "PAR-021", nonblank_text("PAR-021")),
            ShapeField("trade_offs", "PAR-021", any_text("PAR-021")),
        ),
    ),
)
QUESTION: Final = object_of(
    "PAR-025",
    ShapeField("topic", "PAR-025", nonblank_text("PAR-025")),
    ShapeField("question", "PAR-025", nonblank_text("PAR-025")),
    ShapeField("motive_context", "PAR-025", any_text("PAR-025")),
)
AMENDMENT_POSITION: Final = object_of(
    "PAR-037",
    ShapeField("amendment_id", "PAR-037", text_like("PAR-037", contents.AMENDMENT_ID, "amend-001")),
    ShapeField("position", "PAR-037", one_of("PAR-038", contents.Position)),
    ShapeField("reason", "PAR-037", any_text("PAR-037")),
)
ANSWER: Final = object_of(
    "PAR-028",
    ShapeField("answer", "PAR-028", nonblank_text("PAR-028")),
    ShapeField("concessions", "PAR-028", any_text("PAR-028")),
    ShapeField("stance", "PAR-028", one_of("PAR-029", contents.Stance)),
    ShapeField("motive_scores", "PAR-031", motive_scores("PAR-031")),
    ShapeField("amendment_position", "PAR-036", null_or(AMENDMENT_POSITION), required=False),
)
AMENDMENT: Final = object_of(
    "PAR-043",
    ShapeField("amendment_id", "PAR-043", text_like("PAR-044", contents.AMENDMENT_ID, "amend-001")),
    ShapeField("target_section", "PAR-043", one_of("PAR-046", contents.BillSection)),
    ShapeField("action", "PAR-043", one_of("PAR-045", contents.AmendmentAction)),
    ShapeField("description", "PAR-043", nonblank_text("PAR-043")),
    ShapeField("rationale", "PAR-043", any_text("PAR-043")),
    ShapeField("proposed_text", "PAR-043", any_text("PAR-043")),
)
MOTION: Final = object_of(
    "PAR-049",
    ShapeField("motion_type", "PAR-049", one_of("PAR-050", contents.MotionType)),
    ShapeField("reason", "PAR-049", nonblank_text("PAR-049")),
)
VOTE: Final = object_of(
    "PAR-052",
    ShapeField("vote", "PAR-052", one_of("PAR-053", contents.Ballot)),
    ShapeField("reasoning", "PAR-052", nonblank_text("PAR-054")),
    ShapeField("motive_scores", "PAR-052", motive_scores("PAR-054")),
    ShapeField("reservations", "PAR-052", any_text("PAR-054")),
    ShapeField("conditions", "PAR-052", list_of_texts("PAR-055")),
)
SPEAKER_RULING: Final = object_of(
    "PAR-059",
    ShapeField("ruling_type", "PAR-059", one_of("PAR-068", contents.RulingType)),
    ShapeField("ruling", "PAR-059", nonblank_text("PAR-059")),
    ShapeField("target", "PAR-059", null_or(seat_id("PAR-059"))),
    ShapeField("action", "PAR-059", one_of("PAR-068", contents.RulingAction)),
)
TALLY: Final = object_of(
    "PAR-070",
    ShapeField("yes", "PAR-070", whole_number("PAR-070", 0)),
    ShapeField("no", "PAR-070", whole_number("PAR-070", 0)),
    ShapeField("total", "PAR-070", whole_number("PAR-070", 1)),
)
OBJECTION: Final = object_of(
    "PAR-070",
    ShapeField("from", "PAR-070", seat_id("PAR-070")),
    ShapeField("concern", "PAR-070", any_text("PAR-070")),
)
VOTE_TALLY: Final = object_of(
    "PAR-070",
    ShapeField("bill_version", "PAR-070", whole_number("PAR-070", 1)),
    ShapeField("yes_votes", "PAR-070", list_of("PAR-070", seat_id("PAR-070"))),
    ShapeField("no_votes", "PAR-070", list_of("PAR-070", seat_id("PAR-070"))),
    ShapeField("tally", "PAR-070", TALLY),
    ShapeField("passed", "PAR-070", boolean("PAR-070")),
    ShapeField("key_objections", "PAR-070", list_of("PAR-070", OBJECTION)),
    ShapeField("next_action", "PAR-070", one_of("PAR-070", contents.NextAction)),
)
PM_DECISION: Final = object_of(
    "PAR-075",
    ShapeField("decision", "PAR-075", one_of("PAR-076", contents.PrimeMinisterChoice)),
    ShapeField("reason", "PAR-075", any_text("PAR-075")),
    ShapeField("guidance", "PAR-075", any_text("PAR-075")),
)

CONTENT_SHAPES: Final[dict[str, Check]] = {
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
    Kind.SPEAKER_RULING: ("PAR-058", contents.SPEAKER),
    Kind.VOTE_TALLY: ("PAR-069", contents.SPEAKER),
    Kind.PM_DECISION: ("PAR-074", contents.PRIME_MINISTER),
}
SEAT_RULES: Final[dict[str, str]] = {
    Kind.BILL_DRAFT: "PAR-013",
    Kind.AMENDMENT: "PAR-042",
    Kind.MOTION: "PAR-048",
}
ADDRESSED: Final = (Kind.QUESTION, Kind.ANSWER)


def find_disagreements(kind: str, content: Document, path: str) -> Iterator[Finding]:
    """Return where the fields of one content disagree; asked only once each of them is sound."""
    return _CONTENT_CHECKS.get(kind, _no_findings)(content, path)


def _no_findings(_content: Document, _path: str) -> Iterator[Finding]:
    return iter(())


def _amendment_findings(content: Document, path: str) -> Iterator[Finding]:
    # C-26: nothing is deleted silently; only the drafter's own wording may be left open.
    if (
        content["action"] != contents.AmendmentAction.MODIFY
        and not content["proposed_text"].strip()
    ):
        why = f"an amendment that would {content['action']} names the text"
        where = join_path(path, "proposed_text")
        yield make_finding("PAR-043", "text_required", why, where, "quote the exact text")


def _ruling_findings(content: Document, path: str) -> Iterator[Finding]:
    kind, action = contents.RulingType(content["ruling_type"]), content["action"]
    if action not in contents.ACTIONS_BY_RULING_TYPE[kind]:
        actions = ", ".join(contents.ACTIONS_BY_RULING_TYPE[kind])
        why = f"{kind} does not go with {action}"
        yield make_finding(
            "PAR-068", "bad_ruling", why, join_path(path, "action"), f"{kind}: {actions}"
        )
    if action in contents.RULINGS_ABOUT_A_SEAT and content["target"] is None:
        why, where = f"{action} concerns one seat", join_path(path, "target")
        yield make_finding("PAR-059", "target_required", why, where, "name the seat, such as rep_1")


def _vote_findings(content: Document, path: str) -> Iterator[Finding]:
    """S-21: a NO without conditions is a vote; the speaker has nothing to work with, though."""
    if content["vote"] == contents.Ballot.NO and not any(map(str.strip, content["conditions"])):
        why, where = "a NO says what would change it", join_path(path, "conditions")
        hint = "name at least one condition, so that the others can meet it"
        yield make_finding("PAR-055", "conditions_required", why, where, hint, Severity.WARNING)


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
            yield make_finding("PAR-071", "wrong_tally", why, join_path(path, name), hint)


def _advances_if_passed(content: Document) -> bool:
    return bool(content["passed"] == (content["next_action"] == contents.NextAction.ADVANCE_TO_PM))


def _decision_findings(content: Document, path: str) -> Iterator[Finding]:
    """C-40: a veto and opening guidance need a text that guides."""
    word = content["decision"]
    guides = word in (
        contents.PrimeMinisterChoice.VETO,
        contents.PrimeMinisterChoice.OPENING_GUIDANCE,
    )
    if guides and not content["guidance"].strip():
        why, where = f"{word} needs guidance", join_path(path, "guidance")
        hint = "say what should change: --guidance TEXT, or `guidance` in JSON"
        yield make_finding("PAR-075", "guidance_required", why, where, hint)


_CONTENT_CHECKS: Final[dict[str, Callable[[Document, str], Iterator[Finding]]]] = {
    Kind.AMENDMENT: _amendment_findings,
    Kind.SPEAKER_RULING: _ruling_findings,
    Kind.VOTE: _vote_findings,
    Kind.VOTE_TALLY: _tally_findings,
    Kind.PM_DECISION: _decision_findings,
}


def sender_findings(kind: str, sender: Any, path: str) -> Iterator[Finding]:
    """PAR-009: who may send this type at all."""
    where = join_path(path, "from")
    if kind in OFFICES:
        rule, office = OFFICES[kind]
        if sender != office:
            why = f"{kind} comes from {office}, not from {show_value(sender)}"
            yield make_finding(rule, "wrong_sender", why, where, f'"from" is "{office}"')
    elif not isinstance(sender, str) or not contents.SEAT.fullmatch(sender):
        rule = SEAT_RULES.get(kind, "PAR-009")
        why = f"{kind} comes from a representative, not from {show_value(sender)}"
        yield make_finding(rule, "wrong_sender", why, where, '"from" is a seat, such as rep_1')


def warn_of_ignored_field(name: str, path: str) -> Finding:
    """C-30: the clerk fills these three."""
    why = f"{name} is filled in by the clerk; what was sent is ignored"
    where, hint = join_path(path, name), f'leave "{name}" away'
    return make_finding("PAR-081", "field_ignored", why, where, hint, Severity.WARNING)
