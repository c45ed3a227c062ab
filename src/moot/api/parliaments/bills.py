"""Operations on the bill of a parliament: draft it, amend it, vote on it, rule on it.

The workspace signs the acts of the clerk and the speaker, an agent those of its seat, and a person
those of the prime minister.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec

from moot.api.operation import operation
from moot.api.parliaments.sessions import (
    ParliamentStanding,
    act_for_seat,
    describe_standing,
    read_document,
)
from moot.core.findings import Finding
from moot.core.names import SYSTEM
from moot.core.text import Quoted
from moot.protocols.decision.views import shorten_question
from moot.protocols.parliament.messages.contents import PRIME_MINISTER, BillDraft, VoteTally

if TYPE_CHECKING:
    from moot.api.parliaments.session import ParliamentSession
    from moot.api.session import Session

__all__ = [
    "ArguedDecision",
    "BillHistory",
    "BillVersion",
    "ChosenDrafter",
    "ConcludedAmendment",
    "CountedVotes",
    "IncorporatedAmendment",
    "RecordedRuling",
    "WithdrawnAmendment",
    "choose_drafter",
    "conclude",
    "decide",
    "history",
    "incorporate",
    "shorten_question",
    "tally",
    "withdraw",
]

_PRIME_MINISTER_ACT: Final = "the prime minister's ruling"


class ChosenDrafter(ParliamentStanding, frozen=True, kw_only=True):
    drafter: str | None
    findings: tuple[Finding, ...]


class IncorporatedAmendment(ParliamentStanding, frozen=True, kw_only=True):
    """`changes` are the added and removed texts, a line each."""

    amendment: str
    changes: tuple[Quoted, ...]
    findings: tuple[Finding, ...]


class WithdrawnAmendment(ParliamentStanding, frozen=True, kw_only=True):
    amendment: str
    findings: tuple[Finding, ...]


class ConcludedAmendment(ParliamentStanding, frozen=True, kw_only=True):
    amendment: str
    amendment_status: str
    findings: tuple[Finding, ...]


class CountedVotes(ParliamentStanding, frozen=True, kw_only=True):
    tally: VoteTally
    findings: tuple[Finding, ...]


class ArguedDecision(msgspec.Struct, frozen=True):
    """A decision that is argued in the session."""

    decision: str
    question: Quoted


class RecordedRuling(ParliamentStanding, frozen=True, kw_only=True):
    """The prime minister's ruling, its author, and the decisions that record it too (`about`)."""

    decision: str
    about: tuple[ArguedDecision, ...]
    findings: tuple[Finding, ...]
    by: str
    problem: Quoted


class BillVersion(msgspec.Struct, frozen=True):
    """A version of the bill: its author, and the added and removed texts, a line each."""

    version: int
    by: str
    round: int
    title: Quoted
    changes: tuple[Quoted, ...]


class BillHistory(ParliamentStanding, frozen=True, kw_only=True):
    versions: tuple[BillVersion, ...]


@operation("parliament.drafter", writes=True, as_ledger=True)
def choose_drafter(
    session: Session, folder: Path, seat: str | None = None, *, key: str | None = None
) -> ChosenDrafter:
    """Choose who drafts the bill: `seat`, or the seat whose motives cover most issues."""
    from moot.api.parliaments.session import ParliamentSession
    from moot.protocols.parliament.commands import ChooseDrafter

    parliament = ParliamentSession.open(session.workspace, folder)
    result = parliament.execute(ChooseDrafter(seat=seat), session.actor(SYSTEM), key=key)
    return ChosenDrafter(
        **describe_standing(result.state), drafter=result.state.drafter, findings=result.findings
    )


@operation("parliament.incorporate", writes=True, as_ledger=True)
def incorporate(
    session: Session,
    folder: Path,
    amendment: str,
    *,
    draft: Path | bytes | str | None = None,
    key: str | None = None,
) -> IncorporatedAmendment:
    """Work an amendment that has enough support into the bill, as its next version.

    An addition, a replacement or a removal is applied literally. For a modification the drafter
    gives the new wording: `draft` is the JSON (a text, or a file) of an object with the changed
    parts of title, summary and sections. The session acts, or the acting agent if it drafts.
    """
    from moot.api.parliaments.session import ParliamentSession
    from moot.protocols.parliament.commands import Incorporate

    parliament = ParliamentSession.open(session.workspace, folder)
    session = act_for_seat(session, parliament)
    merged = _read_draft(parliament, draft)
    actor = session.actor(session.acting or SYSTEM)
    command = Incorporate(amendment_id=amendment, draft=merged)
    result = parliament.execute(command, actor, key=key)
    # Read from the history: a repeat under a key changes nothing, but must return the same changes.
    number = next(
        message.content.bill_version
        for message in result.logged
        if isinstance(message.content, BillDraft)
    )
    changes = (row.changes for row in _list_versions(parliament) if row.version == number)
    return IncorporatedAmendment(
        **describe_standing(result.state),
        amendment=amendment,
        changes=next(changes),
        findings=result.findings,
    )


@operation("parliament.withdraw", writes=True, as_ledger=True)
def withdraw(
    session: Session, folder: Path, amendment: str, *, key: str | None = None
) -> WithdrawnAmendment:
    """Withdraw an amendment; only the seat that proposed it may."""
    from moot.api.parliaments.session import ParliamentSession
    from moot.protocols.parliament.commands import Withdraw

    parliament = ParliamentSession.open(session.workspace, folder)
    session = act_for_seat(session, parliament)
    proposed = parliament.state.amendments.get(amendment)
    signer = None if proposed is None else parliament.signer_of(proposed.proposed_by)
    actor = session.actor(signer or session.acting or SYSTEM)
    result = parliament.execute(Withdraw(amendment_id=amendment), actor, key=key)
    return WithdrawnAmendment(
        **describe_standing(result.state), amendment=amendment, findings=result.findings
    )


