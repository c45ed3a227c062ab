"""Each file against the others: one problem, one bill, one history of votes.

A check yields a finding for each disagreement, with its file and key.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

import msgspec

from moot.core.findings import Finding, Severity, select_errors
from moot.protocols.parliament.files.file_shapes import (
    BILL_FILE,
    LEDGER_FILE,
    SESSION_FILE,
    SETTLED,
    SUMMARIES_FILE,
    KnownAmendment,
    RoundFacts,
    find_contradictions,
)
from moot.protocols.parliament.messages import limits
from moot.protocols.parliament.messages.contents import (
    AmendmentStatus,
    Kind,
    Position,
    PrimeMinisterChoice,
)
from moot.protocols.parliament.messages.shapes import make_finding, show_value

# The four files side by side, as `file_checks.py` and `inspection.py` look things up in them.

Document = dict[str, Any]


class PlacedMessage(msgspec.Struct, frozen=True):
    """A well-formed message and its place in the file."""

    place: int
    message: Document

    @property
    def where(self) -> str:
        return f"{LEDGER_FILE}#messages[{self.place}]"

    @property
    def kind(self) -> str:
        return str(self.message["type"])

    @property
    def sender(self) -> str:
        return str(self.message["from"])

    @property
    def content(self) -> Document:
        content: Document = self.message["content"]
        return content


class FourFiles(msgspec.Struct, frozen=True):
    """`session`, `bill`, `summaries` are None where their file is missing or not sound."""

    ledger: Document | None
    session: Document | None
    bill: Document | None
    summaries: list[Document] | None
    entries: tuple[PlacedMessage, ...]
    seats: dict[str, Document]

    @classmethod
    def from_documents(
        cls, documents: Mapping[str, Any], wrong: Iterable[Finding] = ()
    ) -> FourFiles:
        """`wrong` are the findings in single files: messages with an error are left out."""
        ledger, session = documents.get(LEDGER_FILE), documents.get(SESSION_FILE)
        messages = ledger["messages"] if ledger else ()
        unsound = {_message_place(finding) for finding in select_errors(wrong)}
        sound = (
            PlacedMessage(place, message)
            for place, message in enumerate(messages)
            if place not in unsound
        )
        reps = session["representatives"] if session else ()
        return cls(
            ledger,
            session,
            documents.get(BILL_FILE),
            documents.get(SUMMARIES_FILE),
            tuple(sound),
            {rep["agent_id"]: rep for rep in reps},
        )

    def messages_of_kind(self, *kinds: Kind) -> Iterator[PlacedMessage]:
        return (entry for entry in self.entries if entry.kind in kinds)


def read_satisfaction(seat: Document) -> dict[str, int | None]:
    """S-22: a seat's score of each motive. What the file leaves out is not scored yet."""
    return {**dict.fromkeys(seat["motives"]), **seat.get("motive_satisfaction", {})}


def _message_place(finding: Finding) -> int | None:
    """Return which message a finding is about."""
    match = _MESSAGE_PATH.match(finding.where or "")
    return int(match[1]) if match else None


_MESSAGE_PATH: Final = re.compile(re.escape(LEDGER_FILE) + r"#messages\[([0-9]+)\]")

FilesCheck = Callable[[FourFiles], Iterator[Finding]]


class RecountedBallot(msgspec.Struct):
    """One ballot, counted again: the votes between the call and its tally."""

    votes: dict[str, str]
    tally: PlacedMessage | None = None


def recount_ballots(book: FourFiles) -> list[RecountedBallot]:
    """Return the ballots of the session in order; the last one may still be open."""
    counted: list[RecountedBallot] = []
    running: RecountedBallot | None = None
    for entry in book.messages_of_kind(Kind.VOTE, Kind.VOTE_TALLY):
        running = running or RecountedBallot({})
        if entry.kind == Kind.VOTE:
            running.votes.setdefault(entry.sender, entry.content["vote"])
            continue
        running.tally = entry
        counted.append(running)
        running = None
    return [*counted, running] if running else counted


