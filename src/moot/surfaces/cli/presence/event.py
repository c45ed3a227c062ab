"""`moot event ...`, `moot handoff` and `moot blocked`: work passed on, help asked for."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import click
import msgspec

from moot.core.errors import NotFound
from moot.core.findings import Finding
from moot.core.machine import Command
from moot.protocols.presence import STREAM, codec, timeline
from moot.protocols.presence import commands as ask
from moot.protocols.presence import events as did
from moot.protocols.presence.model import EventType
from moot.surfaces.cli.presence.here import Here, holding
from moot.surfaces.terminal.answer import Answer, findings_json, remarks, visible
from moot.surfaces.terminal.lazy import LazyGroup
from moot.surfaces.terminal.listing import listing
from moot.surfaces.terminal.shell import Shell, command, text_argument

if TYPE_CHECKING:
    from moot.engine.job import Outcome

_FROM = click.option("--from", "sender", metavar="NAME", help="Who sends (default: you).")
_TO = click.option("--to", required=True, metavar="NAME", help="Who receives.")
_SUBJECT = click.option("--subject", required=True, metavar="TEXT", help="What it is about.")
_SCOPE = click.option("--scope", metavar="SCOPE", help="The files or folder it concerns.")
_WORK = click.option(
    "--work", "--bead", "work", metavar="ID", help="The work item (default: the branch)."
)
_AGENT = click.option("--agent", metavar="NAME", help="Who acts (default: --as or MOOT_AGENT).")
_SUMMARY = click.option("--summary", required=True, metavar="TEXT", help="Where the work stands.")
_NEXT = click.option("--next-action", required=True, metavar="TEXT", help="What to do next.")
_NO_ACK = click.option("--no-ack", is_flag=True, help="No acceptance is expected.")
_BLOCKER = click.option("--blocker", required=True, metavar="TEXT", help="What is in the way.")
_REQUEST = click.option(
    "--requested-action", required=True, metavar="TEXT", help="What you need from them."
)
_URGENCY = click.option(
    "--urgency",
    type=click.Choice(["low", "medium", "high"]),
    default="medium",
    show_default=True,
    help="How much it holds up.",
)
SECTIONS = {
    "Send": {
        "handoff": "pass work on, with the scope you hold",
        "blocked": "say that you cannot go on, and what you need",
    },
    "Read and answer": {
        "list": "what was passed on, asked for, overlapped, resumed",
        "seen": "say that you have read an event",
        "accept": "take on what was passed to you",
    },
}


@click.command("event", cls=LazyGroup, sections=SECTIONS, no_args_is_help=False)
def event() -> None:
    """Events between agents: passed on, blocked, overlapping, picked up again."""


def _send(shell: Shell, sender: str | None, build: Any) -> Answer:
    """Build the command for the place we stand in, send it, show its v1 event."""
    here, name = Here(shell), shell.actor(sender)
    outcome = here.space.engine.execute(STREAM, build(here), name)
    sent = next(one for one in outcome.recorded if isinstance(one.event, did.WITH_ENVELOPE))
    document = codec.make_document(codec.make_envelope(sent))
    found = [*outcome.findings, *here.remarks]
    said = f"{document['id']}: {name} to {document['to_agent']}"
    data = {"event": document, "findings": findings_json(found)}
    return Answer(data, lambda: [said, *_stays(document, found), *remarks(found)])


def _notify(shell: Shell, build: Any) -> Answer:
    """The event, and the message that says the same, in one."""
    from moot.flows.mail import notices
    from moot.flows.mail.letters import remark_absent_receivers

    here, name = Here(shell), shell.actor(None)
    notice = build(here)
    event, mail = notices.send(here.space, name, notice)
    sent = next(one for one in event.recorded if isinstance(one.event, did.WITH_ENVELOPE))
    document = codec.make_document(codec.make_envelope(sent))
    # What mail would like to read besides is not this command's to say: `moot send` is for that.
    found = [*event.findings, *remark_absent_receivers(here.space, [notice.to]), *here.remarks]
    message = mail.recorded[0].event.id
    said = f"{document['id']}: {name} to {document['to_agent']} (message {message})"
    data = {"event": document, "message": message, "findings": findings_json(found)}
    return Answer(data, lambda: [said, *_stays(document, found), *remarks(found)])


def _stays(document: dict[str, Any], found: Iterable[Finding]) -> Iterable[str]:
    """A HANDOFF without a scope moves nothing, whether or not there is a finding that says so."""
    bare = document["event_type"] == EventType.HANDOFF and document["scope"] is None
    if bare and all(one.code != "nothing_to_move" for one in found):
        yield "it names no scope: accepting it moves no reservation"


def _handoff(values: dict[str, Any], here: Here) -> Command:
    return ask.SendHandoff(
        to=values["to"],
        subject=text_argument(values["subject"]),
        summary=text_argument(values["summary"]),
        next_action=text_argument(values["next_action"]),
        work=here.work(values["work"]) or "",
        scope=values["scope"],
        requires_ack=not values["no_ack"],
        project_root=here.project_root,
        worktree=str(here.worktree),
        to_epoch=here.epoch_of(values["to"]),
    )


def _blocked(values: dict[str, Any], here: Here) -> Command:
    return ask.SendBlocked(
        to=values["to"],
        subject=text_argument(values["subject"]),
        blocker=text_argument(values["blocker"]),
        requested_action=text_argument(values["requested_action"]),
        work=here.work(values["work"]) or "",
        urgency=values["urgency"],
        scope=values["scope"],
        project_root=here.project_root,
        worktree=str(here.worktree),
        to_epoch=here.epoch_of(values["to"]),
    )


@command(event, "handoff", "event.handoff")
@_FROM
@_TO
@_SCOPE
@_SUBJECT
@_SUMMARY
@_NEXT
@_WORK
@_NO_ACK
def send_handoff(shell: Shell, sender: str | None, **values: Any) -> Answer:
    """Pass work on. Once accepted, the scope you hold moves to the receiver.

    Examples:
      moot event handoff --from amber-otter --to teal-crane --scope src/auth \\
        --subject "auth cache" --summary "half done" --next-action "finish the tests"
    """
    return _send(shell, sender, lambda here: _handoff(values, here))


@command(event, "blocked", "event.blocked")
@_FROM
@_TO
@_SCOPE
@_SUBJECT
@_BLOCKER
@_REQUEST
@_URGENCY
@_WORK
def send_blocked(shell: Shell, sender: str | None, **values: Any) -> Answer:
    """Say that you cannot go on, why, and what you need from whom.

    Examples:
      moot event blocked --to teal-crane --subject "schema" --blocker "no migration" \\
        --requested-action "write it" --urgency high
    """
    return _send(shell, sender, lambda here: _blocked(values, here))


@command(None, "handoff", "handoff")
@click.argument("to")
@_SCOPE
@_SUBJECT
@_SUMMARY
@_NEXT
@_WORK
@_NO_ACK
def handoff(shell: Shell, **values: Any) -> Answer:
    """Pass your work on to TO. Once accepted, the scope you hold moves along.

    Examples:
      moot handoff teal-crane --subject "auth cache" --summary "half done" \\
        --next-action "finish the tests" --scope src/auth
    """
    return _notify(shell, lambda here: _handoff(values, here))


@command(None, "blocked", "blocked")
@click.argument("to")
@_SCOPE
@_SUBJECT
@_BLOCKER
@_REQUEST
@_URGENCY
@_WORK
def blocked(shell: Shell, **values: Any) -> Answer:
    """Tell TO that you cannot go on, why, and what you need.

    Examples:
      moot blocked teal-crane --subject "schema" --blocker "no migration" \\
        --requested-action "write it"
    """
    return _notify(shell, lambda here: _blocked(values, here))


@command(event, "list", "event.list")
@click.option("--work", "--bead", "work", metavar="ID", help="Only of this work item.")
@click.option(
    "--limit",
    default=100,
    show_default=True,
    type=click.IntRange(1, 1000),
    help="At most so many, the newest.",
)
def list_events(shell: Shell, work: str | None, limit: int) -> Answer:
    """The conversation: what was passed on, what needs input, overlaps, who picked up what.

    Examples:
      moot event list
      moot event list --bead T-7 --json
    """
    rows = conversation(shell, work)[-limit:]
    shown = [msgspec.to_builtins(row) for row in rows]
    return Answer({"events": shown}, lambda: _conversation_lines(rows))


def conversation(shell: Shell, work: str | None) -> tuple[timeline.TimelineRow, ...]:
    with shell.workspace.store.read() as view:
        stored = _all(view, "presence.events")
        if work is not None:
            wanted = {row.key.rpartition(" ")[2] for row in _all(view, "presence.work", f"{work} ")}
            stored = [row for row in stored if row.key in wanted]
        given = _all(view, "presence.receipts")
    receipts = (timeline.read_receipt(row.key, msgspec.json.decode(row.value)) for row in given)
    return timeline.make_timeline((msgspec.json.decode(row.value) for row in stored), receipts)


def _all(view: Any, space: str, prefix: str = "") -> list[Any]:
    found: list[Any] = []
    while page := view.rows(space, prefix, found[-1].key if found else "", 1000):
        found += page
    return found


def _conversation_lines(rows: tuple[timeline.TimelineRow, ...]) -> Iterable[str]:
    if not rows:
        return ["nothing was said yet"]
    where = {row.id: f"{row.scope}: " for row in rows if row.kind == EventType.INCURSION}
    cells = [
        (row.at, row.id, row.from_agent or "-", row.label, row.to_agent or "-", about)
        for row in rows
        for about in (visible(f"{where.get(row.id, '')}{row.title}"),)
    ]
    return listing(cells, ("AT", "ID", "WHO", "WHAT", "WHOM", "ABOUT"))


def _receipt(shell: Shell, event_id: str, name: str, outcome: Outcome, said: str) -> Answer:
    from moot.flows.mail.notices import moved_to

    moved = list(moved_to(outcome))
    data = {
        "event": _document(shell, event_id),
        "agent": name,
        "moved": moved,
        "findings": findings_json(outcome.findings),
    }
    lines = [f"{event_id}: {said} by {name}", *holding(name, moved)]
    return Answer(data, lambda: [*lines, *remarks(outcome.findings)])


def _document(shell: Shell, event_id: str) -> Any:
    with shell.workspace.store.read() as view:
        row = view.row("presence.events", event_id)
    if row is None:
        raise NotFound("event_not_found", f"no event {event_id}", hint="`moot event list`")
    return msgspec.json.decode(row.value)


@command(event, "seen", "event.seen")
@click.argument("event_id", metavar="ID")
@_AGENT
def seen(shell: Shell, event_id: str, agent: str | None) -> Answer:
    """Say that you have read an event.

    Examples:
      moot event seen proto_20260214_001
    """
    name = shell.actor(agent)
    outcome = shell.workspace.engine.execute(STREAM, ask.MarkSeen(id=event_id), name)
    return _receipt(shell, event_id, name, outcome, "Seen")


@command(event, "accept", "event.accept")
@click.argument("event_id", metavar="ID")
@_AGENT
def accept(shell: Shell, event_id: str, agent: str | None) -> Answer:
    """Take on what was passed to you; the sender's scope becomes yours.

    Examples:
      moot event accept proto_20260214_001 --agent teal-crane
    """
    from moot.flows.mail import notices

    name = shell.actor(agent)
    outcome = notices.accept(shell.workspace, name, event_id)
    return _receipt(shell, event_id, name, outcome, "Accepted")
