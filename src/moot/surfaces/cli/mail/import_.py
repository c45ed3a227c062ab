"""`moot mail import`: a message from outside, checked, flagged, and answered if it is wrong."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import click

from moot.surfaces.terminal.answer import Answer, visible
from moot.surfaces.terminal.shell import Shell, command, document


@command(None, "import", "mail.import")
@click.argument("file", metavar="FILE|-")
@click.option("--agent", metavar="NAME", help="Who takes it in (default: --as or MOOT_AGENT).")
@click.option("--thread", metavar="ID", help="The thread (default: the message's own).")
def take_in(shell: Shell, file: str, agent: str | None, thread: str | None) -> Answer:
    """Take in a message from outside of this ledger: front matter with from, to, subject and id,
    then the body. Who wrote it is not proved and is shown so. If the message is wrong it is
    flagged, and the answer to its sender is shown and kept.

    Examples:
      moot mail import message.md --agent teal-crane
    """
    from moot.flows.mail import outside, post
    from moot.protocols.mail import views
    from moot.protocols.mail.codec import read_message_file

    space, name = shell.workspace, shell.actor(agent)
    text = document(file)
    taken = outside.take_in(space, name, read_message_file(text), text, thread)
    message = views.describe_message(taken.message)
    assert isinstance(message, views.ImportedView)
    data: dict[str, Any] = {
        "id": message.id,
        "thread": message.thread,
        "outside_id": message.outside_id,
        "valid": taken.valid,
        "replayed": taken.replayed,
        "flags": message.flags,
        "answer": None,
    }
    if taken.answer is not None:
        answer = views.describe_message(taken.answer, post.body_of(space, taken.answer))
        parts = {"id": answer.id, "to": answer.to, "subject": answer.subject, "body": answer.body}
        data["answer"] = parts
    return Answer(data, lambda: _lines(data))


def _lines(data: dict[str, Any]) -> Iterable[str]:
    again = " before" if data["replayed"] else ""
    yield f"{data['id']}: taken in{again}; who wrote it is not proved"
    for flag in data["flags"]:
        place = f" line {flag.line}" if flag.line else ""
        yield f"{flag.severity} {flag.rule}{place}: {visible(flag.message)}"
    if data["answer"] is not None:
        yield f"answer to send back ({data['answer']['id']}): {visible(data['answer']['subject'])}"
        yield ""
        yield from map(visible, data["answer"]["body"].splitlines())
