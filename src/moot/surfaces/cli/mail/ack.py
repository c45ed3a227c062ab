"""`moot mail ack`, `pending` and `tick`: giving answers, and going after those that are missing."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import click

from moot.core.clock import to_text
from moot.core.errors import Refused
from moot.surfaces.cli.presence.here import holding
from moot.surfaces.terminal.answer import Answer, findings_json, remarks
from moot.surfaces.terminal.listing import listing
from moot.surfaces.terminal.shell import Shell, command, text_argument

if TYPE_CHECKING:
    from moot.engine.job import Outcome
    from moot.protocols.mail.views import StandingView

_AGENT = click.option("--agent", metavar="NAME", help="Who acts (default: --as or MOOT_AGENT).")


def _known_status(_ctx: click.Context, _option: click.Parameter, text: str) -> str:
    """Wrong usage, like every other choice, before anything is looked at."""
    from moot.protocols.mail.case import read_ack_status
    from moot.protocols.mail.types import AckStatus

    if read_ack_status(text) is None:
        known = ", ".join(repr(one.value) for one in AckStatus)
        raise click.BadParameter(f"{text!r} is not one of {known}")
    return text


@command(None, "ack", "mail.ack")
@click.argument("message_id", metavar="ID")
@_AGENT
@click.option(
    "--status",
    required=True,
    metavar="STATUS",
    callback=_known_status,
    help="Received, Understood, 'Will Action' or Completed.",
)
@click.option("--notes", default="", metavar="TEXT", help="The answer, or anything else.")
def ack(shell: Shell, message_id: str, agent: str | None, status: str, notes: str) -> Answer:
    """Answer a message. Any status acknowledges it; Completed also closes a QUESTION, HANDOFF or
    BLOCKED. A later answer takes the place of an earlier one.

    Examples:
      moot mail ack auth-cache:1 --status "Will Action"
      moot mail ack auth-cache:1 --agent teal-crane --status Completed --notes "The in-process one"
    """
    from moot.flows.mail import notices, post
    from moot.protocols.mail import events as did
    from moot.protocols.mail import views

    space, name = shell.workspace, shell.actor(agent)
    message_id = post.known_id(space, message_id)
    post.thread_of(space, message_id)
    done = notices.answer(space, name, message_id, status, text_argument(notes))
    outcome, found = done.mail, [*done.mail.findings, *done.remarks]
    sent = next((one for one in outcome.recorded if isinstance(one.event, did.MessageSent)), None)
    message = outcome.state.find_message(message_id)
    standing = None if message is None else views.describe_standing(message, space.engine.clock())
    data = {
        "id": message_id,
        "agent": name,
        "ack": None if sent is None else sent.event.id,
        "standing": standing,
        "moved": list(done.moved),
        "findings": findings_json(found),
    }
    said = f"{message_id}: {_said(outcome)} by {name}" if sent else f"{message_id}: as before"
    moved = holding(name, done.moved)
    return Answer(data, lambda: [said, *moved, *_open_line(standing), *remarks(found)])


def _said(outcome: Outcome) -> str:
    from moot.protocols.mail.events import MessageAcknowledged

    done = (one.event for one in outcome.recorded if isinstance(one.event, MessageAcknowledged))
    return str(next(done).status)


def _open_line(standing: StandingView | None) -> Iterable[str]:
    if standing is not None and standing.open:
        yield f"still open: waits for {', '.join(standing.agents_owing)}"


@command(None, "pending", "mail.pending")
@_AGENT
def pending(shell: Shell, agent: str | None) -> Answer:
    """What still waits for an answer: all of it, or what NAME sent or owes.

    Examples:
      moot mail pending
      moot mail pending --agent teal-crane --json
    """
    from moot.flows.mail import post
    from moot.protocols.mail import views

    space, who = shell.workspace, agent or shell.acting
    now, known = space.engine.clock(), space.engine.registry().agents.get(who or "")
    waiting = [
        message
        for _, state in post.open_threads(space)
        for message in views.list_pending(state, now, who, known.epoch if known is not None else 0)
    ]
    waiting.sort(key=lambda message: (message.by is None, message.by or "", message.sent_at))
    return Answer({"pending": waiting}, lambda: _pending_lines(waiting))


def _pending_lines(waiting: list[StandingView]) -> Iterable[str]:
    if not waiting:
        return ["nobody owes an answer"]
    from moot.flows.mail.inbox import named

    rows = [
        (one.id, sender, ", ".join(one.agents_owing), one.subject, one.acknowledged, _by(one))
        for one in waiting
        for sender in (named(one.sender, one.proved),)
    ]
    return listing(rows, ("ID", "FROM", "WAITS FOR", "SUBJECT", "ACKNOWLEDGED", "BY"))


def _by(message: StandingView) -> str:
    if message.escalated_at:
        return "with the operator"
    again = ", sent again" if message.resent else ""
    return f"{message.by or '-'}{' overdue' if message.overdue else ''}{again}"


@command(None, "tick", "mail.tick")
def tick(shell: Shell) -> Answer:
    """Go after answers that are overdue: send once more to the missing, then tell the operator.

    Examples:
      moot mail tick
    """
    from moot.engine.keys import hand_of_system
    from moot.flows.mail import post

    engine = shell.workspace.engine
    if hand_of_system(engine.trust, engine.keys) is None:
        raise Refused(
            "key_missing",
            "time limits are applied by the root key, which is not in this key folder",
            hint="whoever ran `moot init` can do this; until then it stays due",
        )
    outcomes = [engine.tick(stream) for stream, _ in post.open_threads(shell.workspace)]
    done = [one for outcome in outcomes if outcome is not None for one in outcome.recorded]
    applied = [_applied(one) for one in done]
    return Answer({"applied": applied}, lambda: _tick_lines(applied))


def _applied(recorded: Any) -> dict[str, Any]:
    from moot.protocols.mail.events import MessageResent

    event = recorded.event
    again = isinstance(event, MessageResent)
    missing = [one.name for one in (event.to if again else event.missing)]
    did = "resent" if again else "escalated"
    return {"id": event.id, "did": did, "missing": missing, "at": to_text(recorded.at)}


def _tick_lines(applied: list[dict[str, Any]]) -> Iterable[str]:
    if not applied:
        return ["nothing was overdue"]
    said = {"resent": "sent again to", "escalated": "told the operator: no answer from"}
    return [f"{one['id']}: {said[one['did']]} {', '.join(one['missing'])}" for one in applied]
