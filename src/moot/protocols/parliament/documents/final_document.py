"""The final document: seven sections, every dissent in full, every vote on record.

Written from the record alone: the same record gives the same document. Texts of others are
escaped, so that no text can forge a section.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final, TypeVar

import msgspec

from moot.pages.markdown_and_json import markdown_line, markdown_paragraphs
from moot.protocols.parliament.messages.contents import (
    Answer,
    Ballot,
    BillDraft,
    Content,
    PmDecision,
    Vote,
    VoteTally,
)
from moot.protocols.parliament.messages.message import LedgerMessage
from moot.protocols.parliament.model import BILL_NUMBER, SessionOutcome, State
from moot.protocols.parliament.motives import SERVED_FROM

# What the documents of a session are made of: the state, every message, every summary.

C = TypeVar("C", bound=Content)


class CountedBallot(msgspec.Struct, frozen=True):
    """A ballot: who voted what, and what was announced; None while it is open."""

    votes: dict[str, Vote]
    tally: VoteTally | None
    round: int


class DraftVersion(msgspec.Struct, frozen=True):
    """A version of the bill: whose, when, and its text."""

    draft: BillDraft
    by: str
    round: int


class Proceedings(msgspec.Struct, frozen=True):
    """`signers` says whose key signed a message, where that is known."""

    state: State
    messages: tuple[LedgerMessage, ...]
    summaries: tuple[dict[str, Any], ...]
    signers: dict[str, str] = {}

    def messages_with(self, kind: type[C]) -> Iterator[tuple[LedgerMessage, C]]:
        """Yield the messages of one type, with their contents."""
        for message in self.messages:
            if isinstance(message.content, kind):
                yield message, message.content

    def name_of_seat(self, seat: str) -> str:
        known_seat = self.state.seats.get(seat)
        return known_seat.name if known_seat is not None else seat.replace("_", " ")


def list_ballots(record: Proceedings) -> list[CountedBallot]:
    """Return every ballot in order: the votes before each tally, and those still open."""
    counted: list[CountedBallot] = []
    votes: dict[str, Vote] = {}
    round_number = 0
    for message in record.messages:
        match message.content:
            case Vote() as vote:
                votes[message.sender] = vote
                round_number = message.round
            case VoteTally() as tally:
                counted.append(CountedBallot(votes, tally, message.round))
                votes = {}
    return [*counted, CountedBallot(votes, None, round_number)] if votes else counted


def list_bill_versions(record: Proceedings) -> list[DraftVersion]:
    """Return the bill's history; the prime minister's own text is the last of it."""
    history = [
        DraftVersion(draft, message.sender, message.round)
        for message, draft in record.messages_with(BillDraft)
    ]
    bill = record.state.bill
    if bill is not None and (not history or history[-1].draft.bill_version < bill.version):
        draft = BillDraft(bill.version, bill.title, bill.summary, bill.sections)
        history.append(DraftVersion(draft, "prime_minister", record.state.round.number))
    return history


def list_decisions(record: Proceedings) -> list[tuple[LedgerMessage, PmDecision]]:
    return list(record.messages_with(PmDecision))


def signer_of_decision(record: Proceedings, message: LedgerMessage) -> str:
    """Return who signed a decision here; empty if unknown, vague if it came from files."""
    number = int(message.id.removeprefix("msg-"))
    if number <= record.state.imported:
        return "someone elsewhere"
    return record.signers.get(message.id, "")


def find_final_decision(record: Proceedings) -> tuple[LedgerMessage, PmDecision] | None:
    """Return the decision that ended the session; None if it is open, or the vote ended it."""
    all_decisions = list_decisions(record)
    ended = record.state.outcome not in (None, SessionOutcome.NO_PASSAGE)
    return all_decisions[-1] if ended and all_decisions else None


def describe_origin(state: State) -> str:
    """Return where unsigned messages came from; empty if all were signed here."""
    if not state.imported:
        return ""
    all_of_them = state.next_message_id - 1
    return f"{state.imported} of {all_of_them} messages were read from files, not signed here"


def collect_scores_by_round(record: Proceedings) -> dict[str, dict[int, dict[str, int]]]:
    """For each seat and round, the latest score of each motive named in it."""
    scores: dict[str, dict[int, dict[str, int]]] = {}
    for message in record.messages:
        if isinstance(message.content, Answer | Vote):
            rounds = scores.setdefault(message.sender, {})
            rounds.setdefault(message.round, {}).update(message.content.motive_scores)
    return scores


FINAL_FILE: Final = "final-bill.md"
OUTCOME_WORDS: Final[dict[SessionOutcome | None, str]] = {
    SessionOutcome.APPROVED: "Approved",
    SessionOutcome.APPROVED_WITH_AMENDMENTS: "Approved with Amendments",
    SessionOutcome.VETOED: "Vetoed",
    SessionOutcome.NO_PASSAGE: "Not Passed",
    None: "Not Decided",
}


def write_final_document(record: Proceedings) -> str:
    """Return the whole document as markdown."""
    parts = [
        f"# {_title(record)}",
        _bullets(_header_lines(record)),
        *_section(1, "Problem", _problem(record.state)),
        *_section(2, "Scope", *_scope(record.state)),
        *_section(3, "Solution", _section_text(record.state, "solution")),
        *_section(4, "Implementation", _section_text(record.state, "implementation")),
        *_section(5, "Deliberation Record", *_deliberation(record)),
        *_section(6, "Dissenting Opinions", *_dissent(record)),
        *_section(7, "Vote Record", *_vote_record(record)),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _title(record: Proceedings) -> str:
    bill = record.state.bill
    return markdown_line(bill.title) if bill else "No bill was drafted"


def _section(number: int, title: str, *parts: str) -> list[str]:
    return [f"## {number}. {title}", *parts]


def _bullets(items: Iterable[str]) -> str:
    return "\n".join(f"- {item}" for item in items)


def _header_lines(record: Proceedings) -> Iterator[str]:
    state = record.state
    yield f"Bill: {BILL_NUMBER}, version {state.bill.version}" if state.bill else "Bill: none"
    yield f"Parliament: {state.parliament_id}"
    drafter = markdown_line(record.name_of_seat(state.drafter)) if state.drafter else "none"
    yield f"Drafter: {drafter}"
    yield f"Rounds: {state.round.number} of {state.max_rounds}"
    yield f"Vote: {_last_vote(state)}"
    yield f"Status: {OUTCOME_WORDS[state.outcome]}"
    if describe_origin(state):
        yield f"Origin: {describe_origin(state)}"


def _last_vote(state: State) -> str:
    if not state.vote_history:
        return "none was taken"
    row = state.vote_history[-1]
    forced = ", forced by the clock or the last round" if row.forced else ""
    return f"{row.yes} yes, {row.no} no of {row.total} seats{forced}"


def _problem(state: State) -> str:
    return markdown_paragraphs(
        state.bill.sections.problem if state.bill else state.problem_statement
    )


def _section_text(state: State, name: str) -> str:
    return markdown_paragraphs(getattr(state.bill.sections, name)) if state.bill else "*No bill.*"


def _scope(state: State) -> Iterator[str]:
    headings = {
        "in_scope": "In scope",
        "out_of_scope": "Out of scope",
        "assumptions": "Assumptions",
        "definitions": "Definitions",
    }
    for name, heading in headings.items():
        items = getattr(state.bill.sections.scope, name) if state.bill else ()
        yield f"### {heading}"
        yield _bullets(map(markdown_line, items)) or "*None.*"


def _deliberation(record: Proceedings) -> Iterator[str]:
    if not record.summaries:
        yield "*No round was held.*"
    for row in record.summaries:
        yield f"### Round {row['round']}"
        yield markdown_paragraphs(row["summary"])
        points = [markdown_line(text) for text in row["key_shifts"]]
        points += [f"{markdown_line(text)} (left open)" for text in row["open_issues"]]
        yield _bullets(points)
    proposals = record.state.amendments_in_order()
    if proposals:
        yield "### Amendments"
        yield _table(
            ("Amendment", "By", "Section", "What", "Status"),
            (
                (
                    amendment.amendment_id,
                    markdown_line(record.name_of_seat(amendment.proposed_by)),
                    str(amendment.target_section),
                    markdown_line(amendment.description),
                    str(amendment.status),
                )
                for amendment in proposals
            ),
        )
    yield from _prime_minister(record)


def _prime_minister(record: Proceedings) -> Iterator[str]:
    all_decisions = list_decisions(record)
    if all_decisions:
        yield "### Prime minister"
        yield _bullets(
            _decision_line(record, message, content) for message, content in all_decisions
        )


def _decision_line(record: Proceedings, message: LedgerMessage, content: PmDecision) -> str:
    guidance = f" Guidance: {markdown_line(content.guidance)}" if content.guidance else ""
    word = str(content.decision).replace("_", " ")
    who = signer_of_decision(record, message)
    by = f" by {markdown_line(who)}" if who else ""
    return f"Round {message.round}, {word}{by}: {markdown_line(content.reason)}{guidance}"


def _dissent(record: Proceedings) -> Iterator[str]:
    """Quote the seats that voted NO on the last ballot."""
    last = last_counted_ballot(record)
    against = [] if last is None else list_dissenters(last)
    if not against:
        yield "*Nobody voted against the last version that was put to a vote.*"
    for seat, vote in against:
        yield f"### {markdown_line(record.name_of_seat(seat))}"
        yield "**Core objection:**"
        yield markdown_paragraphs(vote.reasoning)
        yield "**Unaddressed concern:**"
        yield markdown_paragraphs(describe_unaddressed(vote))
        yield "**Conditions:**"
        yield _bullets(map(markdown_line, vote.conditions)) or "*None were named.*"


def last_counted_ballot(record: Proceedings) -> CountedBallot | None:
    """Return the last ballot that was counted."""
    counted = [ballot for ballot in list_ballots(record) if ballot.tally is not None]
    return counted[-1] if counted else None


def list_dissenters(ballot: CountedBallot) -> list[tuple[str, Vote]]:
    return [(seat, vote) for seat, vote in ballot.votes.items() if vote.vote is Ballot.NO]


def describe_unaddressed(vote: Vote) -> str:
    """Return the motives it sees below 3, and its reservations."""
    low = [
        f"{motive} ({score} of 5)"
        for motive, score in vote.motive_scores.items()
        if score < SERVED_FROM
    ]
    concerns = [", ".join(low), vote.reservations.strip()]
    return ". ".join(text for text in concerns if text) or "none was named"


def _vote_record(record: Proceedings) -> Iterator[str]:
    history = record.state.vote_history
    if not history:
        yield "*No vote was taken.*"
        return
    yield _table(
        ("Round", "Version", "Yes", "No", "Seats", "Result", "Forced"),
        (
            (
                str(row.round),
                str(row.bill_version),
                str(row.yes),
                str(row.no),
                str(row.total),
                "passed" if row.passed else "failed",
                "yes" if row.forced else "no",
            )
            for row in history
        ),
    )
    last = last_counted_ballot(record)
    if last is not None:
        yield f"### The last ballot, round {last.round}"
        yield _table(
            ("Representative", "Vote", "Reasoning", "Reservations"), _ballot_rows(record, last)
        )


def _ballot_rows(record: Proceedings, ballot: CountedBallot) -> Iterator[tuple[str, ...]]:
    for seat in record.state.seats_in_order():
        vote = ballot.votes.get(seat.id)
        if vote is None:
            yield markdown_line(seat.name), "absent", "", ""
        else:
            reasons = markdown_line(vote.reasoning), markdown_line(vote.reservations)
            yield markdown_line(seat.name), str(vote.vote), *reasons


def _table(columns: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [columns, tuple("---" for _ in columns), *rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)
