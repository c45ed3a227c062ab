"""Cancel the duties of sessions that have ended, and settle messages about events that are over.

A session has ended when its name is retired or another session adopted it; while it can still be
adopted, its duties stay. If no receiver is left to answer, the sender gets a message ("not
answered: X ended"); if the sender has ended, the duty just ends. The ledger's own key signs both;
without that key duties stay due, but lists leave them out.
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
    """A message or an event that needs no answer any more, and who has ended."""

    id: str
    ended: str


def settle_messages(workspace: Workspace, name: str | None = None) -> None:
    """Settle the messages about requests that are over.

    `name` signs if it sent or received the request, else the ledger's own key. Without either the
    message waits for the next call; lists leave it out until then.
    """
    from moot.api.mail.notices import find_message_about, settle_job

    for event in _requests_over(workspace):
        signer = name if name in event.parties else None
        if signer is None and workspace.engine.signs_as_ledger:
            signer = SYSTEM
        message = find_message_about(workspace, event.id) if signer else None
        if signer and message is not None and message.is_waiting:
            job = settle_job(message.id, f"{event.id} is settled", signer)
            with suppress(MootError):  # it was answered meanwhile
                workspace.engine.execute(job.stream, job.command, signer)


def settle_after(workspace: Workspace, name: str, outcome: JobOutcome) -> None:
    """Settle the messages about requests that this outcome ended; most end none."""
    if any(isinstance(recorded.event, RequestSettled) for recorded in outcome.recorded):
        settle_messages(workspace, name)


def find_settled(workspace: Workspace) -> frozenset[str]:
    """Return the ids of requests that are over: their messages need no answer."""
    return frozenset(event.id for event in _requests_over(workspace))


def _requests_over(workspace: Workspace) -> list[PresenceMessage]:
    recent = workspace.engine.state(PRESENCE, STREAM).recent
    over = (event for event in recent if event.settled or event.withdrawn)
    return [event for event in over if event.type is not EventType.INCURSION]


def lapse_duties(workspace: Workspace) -> tuple[LapsedDuty, ...]:
    """Cancel every duty that is owed by or to an ended agent; a repeat finds none."""
    settle_messages(workspace)
    registry = workspace.engine.registry()
    jobs = [*_presence_jobs(workspace, registry), *_mail_jobs(workspace, registry)]
    lapsed: list[LapsedDuty] = []
    for job, unanswered in jobs:
        try:
            workspace.engine.execute(job.stream, job.command, SYSTEM)
        except MootError as error:
            if error.code == "key_missing":
                break
            continue  # it was answered meanwhile
        command = job.command
        assert isinstance(command, Lapse | LapseAnswer), "these are all"
        lapsed.append(LapsedDuty(command.id, command.ended))
        if unanswered is not None:
            _notify_sender(workspace, unanswered, command.ended)
    return tuple(lapsed)


def _presence_jobs(
    workspace: Workspace, registry: Registry
) -> Iterator[tuple[Job, PresenceMessage | None]]:
    """Yield each job, with its event if the sender must get a message: mail sends it otherwise."""
    from moot.api.mail.notices import find_message_about

    for message in workspace.engine.state(PRESENCE, STREAM).pending.values():
        receiver_ended = _has_ended(registry, message.to, message.to_epoch)
        sender_ended = _has_ended(registry, message.sender, message.sender_epoch)
        ended = message.to if receiver_ended else message.sender if sender_ended else None
        if ended is not None:
            can_read = receiver_ended and not sender_ended
            needs_message = can_read and find_message_about(workspace, message.id) is None
            job = Job(STREAM, LapseAnswer(id=message.id, ended=ended), SYSTEM)
            yield job, message if needs_message else None


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
    """Return the last receiver if all that could answer have ended; None if one is left."""
    awaited = message.missing_receivers or tuple(each for each in message.to if each.epoch)
    if all(_has_ended(registry, each.name, each.epoch) for each in awaited):
        return awaited[-1].name if awaited else None
    return None


def _has_ended(registry: Registry, name: str | None, epoch: int) -> bool:
    """Return True if this holder of the name has ended; names without a key never end."""
    is_known = name is not None and name in registry.agents and epoch > 0
    return is_known and not registry.is_holder(name or "", epoch)


def _notify_sender(workspace: Workspace, message: PresenceMessage, ended: str) -> None:
    from moot.api.mail.outgoing import OutgoingMessage, post_message

    outgoing = OutgoingMessage(
        to=(message.sender or "",),
        subject=f"INFO: not answered: {ended} ended",
        body=f"Not answered: {ended} ended. It was about {message.id}: {message.subject}",
    )
    with suppress(MootError):  # the lapsed duty is recorded anyway
        post_message(workspace, SYSTEM, outgoing)
