"""`moot event ...`, `moot handoff` and `moot blocked`: work passed on, help asked for."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import click

from moot.api import events
from moot.api.typed_paths import read_typed_scopes
from moot.surfaces.terminal.answer import Answer, remarks, visible
from moot.surfaces.terminal.lazy import LazyGroup
from moot.surfaces.terminal.listing import listing
from moot.surfaces.terminal.shell import Shell, command, text_argument

# Options that may be `-` (standard input) or `@file`.
_TEXTS = ("subject", "summary", "next_action", "blocker", "requested_action")
_FROM = click.option("--from", "sender", metavar="NAME", help="Who sends (default: you).")
_TO = click.option("--to", required=True, metavar="NAME", help="Who receives.")
_SUBJECT = click.option("--subject", required=True, metavar="TEXT", help="What it is about.")
_SCOPE = click.option(
    "--scope",
    metavar="SCOPE",
    help="The files or folder it concerns, from the folder you are in (:/x from the root).",
)
_WORK = click.option(
    "--work",
    "--bead",
    "work",
    metavar="ID",
    help="The work item (default: your own, else the branch).",
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
        "withdraw": "take back a request, or mark an overlap as false",
    },
}


@click.command("event", cls=LazyGroup, sections=SECTIONS, no_args_is_help=False)
def event() -> None:
    """Events between agents: passed on, blocked, overlapping, picked up again."""


def _sent(sent: events.SentEvent | events.SentNotice) -> Answer:
    about = f" (message {sent.message})" if isinstance(sent, events.SentNotice) else ""
    line = f"{sent.event.id}: {sent.event.from_agent} to {sent.event.to_agent}{about}"
    return Answer(sent, lambda: [line, *_moves_nothing(sent), *remarks(sent.findings)])


def _moves_nothing(sent: events.SentEvent | events.SentNotice) -> Iterable[str]:
    """A HANDOFF without a scope moves nothing, whether or not there is a finding that says so."""
    bare = sent.event.event_type == "HANDOFF" and sent.event.scope is None
    if bare and all(finding.code != "nothing_to_move" for finding in sent.findings):
        yield "it names no scope: accepting it moves no reservation"


def _arguments(shell: Shell, values: dict[str, Any]) -> dict[str, Any]:
    """The options of a notice as the library takes them: texts are read, flags and scopes named."""
    scope = values["scope"]
    if scope is not None:
        (scope,) = read_typed_scopes([scope], shell.session)
    texts = {name: text_argument(values[name]) for name in _TEXTS if name in values}
    flags = {"requires_ack": not values["no_ack"]} if "no_ack" in values else {}
    rest = {name: value for name, value in values.items() if name != "no_ack"}
    return {**rest, **texts, **flags, "scope": scope}


@command(event, "handoff", "event.handoff")
@_FROM
@_TO
@_SCOPE
@_SUBJECT
@_SUMMARY
@_NEXT
@_WORK
@_NO_ACK
def send_handoff(shell: Shell, **values: Any) -> Answer:
    """Pass work on. Once accepted, the scope you hold moves to the receiver.

    Examples:
      moot event handoff --from amber-otter --to teal-crane --scope src/auth \\
        --subject "auth cache" --summary "half done" --next-action "finish the tests"
    """
    return _sent(events.send_handoff(shell.session, **_arguments(shell, values)))


@command(event, "blocked", "event.blocked")
@_FROM
@_TO
@_SCOPE
@_SUBJECT
@_BLOCKER
@_REQUEST
@_URGENCY
@_WORK
def send_blocked(shell: Shell, **values: Any) -> Answer:
    """Say that you cannot go on, why, and what you need from whom.

    Examples:
      moot event blocked --to teal-crane --subject "schema" --blocker "no migration" \\
        --requested-action "write it" --urgency high
    """
    return _sent(events.send_blocked(shell.session, **_arguments(shell, values)))


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
    return _sent(events.handoff(shell.session, **_arguments(shell, values)))


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
    return _sent(events.blocked(shell.session, **_arguments(shell, values)))


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
    conversation = events.list_events(shell.session, work=work, limit=limit)
    return Answer(conversation, lambda: _conversation_lines(conversation))


def _conversation_lines(conversation: events.Conversation) -> Iterable[str]:
    rows = conversation.events
    if not rows:
        return ["nothing was said yet"]
    where = {row.id: f"{row.scope}: " for row in rows if row.kind == "INCURSION"}
    cells = [
        (row.at, row.id, row.from_agent or "-", row.label, row.to_agent or "-", about)
        for row in rows
        for about in (visible(f"{where.get(row.id, '')}{row.title}{row.mark}"),)
    ]
    return listing(cells, ("AT", "ID", "WHO", "WHAT", "WHOM", "ABOUT"))


def _receipt(receipt: events.EventReceipt, what: str) -> Answer:
    lines = [
        f"{receipt.event.id}: {what} by {receipt.agent}",
        *(f"{receipt.agent} holds {scope} now" for scope in receipt.moved),
    ]
    return Answer(receipt, lambda: [*lines, *remarks(receipt.findings)])


@command(event, "seen", "event.seen")
@click.argument("event_id", metavar="ID")
@_AGENT
def seen(shell: Shell, event_id: str, agent: str | None) -> Answer:
    """Say that you have read an event.

    Examples:
      moot event seen proto_20260214_001
    """
    return _receipt(events.mark_seen(shell.session, event_id, agent=agent), "Seen")


@command(event, "accept", "event.accept")
@click.argument("event_id", metavar="ID")
@_AGENT
@click.option("--notes", metavar="TEXT", default="", help="Words for the sender.")
def accept(shell: Shell, event_id: str, agent: str | None, notes: str) -> Answer:
    """Take on what was passed to you; the sender's scope becomes yours.

    The message about it is acknowledged with the words of --notes.

    Examples:
      moot event accept proto_20260214_001 --agent teal-crane
      moot event accept proto_20260214_001 --notes "done by noon"
    """
    accepted = events.accept(shell.session, event_id, agent=agent, notes=text_argument(notes))
    return _receipt(accepted, "Accepted")


@command(event, "withdraw", "event.withdraw")
@click.argument("event_id", metavar="ID")
@click.option("--reason", required=True, metavar="TEXT", help="Why.")
@click.option("--evidence", default="", metavar="TEXT", help="What shows that an overlap is false.")
@_AGENT
def withdraw(shell: Shell, event_id: str, reason: str, evidence: str, agent: str | None) -> Answer:
    """Take back a request that waits, or mark an overlap as false; it stays on record, marked.

    A handoff or blocked is its sender's to withdraw. An overlap is withdrawn by the agent that
    holds the file, never by the agent that the entry accuses. As a person with your own key you may
    withdraw both.

    Examples:
      moot event withdraw proto_20260214_002 --reason "I found another way" --agent amber-otter
      moot event withdraw proto_20260214_001 --reason "I changed it myself" --agent teal-crane
    """
    done = events.withdraw(
        shell.session,
        event_id,
        text_argument(reason),
        evidence=text_argument(evidence),
        agent=agent,
    )
    line = visible(f"{done.event.id}: {done.withdrawn}")
    return Answer(done, lambda: [line, *remarks(done.findings)])