Findings = Iterator[Finding]


def check_same_session(book: FourFiles) -> Findings:
    """C-39: both files speak of the same parliament and the same problem."""
    if book.ledger is None or book.session is None:
        return
    for name, rule in (("parliament_id", "PAR-004"), ("problem_statement", "PAR-086")):
        if book.ledger.get(name) != book.session[name]:
            why = f"{name} is not the one of the ledger"
            hint = "the ledger is the one that counts"
            yield make_finding(rule, "files_differ", why, f"{SESSION_FILE}#{name}", hint)


def check_seats(book: FourFiles) -> Findings:
    """PAR-093, PAR-094, PAR-096: ids are unique, quiet ends with a round, histories are whole."""
    if book.session is None:
        return
    reps = book.session["representatives"]
    if len(book.seats) != len(reps):
        why, where = "two have one id", f"{SESSION_FILE}#representatives"
        yield make_finding("PAR-093", "taken", why, where, "every seat has its own id")
    for place, seat in enumerate(reps):
        where = f"{SESSION_FILE}#representatives[{place}]"
        if seat["is_quiet"] != (seat["quiet_until_round"] is not None):
            why, hint = "is_quiet and quiet_until_round disagree", "quiet has a round it ends with"
            yield make_finding("PAR-096", "bad_quiet", why, f"{where}.quiet_until_round", hint)
        history = seat["temperature_history"]
        if not history or history[0]["round"] != 0:
            why, hint = "the history does not begin with round 0", "add the row of round 0"
            yield make_finding("PAR-094", "bad_history", why, f"{where}.temperature_history", hint)
        elif history[-1]["temperature"] != seat["temperature"]:
            why = f"the history ends with {history[-1]['temperature']}"
            hint = "the last row is the temperature"
            yield make_finding("PAR-094", "bad_history", why, f"{where}.temperature", hint)


def check_bill_versions(book: FourFiles) -> Findings:
    """PAR-017 and PAR-018: versions count from 1, and all files show the last one."""
    version = 0
    for entry in book.messages_of_kind(Kind.BILL_DRAFT, Kind.PM_DECISION):
        if entry.kind == Kind.PM_DECISION:
            version += entry.content["decision"] == PrimeMinisterChoice.AMEND_AND_APPROVE
            continue
        due, version_in_draft = version + 1, entry.content["bill_version"]
        if version_in_draft != due:
            where, rule = f"{entry.where}.content.bill_version", "PAR-018" if version else "PAR-017"
            yield make_finding(
                rule,
                "wrong_version",
                f"{version_in_draft} follows {version}",
                where,
                f"it is {due}",
            )
        version = max(version_in_draft, version)
    for name, document, key in (
        (SESSION_FILE, book.session, "bill_version"),
        (BILL_FILE, book.bill, "version"),
    ):
        if document is not None and book.ledger is not None and document[key] != version:
            why, where = f"the ledger has version {version}", f"{name}#{key}"
            yield make_finding("PAR-017", "files_differ", why, where, f"it is {version}")


def check_drafter(book: FourFiles) -> Findings:
    """PAR-089: the drafter has a seat, and both files name the same one."""
    if book.session is None:
        return
    drafter = book.session["drafter"]
    if drafter is not None and drafter not in book.seats:
        why, where = f"{drafter} has no seat", f"{SESSION_FILE}#drafter"
        yield make_finding("PAR-089", "unknown_seat", why, where, "name a seat")
    if book.bill is None or (book.bill["drafter"] is None and not book.bill["version"]):
        return  # S-22: before the first draft the bill file need not name one
    if book.bill["drafter"] != drafter:
        why, where = f"the session says {drafter}", f"{BILL_FILE}#drafter"
        yield make_finding("PAR-109", "files_differ", why, where, "both files name one drafter")


