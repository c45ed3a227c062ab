"""A person's ruling on a decision: approve, amend, or veto.

A veto of what was debated begins another decision with the person's reason in its context;
nothing of the old one is changed. A parliament has a prime minister: there the ruling is a
message of the session, and after a veto the session itself goes on.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any, Final

from msgspec.json import decode

from moot.api.decisions.questions import read_text, record_question, state_of, store_text
from moot.api.parliaments.incoming import merge_into_bill, write_bill
from moot.api.parliaments.ruling import (
    SETTLED,
    decision_signed_here,
    decisions_argued_in,
    everyone_has_decided,
)
from moot.api.parliaments.session import ParliamentSession
from moot.api.parliaments.session_files import read_messages
from moot.api.rehearsal import require_allowed
from moot.api.runs.parliament import open_session_of as parliament_of
from moot.core.errors import Conflict, Malformed, Refused
from moot.core.machine import KeyClass, VerifiedActor
from moot.core.names import OPERATOR, SYSTEM
from moot.engine.engine import Engine
from moot.protocols.decision import commands as ask
from moot.protocols.decision import stream_of
from moot.protocols.decision.machine import MACHINE as DECISION
from moot.protocols.decision.machine import QUESTIONS
from moot.protocols.decision.model import ChamberKind, Stage, State
from moot.protocols.parliament.commands import Decide
from moot.protocols.parliament.machine import MACHINE as PARLIAMENT
from moot.protocols.parliament.messages.contents import (
    PRIME_MINISTER,
    Kind,
    PrimeMinisterChoice,
    SessionStatus,
)
from moot.protocols.parliament.messages.shapes import read_json
from moot.workspace.workspace import Workspace

RULINGS: Final = {
    "approve": PrimeMinisterChoice.APPROVE,
    "veto": PrimeMinisterChoice.VETO,
    "amend": PrimeMinisterChoice.AMEND_AND_APPROVE,
}


def require_open_for(
    workspace: Workspace,
    decision: str,
    ruling: PrimeMinisterChoice,
    reason: str,
    text: str | None,
    anew: bool,
) -> int:
    """Refuse whatever can be refused without a person's key, before they are asked for it
    (AGT-075).

    Returns the number of the vote that a parliament waits with, 0 if none does.
    """
    state = state_of(workspace, decision)
    if ruling is PrimeMinisterChoice.VETO and _veto_was_cut_short(state):
        return 0
    acting = VerifiedActor(OPERATOR, 1, "", KeyClass.HUMAN)
    approval = ask.Approve(reason=reason)  # the same rule holds for all three rulings
    require_allowed(workspace, DECISION, stream_of(decision), approval, acting, state=state)
    if text is not None and not text.strip():
        raise Refused("text_required", "amend needs the text", hint="--text FILE, or --text -")
    parliament = _parliament_to_rule_in(workspace, decision, ruling)
    if parliament is None:
        if ruling is PrimeMinisterChoice.VETO and not anew:
            _repeats_last_veto(workspace, decision, reason)
        return 0
    if anew and parliament.state.status is SessionStatus.PM_REVIEW:
        raise Refused(
            "vote_waits",
            "a vote waits for you, and a veto sends it back",
            hint=f"moot decide {decision} veto --reason TEXT, without --anew",
        )
    parliament.rehearse(_make_command(parliament, ruling, reason, text or ""), PRIME_MINISTER)
    return parliament.vote_shown or 0


def _veto_was_cut_short(state: State) -> bool:
    """A veto is on record, and the decision that supersedes it is not."""
    return state.stage is Stage.VETOED and state.superseded_by is None


def rule(
    workspace: Workspace,
    decision: str,
    person: str,
    ruling: PrimeMinisterChoice,
    reason: str,
    *,
    text: str,
    vote: int,
    anew: bool,
) -> None:
    """Record a person's ruling: as prime minister in the parliament that waits for it, else here.

    `vote` is what `require_open_for` returned: a ruling on one vote must not become one on another.
    To amend is to put `text` in the place of what came out (AGT-077). A vetoed debate is superseded
    by another decision, with the reason in its context; a parliament takes the reason as guidance
    and goes on itself. `anew`: what was sent back just now is superseded all the same.
    """
    engine, stream = workspace.engine, stream_of(decision)
    parliament = _parliament_to_rule_in(workspace, decision, ruling)
    if bool(vote) is not (parliament is not None):
        raise Conflict("busy", "somebody spoke at this moment", hint="look at it again")
    if parliament is not None:
        parliament.vote_shown = vote
        parliament.execute(_make_command(parliament, ruling, reason, text), person, PRIME_MINISTER)
    elif ruling is PrimeMinisterChoice.APPROVE:
        engine.execute(stream, ask.Approve(reason=reason), person)
    elif ruling is PrimeMinisterChoice.AMEND_AND_APPROVE:
        amended = ask.Amend(reason=reason, text=store_text(workspace, text))
        engine.execute(stream, amended, person)
    elif anew or not _repeats_last_veto(workspace, decision, reason):
        if not _veto_was_cut_short(state_of(workspace, decision)):
            engine.execute(stream, ask.Veto(reason=reason), person)
        supersede(workspace, decision)


def _make_command(
    parliament: ParliamentSession, ruling: PrimeMinisterChoice, reason: str, text: str
) -> Decide:
    """A veto grants the round it sends the bill back to."""
    veto = ruling is PrimeMinisterChoice.VETO
    return Decide(
        decision=str(ruling),
        reason=reason,
        guidance=reason if veto else "",  # AGT-078
        draft=merge_into_bill(parliament.state, _read_amendment(text)) if text else None,
        extend_rounds=1 if veto else 0,
    )


def _parliament_to_rule_in(
    workspace: Workspace, decision: str, ruling: PrimeMinisterChoice
) -> ParliamentSession | None:
    """The parliament that waits for this ruling, or was given one; Refused if it goes on."""
    state = state_of(workspace, decision)
    if state.chamber is not ChamberKind.PARLIAMENT or state.word is not None or not state.session:
        return None
    parliament = parliament_of(workspace, decision, state)
    ruled_there = decision_signed_here(workspace, parliament.stream) is not None
    if parliament.state.status is SessionStatus.PM_REVIEW or ruled_there:
        return parliament
    if ruling is not PrimeMinisterChoice.VETO and parliament.state.status not in SETTLED:
        raise Refused(
            "session_goes_on",
            "the session goes on, and no vote waits for you",
            hint=f"moot ask --resume {decision}, or veto it to start over",
        )
    return None


def _read_amendment(text: str) -> Any:
    """A JSON object says which parts of the bill change; any other text is its solution
    (AGT-077)."""
    try:
        parts = read_json(text)
    except Malformed:
        parts = None
    return parts if isinstance(parts, dict) else {"sections": {"solution": text.strip()}}


def _repeats_last_veto(workspace: Workspace, decision: str, reason: str) -> bool:
    """It was sent back with this reason, and nobody has argued or voted since.

    Refused if that was for another reason: a second veto would end what the first lets go on.
    """
    state = state_of(workspace, decision)
    if (
        not state.sent_back
        or state.word is not None
        or _argued_since_ruling(workspace, decision, state)
    ):
        return False
    last = state.sent_back[-1]
    if last.reason != reason:
        raise Refused(
            "decided",
            f"{decision}: {last.by} has vetoed it, and nothing was argued since",
            hint=f"moot ask --resume {decision} goes on; veto with --anew ends it",
        )
    return True


def _argued_since_ruling(workspace: Workspace, decision: str, state: State) -> bool:
    """True if a seat has spoken since the prime minister ruled."""
    parliament = parliament_of(workspace, decision, state)
    with workspace.store.read() as view:
        recorded = list(read_messages(view, parliament.stream))
    for message in reversed(recorded):
        if message.type is Kind.PM_DECISION or message.sender in parliament.state.seats:
            return message.type is not Kind.PM_DECISION
    return False


def supersede(workspace: Workspace, decision: str) -> str:
    """Begin the decision that takes a vetoed one's place: once, also if we were killed between
    (AGT-076)."""
    state = state_of(workspace, decision)
    if state.superseded_by is not None:
        return state.superseded_by
    successor = _unnamed_successor(workspace, decision)
    if successor is None:
        command = ask.AskQuestion(
            question=state.question,
            seats=state.seats,
            chamber=state.chamber,
            rule=state.rule,
            rounds=state.rounds,
            options=state.options,
            context=store_text(workspace, _context_after_veto(workspace, decision, state)),
            supersedes=decision,
            choose=state.choose,
            sealed=state.is_sealed,
            quorum=state.quorum,
        )
        successor = record_question(workspace, command)
    workspace.engine.execute(stream_of(decision), ask.NameSuccessor(decision=successor), SYSTEM)
    return successor


def _unnamed_successor(workspace: Workspace, decision: str) -> str | None:
    """A successor that was begun and never named: the process died between the two."""
    with workspace.store.read() as view:
        rows = view.rows(QUESTIONS, limit=100_000)
        streams = [row.key for row in rows if decode(row.value).get("supersedes") == decision]
    return streams[0].removeprefix(stream_of("")) if streams else None


def _context_after_veto(workspace: Workspace, decision: str, state: State) -> str:
    ruling, motion = state.word, state.motion
    assert ruling is not None
    veto = f"{decision} was vetoed by {ruling.by}: {ruling.reason}"  # AGT-076
    if motion is not None:
        veto += f"\nThe motion that was vetoed: {motion.text}"
    before = read_text(workspace, state.context)
    return f"{veto}\n\n{before}".strip()


def find_asking_stream(engine: Engine, stream: str) -> str | None:
    """The record in which a person's word on this one is awaited; None if none is.

    A question and the parliament that argues it ask for one word, not two: the question's.
    """
    if find_ruled_text(engine, stream) is None:
        return None
    if not stream.startswith(f"{PARLIAMENT.name}/"):
        return stream
    questions = map(stream_of, decisions_argued_in(engine, stream))
    asking = (each for each in questions if find_ruled_text(engine, each) is not None)
    return next(asking, None if everyone_has_decided(engine, stream) else stream)


def find_ruled_text(engine: Engine, stream: str) -> str | None:
    """The text that an approval would let stand; None if no person's word is awaited there."""
    find = _FIND.get(stream.partition("/")[0])
    return None if find is None else find(engine, stream)


