"""`moot send` and `moot mail send`: check a message, sign it, send it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import click

from moot.core.errors import Malformed
from moot.surfaces.terminal.answer import Answer, remarks, visible
from moot.surfaces.terminal.shell import Shell, command, document, text_argument

if TYPE_CHECKING:
    from moot.flows.mail.post import Posted

_OPTIONS: tuple[Callable[[Callable[..., Answer]], Callable[..., Answer]], ...] = (
    click.option("--text", metavar="TEXT", help="What to say, instead of a file."),
    click.option("--thread", metavar="ID", help="The thread (default: that of --re, or new)."),
    click.option("--re", "answers", metavar="ID", help="The message this one answers."),
    click.option("--cc", metavar="NAME,...", default="", help="Who gets a copy and owes nothing."),
    click.option(
        "--ack-required/--no-ack",
        "ack_required",
        default=None,
        help="Is an answer owed? (default: as the type says)",
    ),
    click.option(
        "--importance",
        type=click.Choice(["low", "normal", "high", "urgent"]),
        default="normal",
        show_default=True,
        help="How much it matters.",
    ),
    click.option("--ack-minutes", type=int, metavar="N", help="When the answer is due (30)."),
    click.option("--key", metavar="KEY", help="Sent once, however often this is repeated."),
)


def _with_options(function: Callable[..., Answer]) -> Callable[..., Answer]:
    for option in reversed(_OPTIONS):
        function = option(function)
    return function


@command(None, "send", "send")
@click.argument("to", metavar="TO[,TO]")
@click.argument("subject")
@click.argument("file", metavar="[FILE|-]", required=False)
@_with_options
def send(shell: Shell, **values: Any) -> Answer:
    """Send a message. SUBJECT begins with its type: QUESTION, INFO, HANDOFF, ...

    A QUESTION, INFO or CLAIM needs no file: the subject, or --text, says it.

    Examples:
      moot send teal-crane "QUESTION: Which cache do we keep?"
      moot send teal-crane,coral-finch "KICKOFF: Why are logins slow?" kickoff.md
      moot send amber-otter "INFO: The in-process one" --re m-3f2a91c0d4:1
    """
    return _send(shell, None, values)


@command(None, "send", "mail.send")
@click.argument("file", metavar="[FILE|-]", required=False)
@click.option("--from", "sender", metavar="NAME", help="Who sends (default: you).")
@click.option("--to", required=True, metavar="NAME,...", help="Who receives.")
@click.option("--subject", required=True, metavar="TEXT", help="Type, colon, a few words.")
@_with_options
def mail_send(shell: Shell, sender: str | None, **values: Any) -> Answer:
    """Check a message and send it; an error in it is refused, with its line and what to do.

    Examples:
      moot mail send --to teal-crane --subject "HANDOFF: T-7 to teal-crane" handoff.md
      moot mail send --from amber-otter --to teal-crane --subject "INFO: done" --text "T-7 is in"
    """
    return _send(shell, sender, values)


def _send(shell: Shell, sender: str | None, values: dict[str, Any]) -> Answer:
    from moot.flows.mail.notices import post
    from moot.flows.mail.post import Letter, known_id, minutes_for

    space, name = shell.workspace, shell.actor(sender)
    subject = text_argument(values["subject"]).strip()
    minutes, setting = values["ack_minutes"], shell.env.get("MOOT_ACK_MINUTES", "")
    letter = Letter(
        to=_names(values["to"]),
        cc=_names(values["cc"]),
        subject=subject,
        body=_body(subject, name, values["file"], values["text"]),
        thread=values["thread"],
        ack_required=values["ack_required"],
        importance=values["importance"],
        ack_minutes=minutes if minutes is not None else minutes_for(setting, subject),
        re=known_id(space, values["answers"]) if values["answers"] else None,
        key=values["key"],
    )
    return _answer(post(space, name, letter))


def _names(text: str) -> tuple[str, ...]:
    return tuple(filter(None, (part.strip() for part in text.split(","))))


def _body(subject: str, sender: str, file: str | None, text: str | None) -> str:
    """The file; else a body written from --text or the subject, where one line says it all."""
    from moot.flows.mail.post import short_body

    if file is not None and text is not None:
        raise Malformed("a file and --text are two bodies", code="two_bodies", hint="give one")
    if file is not None:
        return document(file)
    return short_body(subject, sender, text_argument(text) if text is not None else "")


def _answer(posted: Posted) -> Answer:
    from moot.core.clock import to_text
    from moot.protocols.mail import views
    from moot.surfaces.terminal.answer import findings_json

    event, message = posted.message.event, views.describe_message(posted.message)
    data = {
        "id": message.id,
        "thread": message.thread,
        "type": message.type,
        "from": message.sender,
        "to": message.to,
        "cc": message.cc,
        "subject": message.subject,
        "ack_required": message.ack_required,
        "artifact": message.artifact,
        "by": None if event.ack_by is None else to_text(event.ack_by),
        "replayed": posted.replayed,
        "moved": list(posted.moved),
        "findings": findings_json(posted.findings),
    }
    return Answer(data, lambda: _lines(data, posted))


def _lines(data: dict[str, Any], posted: Posted) -> Iterable[str]:
    from moot.surfaces.cli.presence.here import holding

    again = " (it had been sent before)" if data["replayed"] else ""
    yield f"{data['id']} sent to {', '.join(map(visible, data['to']))}{again}"
    if data["by"] is not None:
        yield f"an answer is due by {data['by']}"
    yield from holding(data["from"], posted.moved)
    yield from remarks(posted.findings)
