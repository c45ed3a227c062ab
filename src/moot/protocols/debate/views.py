"""What people and programs read of a session: status and consensus, as plain data.

The keys are a contract of the command line. Decimals are JSON numbers here; to decide anything
with them, use `consensus.py`, which keeps them exact.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import msgspec

from moot.core.clock import Millis, to_text
from moot.core.errors import NotFound, Refused
from moot.core.findings import Finding, Severity, errors
from moot.protocols.debate.checker import Checked
from moot.protocols.debate.consensus import Outcome, Verdict, verdict
from moot.protocols.debate.course import Course, Round, is_placeholder, spoken
from moot.protocols.debate.model import Entry, Mode
from moot.protocols.debate.schema import settings_of
from moot.protocols.debate.turns import standing

_THIN = Finding(
    rule="7.4",
    code="thin_quorum",
    message="fewer than half of the listed agents took a position",
    severity=Severity.WARNING,
    hint="ask those who deferred or kept silent",
)


def course_of(checked: Checked) -> Course:
    """The course of a session whose settings are sound; Refused for any other."""
    if checked.course is None:
        raise Refused(
            "invalid_session",
            "this file is not a session that can be followed",
            hint="`moot debate check FILE` says what to mend",
            findings=errors(checked.findings),
        )
    return checked.course


def check_data(checked: Checked) -> dict[str, Any]:
    return {
        "valid": checked.valid,
        "entries": checked.entries,
        "session_id": checked.document.session_id,
        "findings": [msgspec.to_builtins(finding) for finding in checked.findings],
    }


# Consensus ---------------------------------------------------------------------------------------


def consensus_data(
    checked: Checked,
    number: int | None = None,
    mode: Mode | None = None,
    threshold: Decimal | None = None,
    defer_in_denominator: bool | None = None,
) -> dict[str, Any]:
    """What a round comes to: the latest complete one (A-08), or round `number`.

    The others ask what would follow under another rule.
    """
    course = course_of(checked)
    asked = {
        "consensus_mode": mode,
        "consensus_threshold": threshold,
        "defer_in_denominator": defer_in_denominator,
    }
    given = {key: value for key, value in asked.items() if value is not None}
    rules = msgspec.structs.replace(course.rules, **given)
    round_ = _asked_round(course, number)
    found = verdict(rules, round_.votes if round_ else {})
    provisional = round_ is None or not round_.complete
    return {
        **_verdict_data(found, checked.blocked, provisional),
        "round": round_.number if round_ else None,
        "provisional": provisional,
        "blocked": "invalid-file" if checked.blocked else None,
        "defer_in_denominator": rules.defer_in_denominator,
        "running_round": course.running.number if course.running else None,
        "findings": [msgspec.to_builtins(_THIN)] if found.thin and round_ else [],
    }


def _asked_round(course: Course, number: int | None) -> Round | None:
    if number is None:
        return course.latest_complete or course.running
    found = course.round(number)
    if found is None:
        raise NotFound(
            "round_not_found", f"nobody spoke in round {number}", hint="`moot debate status FILE`"
        )
    return found


def _verdict_data(found: Verdict, blocked: bool, provisional: bool) -> dict[str, Any]:
    """A blocked or running round never counts as reached (A-08, A-53)."""
    decided = found.reached and not blocked and not provisional
    outcome = Outcome.BLOCKED if blocked else found.outcome
    if provisional and outcome is Outcome.REACHED:
        outcome = Outcome.NOT_REACHED
    return {
        "mode": found.mode.value,
        "threshold": float(found.threshold),
        "reached": decided,
        "score": _number(found.score),
        "score_all_agents": _number(found.score_all),
        "approvers": list(found.approvers),
        "rejecters": list(found.rejecters),
        "neutral": list(found.neutral),
        "deferred": list(found.deferred),
        "missing": list(found.missing),
        "outcome": outcome.value,
        "would_reach": found.reached,
        "reached_all_agents": found.reached_all and decided,
    }


def _number(value: Fraction | None) -> float | None:
    return None if value is None else float(value)


# Status ------------------------------------------------------------------------------------------


def status_data(checked: Checked, now: Millis | None = None) -> dict[str, Any]:
    """Where the session stands: who may speak, until when, and how it ended if it did."""
    course = course_of(checked)
    here = standing(course, now)
    last_round = course.rounds[-1].number if course.rounds else 0
    return {
        "state": here.phase.value,
        "round": here.round,
        "turn": here.turn,
        "next": here.next,
        "may_speak": list(here.may_speak),
        "deadline": None if here.deadline is None else to_text(here.deadline),
        "timed_out": here.timed_out,
        "ended_at_round": course.ended_at_round,
        "rounds_left": 0 if here.phase.ended else max(0, course.rules.max_rounds - last_round),
        "safe_to_read": all(entry.yielded for entry in checked.document.entries[-1:]),
        "open_entry": entry_data(here.open) if here.open else None,
        "valid": checked.valid,
        "title": checked.document.name,
        "session_id": checked.document.session_id,
        "consensus": consensus_data(checked),
        "entries": [entry_data(entry) for entry in spoken(course.rounds)],
    }


def entry_data(entry: Entry) -> dict[str, Any]:
    """One entry for a list: who, where, which position, in one sentence."""
    sure = entry.confidence
    return {
        "id": entry.id,
        "round": entry.round,
        "turn": entry.turn,
        "at": entry.at,
        "author": entry.author,
        "status": entry.status,
        "stance": entry.said("stance") or None,
        "confidence": None if sure is None else float(sure),
        "summary": entry.said("summary"),
        "action_requested": entry.said("action_requested"),
        "line": entry.line,
        "placeholder": is_placeholder(entry),
    }


def speaker_view(checked: Checked, speaker: str, now: Millis | None = None) -> dict[str, Any]:
    """All that one participant needs to take its turn: the question, what was said, what is due."""
    course = course_of(checked)
    here = standing(course, now)
    document = checked.document
    said = spoken(course.rounds)
    return {
        "speaker": speaker,
        "my_turn": speaker in here.may_speak,
        "state": here.phase.value,
        "round": here.round,
        "turn": here.turn,
        "deadline": None if here.deadline is None else to_text(here.deadline),
        "title": document.name,
        "context": document.section_text("Context").strip(),
        "rules": settings_of(course.rules),
        "entries": [{**entry_data(entry), "body": entry.body} for entry in said],
        "mine": [entry.id for entry in said if entry.author == speaker],
    }


def confidence_words(value: Decimal) -> str:
    """How sure that is, for people (4.4)."""
    for least, words in _WORDS:
        if value >= least:
            return words
    return "no confidence"


_WORDS: tuple[tuple[Decimal, str], ...] = (
    (Decimal(1), "absolute certainty"),
    (Decimal("0.75"), "sure"),
    (Decimal("0.5"), "rather sure"),
    (Decimal("0.25"), "unsure"),
    (Decimal("1e-30"), "very unsure"),
)