def _text_of_question(engine: Engine, stream: str) -> str | None:
    state = engine.state(DECISION, stream)
    if state.stage is not Stage.WAITING:
        return None
    if state.chamber is ChamberKind.PARLIAMENT and state.session is not None:
        bill = engine.state(PARLIAMENT, state.session.id).bill
        if bill is not None:
            return write_bill(bill)
    return state.question if state.motion is None else state.motion.text


def _text_of_bill(engine: Engine, stream: str) -> str | None:
    state = engine.state(PARLIAMENT, stream)
    return write_bill(state.bill) if state.status is SessionStatus.PM_REVIEW else None


_FIND: Final[dict[str, Callable[[Engine, str], str | None]]] = {
    DECISION.name: _text_of_question,
    PARLIAMENT.name: _text_of_bill,
}


def hash_text(text: str) -> str:
    """The SHA-256 by which a person recognizes the text."""
    return hashlib.sha256(text.encode()).hexdigest()


def require_text_shown(engine: Engine, stream: str, sha256: str | None) -> None:
    """Conflict if a person was shown another text than the one that waits; None: nothing said."""
    if sha256 is None:
        return
    text = find_ruled_text(engine, stream)
    if text is None or hash_text(text) != sha256:
        raise Conflict("busy", "this is not what you were shown", hint="look at it again")
