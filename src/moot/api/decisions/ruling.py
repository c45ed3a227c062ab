"""Record a person's ruling on a decision: approve, amend, or veto.

A veto after a debate begins another decision with the person's reason in its context; the old one
stays as it is. In a parliament the person rules as prime minister: the ruling is a message of the
session, and after a veto the session itself continues.
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
from moot.api.runs.parliament import open_session_of as open_session_of
from moot.core.errors import Conflict, Malformed, Refused
from moot.core.machine import KeyClass, VerifiedActor
from moot.core.names import OPERATOR, SYSTEM
from moot.engine.engine import Engine
from moot.protocols.decision import stream_of
from moot.protocols.decision.commands import Amend, Approve, AskQuestion, NameSuccessor, Veto
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


def require_open_for_ruling(
    workspace: Workspace,
    decision: str,
    ruling: PrimeMinisterChoice,
    reason: str,
    text: str | None,
    start_over: bool,
) -> int:
    """Apply the rules before the person is asked for a key (AGT-075).

    Returns the number of the vote on which a parliament waits for a ruling, 0 if none does.
    """
    state = state_of(workspace, decision)
    if ruling is PrimeMinisterChoice.VETO and _lacks_successor(state):
        return 0
    acting = VerifiedActor(OPERATOR, 1, "", KeyClass.HUMAN)
    approval = Approve(reason=reason)  # the same rule holds for all three rulings
    require_allowed(workspace, DECISION, stream_of(decision), approval, acting, state=state)
    if text is not None and not text.strip():
        raise Refused("text_required", "amend needs the text", hint="add --text FILE, or --text -")
    parliament = _parliament_to_rule_in(workspace, decision, ruling)
    if parliament is None:
        if ruling is PrimeMinisterChoice.VETO and not start_over:
            _repeats_last_veto(workspace, decision, reason)
        return 0
    if start_over and parliament.state.status is SessionStatus.PM_REVIEW:
        raise Refused(
            "vote_waits",
            "a vote waits for you, and a veto sends it back",
            hint=f"moot decide {decision} veto --reason TEXT, without --anew",
        )
    parliament.rehearse(_make_command(parliament, ruling, reason, text or ""), PRIME_MINISTER)
    return parliament.vote_shown or 0


def _lacks_successor(state: State) -> bool:
    """Return whether a veto is recorded but the process died before naming the successor."""
    return state.stage is Stage.VETOED and state.superseded_by is None


def record_ruling(
    workspace: Workspace,
    decision: str,
    person: str,
    ruling: PrimeMinisterChoice,
    reason: str,
    *,
    text: str,
    vote: int,
    start_over: bool,
) -> None:
    """Record a person's ruling: as prime minister in the parliament that waits for it, else here.

    `vote` is what `require_open_for_ruling` returned: a ruling on one vote must not hit another.
    Amend replaces the result by `text` (AGT-077). Another decision supersedes a vetoed debate, with
    the reason in its context; a parliament takes the reason as guidance and continues. With
    `start_over` a parliament that was just sent back is superseded too.
    """
    engine, stream = workspace.engine, stream_of(decision)
    parliament = _parliament_to_rule_in(workspace, decision, ruling)
    if bool(vote) is not (parliament is not None):
        raise Conflict(
            "busy", "the session changed at this moment", hint="read it again, then rule"
        )
    if parliament is not None:
        parliament.vote_shown = vote
        parliament.execute(_make_command(parliament, ruling, reason, text), person, PRIME_MINISTER)
    elif ruling is PrimeMinisterChoice.APPROVE:
        engine.execute(stream, Approve(reason=reason), person)
    elif ruling is PrimeMinisterChoice.AMEND_AND_APPROVE:
        amended = Amend(reason=reason, text=store_text(workspace, text))
        engine.execute(stream, amended, person)
    elif start_over or not _repeats_last_veto(workspace, decision, reason):
        if not _lacks_successor(state_of(workspace, decision)):
            engine.execute(stream, Veto(reason=reason), person)
        supersede(workspace, decision)


def _make_command(
    parliament: ParliamentSession, ruling: PrimeMinisterChoice, reason: str, text: str
) -> Decide:
    """Build the prime minister's command; a veto grants one more round."""
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
    """Return the parliament that waits for this ruling or has one; Refused if it is still open."""
    state = state_of(workspace, decision)
    if state.chamber is not ChamberKind.PARLIAMENT or state.word is not None or not state.session:
        return None
    parliament = open_session_of(workspace, decision, state)
    ruled_there = decision_signed_here(workspace, parliament.stream) is not None
    if parliament.state.status is SessionStatus.PM_REVIEW or ruled_there:
        return parliament
    if ruling is not PrimeMinisterChoice.VETO and parliament.state.status not in SETTLED:
        raise Refused(
            "session_goes_on",
            "the session is still open, and no vote waits for you",
            hint=f"continue it with moot ask --resume {decision}, or veto it to start over",
        )
    return None


