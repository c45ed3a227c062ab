"""A person's word on a decision: approve, amend, or veto.

A veto of what was debated begins another decision with the person's reason in its context;
nothing of the old one is changed. A parliament has a prime minister: there the word is a
message of the session, and after a veto the session itself goes on.
"""

from __future__ import annotations

from typing import Any, Final

from msgspec.json import decode

from moot.core.errors import Conflict, Malformed, Refused
from moot.core.machine import Acting, Context, KeyClass
from moot.core.names import OPERATOR, SYSTEM
from moot.engine.job import as_refused
from moot.flows.decisions.questions import put, state_of, stored, text_of
from moot.flows.parliament.bills import merged
from moot.flows.parliament.cabinet import messages
from moot.flows.parliament.chamber import Room as Session
from moot.flows.parliament.results import SETTLED
from moot.flows.parliament.ruling import heard_in
from moot.flows.runs.run_parliament import session_of as sitting_of
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

WORDS: Final = {
    "approve": PrimeMinisterChoice.APPROVE,
    "veto": PrimeMinisterChoice.VETO,
    "amend": PrimeMinisterChoice.AMEND_AND_APPROVE,
}


def require_open(
    workspace: Workspace,
    decision: str,
    word: PrimeMinisterChoice,
    reason: str,
    text: str | None = None,
    anew: bool = False,
) -> int:
    """Refused for all that can be told without a person's key, before one is asked for.

    Returns the number of the vote that a parliament waits with, 0 if none does.
    """
    state = state_of(workspace, decision)
    if word is PrimeMinisterChoice.VETO and _cut_short(state):
        return 0
    acting = Acting(OPERATOR, 1, "", KeyClass.HUMAN)
    context = Context(workspace.engine.clock(), acting, stream_of(decision), workspace.trust.origin)
    rehearsed = MACHINE.decide(state, ask.Approve(reason=reason), context)  # one rule for all words
    if rehearsed.refused:
        raise as_refused(rehearsed)
    if text is not None:
        _require_text(text)
    held = _listening(workspace, decision, word)
    if held is None:
        if word is PrimeMinisterChoice.VETO and not anew:
            _repeats(workspace, decision, reason)
        return 0
    if anew and held.state.status is SessionStatus.PM_REVIEW:
        raise _waits(decision)
    held.rehearse(_word(held, word, reason, text or ""), PRIME_MINISTER)
    return held.vote or 0


def _cut_short(state: State) -> bool:
    """A veto is on record, and the decision that supersedes it is not."""
    return state.stage is Stage.VETOED and state.superseded_by is None


def _require_text(text: str) -> None:
    if not text.strip():
        raise Refused("text_required", "amend needs the text", hint="--text FILE, or --text -")


