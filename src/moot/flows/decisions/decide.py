"""A person's ruling on a decision: approve, amend, or veto.

A veto of what was debated begins another decision with the person's reason in its context;
nothing of the old one is changed. A parliament has a prime minister: there the ruling is a
message of the session, and after a veto the session itself goes on.
"""

from __future__ import annotations

from typing import Any, Final

from msgspec.json import decode

from moot.core.errors import Conflict, Malformed, Refused
from moot.core.machine import Context, KeyClass, VerifiedActor
from moot.core.names import OPERATOR, SYSTEM
from moot.flows.decisions.questions import read_text, record_question, state_of, store_text
from moot.flows.parliament.bills import merge_into_bill
from moot.flows.parliament.parliament_files import read_messages
from moot.flows.parliament.parliament_session import ParliamentSession
from moot.flows.parliament.results import SETTLED
from moot.flows.parliament.ruling import decision_signed_here
from moot.flows.runs.run_parliament import open_session_of as parliament_of
from moot.protocols.decision import commands as ask
from moot.protocols.decision import stream_of
from moot.protocols.decision.machine import MACHINE, QUESTIONS
from moot.protocols.decision.model import ChamberKind, Stage, State
from moot.protocols.parliament.commands import Decide
from moot.protocols.parliament.messages.shapes import read_json
from moot.protocols.parliament.messages.words import (
    PRIME_MINISTER,
    Kind,
    PrimeMinisterChoice,
    SessionStatus,
)
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
    text: str | None = None,
    anew: bool = False,
) -> int:
    """Refuse whatever can be refused without a person's key, before they are asked for it
    (AGT-075).

    Returns the number of the vote that a parliament waits with, 0 if none does.
    """
    state = state_of(workspace, decision)
    if ruling is PrimeMinisterChoice.VETO and _veto_was_cut_short(state):
        return 0
    acting = VerifiedActor(OPERATOR, 1, "", KeyClass.HUMAN)
    context = Context(workspace.engine.clock(), acting, stream_of(decision), workspace.trust.origin)
    rehearsed = MACHINE.decide(state, ask.Approve(reason=reason), context)  # one rule for all three
    if rehearsed.refused:
        raise Refused.of(rehearsed.findings)
    if text is not None:
        _require_text(text)
    parliament = _parliament_to_rule_in(workspace, decision, ruling)
    if parliament is None:
        if ruling is PrimeMinisterChoice.VETO and not anew:
            _repeats_last_veto(workspace, decision, reason)
        return 0
    if anew and parliament.state.status is SessionStatus.PM_REVIEW:
        raise _vote_waits(decision)
    parliament.rehearse(_make_command(parliament, ruling, reason, text or ""), PRIME_MINISTER)
    return parliament.vote_shown or 0


def _veto_was_cut_short(state: State) -> bool:
    """A veto is on record, and the decision that supersedes it is not."""
    return state.stage is Stage.VETOED and state.superseded_by is None


def _require_text(text: str) -> None:
    if not text.strip():
        raise Refused("text_required", "amend needs the text", hint="--text FILE, or --text -")


def approve(
    workspace: Workspace, decision: str, person: str, reason: str, vote: int | None = None
) -> None:
    if not _rule_in_parliament(
        workspace, decision, person, PrimeMinisterChoice.APPROVE, reason, vote=vote
    ):
        workspace.engine.execute(stream_of(decision), ask.Approve(reason=reason), person)


def amend(
    workspace: Workspace,
    decision: str,
    person: str,
    reason: str,
    text: str,
    vote: int | None = None,
) -> None:
    """The person's own text stands instead of what came out (AGT-077)."""
    _require_text(text)
    if not _rule_in_parliament(
        workspace, decision, person, PrimeMinisterChoice.AMEND_AND_APPROVE, reason, text, vote
    ):
        command = ask.Amend(reason=reason, text=store_text(workspace, text))
        workspace.engine.execute(stream_of(decision), command, person)


def _rule_in_parliament(
    workspace: Workspace,
    decision: str,
    person: str,
    ruling: PrimeMinisterChoice,
    reason: str,
    text: str = "",
    vote: int | None = None,
) -> bool:
    """Where it was argued in a parliament the person is its prime minister, and rules there.

    `vote` is what `require_open_for` returned: a ruling on one vote must not become one on another.
    """
    parliament = _parliament_to_rule_in(workspace, decision, ruling)
    if vote is not None and bool(vote) is not (parliament is not None):
        raise Conflict("busy", "somebody spoke at this moment", hint="look at it again")
    if parliament is None:
        return False
    parliament.vote_shown = vote
    parliament.execute(_make_command(parliament, ruling, reason, text), person, PRIME_MINISTER)
    return True


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
            hint=f"moot ask --resume {decision}, or veto it to begin anew",
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


def veto(
    workspace: Workspace,
    decision: str,
    person: str,
    reason: str,
    vote: int | None = None,
    anew: bool = False,
) -> str:
    """The person says no; returns the decision that goes on.

    A debate is superseded by another decision, with the reason in its context; a parliament takes
    the reason as guidance and goes on itself. `anew`: what was sent back just now is superseded
    all the same.
    """
    if _rule_in_parliament(
        workspace, decision, person, PrimeMinisterChoice.VETO, reason, vote=vote
    ):
        return decision
    if not anew and _repeats_last_veto(workspace, decision, reason):
        return decision
    if not _veto_was_cut_short(state_of(workspace, decision)):
        workspace.engine.execute(stream_of(decision), ask.Veto(reason=reason), person)
    return supersede(workspace, decision)


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


def _vote_waits(decision: str) -> Refused:
    return Refused(
        "vote_waits",
        "a vote waits for you, and a veto sends it back",
        hint=f"moot decide {decision} veto --reason TEXT, without --anew",
    )


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
