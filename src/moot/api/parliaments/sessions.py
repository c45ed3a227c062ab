"""Operations to convene a parliament, submit messages, and see its status and what is next.

`bills.py` has the operations on the bill, `files.py` those on the four files. A session is named by
the folder of its files, or by its id (`parl-20260210-001`) if Moot wrote its files on this machine.
The speaker and the clerk are the workspace itself, so an agent cannot act as them (`not_you`).
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
    """The state of a session, in every result. `outcome` is None until it is decided."""

    parliament_id: str
    status: str
    round: int
    bill_version: int
    outcome: str | None


class StandingFields(TypedDict):
    """The fields of `ParliamentStanding` as keyword arguments for its subclasses."""

    parliament_id: str
    status: str
    round: int
    bill_version: int
    outcome: str | None


class CalledParliament(ParliamentStanding, frozen=True, kw_only=True):
    folder: str
    seats: tuple[SeatView, ...]


class SubmittedMessage(ParliamentStanding, frozen=True, kw_only=True):
    """The message as the ledger has it now, and the speaker's reply."""

    messages: tuple[LedgerMessage, ...]
    findings: tuple[Finding, ...]


class Template(msgspec.Struct, frozen=True):
    message: dict[str, Any]


class ParliamentStatus(SessionView, frozen=True, kw_only=True):
    """`findings` name the files in the folder that another program has changed."""

    findings: tuple[Finding, ...]


class DueStep(msgspec.Struct, frozen=True):
    """A step that is due. `seat` is None for the clerk, the speaker and the prime minister."""

    who: str
    seat: str | None
    what: str
    subject: Quoted
    hint: str


class NextSteps(ParliamentStanding, frozen=True, kw_only=True):
    """`underserved` are motives that delay a vote, `ask_next` questions that would help."""

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


def read_document(source: Path | bytes | str, max_bytes: int | None = None) -> Any:
    """Read JSON from a text or a file; Malformed if it is invalid or too long."""
    from moot.store.files import decode_text, read_bounded

    text = decode_text(read_bounded(source), str(source)) if isinstance(source, Path) else source
    return read_json(text, MAX_BYTES if max_bytes is None else max_bytes)


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
    """Convene a parliament on a problem and ask for the opening statements.

    A seat is a `SeatRequest`, or its text `Rep. Name:motive,motive[@AGENT]`. The named agent signs
    for its seat; a seat without one gets a new agent with its own key. Refused if an issue is no
    representative's motive, or the folder already has a session; so is a repeat, which therefore
    needs no key.
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
    """Submit one message in the Agent Response Format: JSON without id, round and timestamp.

    `message` is its text, or the file that contains it. Its agent signs a seat's message, the
    workspace the speaker's, a person the prime minister's. A refused message changes nothing,
    except that a malformed one counts against its seat: the second in a row expels it. A ruling of
    the prime minister is also recorded in the decision that is argued there, and a repeat of it is
    refused (`decided`).
    """
    from moot.api.parliaments.session import ParliamentSession
    from moot.store.files import read_at_most

    parliament = ParliamentSession.open(session.workspace, folder)
    session = act_for_seat(session, parliament)
    if isinstance(message, Path):  # one byte too many is enough for the rules to refuse it
        message = read_at_most(message, MAX_MESSAGE + 1)
    data = message.encode() if isinstance(message, str) else message
    return _submit_data(session, parliament, data, key)


@operation("parliament.say", writes=True, as_ledger=True)
def say(
    session: Session,
    folder: Path,
    form: str,
    words: Mapping[str, str | Sequence[str]],
    *,
    sender: str | None = None,
) -> SubmittedMessage:
    """Submit a message in short form: `form` is `vote`, `ask`, `endorse`, ...; `words` its fields.

    `SHORT_FORMS` in `moot.protocols.parliament.short_forms` lists the forms and their fields. Moot
    fills in what the session knows: the question that is answered, the last scores, the next
    version or id. `sender` is a seat or its agent; by default the seat of the acting agent. Unlike
    with `submit`, a malformed message is refused and does not count against its seat. It takes no
    key, because what is filled in changes with the session: a program that repeats uses `submit`.
    """
    from moot.api.parliaments.incoming import check_incoming
    from moot.api.parliaments.session import ParliamentSession
    from moot.protocols.parliament.short_forms import compose

    parliament = ParliamentSession.open(session.workspace, folder)
    session = act_for_seat(session, parliament)
    seat = _find_sender(session, parliament.state, form, sender)
    data = msgspec.json.encode(compose(parliament.state, form, seat, words))
    errors = select_errors(check_incoming(read_json(data, MAX_MESSAGE)).findings)
    if errors:
        where = (errors[0].where or "").removeprefix("content.")
        first = msgspec.structs.replace(errors[0], message=f"{where}: {errors[0].message}")
        raise Refused.of((first, *errors[1:]))
    return _submit_data(session, parliament, data, None)


def _submit_data(
    session: Session, parliament: ParliamentSession, data: bytes, key: str | None
) -> SubmittedMessage:
    from moot.api.parliaments.session import submit_message

    def find_actor(needed: str | None, is_person: bool) -> str:
        return session.person("the prime minister's ruling") if is_person else session.actor(needed)

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
        raise Refused("seat_required", "no seat was named as the sender", hint=hint)
    raise Refused("unknown_seat", f"{name} has no seat in this session", hint=f"seats: {seats}")


def act_for_seat(session: Session, parliament: ParliamentSession) -> Session:
    """Let a session that acts as `rep_2` act as that seat's agent: only agents have keys."""
    seat = parliament.state.seats.get(session.acting or "")
    return session if seat is None else session.acting_as(seat.agent)


@operation("parliament.template")
def template(session: Session, kind: str) -> Template:
    """Return a message of a type (`QUESTION`, `vote`, ...) to fill in. Needs no workspace."""
    del session
    if kind.upper() not in set(Kind):
        raise Malformed(
            f"{kind} is not a message type",
            code="unknown_type",
            hint=f"use one of {', '.join(Kind)}",
        )
    return Template(make_template(Kind(kind.upper())))


@operation("parliament.status")
def status(session: Session, folder: Path) -> ParliamentStatus:
    """Show a session's state: phase, round, clock, bill, seats, amendments, votes."""
    from msgspec.structs import asdict

    from moot.api.parliaments.session import ParliamentSession

    parliament = ParliamentSession.open(session.workspace, folder)
    findings = tuple(parliament.files.find_changed())
    return ParliamentStatus(**asdict(view_session(parliament.state)), findings=findings)


@operation("parliament.next")
def next_steps(session: Session, folder: Path) -> NextSteps:
    """List who must do what, and which motives still delay a vote.

    Nothing is due if a person has decided every question that is argued there.
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
