"""A session as a page: what was decided, who was against it, the chamber, the bill's history.

The page is data for `moot.pages`, which renders it as HTML, markdown or JSON. It proves nothing;
the signed record does.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from decimal import Decimal
from difflib import SequenceMatcher
from enum import StrEnum
from typing import Final

import msgspec

from moot import pages as page
from moot.core.text import plural
from moot.protocols.parliament.documents.final_document import (
    OUTCOME_WORDS,
    CountedBallot,
    DraftVersion,
    Proceedings,
    collect_scores_by_round,
    describe_origin,
    describe_unaddressed,
    find_final_decision,
    last_counted_ballot,
    list_bill_versions,
    list_dissenters,
    signer_of_decision,
)
from moot.protocols.parliament.messages.contents import (
    AmendmentStatus,
    Ballot,
    Kind,
    RulingAction,
    Scope,
    Sections,
    Vote,
    VoteTally,
)
from moot.protocols.parliament.messages.message import LedgerMessage
from moot.protocols.parliament.model import Seat, SessionOutcome, State
from moot.protocols.parliament.motives import SERVED_FROM

# What changed between two versions of a bill: sentence by sentence, section by section.
#
# Kept and removed units joined give the old text back, kept and added ones the new text.

# Comparing takes quadratic time at worst; longer texts are shown whole, old and new.
MAX_UNITS: Final = 2_000
# A unit is a sentence, the rest of a line, or the blanks between two of them.
_UNIT: Final = re.compile(r"\s+|\S.*?(?:[.!?]+(?=\s)|(?=\n)|\Z)", re.DOTALL)


class EditMark(StrEnum):
    KEPT = "kept"
    ADDED = "added"
    REMOVED = "removed"


class Edit(msgspec.Struct, frozen=True):
    """A stretch of one part of the bill that stayed, came or went."""

    part: str
    mark: EditMark
    text: str


def compare_sections(old: Sections | None, new: Sections) -> tuple[Edit, ...]:
    """Return every part of the new bill against the old one; against nothing all of it is new."""
    before = dict(_parts(old)) if old is not None else {}
    return tuple(
        edit
        for part, units in _parts(new)
        for edit in _compare_part(part, before.get(part, ()), units)
    )


def list_changed_parts(edits: Iterable[Edit]) -> tuple[str, ...]:
    """Return the parts that are not the same, in the order of the bill."""
    return tuple(dict.fromkeys(edit.part for edit in edits if edit.mark is not EditMark.KEPT))


def describe_edits(edits: Iterable[Edit]) -> Iterator[str]:
    """For a person: only what came and went, under the name of its part."""
    part = ""
    for edit in edits:
        if edit.mark is EditMark.KEPT:
            continue
        if edit.part != part:
            part = edit.part
            yield part
        sign = "+" if edit.mark is EditMark.ADDED else "-"
        yield from (f"  {sign} {line}" for line in edit.text.splitlines() if line.strip())


def split_into_units(text: str) -> tuple[str, ...]:
    """Return a text cut after sentences and lines; joined again it is the same text."""
    return tuple(match[0] for match in _UNIT.finditer(text) if match[0])


def _parts(sections: Sections) -> Iterator[tuple[str, tuple[str, ...]]]:
    yield "problem", split_into_units(sections.problem)
    yield from _scope_parts(sections.scope)
    yield "solution", split_into_units(sections.solution)
    yield "implementation", split_into_units(sections.implementation)


def _scope_parts(scope: Scope) -> Iterator[tuple[str, tuple[str, ...]]]:
    for name in ("in_scope", "out_of_scope", "assumptions", "definitions"):
        yield f"scope.{name}", tuple(f"{item}\n" for item in getattr(scope, name))


def _compare_part(part: str, old: tuple[str, ...], new: tuple[str, ...]) -> Iterator[Edit]:
    if old == new:
        yield from _edit_if_any(part, EditMark.KEPT, new)
        return
    if max(len(old), len(new)) > MAX_UNITS:
        yield from _edit_if_any(part, EditMark.REMOVED, old)
        yield from _edit_if_any(part, EditMark.ADDED, new)
        return
    for tag, i1, i2, j1, j2 in SequenceMatcher(str.isspace, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            yield from _edit_if_any(part, EditMark.KEPT, new[j1:j2])
        else:
            yield from _edit_if_any(part, EditMark.REMOVED, old[i1:i2])
            yield from _edit_if_any(part, EditMark.ADDED, new[j1:j2])


def _edit_if_any(part: str, mark: EditMark, units: tuple[str, ...]) -> Iterator[Edit]:
    if units:
        yield Edit(part, mark, "".join(units))


_TONES: Final[dict[SessionOutcome | None, page.Tone]] = {
    SessionOutcome.APPROVED: "good",
    SessionOutcome.APPROVED_WITH_AMENDMENTS: "good",
    SessionOutcome.VETOED: "bad",
    SessionOutcome.NO_PASSAGE: "bad",
    None: "neutral",
}
_STATUS_TONES: Final[dict[AmendmentStatus, page.Tone]] = {
    AmendmentStatus.INCORPORATED: "good",
    AmendmentStatus.REJECTED: "bad",
}
# The status of a session in words, where the protocol's own word says little to a reader.
_WAITING: Final = {"pm_review": "waiting for a person"}
# The turning points of a session; the rest is in the ledger file.
_TURNING_POINTS: Final = frozenset(
    {Kind.BILL_DRAFT, Kind.AMENDMENT, Kind.VOTE_TALLY, Kind.PM_DECISION}
)
_TOLD: Final = {
    Kind.BILL_DRAFT: "{who} put forward a version of the bill.",
    Kind.AMENDMENT: "{who} proposed an amendment.",
    Kind.VOTE_TALLY: "The votes were counted.",
    Kind.PM_DECISION: "{who} had the last word.",
    Kind.SPEAKER_RULING: "{who} ruled.",
}
_TURNING_RULINGS: Final = frozenset({RulingAction.CALL_VOTE, RulingAction.QUIET})
_BY_RULE: Final = "NO by rule: it failed"
# The same words as on a receipt, so that a reader recognizes them.
_SCRIPTED_NOTE: Final = "scripted; no model and no person thought about these words"


def make_report(
    record: Proceedings,
    proof: page.ProofFile | None = None,
    scripted: Collection[str] = (),
    tools: Mapping[str, str] = {},
) -> page.Report:
    """Return the page of a session, finished or not.

    `scripted` are agents that followed a script; `tools` say by what each agent was played.
    """
    state = record.state
    last = last_counted_ballot(record)
    return page.Report(
        kind="parliament",
        title=state.bill.title
        if state.bill
        else state.problem_statement.strip().partition("\n")[0],
        subtitle=f"{plural(len(state.order), 'seat')}, {plural(state.round.number, 'round')}, "
        f"{state.parliament_id}",
        verdict=_verdict(state),
        decision=_decision(record, scripted, tools),
        dissent=_dissent(record, last, tools),
        blocks=tuple(_page_blocks(record, last, scripted, tools)),
        proof=proof,
    )


def _verdict(state: State) -> page.VerdictBadge:
    if state.outcome is None:
        where = str(state.status or "not convened")
        return page.VerdictBadge("NOT DECIDED", "neutral", _WAITING.get(where, where))
    return page.VerdictBadge(OUTCOME_WORDS[state.outcome].upper(), _TONES[state.outcome])


def _decision(
    record: Proceedings, scripted: Collection[str], tools: Mapping[str, str]
) -> page.DecisionCard:
    state = record.state
    word = find_final_decision(record)
    statement = word[1].reason if word else ""
    facts = [
        page.Fact("bill version", str(state.bill.version if state.bill else 0)),
        page.Fact("drafter", record.name_of_seat(state.drafter) if state.drafter else "none"),
        page.Fact("rounds", f"{state.round.number} of {state.max_rounds}"),
    ]
    if state.vote_history:
        row = state.vote_history[-1]
        facts.append(page.Fact("last vote", f"{row.yes} of {row.total} for it"))
    if word and signer_of_decision(record, word[0]):
        facts.append(page.Fact("decided by", signer_of_decision(record, word[0])))
    if describe_origin(state):
        facts.append(page.Fact("origin", describe_origin(state)))
    if scripted:
        facts.append(page.Fact("note", f"{', '.join(scripted)}: {_SCRIPTED_NOTE}"))
    sentence = f"{OUTCOME_WORDS[state.outcome]}. {statement}".strip()
    return page.DecisionCard(sentence, tuple(facts), reasons=_supporters(record, tools))


def _dissent(
    record: Proceedings, last: CountedBallot | None, tools: Mapping[str, str]
) -> page.Dissent:
    if last is None:
        return page.Dissent((), "No vote has been counted yet.")
    voices = tuple(_quote(record, seat, vote, tools) for seat, vote in list_dissenters(last))
    return page.Dissent(voices, "" if voices else "Nobody voted against it on the last ballot.")


def _supporters(record: Proceedings, tools: Mapping[str, str]) -> tuple[page.Quote, ...]:
    """Return why those who voted for it did, in full."""
    last = last_counted_ballot(record)
    votes = last.votes.items() if last is not None else ()
    return tuple(
        page.Quote(
            author=record.name_of_seat(seat),
            text="\n\n".join(filter(None, (vote.reasoning, vote.reservations))),
            stance=str(vote.vote),
            tone="good",
            tool=_tool(record, seat, tools),
            markdown=True,
        )
        for seat, vote in votes
        if vote.vote is Ballot.YES
    )


def _tool(record: Proceedings, seat: str, tools: Mapping[str, str]) -> str:
    """By what the agent of a seat was played; nothing where that is not known."""
    holders = {each.id: each.agent for each in record.state.seats_in_order()}
    return tools.get(holders.get(seat, ""), "")


def _quote(record: Proceedings, seat: str, vote: Vote, tools: Mapping[str, str]) -> page.Quote:
    conditions = "\n".join(f"Would change it: {condition}" for condition in vote.conditions)
    return page.Quote(
        author=record.name_of_seat(seat),
        text=f"{vote.reasoning}\n\nUnaddressed: {describe_unaddressed(vote)}\n\n{conditions}",
        stance=str(vote.vote),
        tone="bad",
        note=_BY_RULE if record.state.seats[seat].expelled else "",
        tool=_tool(record, seat, tools),
        markdown=True,
    )


def _page_blocks(
    record: Proceedings,
    last: CountedBallot | None,
    scripted: Collection[str],
    tools: Mapping[str, str],
) -> list[page.Block]:
    blocks: list[page.Block] = [*_bill(record.state)]
    blocks += [_rounds(record), _chamber(record, last, scripted, tools)]
    if record.state.amendments_in_order():
        blocks.append(_amendments(record))
    blocks.append(_timeline(record))
    counted: list[page.Block] = []
    if last is not None and last.tally is not None:
        counted.append(_vote_bars(record, last, last.tally))
    counted += [_votes(record.state), _satisfaction(record)]
    blocks.append(page.Fold(tuple(counted), title="How it was counted"))
    blocks.append(page.Fold((_history(record),), title="How the bill changed"))
    return blocks


def _chamber(
    record: Proceedings,
    last: CountedBallot | None,
    scripted: Collection[str],
    tools: Mapping[str, str],
) -> page.Chamber:
    seats = tuple(
        _seat(seat, last, "scripted voice" if seat.agent in scripted else tools.get(seat.agent, ""))
        for seat in record.state.seats_in_order()
    )
    row = record.state.vote_history[-1] if record.state.vote_history else None
    centre = f"{row.yes} yes · {row.no} no" if row is not None else "no vote yet"
    return page.Chamber(seats, centre, title="The chamber")


def _seat(seat: Seat, last: CountedBallot | None, played_by: str) -> page.ChamberSeat:
    vote = last.votes.get(seat.id) if last is not None else None
    motives = ", ".join(
        f"{motive} ({'not scored' if score is None else f'served {score} of 5'})"
        for motive, score in seat.scores_by_motive()
    )
    note = "; ".join(filter(None, (played_by, motives)))
    if vote is None:
        return page.ChamberSeat(seat.name, "neutral", "absent" if last else "", note)
    tone: page.Tone = "good" if vote.vote is Ballot.YES else "bad"
    return page.ChamberSeat(seat.name, tone, str(vote.vote), note)


def _vote_bars(record: Proceedings, last: CountedBallot, tally: VoteTally) -> page.BarChart:
    count = tally.tally
    absent = [seat.name for seat in record.state.seats_in_order() if seat.id not in last.votes]
    bars = (
        page.Bar("Yes", Decimal(count.yes), "good", _seat_names(record, tally.yes_votes)),
        page.Bar("No", Decimal(count.no), "bad", _seat_names(record, tally.no_votes)),
        page.Bar("Absent", Decimal(len(absent)), "plain", ", ".join(absent)),
    )
    needed = page.ChartThreshold(Decimal(count.total // 2 + 1), "needed to pass")
    title = f"The vote on version {tally.bill_version}"
    return page.BarChart(bars, Decimal(count.total), needed, title=title)


def _seat_names(record: Proceedings, seats: tuple[str, ...]) -> str:
    return ", ".join(map(record.name_of_seat, seats))


def _satisfaction(record: Proceedings) -> page.LineChart:
    """Return each seat's worst served motive, round by round: the one that holds a vote up."""
    by_round = collect_scores_by_round(record)
    series = []
    for seat in record.state.seats_in_order():
        latest: dict[str, int] = {}
        points = []
        for number, scores in sorted(by_round.get(seat.id, {}).items()):
            latest.update(scores)
            score, motive = min((score, motive) for motive, score in latest.items())
            points.append(page.Point(number, Decimal(score), motive, score < SERVED_FROM))
        series.append(page.Series(seat.name, tuple(points)))
    return page.LineChart(
        tuple(series),
        page.ChartThreshold(Decimal(SERVED_FROM), "enough for a vote"),
        y_label="Lowest score",
        hollow_means="not served well enough",
        low=Decimal(1),
        high=Decimal(5),
        title="Motive satisfaction by round",
        caption="The lowest score each representative has given to one of its motives.",
    )


