"""The four files side by side, as `file_checks.py` and `message_checks.py` look things up in
them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

import msgspec

from moot.core.findings import Finding, select_errors
from moot.protocols.parliament.files.file_shapes import (
    BILL_FILE,
    LEDGER_FILE,
    SESSION_FILE,
    SUMMARIES_FILE,
)
from moot.protocols.parliament.messages.words import Kind

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
    """Which message a finding is about."""
    match = _MESSAGE_PATH.match(finding.where or "")
    return int(match[1]) if match else None


_MESSAGE_PATH: Final = re.compile(re.escape(LEDGER_FILE) + r"#messages\[([0-9]+)\]")

FilesCheck = Callable[[FourFiles], Iterator[Finding]]


class RecountedBallot(msgspec.Struct):
    """One ballot, counted again: the votes between the call and its tally."""

    votes: dict[str, str]
    tally: PlacedMessage | None = None


def recount_ballots(book: FourFiles) -> list[RecountedBallot]:
    """The ballots of the session in order; the last one may still be open."""
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