def check_amendments(book: FourFiles) -> Findings:
    """PAR-044 and PAR-047: each amendment is new, and is in the bill file as proposed."""
    proposed: dict[str, PlacedMessage] = {}
    for entry in book.messages_of_kind(Kind.AMENDMENT):
        name = entry.content["amendment_id"]
        if name in proposed:
            where, hint = f"{entry.where}.content.amendment_id", "use the next free number"
            yield make_finding("PAR-044", "taken", f"{name} exists already", where, hint)
        proposed.setdefault(name, entry)
    if book.bill is None or book.ledger is None:
        return
    rows = {row["amendment_id"]: row for row in book.bill["amendments"]}
    if len(rows) != len(book.bill["amendments"]):
        why, where = "an amendment is there twice", f"{BILL_FILE}#amendments"
        yield make_finding("PAR-044", "taken", why, where, "one row an amendment")
    for name in proposed.keys() - rows.keys():
        why, where = f"{name} is missing", f"{BILL_FILE}#amendments"
        yield make_finding("PAR-047", "files_differ", why, where, "every amendment has its row")
    for place, row in enumerate(book.bill["amendments"]):
        where = f"{BILL_FILE}#amendments[{place}]"
        yield from _amendment_row_findings(row, proposed.get(row["amendment_id"]), where)


def _amendment_row_findings(
    row: dict[str, Any], entry: PlacedMessage | None, where: str
) -> Findings:
    if entry is None:
        why = f"{row['amendment_id']} was never proposed"
        yield make_finding("PAR-047", "files_differ", why, where, "only proposed ones have a row")
        return
    due = {
        "proposed_by": entry.sender,
        "round": entry.message["round"],
        **{name: entry.content[name] for name in ("target_section", "action", "description")},
    }
    for name, value in due.items():
        if row[name] != value:
            why = f"{name} was {show_value(value)}"
            yield make_finding(
                "PAR-047", "files_differ", why, f"{where}.{name}", "keep what was said"
            )


def check_positions(book: FourFiles) -> Findings:
    """PAR-037 and PAR-039: a position names a proposed amendment, and the bill file shows it."""
    proposed: set[str] = set()
    latest: dict[str, dict[str, tuple[str, int]]] = {}
    for entry in book.messages_of_kind(Kind.AMENDMENT, Kind.ANSWER):
        if entry.kind == Kind.AMENDMENT:
            proposed.add(entry.content["amendment_id"])
            continue
        taken = entry.content.get("amendment_position")
        if taken is None:
            continue
        name = taken["amendment_id"]
        if name not in proposed:
            where = f"{entry.where}.content.amendment_position.amendment_id"
            why, hint = f"{name} was not proposed before", "name a pending amendment"
            yield make_finding("PAR-037", "unknown_amendment", why, where, hint)
        latest.setdefault(name, {})[entry.sender] = (taken["position"], entry.message["round"])
    if book.bill is None or book.ledger is None:
        return
    for place, row in enumerate(book.bill["amendments"]):
        where = f"{BILL_FILE}#amendments[{place}]"
        in_bill_file = {
            endorsement["agent_id"]: (endorsement["position"], endorsement["round"])
            for endorsement in row["endorsements"]
        }
        if in_bill_file != latest.get(row["amendment_id"], {}):
            why, hint = "these are not the positions taken", "each seat's latest position"
            yield make_finding("PAR-039", "files_differ", why, f"{where}.endorsements", hint)
        yield from _support_findings(row, book.bill["drafter"], where)


def _support_findings(row: dict[str, Any], drafter: str | None, where: str) -> Findings:
    """PAR-114 to PAR-116: an incorporated amendment had the support that it needs."""
    stands = {
        endorsement["agent_id"]: endorsement["position"] for endorsement in row["endorsements"]
    }
    endorsers = {seat for seat, position in stands.items() if position == Position.ENDORSE}
    carried = drafter in endorsers or bool(endorsers - {row["proposed_by"]})
    if row["status"] == AmendmentStatus.INCORPORATED and not carried:
        why = "only its proposer was for it"
        hint = "the proposer and one other endorse it, or the drafter does"
        yield make_finding("PAR-116", "not_carried", why, f"{where}.status", hint)


