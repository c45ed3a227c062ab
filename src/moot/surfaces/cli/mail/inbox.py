"""`moot inbox` and `moot mail inbox`: what is new, shown once; or everything."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import click

from moot.core.errors import NotFound
from moot.core.plural import plural
from moot.surfaces.terminal.answer import Answer
from moot.surfaces.terminal.listing import listing
from moot.surfaces.terminal.shell import Shell, command

if TYPE_CHECKING:
    from moot.flows.mail.inbox import Box

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


def _inbox(shell: Shell, agent: str | None, everything: bool, peek: bool, limit: int) -> Answer:
    from moot.flows.mail import inbox as boxes
    from moot.flows.mail.owing import owed as owed_by

    name = agent or shell.actor(None)
    space = shell.workspace
    box = boxes.box_of(space, name)
    if box is None:
        raise NotFound("agent_not_found", f"no agent {name!r}", hint="`moot agent list`")
    if everything:
        with space.store.read() as view:
            found = boxes.everything(view, box)
        shown, more = found[-limit:], max(len(found) - limit, 0)
    elif peek or not _own(shell, box):
        with space.store.read() as view:
            found = boxes.unread(view, box, space.engine.clock())
        shown, more = found[:limit], max(len(found) - limit, 0)
    else:
        shown, more = boxes.take(space, box, limit)
    messages = [slip.as_json() for slip in shown]
    owed = owed_by(space, box)
    data = {"agent": name, "messages": messages, "more": more, "owed": len(owed)}
    return Answer(data, lambda: _lines(data, everything, owed))


def _own(shell: Shell, box: Box) -> bool:
    """Only an agent itself, or a terminal that plays its part, moves its cursor; both have its key.

    A person's key is not unlocked for reading, so a person must be there, or have left the
    passphrase. Where nothing may be written, looking must still be possible.
    """
    from moot.core.machine import KeyClass

    space = shell.workspace
    if space.rolled_back is not None or space.read_only is not None:
        return False
    if shell.acting is not None and shell.actor(None) != box.name:
        return False
    agent = space.engine.registry().agents[box.name]
    if agent.kind is not KeyClass.AGENT and not (shell.acting and _person(shell)):
        return False
    return space.keys.folder.get(space.keys.origin, box.name, agent.kid) is not None


def _person(shell: Shell) -> bool:
    return shell.interactive() or "MOOT_PASSPHRASE_FILE" in shell.env


def _lines(data: dict[str, Any], everything: bool, owed: list[str]) -> Iterable[str]:
    if not data["messages"]:
        none = "no mail" if everything else "no new mail"
        there = "" if everything else " (`moot inbox --all` shows what there was)"
        yield f"{none}; {_answers(len(owed))}" if owed else none + there
        return
    yield from listing(
        [_row(one) for one in data["messages"]], ("ID", "FROM", "SUBJECT", "STATE", "ANSWER")
    )
    if data["more"]:
        which = "older ones" if everything else "more: `moot inbox` again"
        yield f"and {data['more']} {which}"
    shown = {one["id"] for one in data["messages"] if _owed(one) == OWED}
    besides = [id_ for id_ in owed if id_ not in shown]
    if besides:
        yield _answers(len(besides), "more ")
    yield "`moot mail show ID` reads one, `moot mail ack ID --status STATUS` answers it"


def _row(one: dict[str, Any]) -> tuple[str, ...]:
    from moot.flows.mail.inbox import named

    subject = f"{one['subject']} ({one['says']})" if one["says"] else one["subject"]
    sender = named(one["from"], one["proved"])
    state = f"{one['state']}, sent again" if one["resent"] else one["state"]
    return one["id"], sender, subject, state, _owed(one)


def _owed(one: dict[str, Any]) -> str:
    return OWED if one["ack_required"] and not one["status"] else one["status"] or "-"


def _answers(count: int, more: str = "") -> str:
    return f"{plural(count, f'{more}answer')} owed: `moot mail pending`"
