"""Return what waits for an agent and was not shown to it yet, and the outcome of its requests.

What is returned here is marked as seen, so it is shown once; it stays due until the agent accepts
it. The outcome of a request is shown once too: the file is free now, or Moot sent the same request
to the next holder.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from moot.api.session import read_presence
from moot.core.errors import MootError
from moot.core.sha256 import sha256
from moot.core.text import OwnText, Quoted, quote_optional, shell_word

if TYPE_CHECKING:
    from moot.api.session import Session
    from moot.core.clock import Millis
    from moot.protocols.presence.model import PresenceMessage, Reservation, State
    from moot.workspace.workspace import Workspace


class WaitingEvent(msgspec.Struct, frozen=True):
    """A HANDOFF or BLOCKED event that the agent must accept; `asks` is what the sender asked for.

    `message` is the id of the mail with the full text, if any; `held` is the part of a requested
    scope that the receiver holds.
    """

    id: str
    event_type: str
    from_agent: str | None
    subject: Quoted
    asks: Quoted = Quoted("")
    scope: Quoted | None = None
    message: str | None = None
    held: Quoted | None = None

    @property
    def typed_held(self) -> OwnText:
        """Return `held` as it is typed in a shell, in any folder."""
        from moot.protocols.presence.paths import write_typed

        return shell_word(write_typed(self.held or ""))


class WaitingMail(msgspec.Struct, frozen=True):
    """The number of new messages and the newest sender; a sender from outside is not `proved`."""

    count: int
    sender: Quoted
    proved: bool
    subject: Quoted
    newest: str = ""


class SettledRequest(msgspec.Struct, frozen=True):
    """A BLOCKED of the agent itself that is settled: `asked` no longer holds `scope`.

    The scope is free, or `holder` has it now. `sent` is the new BLOCKED to that holder, None if
    Moot could not send it.
    """

    id: str
    asked: str
    scope: Quoted
    holder: str | None = None
    sent: str | None = None


class Waiting(msgspec.Struct, frozen=True):
    """Everything unread, oldest first, and settled requests; false if there is nothing."""

    events: tuple[WaitingEvent, ...] = ()
    mail: WaitingMail | None = None
    settled: tuple[SettledRequest, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.events) or self.mail is not None or bool(self.settled)


def take_waiting(workspace: Workspace, name: str) -> Waiting:
    """Return what waits for `name` and was not shown before, and mark it as shown."""
    from moot.protocols.presence import STREAM
    from moot.protocols.presence.commands import MarkSeen

    agent = workspace.engine.registry().agents.get(name)
    epoch = agent.epoch if agent is not None else 0
    state = read_presence(workspace)
    unseen = _unseen(state, name, epoch)
    for message in unseen:
        workspace.engine.execute(STREAM, MarkSeen(id=message.id), name)
    events = tuple(_describe(workspace, state, unseen))
    told = frozenset(event.message for event in events if event.message)
    settled = tuple(_take_settled(workspace, state, name, epoch))
    return Waiting(events, take_new_mail(workspace, name, told), settled)


def _describe(
    workspace: Workspace, state: State, unseen: list[PresenceMessage]
) -> Iterator[WaitingEvent]:
    if not unseen:
        return
    now = workspace.engine.clock()
    from moot.protocols.mail.index_keys import MESSAGES_OF_EVENTS

    with workspace.store.read() as view:
        for message in unseen:
            row, mail = (
                view.row("presence.events", message.id),
                view.row(MESSAGES_OF_EVENTS, message.id),
            )
            payload = {} if row is None else msgspec.json.decode(row.value)["payload"]
            asks = payload.get("requested_action") or payload.get("next_action") or ""
            yield WaitingEvent(
                message.id,
                str(message.type),
                message.sender,
                Quoted(message.subject),
                Quoted(asks),
                quote_optional(message.scope),
                None if mail is None else msgspec.json.decode(mail.value)["id"],
                _held_by_receiver(state, message, now),
            )


def _held_by_receiver(state: State, message: PresenceMessage, now: Millis) -> Quoted | None:
    from moot.protocols.presence.model import EventType

    if message.type is not EventType.BLOCKED:
        return None
    theirs = (held.scope for held in _held_there(state, message, now) if held.owner == message.to)
    return quote_optional(next(theirs, None))


def _unseen(state: State, name: str, epoch: int) -> list[PresenceMessage]:
    """Return HANDOFF and BLOCKED events that this holder of the name has not seen, oldest first."""
    mine = (message for message in state.pending.values() if message.is_for(name, epoch))
    return sorted(
        (message for message in mine if name not in message.seen_by),
        key=lambda message: message.at,
    )


def _take_settled(
    workspace: Workspace, state: State, name: str, epoch: int
) -> Iterator[SettledRequest]:
    """Yield this agent's requests whose scope is free or has a new holder, each once.

    A request that was accepted and is not settled is left out: the promise is still open.
    """
    from moot.protocols.presence.model import EventType

    mine = [
        request
        for request in state.recent
        if request.settled and (request.sender, request.sender_epoch) == (name, epoch)
    ]
    if not mine:
        return
    from moot.api.mail.lapsed_duties import settle_messages

    untold = [each for each in mine if claim_notice(workspace.path, "settled", name, each.id)]
    now = workspace.engine.clock()
    for request in untold:
        held = _held_there(state, request, now)
        is_own = any(each.is_held_by(name, epoch) for each in held)
        if request.type is not EventType.BLOCKED or request.scope is None or is_own:
            continue
        holder = held[0].owner if held else None
        sent = _ask_next_holder(workspace, name, request, holder) if holder else None
        yield SettledRequest(request.id, request.to or "", Quoted(request.scope), holder, sent)
    if untold:
        settle_messages(workspace, name)


def _held_there(state: State, request: PresenceMessage, now: Millis) -> list[Reservation]:
    from moot.protocols.presence import model

    if request.key is None:
        return []
    overlapping = model.overlapping_reservations(state, request.key)
    return [held for held in overlapping if not held.has_ended(now)]


def _ask_next_holder(
    workspace: Workspace, name: str, request: PresenceMessage, holder: str
) -> str | None:
    """Send the same request to the new holder; return None if that is refused."""
    from moot.api.mail import notices
    from moot.protocols.presence.commands import SendBlocked
    from moot.protocols.presence.events import BlockedSent

    with workspace.store.read() as view:
        row = view.row("presence.events", request.id)
    payload = {} if row is None else msgspec.json.decode(row.value)["payload"]
    agent = workspace.engine.registry().agents.get(holder)
    command = SendBlocked(
        to=holder,
        subject=request.subject,
        blocker=f"{holder} holds {request.scope} now; {request.to} was asked before ({request.id})",
        requested_action=payload.get("requested_action", "release it, or say when"),
        work=request.work or "",
        urgency=str(request.urgency or "medium"),
        scope=request.scope,
        project_root=str(workspace.root),
        to_epoch=agent.epoch if agent is not None else None,
    )
    try:
        event, _mail = notices.send(workspace, name, command, key=f"next-{request.id}")
    except MootError:
        return None
    return str(event.newest(BlockedSent).event.id)


def take_new_mail(
    workspace: Workspace, name: str, told: frozenset[str] = frozenset()
) -> WaitingMail | None:
    """Return unread mail that was not announced before, except messages in `told`. Reads only the
    index."""
    from moot.api.mail import inbox

    box = inbox.box_of(workspace, name)
    if box is None or workspace.rollback is not None:
        return None
    slips = [slip for slip in inbox.announce_new(workspace, box) if slip.value["id"] not in told]
    if not slips:
        return None
    newest = slips[-1].value
    proved = not newest["imported"]
    sender = Quoted(slips[-1].sender)
    return WaitingMail(len(slips), sender, proved, Quoted(newest["subject"]), newest["id"])


# Notices that were already shown: one empty file each.

FOLDER: Final = "hooks/told"
_OLD_SECONDS: Final = 30 * 24 * 3600
_MOST_SWEPT: Final = 200


def claim_notice(workspace: Path, *what: str) -> bool:
    """Claim a notice and return True; False if it was claimed before, so that it is shown once.

    The claim is an empty file that only one process can create. If none can be created, the notice
    is shown again.
    """
    note = _note_of(workspace, what)
    try:
        note.parent.mkdir(parents=True, exist_ok=True)
        os.close(os.open(note, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except FileExistsError:
        return False
    except OSError:
        return True
    return True


def release_notice(workspace: Path, *what: str) -> None:
    """Release a claim, because the notice could not be sent."""
    with suppress(OSError):
        _note_of(workspace, what).unlink()


def _note_of(workspace: Path, what: tuple[str, ...]) -> Path:
    text = "\n".join(what).encode("utf-8", "surrogateescape")
    return workspace / FOLDER / sha256(text).hexdigest()[:32]


def delete_old_claims(workspace: Path) -> None:
    """Delete claims that are older than a month, so that the folder stays small."""
    with suppress(OSError):
        for note in list(islice((workspace / FOLDER).iterdir(), _MOST_SWEPT)):
            if time.time() - note.stat().st_mtime > _OLD_SECONDS:
                note.unlink()


# Returns how a model calls one of our MCP tools.
ToolName = Callable[[str], str]


def find_tool_names(tool: str, session: Session) -> ToolName | None:
    """Return how this tool's model calls our MCP tools; None if it uses the command line."""
    from moot.api.guard.guarded_paths import find_guarded_folder
    from moot.api.hook_setup.server_files import find_entry
    from moot.coding_tools import find_tool

    try:
        guarded = find_guarded_folder(session.folder, session.home)
    except MootError:
        guarded = None
    if guarded is None:
        return None
    known = find_tool(tool)
    found = find_entry(known, guarded, session.env)
    return None if found is None or found.flaw is not None else known.call_name.format
