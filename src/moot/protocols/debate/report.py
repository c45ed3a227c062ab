"""A session as a page: the verdict, the dissent in full, and how each position came about.

The page is data for `moot.pages`, which draws it as HTML, markdown or JSON. It only displays; the
session file is the proof.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction

from moot import pages as page
from moot.core.clock import Millis
from moot.core.text import plural
from moot.protocols.debate.checker import CheckedSession
from moot.protocols.debate.consensus import (
    ConsensusOutcome,
    ConsensusVerdict,
    DebateVote,
    find_stopping_approval,
)
from moot.protocols.debate.course import Course, DebateRound, is_placeholder, list_entries
from moot.protocols.debate.model import ConsensusMode, DebateEntry, Stance, split_evidence
from moot.protocols.debate.phases import Phase
from moot.protocols.debate.turns import find_standing
from moot.protocols.debate.views import (
    describe_confidence,
    find_position_changes,
    require_course,
    vary_rules,
)

_TONES: dict[str, page.Tone] = {
    "approve": "good",
    "reject": "bad",
    "neutral": "neutral",
    "defer": "caution",
}
_LABELS: dict[Phase, tuple[str, page.Tone]] = {
    Phase.CONSENSUS: ("CONSENSUS", "good"),
    Phase.DEADLOCK: ("DEADLOCK", "bad"),
    Phase.MAX_ROUNDS: ("NO CONSENSUS", "caution"),
    Phase.CLOSED: ("CLOSED", "neutral"),
    Phase.NOT_STARTED: ("NOT STARTED", "neutral"),
}
# Neutral and defer are in the middle, however sure.
_DIRECTIONS = {Stance.APPROVE: 1, Stance.REJECT: -1}
# More lines than these cannot be told apart in one picture; the table has everyone.
MOST_LINES = 12


def build_report(
    checked: CheckedSession,
    file_name: str,
    sha256: str,
    now: Millis | None = None,
    tools: Mapping[str, str] = {},
) -> page.Report:
    """Build the page of a session with valid settings; `tools` are the agents' programs."""
    course = require_course(checked)
    decided = _deciding_round(course)
    result = decided.judge(course.rules) if decided else None
    return page.Report(
        kind="debate",
        title=checked.document.name,
        subtitle=f"{plural(len(course.rules.agents), 'agent')}, "
        f"{plural(len(course.rounds), 'round')}",
        verdict=_show_verdict(checked, course, now),
        decision=_show_decision(course, decided, result, tools),
        dissent=_quote_dissent(decided, tools),
        blocks=tuple(_show_details(checked, course, decided, tools)),
        proof=page.ProofFile(file_name, sha256, f"moot debate check {file_name}"),
    )


def _deciding_round(course: Course) -> DebateRound | None:
    """Return the round that ended it, or the latest one that is complete, or the one that runs."""
    ended = course.find_round(course.ended_at_round) if course.ended_at_round else None
    return ended or course.latest_complete_round or course.running_round


def _show_verdict(checked: CheckedSession, course: Course, now: Millis | None) -> page.VerdictBadge:
    if checked.has_blocking_errors:
        return page.VerdictBadge("INVALID FILE", "bad", "no verdict is given on a file with errors")
    label, tone = _LABELS.get(course.phase, ("GOING ON", "neutral"))
    here = find_standing(course, now)
    note = f"ended in round {course.ended_at_round}" if course.ended_at_round else ""
    return page.VerdictBadge(label, tone, note or f"next: {', '.join(here.may_speak) or 'nobody'}")


def _show_decision(
    course: Course,
    decided: DebateRound | None,
    result: ConsensusVerdict | None,
    tools: Mapping[str, str],
) -> page.DecisionCard:
    if result is None or decided is None:
        return page.DecisionCard("Nobody has spoken yet.", (_state(course),))
    statement = _STATEMENTS[result.outcome if decided.complete else ConsensusOutcome.NOT_REACHED]
    heads = f"{len(result.approvers)} of {len(course.rules.agents)} approve"
    return page.DecisionCard(
        f"{statement} {heads} in round {decided.number}.",
        (page.Fact("score", _score_text(result.score)), _state(course)),
        reasons=_quote_sides(decided, tools, approving=True),
    )


def _state(course: Course) -> page.Fact:
    return page.Fact("state", course.phase.value)


_STATEMENTS = {
    ConsensusOutcome.REACHED: "Consensus was reached:",
    ConsensusOutcome.NOT_REACHED: "No consensus:",
    ConsensusOutcome.DEADLOCK: "Everyone deferred:",
    ConsensusOutcome.DISABLED: "Consensus is switched off by a threshold of 0:",
    ConsensusOutcome.INDETERMINATE: "Nobody stated a position:",
    ConsensusOutcome.BLOCKED: "No verdict:",
}