def _read_amendment(text: str) -> Any:
    """Return which parts of the bill change: a JSON object, or the new solution (AGT-077)."""
    try:
        parts = read_json(text)
    except Malformed:
        parts = None
    return parts if isinstance(parts, dict) else {"sections": {"solution": text.strip()}}


def _repeats_last_veto(workspace: Workspace, decision: str, reason: str) -> bool:
    """Return whether it was sent back with this reason and no seat has spoken since.

    Refused if the reason was another: a second veto would end what the first one continues.
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
            f"{decision}: {last.by} has vetoed it already, and no seat has spoken since",
            hint=f"moot ask --resume {decision} continues it; veto with --anew ends it",
        )
    return True


def _argued_since_ruling(workspace: Workspace, decision: str, state: State) -> bool:
    """Return whether a seat has spoken since the prime minister ruled."""
    parliament = open_session_of(workspace, decision, state)
    with workspace.store.read() as view:
        recorded = list(read_messages(view, parliament.stream))
    for message in reversed(recorded):
        if message.type is Kind.PM_DECISION or message.sender in parliament.state.seats:
            return message.type is not Kind.PM_DECISION
    return False


def supersede(workspace: Workspace, decision: str) -> str:
    """Begin the decision that supersedes a vetoed one, only once even after a crash (AGT-076)."""
    state = state_of(workspace, decision)
    if state.superseded_by is not None:
        return state.superseded_by
    successor = _unnamed_successor(workspace, decision)
    if successor is None:
        command = AskQuestion(
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
    workspace.engine.execute(stream_of(decision), NameSuccessor(decision=successor), SYSTEM)
    return successor


def _unnamed_successor(workspace: Workspace, decision: str) -> str | None:
    """Return a successor that was begun but not named, because the process died in between."""
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
    """Return the stream in which a person must rule on this one; None if no ruling is due.

    A question and the parliament that argues it need one ruling, which belongs to the question.
    """
    if find_ruled_text(engine, stream) is None:
        return None
    if not stream.startswith(f"{PARLIAMENT.name}/"):
        return stream
    questions = map(stream_of, decisions_argued_in(engine, stream))
    asking = (each for each in questions if find_ruled_text(engine, each) is not None)
    return next(asking, None if everyone_has_decided(engine, stream) else stream)


def find_ruled_text(engine: Engine, stream: str) -> str | None:
    """Return the text that an approval would confirm; None if no ruling is due there."""
    find = _TEXT_FINDERS.get(stream.partition("/")[0])
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


_TEXT_FINDERS: Final[dict[str, Callable[[Engine, str], str | None]]] = {
    DECISION.name: _text_of_question,
    PARLIAMENT.name: _text_of_bill,
}


def hash_text(text: str) -> str:
    """Return the SHA-256 that identifies the text a person was shown."""
    return hashlib.sha256(text.encode()).hexdigest()


def require_text_shown(engine: Engine, stream: str, sha256: str | None) -> None:
    """Raise Conflict if the person was shown another text; None skips the check."""
    if sha256 is None:
        return
    text = find_ruled_text(engine, stream)
    if text is None or hash_text(text) != sha256:
        raise Conflict(
            "busy", "the text has changed since you were shown it", hint="read it again, then rule"
        )
