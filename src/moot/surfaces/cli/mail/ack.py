"""`moot mail ack`, `pending` and `tick`: giving answers, and going after those that are missing."""

from __future__ import annotations

from collections.abc import Iterable

import click

from moot.api.mail import answers
from moot.surfaces.terminal.answer import Answer, remarks, visible
from moot.surfaces.terminal.listing import listing
from moot.surfaces.terminal.shell import Shell, command, text_argument

_AGENT = click.option("--agent", metavar="NAME", help="Who acts (default: --as or MOOT_AGENT).")


def _known_status(_ctx: click.Context, _option: click.Parameter, text: str) -> str:
    """Wrong usage, like every other choice, before anything is looked at."""
    status = answers.canonical_status(text)
    if status is None:
        known = ", ".join(map(repr, answers.ACK_STATUSES))
        raise click.BadParameter(f"{text!r} is not one of {known}")
    return status


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
    given = answers.ack(shell.session, message_id, status, notes=text_argument(notes), agent=agent)
    return Answer(given, lambda: _ack_lines(given, status))


def _ack_lines(given: answers.GivenAck, status: str) -> Iterable[str]:
    answered = f"{given.id} ({visible(given.subject)})" if given.subject else given.id
    yield f"{answered}: {status} by {given.agent}" if given.ack else f"{answered}: as before"
    yield from (f"{given.agent} holds {visible(scope)} now" for scope in given.moved)
    if given.standing is not None and given.standing.open:
        yield f"still open: waits for {', '.join(map(visible, given.standing.agents_owing))}"
    yield from remarks(given.findings)


@command(None, "pending", "mail.pending")
@_AGENT
def pending(shell: Shell, agent: str | None) -> Answer:
    """What still waits for an answer: all of it, or what NAME sent or owes.

    Examples:
      moot mail pending
      moot mail pending --agent teal-crane --json
    """
    waiting = answers.pending(shell.session, agent=agent)
    return Answer(waiting, lambda: _pending_lines(waiting))


def _pending_lines(waiting: answers.PendingMessages) -> Iterable[str]:
    if not waiting.pending:
        return ["nobody owes an answer"]
    rows = [
        (
            message.id,
            message.sender_label,
            ", ".join(message.agents_owing),
            message.subject,
            message.acknowledged,
            _limit(message),
        )
        for message in waiting.pending
    ]
    return listing(rows, ("ID", "FROM", "WAITS FOR", "SUBJECT", "ACKNOWLEDGED", "BY"))


def _limit(message: answers.StandingView) -> str:
    if message.escalated_at:
        return "no answer, escalated"
    again = ", sent again" if message.resent else ""
    return f"{message.by or '-'}{' overdue' if message.overdue else ''}{again}"


@command(None, "tick", "mail.tick")
def tick(shell: Shell) -> Answer:
    """Go after answers that are overdue: send once more to the missing, then tell the people who
    are registered here, and the sender.

    Examples:
      moot mail tick
    """
    chased = answers.tick(shell.session)
    return Answer(chased, lambda: _tick_lines(chased))


def _tick_lines(chased: answers.ChasedMessages) -> Iterable[str]:
    if not chased.applied:
        return ["nothing was overdue"]
    return [f"{message.id}: {_chased(message)}" for message in chased.applied]


def _chased(message: answers.ChasedMessage) -> str:
    missing = ", ".join(map(visible, message.missing))
    if message.did == "resent":
        return f"sent again to {missing}"
    return f"no answer from {missing}; told {', '.join(message.told) or 'nobody'}"
