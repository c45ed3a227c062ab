"""`moot inbox` and `moot mail inbox`: what is new, shown once; or everything."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import click

from moot.api.mail import reading
from moot.core.plural import plural
from moot.surfaces.terminal.answer import Answer
from moot.surfaces.terminal.listing import listing
from moot.surfaces.terminal.shell import Shell, command

LIMIT = 1_000
OWED = "owed"

_AGENT = click.option("--agent", metavar="NAME", help="Whose inbox (default: yours).")
_ALL = click.option("--all", "everything", is_flag=True, help="Also what you have seen.")
_PEEK = click.option("--peek", is_flag=True, help="Look without marking anything as seen.")
_LIMIT = click.option(
    "--limit",
    default=100,
    show_default=True,
    type=click.IntRange(1, LIMIT),
    help="At most so many.",
)


def _with_options(function: Callable[..., Answer]) -> Callable[..., Answer]:
    for option in (_LIMIT, _PEEK, _ALL, _AGENT):
        function = option(function)
    return function


@command(None, "inbox", "inbox")
@_with_options
def inbox(shell: Shell, **values: Any) -> Answer:
    """What is new for you; shown once, then it counts as seen.

    Examples:
      moot inbox
      moot inbox --all --json
    """
    return _inbox(shell, **values)


@command(None, "inbox", "mail.inbox")
@_with_options
def mail_inbox(shell: Shell, **values: Any) -> Answer:
    """What is new for an agent. Reading another's inbox leaves it as it is.

    Examples:
      moot mail inbox --agent teal-crane
    """
    return _inbox(shell, **values)


def _inbox(shell: Shell, agent: str | None, everything: bool, **options: Any) -> Answer:
    box = reading.inbox(shell.session, agent, everything=everything, **options)
    return Answer(box, lambda: _lines(box, everything))


def _lines(box: reading.Inbox, everything: bool) -> Iterable[str]:
    if not box.messages:
        none = "no mail" if everything else "no new mail"
        there = "" if everything else " (`moot inbox --all` shows what there was)"
        yield f"{none}; {_answers(box.owed)}" if box.owed else none + there
        return
    yield from listing(map(_row, box.messages), ("ID", "FROM", "SUBJECT", "STATE", "ANSWER"))
    if box.more:
        which = "older ones" if everything else "more: `moot inbox` again"
        yield f"and {box.more} {which}"
    besides = box.owed - sum(message.is_owed for message in box.messages)
    if besides > 0:
        yield _answers(besides, "more ")
    yield "`moot mail show ID` reads one, `moot mail ack ID --status STATUS` answers it"


def _row(message: reading.InboxMessage) -> tuple[str, ...]:
    subject = f"{message.subject} ({message.says})" if message.says else message.subject
    state = f"{message.state}, sent again" if message.resent else message.state
    answer = OWED if message.is_owed else message.status or "-"
    return message.id, message.sender_label, subject, state, answer


def _answers(count: int, more: str = "") -> str:
    return f"{plural(count, f'{more}answer')} owed: `moot mail pending`"