def _score_text(score: Fraction | None) -> str:
    return "none" if score is None else f"{float(score):.6g}"


def _quote_dissent(decided: DebateRound | None, tools: Mapping[str, str]) -> page.Dissent:
    """Return everyone in the deciding round who did not approve, in their own words."""
    voices = _quote_sides(decided, tools, approving=False)
    return page.Dissent(voices, "" if voices else "Nobody who spoke in this round disagreed.")


def _quote_sides(
    decided: DebateRound | None, tools: Mapping[str, str], *, approving: bool
) -> tuple[page.Quote, ...]:
    return tuple(
        _quote(entry, tools)
        for entry in _last_words(decided)
        if (entry.stance is Stance.APPROVE) is approving
    )


def _last_words(decided: DebateRound | None) -> list[DebateEntry]:
    """Return the last entry of each agent in the round, without entries of the policy."""
    latest = {entry.author: entry for entry in decided.entries} if decided else {}
    return [entry for entry in latest.values() if not is_placeholder(entry)]


def _quote(entry: DebateEntry, tools: Mapping[str, str]) -> page.Quote:
    stance = entry.field_value("stance")
    return page.Quote(
        author=entry.author,
        text=entry.body,
        stance=stance,
        tone=_TONES.get(stance, "plain"),
        note=f"{_confidence_text(entry)}, round {entry.round}",
        refs=split_evidence(entry.field_value("evidence")),
        title=entry.field_value("summary"),
        tool=tools.get(entry.author, ""),
        markdown=True,
    )


def _confidence_text(entry: DebateEntry) -> str:
    sure = entry.confidence
    return "no confidence given" if sure is None else f"{sure:f} ({describe_confidence(sure)})"


def _show_details(
    checked: CheckedSession,
    course: Course,
    decided: DebateRound | None,
    tools: Mapping[str, str],
) -> list[page.Block]:
    rounds = [round_ for round_ in course.rounds if round_.votes]
    blocks: list[page.Block] = [_changes_table(course)]
    if len(rounds) > 1:
        blocks.append(_confidence_chart(course, rounds))
    quoted = {entry.id for entry in _last_words(decided)}
    moments = tuple(_timeline_moment(entry, quoted) for entry in list_entries(course.rounds))
    blocks.append(page.Timeline(moments, title="What was said"))
    counted = _counted(course, rounds, decided, tools)
    findings = page.Findings(_finding_rows(checked), title="What the check found")
    if findings.items:
        blocks.append(findings)
    else:
        counted.append(findings)
    blocks.append(page.Fold(tuple(counted), title="How it was counted"))
    return blocks


def _counted(
    course: Course,
    rounds: list[DebateRound],
    decided: DebateRound | None,
    tools: Mapping[str, str],
) -> list[page.Block]:
    """Show the arithmetic: rules, score, positions, and other rules on the same round."""
    blocks: list[page.Block] = [_rules(course, decided)]
    if rounds:
        blocks += [_score_chart(course, rounds), _positions_table(course, rounds, tools)]
    if len(rounds) > 1:
        blocks.append(_before_and_after_table(course, rounds))
    if decided is not None:
        blocks.append(_other_rules_table(course, decided))
    limit = find_stopping_approval(course.rules.consensus_mode, course.rules.consensus_threshold)
    if limit is not None:
        blocks.append(page.Prose(limit.sentence, title="What this rule lacks"))
    return blocks


def _rules(course: Course, decided: DebateRound | None) -> page.Facts:
    rules = course.rules
    facts = [
        page.Fact("mode", rules.consensus_mode.value),
        page.Fact("threshold", f"{rules.consensus_threshold:f}"),
    ]
    if decided is not None:
        score = _score_text(decided.judge(rules).score_all)
        facts.append(page.Fact("score with those who deferred", score))
    return page.Facts(tuple(facts), title="The rules")


def _confidence_chart(course: Course, rounds: list[DebateRound]) -> page.LineChart:
    lines = tuple(_agent_line(agent, rounds) for agent in course.rules.agents[:MOST_LINES])
    more = len(course.rules.agents) - len(lines)
    return page.LineChart(
        lines,
        title="Who stood where",
        caption=f"{more} more agents are among the positions below." if more > 0 else "",
        y_label="Stance",
        hollow_means="does not approve",
        low=Decimal(-1),
        low_means="sure against",
        high_means="sure for",
    )


