"""Parliaments: a session is called, messages are brought, and it says who is next.

What is done to the bill is in `bills.py`, the four files of a session are in `files.py`. A session
is named by the folder that holds its files, or by its id (`parl-20260210-001`) where its files were
written on this computer. The speaker and the clerk are the workspace itself, so an agent cannot act
as one of them (`not_you`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

import msgspec

from moot.api.operation import operation
from moot.core.errors import Malformed, Refused
from moot.core.findings import Finding, select_errors
from moot.core.text import Quoted
from moot.protocols.parliament.messages.contents import SPEAKER, Kind
from moot.protocols.parliament.messages.message import MAX_MESSAGE, LedgerMessage, make_template
from moot.protocols.parliament.messages.shapes import MAX_BYTES, read_json
from moot.protocols.parliament.motives import SuggestedExchange, UnderservedMotive
from moot.protocols.parliament.views import SeatView, SessionView, view_session

if TYPE_CHECKING:
    from moot.api.parliaments.convening import SeatRequest
    from moot.api.parliaments.session import ParliamentSession
    from moot.api.session import Session
    from moot.protocols.parliament.model import State

__all__ = [
    "MAX_MESSAGE",
    "CalledParliament",
    "DueStep",
    "LedgerMessage",
    "NextSteps",
    "ParliamentStanding",
    "ParliamentStatus",
    "SeatView",
    "StandingFields",
    "SubmittedMessage",
    "Template",
    "act_for_seat",
    "describe_standing",
    "new",
    "next_steps",
    "read_document",
    "say",
    "status",
    "submit",
    "template",
]


class ParliamentStanding(msgspec.Struct, frozen=True, kw_only=True):
    """Where a session is; part of every result. `outcome` is None until it is decided."""

    parliament_id: str
    status: str
    round: int
    bill_version: int
    outcome: str | None


class StandingFields(TypedDict):
    """The same as keyword arguments, for the results that say more."""

    parliament_id: str
    status: str
    round: int
    bill_version: int
    outcome: str | None


class CalledParliament(ParliamentStanding, frozen=True, kw_only=True):
    folder: str
    seats: tuple[SeatView, ...]


class SubmittedMessage(ParliamentStanding, frozen=True, kw_only=True):
    """The message as it stands in the ledger now, and what the speaker said to it."""

    messages: tuple[LedgerMessage, ...]
    findings: tuple[Finding, ...]


class Template(msgspec.Struct, frozen=True):
    message: dict[str, Any]


class ParliamentStatus(SessionView, frozen=True, kw_only=True):
    """`findings` name the files in the folder that somebody else has changed."""

    findings: tuple[Finding, ...]


class DueStep(msgspec.Struct, frozen=True):
    """What is waited for. `seat` is None for the clerk, the speaker and the prime minister."""

    who: str
    seat: str | None
    what: str
    subject: Quoted
    hint: str


class NextSteps(ParliamentStanding, frozen=True, kw_only=True):
    """`underserved` are motives that hold a vote up, `ask_next` questions that would help."""

    folder: str
    due: tuple[DueStep, ...]
    underserved: tuple[UnderservedMotive, ...]
    ask_next: tuple[SuggestedExchange, ...]
    may_vote: bool
    missing_votes: tuple[str, ...]


def describe_standing(state: State) -> StandingFields:
    return {
        "parliament_id": state.parliament_id,
        "status": str(state.status),
        "round": state.round.number,
        "bill_version": state.bill.version if state.bill else 0,
        "outcome": str(state.outcome) if state.outcome else None,
    }


def read_document(source: Path | bytes | str, most: int | None = None) -> Any:
    """The JSON of a text, or of a file; Malformed if it is none or longer than `most` bytes."""
    from moot.store.files import decode_text, read_bounded

    text = decode_text(read_bounded(source), str(source)) if isinstance(source, Path) else source
    return read_json(text, MAX_BYTES if most is None else most)


@operation("parliament.new", writes=True, as_ledger=True)
def new(
    session: Session,
    folder: Path,
    problem: str,
    issues: Sequence[str],
    seats: Sequence[SeatRequest | str],
    *,
    max_rounds: int = 6,
) -> CalledParliament:
    """Call a parliament on a problem and ask for the opening statements.

    A seat is a `SeatRequest`, or its text `Rep. Name:motive,motive[@AGENT]`. A seat with an agent
    is signed for by that agent; any other gets an agent with a key of its own. Refused if an issue
    is no representative's motive, or the folder holds a session already: so is a repeat, which
    therefore needs no key.
    """
    from moot.api.parliaments.convening import SeatRequest, convene

    requests = tuple(SeatRequest.parse(seat) if isinstance(seat, str) else seat for seat in seats)
    parliament = convene(session.workspace, folder, problem, tuple(issues), requests, max_rounds)
    return CalledParliament(
        **describe_standing(parliament.state),
        folder=str(folder),
        seats=view_session(parliament.state).seats,
    )


@operation("parliament.submit", writes=True, as_ledger=True)
def submit(
    session: Session, folder: Path, message: Path | bytes | str, *, key: str | None = None
) -> SubmittedMessage:
    """Bring one message in the Agent Response Format: JSON without id, round and timestamp.

    `message` is its text, or the file that holds it.
    A seat's message is signed by its agent, the speaker's by the workspace, the prime minister's
    by a person. A message that the rules refuse changes nothing, except that a malformed one
    counts against its seat: the second in a row expels it. A ruling of the prime minister is
    recorded with the decision that is argued there, and a repeat of it is refused (`decided`).
    """
    from moot.api.parliaments.session import ParliamentSession
    from moot.store.files import read_at_most

    parliament = ParliamentSession.open(session.workspace, folder)
    session = act_for_seat(session, parliament)
    if isinstance(message, Path):  # one byte too many is enough for the rules to refuse it
        message = read_at_most(message, MAX_MESSAGE + 1)
    data = message.encode() if isinstance(message, str) else message
    return _bring(session, parliament, data, key)


@operation("parliament.say", writes=True, as_ledger=True)
def say(
    session: Session,
    folder: Path,
    form: str,
    words: Mapping[str, str | Sequence[str]],
    *,
    sender: str | None = None,
) -> SubmittedMessage:
    """Say something in a few words: `form` is `vote`, `ask`, `endorse`, ...; `words` are its own.

    `SHORT_FORMS` in `moot.protocols.parliament.short_forms` lists forms and words. What the session
    knows is filled in: the question that is answered, the last scores, the next version or id.
    `sender` is a seat or its agent; by default the seat of the one who acts. Unlike a message that
    is submitted, a malformed one is refused and not counted against its seat. It takes no key, for
    what is filled in changes with the session: a program that repeats itself uses `submit`.
    """
    from moot.api.parliaments.incoming import check_incoming
    from moot.api.parliaments.session import ParliamentSession
    from moot.protocols.parliament.short_forms import compose

    parliament = ParliamentSession.open(session.workspace, folder)
    session = act_for_seat(session, parliament)
    named = _find_sender(session, parliament.state, form, sender)
    data = msgspec.json.encode(compose(parliament.state, form, named, words))
    wrong = select_errors(check_incoming(read_json(data, MAX_MESSAGE)).findings)
    if wrong:
        where = (wrong[0].where or "").removeprefix("content.")
        first = msgspec.structs.replace(wrong[0], message=f"{where}: {wrong[0].message}")
        raise Refused.of((first, *wrong[1:]))
    return _bring(session, parliament, data, None)


def _bring(
    session: Session, parliament: ParliamentSession, data: bytes, key: str | None
) -> SubmittedMessage:
    from moot.api.parliaments.session import submit_message

    def find_actor(needed: str | None, is_person: bool) -> str:
        return session.person("the prime minister's word") if is_person else session.actor(needed)

    result = submit_message(parliament, data, session.acting, find_actor, key=key)
    return SubmittedMessage(
        **describe_standing(result.state), messages=result.logged, findings=result.findings
    )


def _find_sender(session: Session, state: State, form: str, sender: str | None) -> str:
    """Return the seat that speaks: named by its id or agent, else that of the acting agent."""
    from moot.protocols.parliament.short_forms import SHORT_FORMS

    if form in SHORT_FORMS and SHORT_FORMS[form].kind is Kind.SPEAKER_RULING:
        return SPEAKER
    name = sender or session.known_actor() or ""
    seat = state.holders.get(name, name)
    if seat in state.seats:
        return seat
    seats = ", ".join(f"{each.id} ({each.name})" for each in state.seats_in_order())
    if not name:
        hint = f"add --from SEAT, or act as its agent: {seats}"
        raise Refused("seat_required", "nobody says which seat speaks", hint=hint)
    raise Refused("unknown_seat", f"{name} has no seat in this session", hint=f"seats: {seats}")


def act_for_seat(session: Session, parliament: ParliamentSession) -> Session:
    """A session that acts as `rep_2` acts as the agent of that seat: the id is no agent's name."""
    seat = parliament.state.seats.get(session.acting or "")
    return session if seat is None else session.acting_as(seat.agent)


