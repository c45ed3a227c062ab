"""`moot send` and `moot mail send`: check a message, sign it, send it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import click

from moot.api.mail import sending
from moot.surfaces.terminal.answer import Answer, remarks, visible
from moot.surfaces.terminal.shell import Shell, command, document, text_argument

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
        type=click.Choice(sending.IMPORTANCES),
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

    {types} need no file: the subject, or --text, says it.

    Examples:
      moot send teal-crane "QUESTION: Which cache do we keep?"
      moot send teal-crane,coral-finch "KICKOFF: Why are logins slow?" kickoff.md
      moot send amber-otter "INFO: The in-process one" --re m-3f2a91c0d4:1
    """
    return _send(shell, **values)


send.help = (send.help or "").replace("{types}", ", ".join(sending.ONE_LINE_TYPES))


@command(None, "send", "mail.send")
@click.argument("file", metavar="[FILE|-]", required=False)
@click.option("--from", "sender", metavar="NAME", help="Who sends (default: you).")
@click.option("--to", required=True, metavar="NAME,...", help="Who receives.")
@click.option("--subject", required=True, metavar="TEXT", help="Type, colon, a few words.")
@_with_options
def mail_send(shell: Shell, **values: Any) -> Answer:
    """Check a message and send it; an error in it is refused, with its line and what to do.

    Examples:
      moot mail send --to teal-crane --subject "HANDOFF: T-7 to teal-crane" handoff.md
      moot mail send --from amber-otter --to teal-crane --subject "INFO: done" --text "T-7 is in"
    """
    return _send(shell, **values)


def _send(
    shell: Shell,
    to: str,
    cc: str,
    subject: str,
    file: str | None,
    text: str | None,
    **options: Any,
) -> Answer:
    shell.session.require_workspace()
    sent = sending.send(
        shell.session,
        _names(to),
        text_argument(subject),
        body=None if file is None else document(file),
        text=None if text is None else text_argument(text),
        cc=_names(cc),
        usual_ack_minutes=shell.env.get("MOOT_ACK_MINUTES", ""),
        **options,
    )
    return Answer(sent, lambda: _lines(sent))


def _names(text: str) -> tuple[str, ...]:
    return tuple(filter(None, (part.strip() for part in text.split(","))))


def _lines(sent: sending.SentMessage) -> Iterable[str]:
    again = " (it had been sent before)" if sent.replayed else ""
    yield f"{sent.id} sent to {', '.join(map(visible, sent.to))}{again}"
    if sent.by is not None:
        yield f"an answer is due by {sent.by}"
    yield from (f"{sent.sender} holds {visible(scope)} now" for scope in sent.moved)
    yield from remarks(sent.findings)