def _agent_line(agent: str, rounds: list[DebateRound]) -> page.Series:
    points = tuple(
        page.Point(
            round_.number,
            vote.confidence * _DIRECTIONS.get(vote.stance, 0),
            f"{vote.stance.value} {vote.confidence:f}",
            vote.stance is not Stance.APPROVE,
        )
        for round_ in rounds
        if (vote := round_.votes.get(agent)) is not None
    )
    return page.Series(agent, points)


def _score_chart(course: Course, rounds: list[DebateRound]) -> page.LineChart:
    rules = course.rules
    points = tuple(
        page.Point(round_.number, _decimal(score), result.outcome, not result.reached)
        for round_ in rounds
        if (score := (result := round_.judge(rules)).score) is not None
    )
    return page.LineChart(
        (page.Series("score", points, strong=True),),
        page.ChartThreshold(rules.consensus_threshold, "threshold"),
        y_label="Score",
        hollow_means="not reached",
        low=Decimal(-1) if rules.consensus_mode is ConsensusMode.WEIGHTED else Decimal(0),
        title="Score against threshold",
        caption="A round that still runs counts those who have not spoken as not approving.",
    )


def _decimal(score: Fraction) -> Decimal:
    """Round for the chart; decisions use the exact score."""
    return Decimal(score.numerator * 10**6 // score.denominator) / 10**6


def _position_cell(round_: DebateRound, agent: str) -> page.Cell:
    vote = round_.votes.get(agent)
    if vote is None:
        return page.Cell("silent" if round_.complete else "to come")
    return _vote_cell(vote)


def _vote_cell(vote: DebateVote) -> page.Cell:
    return page.Cell(vote.stance.value, _TONES[vote.stance], f"{vote.confidence:f}")


def _positions_table(
    course: Course, rounds: list[DebateRound], tools: Mapping[str, str]
) -> page.Table:
    return page.Table(
        ("Agent", *(f"Round {round_.number}" for round_ in rounds)),
        tuple(
            (
                page.Cell(agent, note=tools.get(agent, "")),
                *(_position_cell(round_, agent) for round_ in rounds),
            )
            for agent in course.rules.agents
        ),
        title="Positions over time",
    )


def _before_and_after_table(course: Course, rounds: list[DebateRound]) -> page.Table:
    first, last = rounds[0].judge(course.rules), rounds[-1].judge(course.rules)
    sides = ("approvers", "rejecters", "neutral", "deferred", "missing")
    return page.Table(
        ("Vote", f"Round {rounds[0].number}", f"Round {rounds[-1].number}"),
        tuple((side, _names_on_side(first, side), _names_on_side(last, side)) for side in sides),
        title="Vote before and after",
    )


def _names_on_side(result: ConsensusVerdict, side: str) -> str:
    return ", ".join(getattr(result, side)) or "nobody"


def _changes_table(course: Course) -> page.Block:
    moves = find_position_changes(course)
    if not moves:
        return page.Prose("Nobody changed their position.", "Who changed, and after what")
    return page.Table(
        ("Agent", "Place", "From", "To", "After hearing"),
        tuple(
            (
                change.agent,
                f"round {change.entry.round} turn {change.entry.turn}",
                _vote_cell(change.before),
                _vote_cell(change.now),
                "; ".join(
                    f"{entry.author}: {entry.field_value('summary')}" for entry in change.heard[-3:]
                )
                or "nobody",
            )
            for change in moves
        ),
        title="Who changed, and after what",
    )


def _other_rules_table(course: Course, decided: DebateRound) -> page.Table:
    rows = []
    for rules in vary_rules(course.rules):
        result = decided.judge(rules)
        tone: page.Tone = "good" if result.reached else "caution"
        rows.append(
            (
                rules.consensus_mode.value,
                f"{rules.consensus_threshold:f}",
                _score_text(result.score),
                page.Cell(result.outcome.value, tone),
            )
        )
    return page.Table(
        ("Mode", "Threshold", "Score", "Outcome"),
        tuple(rows),
        title=f"Round {decided.number} under other rules",
    )


def _timeline_moment(entry: DebateEntry, quoted: set[str]) -> page.TimelineEntry:
    """Return one entry, without its body if the page quotes it in full above."""
    stance = entry.field_value("stance")
    return page.TimelineEntry(
        entry.at,
        entry.author,
        f"{stance or 'spoke'}: {entry.field_value('summary')}",
        "" if entry.id in quoted or is_placeholder(entry) else entry.body,
        entry.id,
        _TONES.get(stance, "plain"),
        markdown=True,
    )


def _finding_rows(checked: CheckedSession) -> tuple[page.FindingRow, ...]:
    return tuple(
        page.FindingRow(
            finding.severity.value,
            finding.message,
            finding.rule,
            f"line {finding.line}" if finding.line else "",
            finding.hint,
        )
        for finding in checked.findings
    )