def _history(record: Proceedings) -> page.Block:
    rows: list[tuple[str | page.Cell, ...]] = []
    before: DraftVersion | None = None
    for version in list_bill_versions(record):
        old = before.draft.sections if before else None
        for edit in compare_sections(old, version.draft.sections):
            if edit.mark is not EditMark.KEPT:
                tone: page.Tone = "good" if edit.mark is EditMark.ADDED else "bad"
                rows.append(
                    (
                        str(version.draft.bill_version),
                        str(version.round),
                        record.name_of_seat(version.by),
                        edit.part,
                        page.Cell(str(edit.mark), tone),
                        edit.text.strip(),
                    )
                )
        before = version
    columns = ("Version", "Round", "By", "Part", "Change", "Text")
    return page.Table(columns, tuple(rows), title="The bill's history")


def _bill(state: State) -> list[page.Block]:
    if state.bill is None:
        return [page.Prose(state.problem_statement, "Problem", markdown=True)]
    sections = state.bill.sections
    scope = sections.scope
    lists = (
        ("In scope", scope.in_scope),
        ("Out of scope", scope.out_of_scope),
        ("Assumptions", scope.assumptions),
        ("Definitions", scope.definitions),
    )
    facts = tuple(page.Fact(name, "; ".join(items) or "none") for name, items in lists)
    return [
        page.Prose(sections.solution, "Solution", markdown=True),
        page.Prose(sections.implementation, "Implementation", markdown=True),
        page.Prose(sections.problem, "Problem", markdown=True),
        page.Facts(facts, "Scope"),
    ]