@operation("parliament.template")
def template(session: Session, kind: str) -> Template:
    """A message of a type (`QUESTION`, `vote`, ...) to be filled in. Needs no workspace."""
    del session
    if kind.upper() not in set(Kind):
        raise Malformed(
            f"{kind} is no type of message",
            code="unknown_type",
            hint=f"one of {', '.join(Kind)}",
        )
    return Template(make_template(Kind(kind.upper())))


@operation("parliament.status")
def status(session: Session, folder: Path) -> ParliamentStatus:
    """Where a session stands: phase, round, clock, bill, seats, amendments, votes."""
    from msgspec.structs import asdict

    from moot.api.parliaments.session import ParliamentSession

    parliament = ParliamentSession.open(session.workspace, folder)
    findings = tuple(parliament.files.find_changed())
    return ParliamentStatus(**asdict(view_session(parliament.state)), findings=findings)


@operation("parliament.next")
def next_steps(session: Session, folder: Path) -> NextSteps:
    """Who is expected to do what, and which motives still hold a vote up.

    Nothing is due where a person has decided everything that is argued there.
    """
    from moot.api.parliaments.ruling import everyone_has_decided
    from moot.api.parliaments.session import ParliamentSession
    from moot.protocols.parliament.turns import agenda

    engine = session.workspace.engine
    parliament = ParliamentSession.open(session.workspace, folder)
    state = parliament.state
    is_over = everyone_has_decided(engine, parliament.stream)
    dues = () if is_over else agenda(state, engine.clock())
    view = view_session(state)
    return NextSteps(
        **describe_standing(state),
        folder=str(folder),
        due=tuple(
            DueStep(due.who, state.holders.get(due.who), due.what, Quoted(due.subject), due.hint)
            for due in dues
        ),
        underserved=view.underserved,
        ask_next=view.ask_next,
        may_vote=view.may_vote,
        missing_votes=view.missing_votes,
    )
