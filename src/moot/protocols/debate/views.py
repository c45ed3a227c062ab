"""What people and programs read of a session: its check, status and consensus, and its entries.

The fields and their order are a contract of the command line. Decimals are JSON numbers here; to
decide anything with them, use `consensus.py`, which keeps them exact.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from fractions import Fraction

import msgspec

from moot.core.clock import Millis, to_text
from moot.core.errors import NotFound, Refused
from moot.core.findings import Finding, Severity, select_errors
from moot.core.machine import fill_from
from moot.core.names import SYSTEM
from moot.core.text import Quoted
from moot.protocols.debate.checker import CheckedSession
from moot.protocols.debate.consensus import (
    ConsensusOutcome,
    ConsensusVerdict,
    DebateVote,
    compute_consensus,
    find_vote,
)
from moot.protocols.debate.course import Course, DebateRound, is_placeholder, list_entries
from moot.protocols.debate.file_rules import NO_TURN_LEFT_CODE, NOT_CLOSING_CODE
from moot.protocols.debate.model import ConsensusMode, DebateEntry, Escalation, Rules
from moot.protocols.debate.phases import Phase
from moot.protocols.debate.turns import find_standing

_THIN = Finding(
    rule="7.4",
    code="thin_quorum",
    message="fewer than half of the listed agents took a position",
    severity=Severity.WARNING,
    hint="ask those who deferred or kept silent",
)


def require_course(checked: CheckedSession) -> Course:
    """Return the course of a session whose settings are sound; Refused for any other."""
    if checked.course is None:
        raise Refused(
            "invalid_session",
            "this file is not a session that can be followed",
            hint="`moot debate check FILE` says what to fix",
            findings=select_errors(checked.findings),
        )
    return checked.course


class CheckView(msgspec.Struct, frozen=True):
    """What a check found in a session file."""

    valid: bool
    entries: int
    session_id: Quoted
    findings: tuple[Finding, ...]


def view_check(checked: CheckedSession) -> CheckView:
    return CheckView(
        checked.valid,
        checked.entry_count,
        Quoted(checked.document.session_id),
        checked.findings,
    )


# Consensus ---------------------------------------------------------------------------------------


class ConsensusView(msgspec.Struct, frozen=True):
    """The result of the votes of one round.

    `reached` says that the round decides; `would_reach` only that its votes suffice: the round may
    still run (`provisional`) or the file have errors (`blocked`). The two fields that end with
    `_all_agents` count deferring agents in the denominator.
    """

    mode: ConsensusMode
    threshold: float
    reached: bool
    score: float | None
    score_all_agents: float | None
    approvers: tuple[str, ...]
    rejecters: tuple[str, ...]
    neutral: tuple[str, ...]
    deferred: tuple[str, ...]
    missing: tuple[str, ...]
    outcome: ConsensusOutcome
    would_reach: bool
    reached_all_agents: bool
    round: int | None
    provisional: bool
    blocked: str | None
    defer_in_denominator: bool
    running_round: int | None
    findings: tuple[Finding, ...]


def view_consensus(
    checked: CheckedSession,
    number: int | None = None,
    mode: ConsensusMode | None = None,
    threshold: Decimal | None = None,
    defer_in_denominator: bool | None = None,
) -> ConsensusView:
    """BNC-167: view the result of the latest complete round (BNC-139, A-08), or of round `number`.

    The other parameters are for the result under another rule.
    """
    course = require_course(checked)
    wanted = {
        "consensus_mode": mode,
        "consensus_threshold": threshold,
        "defer_in_denominator": defer_in_denominator,
    }
    changes = {name: value for name, value in wanted.items() if value is not None}
    rules = msgspec.structs.replace(course.rules, **changes)
    round_ = _round_to_show(course, number)
    result = compute_consensus(rules, round_.votes if round_ else {})
    provisional = round_ is None or not round_.complete
    decides = result.reached and not checked.has_blocking_errors and not provisional
    return ConsensusView(
        mode=result.mode,
        threshold=float(result.threshold),
        reached=decides,
        score=_as_number(result.score),
        score_all_agents=_as_number(result.score_all),
        approvers=result.approvers,
        rejecters=result.rejecters,
        neutral=result.neutral,
        deferred=result.deferred,
        missing=result.missing,
        outcome=_outcome_to_show(result, checked.has_blocking_errors, provisional),
        would_reach=result.reached,
        reached_all_agents=result.reached_all and decides,
        round=round_.number if round_ else None,
        provisional=provisional,
        blocked="invalid-file" if checked.has_blocking_errors else None,
        defer_in_denominator=rules.defer_in_denominator,
        running_round=course.running_round.number if course.running_round else None,
        findings=(_THIN,) if result.is_thin_quorum and round_ else (),
    )


def _round_to_show(course: Course, number: int | None) -> DebateRound | None:
    if number is None:
        return course.latest_complete_round or course.running_round
    round_ = course.find_round(number)
    if round_ is None:
        raise NotFound(
            "round_not_found", f"round {number} has no entries", hint="`moot debate status FILE`"
        )
    return round_


def _outcome_to_show(
    result: ConsensusVerdict, blocked: bool, provisional: bool
) -> ConsensusOutcome:
    """Return the outcome; a blocked or running round never counts as reached (A-08, A-53)."""
    if blocked:
        return ConsensusOutcome.BLOCKED
    return ConsensusOutcome.NOT_REACHED if provisional and result.reached else result.outcome


def _as_number(value: Fraction | None) -> float | None:
    return None if value is None else float(value)


# Entries -----------------------------------------------------------------------------------------


class EntryView(msgspec.Struct, frozen=True):
    """One entry for a list: author, place, position, and its summary.

    Anyone who can write to the file may have written these texts.
    """

    id: Quoted
    round: int | None
    turn: int | None
    at: Quoted
    author: Quoted
    status: Quoted
    stance: Quoted | None
    confidence: float | None
    summary: Quoted
    action_requested: Quoted
    line: int
    placeholder: bool


def view_entry(entry: DebateEntry) -> EntryView:
    return fill_from(
        EntryView,
        entry,
        stance=Quoted(entry.field_value("stance")) or None,
        confidence=None if entry.confidence is None else float(entry.confidence),
        summary=Quoted(entry.field_value("summary")),
        action_requested=Quoted(entry.field_value("action_requested")),
        placeholder=is_placeholder(entry),
    )


# Status ------------------------------------------------------------------------------------------


class StatusView(msgspec.Struct, frozen=True):
    """Where the session stands: who may speak, until when, and how it ended if it did (BNC-166).

    BNC-016, BNC-093, BNC-100: `safe_to_read` says whether the file ends with a complete entry.
    BNC-084: `entries` lists everyone who spoke, with position and summary. `findings` are the
    warnings of a check that change who goes on: a `closed` entry that closes nothing, a last entry
    that names an agent without a turn left. `deadlock_policy` is what a deadlock waits for (7.4).
    """

    state: Phase
    round: int
    turn: int
    next: str | None
    may_speak: tuple[str, ...]
    deadline: str | None
    timed_out: bool
    ended_at_round: int | None
    rounds_left: int
    safe_to_read: bool
    open_entry: EntryView | None
    valid: bool
    title: Quoted
    session_id: Quoted
    consensus: ConsensusView
    entries: tuple[EntryView, ...]
    findings: tuple[Finding, ...]
    deadlock_policy: Escalation | None


class StatusWithLiveness(StatusView, frozen=True):
    """The same in a workspace, which also knows how alive each of `may_speak` is."""

    liveness: dict[str, str]


def find_deadlock_policy(checked: CheckedSession) -> Escalation | None:
    """Return the policy that a deadlock still waits for (7.4); None without one, or after it.

    `system` sums up the session then (R18), so its entry shows that the policy was applied.
    """
    course = require_course(checked)
    if course.phase is not Phase.DEADLOCK:
        return None
    entries = checked.document.entries
    applied = any(entry.author == SYSTEM and entry.yielded for entry in entries)
    return None if applied else course.rules.escalation


def view_status(checked: CheckedSession, now: Millis | None = None) -> StatusView:
    course = require_course(checked)
    here = find_standing(course, now)
    last_round = course.rounds[-1].number if course.rounds else 0
    return StatusView(
        state=here.phase,
        round=here.round,
        turn=here.turn,
        next=here.next_speaker,
        may_speak=here.may_speak,
        deadline=None if here.deadline is None else to_text(here.deadline),
        timed_out=here.timed_out,
        ended_at_round=course.ended_at_round,
        rounds_left=0 if here.phase.has_ended else max(0, course.rules.max_rounds - last_round),
        safe_to_read=all(entry.yielded for entry in checked.document.entries[-1:]),
        open_entry=view_entry(here.open_entry) if here.open_entry else None,
        valid=checked.valid,
        title=Quoted(checked.document.name),
        session_id=Quoted(checked.document.session_id),
        consensus=view_consensus(checked),
        entries=tuple(map(view_entry, list_entries(course.rounds))),
        findings=tuple(_find_what_holds_up(checked, course)),
        deadlock_policy=find_deadlock_policy(checked),
    )


def _find_what_holds_up(checked: CheckedSession, course: Course) -> Iterator[Finding]:
    """Yield likely mistakes: a closing that closes nothing, a next speaker without turns."""
    last = course.last_entry.id if course.last_entry else None
    for finding in checked.findings:
        is_warning = finding.severity is Severity.WARNING
        if (finding.code == NOT_CLOSING_CODE and is_warning) or (
            finding.code == NO_TURN_LEFT_CODE and finding.where == last
        ):
            yield finding


def add_liveness(status: StatusView, liveness: dict[str, str]) -> StatusWithLiveness:
    return StatusWithLiveness(**msgspec.structs.asdict(status), liveness=liveness)


def describe_confidence(value: Decimal) -> str:
    """BNC-083: how sure that is, for people (4.4)."""
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


class PositionChange(msgspec.Struct, frozen=True):
    """An agent's stance or confidence changed; `heard` are others' entries since its last one."""

    agent: str
    entry: DebateEntry
    before: DebateVote
    now: DebateVote
    heard: tuple[DebateEntry, ...]


def find_position_changes(course: Course) -> list[PositionChange]:
    """Return every move of every agent, in file order."""
    return find_changes(list_entries(course.rounds))


def find_changes(entries: Sequence[DebateEntry]) -> list[PositionChange]:
    """Return every move in these entries, which may be of several sessions on one motion."""
    moves: list[PositionChange] = []
    latest: dict[str, tuple[int, DebateVote]] = {}
    for place, entry in enumerate(entries):
        vote = find_vote(entry)
        if vote is None:
            continue
        earlier = latest.get(entry.author)
        if earlier is not None and earlier[1] != vote:
            since = entries[earlier[0] + 1 : place]
            heard = tuple(other for other in since if other.author != entry.author)
            moves.append(PositionChange(entry.author, entry, earlier[1], vote, heard))
        latest[entry.author] = (place, vote)
    return moves


def nearby_thresholds(threshold: Decimal) -> list[Decimal]:
    """Return the threshold, a little less and more, and the ends that mean something."""
    tenth = Decimal("0.1")
    around = (threshold - tenth, threshold, threshold + tenth, Decimal("0.5"), Decimal(1))
    return sorted({value.normalize() for value in around if 0 < value <= 1})


def vary_rules(rules: Rules) -> Iterable[Rules]:
    """Yield the same session under every mode and the thresholds nearby."""
    for mode in ConsensusMode:
        for threshold in nearby_thresholds(rules.consensus_threshold):
            yield msgspec.structs.replace(rules, consensus_mode=mode, consensus_threshold=threshold)


# A session in short, as markdown. The text of others is quoted as plain words: nothing in it can
# open a block or a comment.

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~])")


def escape_markdown(text: str) -> str:
    """Return another author's text on one line, with all markdown escaped."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))


def write_summary(checked: CheckedSession, now: Millis | None = None) -> str:
    """Return the whole page."""
    return "\n".join(_lines(view_status(checked, now))) + "\n"


def _lines(status: StatusView) -> Iterator[str]:
    result = status.consensus
    score = "no score" if result.score is None else f"score {result.score:.4g}"
    yield f"# {escape_markdown(status.title)}\n"
    rule = f"{result.mode}, {score}, threshold {result.threshold:g}"
    yield f"**{status.state}** · {result.outcome} · {rule}\n"
    yield "## Where everyone stands\n"
    for side in ("approvers", "rejecters", "neutral", "deferred", "missing"):
        if names := getattr(result, side):
            yield f"- {side}: {', '.join(names)}"
    yield "\n## What was said\n"
    for entry in status.entries:
        sure = "" if entry.confidence is None else f" {entry.confidence:g}"
        who = f"**{entry.author}** {escape_markdown(entry.stance or '')}{sure}"
        yield f"- {entry.round}.{entry.turn} {who}: {escape_markdown(entry.summary)}"
    if not status.entries:
        yield "Nothing yet."