def _amendments(record: Proceedings) -> page.Table:
    return page.Table(
        ("Amendment", "By", "Section", "What", "For", "Against", "Status"),
        tuple(
            (
                amendment.amendment_id,
                record.name_of_seat(amendment.proposed_by),
                str(amendment.target_section),
                amendment.description,
                str(sum(row.position == "endorse" for row in amendment.endorsements)),
                str(sum(row.position == "oppose" for row in amendment.endorsements)),
                page.Cell(str(amendment.status), _STATUS_TONES.get(amendment.status, "neutral")),
            )
            for amendment in record.state.amendments_in_order()
        ),
        title="Amendments",
    )


def _rounds(record: Proceedings) -> page.Table:
    return page.Table(
        ("Round", "What happened", "Who moved", "Left open"),
        tuple(
            (
                str(row["round"]),
                row["summary"],
                "; ".join(row["key_shifts"]) or "nobody",
                "; ".join(row["open_issues"]) or "nothing",
            )
            for row in record.summaries
        ),
        title="Round by round",
    )


def _votes(state: State) -> page.Table:
    return page.Table(
        ("Ballot", "Round", "Version", "Yes", "No", "Seats", "Result"),
        tuple(
            (
                str(number),
                str(row.round),
                str(row.bill_version),
                str(row.yes),
                str(row.no),
                str(row.total),
                page.Cell(
                    "passed" if row.passed else "failed",
                    "good" if row.passed else "bad",
                    "forced" if row.forced else "",
                ),
            )
            for number, row in enumerate(state.vote_history, 1)
        ),
        title="Vote record",
    )


def _timeline(record: Proceedings) -> page.Timeline:
    turning_points = (message for message in record.messages if _is_turning_point(message))
    return page.Timeline(
        tuple(_timeline_entry(record, message) for message in turning_points),
        title="Turning points",
    )


def _is_turning_point(message: LedgerMessage) -> bool:
    return (
        message.type in _TURNING_POINTS
        or getattr(message.content, "action", None) in _TURNING_RULINGS
    )


def _timeline_entry(record: Proceedings, message: LedgerMessage) -> page.TimelineEntry:
    content = message.content
    names = ("description", "ruling", "reason", "summary")
    detail = next((str(getattr(content, name)) for name in names if hasattr(content, name)), "")
    name = record.name_of_seat(message.sender)
    who = f"{name[:1].upper()}{name[1:]}"
    what = _TOLD[message.type].format(who="The speaker" if name == "speaker" else who)
    if isinstance(content, VoteTally):
        count, passed = content.tally, "passed" if content.passed else "failed"
        what = (
            f"The vote on version {content.bill_version} {passed}: {count.yes} yes, {count.no} no."
        )
    return page.TimelineEntry(message.timestamp, "", what, detail, message.id)