def check_vote_records(book: FourFiles) -> Findings:
    """PAR-057 and PAR-073: the session keeps every tally, and each seat its votes."""
    if book.session is None or book.ledger is None:
        return
    counted = [count for count in recount_ballots(book) if count.tally is not None]
    due = [_vote_row_of(count.tally) for count in counted if count.tally is not None]
    in_session_file = [
        {name: row[name] for name in ("round", "bill_version", "yes", "no", "total", "passed")}
        for row in book.session["vote_history"]
    ]
    if in_session_file != due:
        why, where = "these are not the tallies of the ledger", f"{SESSION_FILE}#vote_history"
        yield make_finding("PAR-073", "files_differ", why, where, "one row a tally, in order")
    for place, seat in enumerate(book.seats.values()):
        cast = [
            c.votes[seat["agent_id"]] for c in recount_ballots(book) if seat["agent_id"] in c.votes
        ]
        if [row["vote"] for row in seat["voting_record"]] != cast:
            where = f"{SESSION_FILE}#representatives[{place}].voting_record"
            why = f"{seat['agent_id']} voted {', '.join(cast) or 'never'}"
            yield make_finding("PAR-057", "files_differ", why, where, "one row a vote, in order")


def _vote_row_of(tally: PlacedMessage | None) -> dict[str, Any]:
    assert tally is not None
    content = tally.content
    count = content["tally"]
    return {
        "round": tally.message["round"],
        "bill_version": content["bill_version"],
        "yes": count["yes"],
        "no": count["no"],
        "total": count["total"],
        "passed": content["passed"],
    }


def check_summaries(book: FourFiles) -> Findings:
    """PAR-119 to PAR-126: one row a round, which says what the messages say."""
    if book.summaries is None:
        return
    rounds: set[int] = set()
    settled: dict[str, int] = {}
    for place, row in enumerate(book.summaries):
        where = f"{SUMMARIES_FILE}#[{place}]"
        if row["round"] in rounds:
            why, hint = f"round {row['round']} is there twice", "one row for each round"
            yield make_finding("PAR-119", "taken", why, f"{where}.round", hint)
        rounds.add(row["round"])
        count = limits.count(row["summary"])
        if not 2 <= count <= 3:
            why, hint = f"the summary has {count} sentences", "write 2 to 3 sentences"
            yield make_finding(
                "PAR-122", "unusual_length", why, f"{where}.summary", hint, Severity.WARNING
            )
        if book.session is not None and row["round"] > book.session["current_round"]:
            why, hint = "this round has not come yet", "a summary is written when a round ends"
            yield make_finding("PAR-119", "files_differ", why, f"{where}.round", hint)
        elif book.session is not None and book.ledger is not None:
            yield from find_contradictions(row, _round_facts(book, row["round"]), where)
        for actioned in row["amendments_actioned"]:
            name = actioned["amendment_id"]
            if actioned["status"] in SETTLED and settled.setdefault(name, place) != place:
                why, hint = f"{name} was settled in an earlier round", "name it once"
                at = f"{where}.amendments_actioned"
                yield make_finding("PAR-124", "wrong_summary", why, at, hint)


def _round_facts(book: FourFiles, number: int) -> RoundFacts:
    """Return what the messages and the bill say about a round that has a summary."""
    assert book.session is not None
    counted = [
        count
        for count in recount_ballots(book)
        if count.tally is not None and count.tally.message["round"] == number
    ]
    of_round = (row for row in book.session["vote_history"] if row["round"] == number)
    forced = {name: row[name] for row in of_round for name in ("forced",) if name in row}
    return RoundFacts(
        seats=book.seats,
        votes=[{**_vote_row_of(count.tally), **forced} for count in counted],
        cast=counted[-1].votes if counted else {},
        amendments=None
        if book.bill is None
        else {
            row["amendment_id"]: KnownAmendment(row["status"], row["round"])
            for row in book.bill["amendments"]
        },
    )