def approve(
    workspace: Workspace, decision: str, person: str, reason: str, vote: int | None = None
) -> None:
    if not _in_parliament(
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
    """The person's own text stands instead of what came out."""
    _require_text(text)
    if not _in_parliament(
        workspace, decision, person, PrimeMinisterChoice.AMEND_AND_APPROVE, reason, text, vote
    ):
        command = ask.Amend(reason=reason, text=stored(workspace, text))
        workspace.engine.execute(stream_of(decision), command, person)


def _in_parliament(
    workspace: Workspace,
    decision: str,
    person: str,
    word: PrimeMinisterChoice,
    reason: str,
    text: str = "",
    vote: int | None = None,
) -> bool:
    """Where it was argued in a parliament the person is its prime minister, and speaks there.

    `vote` is what `require_open` found: a word said to one thing does not become another.
    """
    held = _listening(workspace, decision, word)
    if vote is not None and bool(vote) is not (held is not None):
        raise Conflict("busy", "somebody spoke at this moment", hint="look at it again")
    if held is None:
        return False
    held.vote = vote
    held.run(_word(held, word, reason, text), person, PRIME_MINISTER)
    return True


def _word(held: Session, word: PrimeMinisterChoice, reason: str, text: str) -> Decide:
    """A veto grants the round it sends the bill back to."""
    veto = word is PrimeMinisterChoice.VETO
    return Decide(
        decision=str(word),
        reason=reason,
        guidance=reason if veto else "",
        draft=merged(held.state, _bill(text)) if text else None,
        extend_rounds=1 if veto else 0,
    )


def _listening(workspace: Workspace, decision: str, word: PrimeMinisterChoice) -> Session | None:
    """The parliament that waits for this word, or has heard one; Refused if it goes on."""
    state = state_of(workspace, decision)
    if state.chamber is not ChamberKind.PARLIAMENT or state.word is not None or not state.session:
        return None
    held = sitting_of(workspace, decision, state)
    if held.state.status is SessionStatus.PM_REVIEW or heard_in(workspace, held.stream) is not None:
        return held
    if word is not PrimeMinisterChoice.VETO and held.state.status not in SETTLED:
        raise Refused(
            "session_goes_on",
            "the session goes on, and no vote waits for you",
            hint=f"moot ask --resume {decision}, or veto it to begin anew",
        )
    return None


def _bill(text: str) -> Any:
    """A JSON object says which parts of the bill change; any other text is its solution."""
    try:
        found = read_json(text)
    except Malformed:
        found = None
    return found if isinstance(found, dict) else {"sections": {"solution": text.strip()}}


def veto(
    workspace: Workspace,
    decision: str,
    person: str,
    reason: str,
    vote: int | None = None,
    anew: bool = False,
) -> str:
    """The person says no. A debate is superseded by another decision, with the reason in its
    context; a parliament takes the reason as guidance and goes on itself. `anew`: what was sent
    back just now is superseded all the same."""
    if _in_parliament(workspace, decision, person, PrimeMinisterChoice.VETO, reason, vote=vote):
        return decision
    if not anew and _repeats(workspace, decision, reason):
        return decision
    if not _cut_short(state_of(workspace, decision)):
        workspace.engine.execute(stream_of(decision), ask.Veto(reason=reason), person)
    return supersede(workspace, decision)


def _repeats(workspace: Workspace, decision: str, reason: str) -> bool:
    """It was sent back with this reason, and nobody has argued or voted since.

    Refused if that was for another reason: a second veto would end what the first lets go on.
    """
    state = state_of(workspace, decision)
    if not state.sent_back or state.word is not None or _argued_since(workspace, decision, state):
        return False
    last = state.sent_back[-1]
    if last.reason != reason:
        raise Refused(
            "decided",
            f"{decision}: {last.by} has vetoed it, and nothing was argued since",
            hint=f"moot ask --resume {decision} goes on; veto with --anew ends it",
        )
    return True


def _argued_since(workspace: Workspace, decision: str, state: State) -> bool:
    """Has a seat said anything since the prime minister did?"""
    held = sitting_of(workspace, decision, state)
    with workspace.store.read() as view:
        said = list(messages(view, held.stream))
    for one in reversed(said):
        if one.type is Kind.PM_DECISION or one.sender in held.state.seats:
            return one.type is not Kind.PM_DECISION
    return False


def _waits(decision: str) -> Refused:
    return Refused(
        "vote_waits",
        "a vote waits for you, and a veto sends it back",
        hint=f"moot decide {decision} veto --reason TEXT, without --anew",
    )


def supersede(workspace: Workspace, decision: str) -> str:
    """Begin the decision that takes a vetoed one's place: once, also if we were killed between."""
    state = state_of(workspace, decision)
    if state.superseded_by is not None:
        return state.superseded_by
    follower = _begun_for(workspace, decision)
    if follower is None:
        command = ask.AskQuestion(
            question=state.question,
            seats=state.seats,
            chamber=state.chamber,
            rule=state.rule,
            rounds=state.rounds,
            options=state.options,
            context=stored(workspace, _after_veto(workspace, decision, state)),
            supersedes=decision,
        )
        follower = put(workspace, command)
    workspace.engine.execute(stream_of(decision), ask.NameSuccessor(decision=follower), SYSTEM)
    return follower


def _begun_for(workspace: Workspace, decision: str) -> str | None:
    """A follower that was begun and never named."""
    with workspace.store.read() as view:
        rows = view.rows(QUESTIONS, limit=100_000)
        found = [row.key for row in rows if decode(row.value).get("supersedes") == decision]
    return found[0].removeprefix(stream_of("")) if found else None


def _after_veto(workspace: Workspace, decision: str, state: State) -> str:
    word, motion = state.word, state.motion
    assert word is not None
    said = f"{decision} was vetoed by {word.by}: {word.reason}"
    if motion is not None:
        said += f"\nThe motion that was vetoed: {motion.text}"
    before = text_of(workspace, state.context)
    return f"{said}\n\n{before}".strip()
