"""`moot mail ack`, `pending`, `tick`, `run` and `compile`: answers, owed and given."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import click

from moot.api.mail import answers, research
from moot.surfaces.terminal.answer import remarks, visible
from moot.surfaces.terminal.derive import derive
from moot.surfaces.terminal.listing import listing


def _known_status(text: str) -> str:
    """Refuse an unknown status as wrong usage, as click does for other choices."""
    status = answers.canonical_status(text)
    if status is None:
        known = ", ".join(map(repr, answers.ACK_STATUSES))
        raise click.BadParameter(f"{text!r} is not one of {known}")
    return status


@derive("mail.ack", answers.ack, """
    ID = message_id
    --agent NAME     Who acts (default: --as or MOOT_AGENT).
    --status STATUS  Received, Understood, 'Will Action' or Completed.
    --notes TEXT     The answer, or anything else.
""", types={"status": _known_status})  # fmt: skip
def ack(given: answers.GivenAck, status: str) -> Iterator[str]:
    """Answer a message. Any status acknowledges it; Completed also closes a QUESTION, HANDOFF or
    BLOCKED. A later answer replaces an earlier one.

    Examples:
      moot mail ack auth-cache:1 --status "Will Action"
      moot mail ack auth-cache:1 --agent teal-crane --status Completed --notes "The in-process one"
    """
    answered = f"{given.id} ({visible(given.subject)})" if given.subject else given.id
    yield f"{answered}: {status} by {given.agent}" if given.ack else f"{answered}: as before"
    yield from (f"{given.agent} holds {visible(scope)} now" for scope in given.moved)
    if given.standing is not None and given.standing.open:
        yield f"still open: waits for {', '.join(map(visible, given.standing.agents_owing))}"
    yield from remarks(given.findings)


@derive("mail.pending", answers.pending, "--agent NAME  Who acts (default: --as or MOOT_AGENT).")
def pending(waiting: answers.PendingMessages) -> Iterable[str]:
    """List the messages that wait for an answer: all, or those that NAME sent or owes.

    Examples:
      moot mail pending
      moot mail pending --agent teal-crane --json
    """
    if not waiting.pending:
        return ["no message waits for an answer"]
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


@derive("mail.tick", answers.tick)
def tick(chased: answers.ChasedMessages) -> Iterable[str]:
    """Remind agents whose answers are overdue: send the message again, then notify the people who
    are registered here, and the sender.

    Examples:
      moot mail tick
    """
    if not chased.applied:
        return ["nothing was overdue"]
    return [f"{message.id}: {_reminder_text(message)}" for message in chased.applied]


def _reminder_text(message: answers.ChasedMessage) -> str:
    missing = ", ".join(map(visible, message.missing))
    if message.did == "resent":
        return f"sent again to {missing}"
    return f"no answer from {missing}; notified {', '.join(message.told) or 'nobody'}"


@derive("mail.compile", research.compile_thread, """
    THREAD
    --agent NAME         Who acts (default: --as or MOOT_AGENT).
    -o FILE:new- = file  Write the artifact to FILE instead of showing it.
""")  # fmt: skip
def compile_thread(compiled: research.CompiledArtifact) -> Iterator[str]:
    """Merge what was contributed to THREAD into the next version, send it to everyone in the
    thread as COMPILED vN, and show the artifact and what did not fit into it.

    Examples:
      moot mail compile RS-20260218-slow-logins
      moot mail compile RS-20260218-slow-logins -o artifact.md
    """
    if compiled.file is None:
        yield from map(visible, [*compiled.artifact.splitlines(), ""])
    else:
        yield visible(f"{compiled.id}: {compiled.subject}; the artifact is in {compiled.file}")
    yield from remarks(compiled.findings)