@operation("parliament.conclude", writes=True, as_ledger=True)
def conclude(
    session: Session, folder: Path, amendment: str, *, vote: bool = False, key: str | None = None
) -> ConcludedAmendment:
    """End the discussion of an amendment: it is rejected if more are against it than for it.

    With `vote` every seat is asked for its position instead.
    """
    from moot.api.parliaments.session import ParliamentSession
    from moot.protocols.parliament.commands import CallAmendmentVote, ConcludeAmendment

    parliament = ParliamentSession.open(session.workspace, folder)
    make_command = CallAmendmentVote if vote else ConcludeAmendment
    command = make_command(amendment_id=amendment)
    result = parliament.execute(command, session.actor(SYSTEM), key=key)
    return ConcludedAmendment(
        **describe_standing(result.state),
        amendment=amendment,
        amendment_status=str(result.state.amendments[amendment].status),
        findings=result.findings,
    )


@operation("parliament.tally", writes=True, as_ledger=True)
def tally(
    session: Session, folder: Path, *, close: bool = False, key: str | None = None
) -> CountedVotes:
    """Count the votes and announce the result; with `close`, without waiting for missing votes.

    Closing and counting are two commits: the ballot stays closed if counting is refused.
    """
    from moot.api.parliaments.session import ParliamentSession
    from moot.protocols.parliament.commands import CloseBallot, CountVotes

    parliament = ParliamentSession.open(session.workspace, folder)
    clerk = session.actor(SYSTEM)
    if close:
        parliament.execute(CloseBallot(), clerk, key=None if key is None else f"{key}:close")
    result = parliament.execute(CountVotes(), clerk, key=key)
    counted = next(
        message.content for message in result.logged if isinstance(message.content, VoteTally)
    )
    return CountedVotes(**describe_standing(result.state), tally=counted, findings=result.findings)


@operation("parliament.decide", writes=True, as_ledger=True)
def decide(
    session: Session,
    folder: Path,
    decision: str,
    reason: str,
    *,
    guidance: str = "",
    draft: Path | bytes | str | None = None,
    extend_rounds: int = 0,
    sha256: str | None = None,
) -> RecordedRuling:
    """Rule as prime minister, with a person's key: `approve`, `veto`, `amend_and_approve` or
    `opening_guidance`.

    A veto and opening guidance need `guidance`; `amend_and_approve` needs `draft`, the JSON of an
    object with the changed parts of title, summary and sections. A veto may grant more rounds. If
    the session belongs to a decision, both records get the ruling, or neither. The rules are
    checked before a passphrase is asked for. A ruling counts once: a repeat only completes a record
    that lacks it, so it needs no key. `sha256` is the hash of the bill that the person was shown:
    if the bill has changed since, the ruling is refused (busy).
    """
    from moot.api.decisions.ruling import require_text_shown
    from moot.api.parliaments.session import ParliamentSession
    from moot.protocols.parliament.commands import Decide

    parliament = ParliamentSession.open(session.workspace, folder)
    command = Decide(
        decision=decision,
        reason=reason,
        guidance=guidance,
        draft=_read_draft(parliament, draft),
        extend_rounds=extend_rounds,
    )
    session.require_no_agent(_PRIME_MINISTER_ACT)
    parliament.rehearse(command, PRIME_MINISTER)
    require_text_shown(session.workspace.engine, parliament.stream, sha256)
    person = session.person(_PRIME_MINISTER_ACT)
    result = parliament.execute(command, person, PRIME_MINISTER)
    return RecordedRuling(
        **describe_standing(result.state),
        decision=decision,
        about=_argued_decisions(parliament),
        findings=result.findings,
        by=person,
        problem=Quoted(result.state.problem_statement),
    )


def _read_draft(parliament: ParliamentSession, draft: Path | bytes | str | None) -> Any:
    """Return the whole bill with the parts that `draft` changes."""
    from moot.api.parliaments.incoming import merge_into_bill

    return None if draft is None else merge_into_bill(parliament.state, read_document(draft))


def _argued_decisions(parliament: ParliamentSession) -> tuple[ArguedDecision, ...]:
    from moot.api.parliaments.ruling import decisions_argued_in
    from moot.protocols.decision import stream_of
    from moot.protocols.decision.machine import MACHINE as DECISION

    engine = parliament.workspace.engine
    names = decisions_argued_in(engine, parliament.stream)
    return tuple(
        ArguedDecision(name, Quoted(engine.state(DECISION, stream_of(name)).question))
        for name in names
    )


@operation("parliament.history")
def history(session: Session, folder: Path) -> BillHistory:
    """List every version of the bill: its author, and what it added and removed."""
    from moot.api.parliaments.session import ParliamentSession

    parliament = ParliamentSession.open(session.workspace, folder)
    return BillHistory(
        **describe_standing(parliament.state), versions=tuple(_list_versions(parliament))
    )


def _list_versions(parliament: ParliamentSession) -> Iterator[BillVersion]:
    from moot.protocols.parliament.documents.final_document import list_bill_versions
    from moot.protocols.parliament.documents.report import compare_sections, describe_edits

    before = None
    for version in list_bill_versions(parliament.read_proceedings()):
        draft = version.draft
        edits = describe_edits(compare_sections(before, draft.sections))
        yield BillVersion(
            draft.bill_version,
            version.by,
            version.round,
            Quoted(draft.title),
            tuple(map(Quoted, edits)),
        )
        before = draft.sections
