"""Duties that end: with a session what it owed and was owed, with an event its message.

A session has ended when its name is retired, or when another session goes on under it: while it can
still be adopted, nothing lapses. What nobody can answer any more is told to the living sender
("not answered: X ended"); what nobody waits for any more just ends. Both are on record, signed by
the ledger's own key; where that is not at hand they stay due, and lists leave them out all the
same.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

import msgspec

from moot.api.mail.messages import open_threads
from moot.core.errors import MootError
from moot.core.names import SYSTEM
from moot.engine.job import Job
from moot.protocols.mail.commands import Lapse
from moot.protocols.presence import STREAM
from moot.protocols.presence.commands import LapseAnswer
from moot.protocols.presence.events import RequestSettled
from moot.protocols.presence.machine import MACHINE as PRESENCE
from moot.protocols.presence.model import EventType

if TYPE_CHECKING:
    from moot.core.registry.model import State as Registry
    from moot.engine.job import JobOutcome
    from moot.protocols.mail.model import MailMessage
    from moot.protocols.presence.model import PresenceMessage
    from moot.workspace.workspace import Workspace


class LapsedDuty(msgspec.Struct, frozen=True):
    """A message or an event that nobody waits for any more, and who has ended."""

    id: str
    ended: str


def settle_messages(workspace: Workspace, name: str | None = None) -> None:
    """Settle the messages about requests that nobody needs any more.

    Signed by `name` where it sent or received the request, else by the ledger's own key; where that
    is not at hand the next of them does it, and lists leave the message out all the same.
    """
    from moot.api.mail.notices import message_about, settlement

    for event in _requests_over(workspace):
        signer = name if name in event.parties else None
        if signer is None and workspace.engine.signs_as_ledger:
            signer = SYSTEM
        message = message_about(workspace, event.id) if signer else None
        if signer and message is not None and message.is_waiting:
            job = settlement(message.id, f"{event.id} is settled", signer)
            with suppress(MootError):  # it was answered just now
                workspace.engine.execute(job.stream, job.command, signer)


def settle_after(workspace: Workspace, name: str, outcome: JobOutcome) -> None:
    """Settle the messages about requests that this outcome ended; most end none."""
    if any(isinstance(recorded.event, RequestSettled) for recorded in outcome.recorded):
        settle_messages(workspace, name)


def find_settled(workspace: Workspace) -> frozenset[str]:
    """The requests that are over, by id: nobody owes their messages an answer."""
    return frozenset(event.id for event in _requests_over(workspace))


def _requests_over(workspace: Workspace) -> list[PresenceMessage]:
    recent = workspace.engine.state(PRESENCE, STREAM).recent
    over = (event for event in recent if event.settled or event.withdrawn)
    return [event for event in over if event.type is not EventType.INCURSION]


def lapse_duties(workspace: Workspace) -> tuple[LapsedDuty, ...]:
    """Let everything lapse that is owed by or to somebody who has ended; a repeat finds nothing."""
    settle_messages(workspace)
    registry = workspace.engine.registry()
    jobs = [*_presence_jobs(workspace, registry), *_mail_jobs(workspace, registry)]
    done: list[LapsedDuty] = []
    for job, is_told in jobs:
        try:
            workspace.engine.execute(job.stream, job.command, SYSTEM)
        except MootError as error:
            if error.code == "key_missing":
                break
            continue  # it was answered just now
        command = job.command
        assert isinstance(command, Lapse | LapseAnswer), "these are all"
        done.append(LapsedDuty(command.id, command.ended))
        if is_told is not None:
            _tell_sender(workspace, is_told, command.ended)
    return tuple(done)


def _presence_jobs(
    workspace: Workspace, registry: Registry
) -> Iterator[tuple[Job, PresenceMessage | None]]:
    """With the message if its sender must be told by a letter: mail tells it otherwise."""
    from moot.api.mail.notices import message_about

    for message in workspace.engine.state(PRESENCE, STREAM).pending.values():
        receiver_ended = _has_ended(registry, message.to, message.to_epoch)
        sender_ended = _has_ended(registry, message.sender, message.sender_epoch)
        ended = message.to if receiver_ended else message.sender if sender_ended else None
        if ended is not None:
            is_told = receiver_ended and not sender_ended
            by_letter = is_told and message_about(workspace, message.id) is None
            job = Job(STREAM, LapseAnswer(id=message.id, ended=ended), SYSTEM)
            yield job, message if by_letter else None


def _mail_jobs(workspace: Workspace, registry: Registry) -> Iterator[tuple[Job, None]]:
    for stream, thread in open_threads(workspace):
        for message in thread.waiting_in_order():
            sender_ended = _has_ended(registry, message.sender, message.sender_epoch)
            ended = _last_who_could_answer(registry, message)
            if ended is None and sender_ended:
                ended = message.sender
            if ended is not None:
                tell = not sender_ended and message.sender_epoch > 0
                yield Job(stream, Lapse(id=message.id, ended=ended, tell_sender=tell), SYSTEM), None


def _last_who_could_answer(registry: Registry, message: MailMessage) -> str | None:
    """Who has ended, if nobody is left who could still answer."""
    awaited = message.missing_receivers or tuple(each for each in message.to if each.epoch)
    if all(_has_ended(registry, each.name, each.epoch) for each in awaited):
        return awaited[-1].name if awaited else None
    return None


def _has_ended(registry: Registry, name: str | None, epoch: int) -> bool:
    """A holder of a name that nobody can be any more. Names without a key never end."""
    known = name is not None and name in registry.agents and epoch > 0
    return known and not registry.is_holder(name or "", epoch)


def _tell_sender(workspace: Workspace, message: PresenceMessage, ended: str) -> None:
    from moot.api.mail.letters import Letter, send_letter

    letter = Letter(
        to=(message.sender or "",),
        subject=f"INFO: not answered: {ended} ended",
        body=f"Not answered: {ended} ended. It was about {message.id}: {message.subject}",
    )
    with suppress(MootError):  # it stands on record all the same
        send_letter(workspace, SYSTEM, letter)
