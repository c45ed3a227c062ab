"""One message on its way into a session: whose key it needs, and what must be stored with it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from moot.core.errors import Malformed, Refused
from moot.core.findings import Finding, select_errors
from moot.core.record import ArtifactRef
from moot.flows.parliament.incoming_message import IncomingMessage, check_incoming
from moot.flows.parliament.parliament_session import CommandResult, ParliamentSession, make_seed
from moot.protocols.parliament import clock
from moot.protocols.parliament import commands as ask
from moot.protocols.parliament.messages.message import MAX_MESSAGE
from moot.protocols.parliament.messages.shapes import read_json
from moot.protocols.parliament.messages.words import PRIME_MINISTER, SPEAKER, Kind
from moot.protocols.parliament.speech_checks import count_budget_sentences

REPLY: Final = "application/json"
# Others will rely on these: the history they rest on is proved first.
_RESULTS: Final = (Kind.VOTE_TALLY, Kind.PM_DECISION)

# Turns the name whose key is needed into the one who acts, or refuses; the second argument says
# that it must be a person.
FindActor = Callable[[str | None, bool], str]


def submit(
    session: ParliamentSession,
    data: bytes,
    acting: str | None,
    find_actor: FindActor,
    *,
    key: str | None = None,
) -> CommandResult:
    """Bring one message in the Agent Response Format. `acting` is who the sender says they are."""
    message = check_incoming(_read_document(session, data, acting, key))
    sender = message.sender
    is_person = sender == PRIME_MINISTER
    if is_person:
        session.vote_shown = len(session.state.vote_history)
    signer = session.signer_of(sender)
    if signer is None and not is_person and acting is None:
        raise _nobody_signs(message)
    if signer is not None and acting not in (None, signer):
        raise _not_yours(str(sender), acting)
    actor = find_actor(signer or acting, is_person)
    role = sender if sender in (SPEAKER, PRIME_MINISTER) else None
    make_command = ask.Announce if message.kind in _RESULTS else ask.Submit
    command = make_command(
        document=message.document,
        raw=_store_long_reply(session, message, data, key),
        seed=make_seed(key),
    )
    return session.execute(command, actor, role, key=key, message=message)


def _read_document(
    session: ParliamentSession, data: bytes, acting: str | None, key: str | None
) -> Any:
    """The JSON of a message. Bytes that are none count for the seat whose agent sent them; anyone
    else is only told."""
    try:
        return read_json(data, MAX_MESSAGE)
    except Malformed as error:
        agent = session.workspace.engine.registry().agents.get(acting or "")
        if agent is not None and session.state.seat_of(agent.name, agent.epoch) is not None:
            artifacts = session.workspace.artifacts
            raw = artifacts.put(data[:MAX_MESSAGE], "application/octet-stream")
            command = ask.ReportUnreadable(problem=str(error), raw=raw)
            session.execute(command, agent.name, key=key)
        raise


def _store_long_reply(
    session: ParliamentSession, message: IncomingMessage, data: bytes, key: str | None
) -> ArtifactRef | None:
    """C-08: a text over the budget will be cut, so what was sent is stored first.

    The budget shrinks from round to round. Under an idempotency key every question and answer is
    stored: a repeat in a later round must be the same command.
    """
    sentences = 0 if message.response is None else count_budget_sentences(message.response.content)
    if not sentences or (key is None and sentences <= clock.sentence_budget(session.state)):
        return None
    return session.workspace.artifacts.put(data, REPLY)


def _nobody_signs(message: IncomingMessage) -> Refused:
    """Without a known sender nobody can sign; what else is wrong is said as well."""
    wrong = select_errors(message.findings)
    first = wrong[0] if wrong else None
    return Refused(
        first.code if first else "unknown_seat",
        first.message if first else f"{message.sender} has no seat in this session",
        hint=first.hint if first else "`moot parliament status DIR` lists the seats",
        findings=wrong,
    )


def _not_yours(sender: str, acting: str | None) -> Refused:
    """C-30: nobody speaks for another."""
    finding = Finding(
        rule="C-30",
        code="not_you",
        message=f"you are {acting}; {sender} speaks with another key",
        where="from",
        hint="send it under your own seat",
    )
    return Refused(finding.code, finding.message, hint=finding.hint, findings=[finding])
