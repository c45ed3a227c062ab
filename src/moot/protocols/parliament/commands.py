"""The commands of a parliament. Chance, texts and stored files arrive as data.

The clerk and the speaker act as `system`, the prime minister with a person's key, a seat with the
key of its agent.
"""

from __future__ import annotations

from typing import Any

import msgspec

from moot.core.machine import Command
from moot.core.record import ArtifactRef
from moot.protocols.parliament.model import DEFAULT_ROUNDS


class SeatPlan(msgspec.Struct, frozen=True):
    """A seat to fill: its name, its motives, and the agent whose key signs for it.

    `bound` is false if the agent was made for this seat alone. `epoch` is the holder of the agent's
    name: a later holder has no seat.
    """

    name: str
    motives: tuple[str, ...]
    agent: str
    bound: bool = True
    epoch: int = 1


class Convene(Command, frozen=True):
    """Call a parliament on a problem. Seats become rep_1, rep_2, ... in their order.

    `seed` decides the temperatures; the same seed gives the same ones.
    """

    problem_statement: str
    issues: tuple[str, ...]
    seats: tuple[SeatPlan, ...]
    max_rounds: int = DEFAULT_ROUNDS
    seed: str = ""


class Import(Command, frozen=True):
    """Continue a session from elsewhere: its four files, and the agents of its seats.

    `files` are the stored bytes of these files; `bound` are seats whose agent existed before,
    `epochs` the holder of each agent's name.
    """

    ledger: Any
    session: Any
    bill: Any
    summaries: Any
    agents: dict[str, str]
    bound: tuple[str, ...] = ()
    epochs: dict[str, int] = msgspec.field(default_factory=dict)
    files: tuple[ArtifactRef, ...] = ()


class BindSeat(Command, frozen=True):
    """Before the session begins, give a seat to another agent.

    Once it has begun, a person may give it to a later holder of the same name.
    """

    seat: str
    agent: str
    epoch: int = 1


class Begin(Command, frozen=True):
    """Ask for the opening statements."""


class CloseStatements(Command, frozen=True):
    """End the opening statements once every seat has spoken. Only the machine does this."""


class ChooseDrafter(Command, frozen=True):
    """Choose who drafts the bill: the seat named, else the one that covers most issues.

    Also replaces a drafter who was expelled.
    """

    seat: str | None = None


class EndUndrafted(Command, frozen=True):
    """End a session without any seat that could draft. Only the machine does this."""


class Submit(Command, frozen=True):
    """Bring one message in the Agent Response Format: no id, round or timestamp.

    `document` is the decoded JSON; for text that is no JSON say so with `ReportUnreadable`. With
    `raw`, the stored reply, a text over the budget is cut to it; without, it is only remarked.
    `seed` decides the temperatures of a round that starts.
    """

    document: Any
    raw: ArtifactRef | None = None
    seed: str = ""


class Announce(Submit, frozen=True):
    """Bring a tally or a decision: like `Submit`, but what it rests on is proved first."""


class ReportUnreadable(Command, frozen=True):
    """Say that a seat's reply was no JSON at all. It counts like a malformed message."""

    problem: str
    seat: str | None = None
    raw: ArtifactRef | None = None


class GiveOwedRuling(Command, frozen=True):
    """Give the oldest ruling that the speaker owes. Only the machine does this."""


class Incorporate(Command, frozen=True):
    """Work an amendment into the bill, as its next version; by the speaker or the drafter.

    `draft` is the whole new content of the bill; without it an addition, a replacement or a
    removal of plain text is carried out to the letter.
    """

    amendment_id: str
    draft: Any = None


class Withdraw(Command, frozen=True):
    """Take back an amendment you proposed."""

    amendment_id: str


class ConcludeAmendment(Command, frozen=True):
    """End the discussion of an amendment: more against it than for it rejects it."""

    amendment_id: str


class CallAmendmentVote(Command, frozen=True):
    """Call for everyone's position on an amendment whose support is unclear."""

    amendment_id: str


class CloseBallot(Command, frozen=True):
    """Wait no longer for missing votes; the speaker or the prime minister may."""


class CastDefaultVote(Command, frozen=True):
    """Count an expelled seat as NO. Only the machine does this."""

    seat: str


class CountVotes(Command, frozen=True):
    """Announce the result of the ballot."""


class Decide(Command, frozen=True):
    """Decide as prime minister: approve, veto, amend_and_approve or opening_guidance.

    `draft` is the amended bill of amend_and_approve; `extend_rounds` grants a veto more rounds.
    """

    decision: str
    reason: str
    guidance: str = ""
    draft: Any = None
    extend_rounds: int = 0


class Summarize(Command, frozen=True):
    """Replace a round's summary by a better one, in the form of the summaries file."""

    summary: Any


class Complete(Command, frozen=True):
    """Close the session: the final document is written. `document` is its stored text."""

    document: ArtifactRef | None = None


COMMANDS = (
    *(Convene, Import, BindSeat, Begin, CloseStatements, ChooseDrafter, EndUndrafted, Submit),
    *(Announce, ReportUnreadable, GiveOwedRuling, Incorporate, Withdraw, ConcludeAmendment),
    *(CallAmendmentVote, CloseBallot, CastDefaultVote, CountVotes, Decide, Summarize, Complete),
)
