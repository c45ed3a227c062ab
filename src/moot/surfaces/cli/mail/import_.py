"""`moot mail import`: a message from outside, checked, flagged, and answered if it is wrong."""

from __future__ import annotations

from collections.abc import Iterable

import click

from moot.api.mail import sending
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
    shell.session.require_workspace()
    imported = sending.import_message(shell.session, document(file), agent=agent, thread=thread)
    return Answer(imported, lambda: _lines(imported))


def _lines(imported: sending.ImportedMail) -> Iterable[str]:
    again = " before" if imported.replayed else ""
    yield f"{imported.id}: taken in{again}; who wrote it is not proved"
    yield from _outside_lines(imported)
    for flag in imported.flags:
        place = f" line {flag.line}" if flag.line else ""
        yield f"{flag.severity} {flag.rule}{place}: {visible(flag.message)}"
    if imported.answer is not None:
        yield f"answer to send back ({imported.answer.id}): {visible(imported.answer.subject)}"
        yield ""
        yield from map(visible, imported.answer.body.splitlines())


def _outside_lines(imported: sending.ImportedMail) -> Iterable[str]:
    """What the message says of itself, and why it is filed elsewhere, if it is."""
    has_id = not imported.outside_id.startswith("sha256:")
    own = {
        "id": imported.outside_id if has_id else "",
        "thread": imported.outside_thread,
        "sent": imported.sent,
    }
    told = ", ".join(visible(f"{name} {value}") for name, value in own.items() if value)
    if told:
        yield f"outside: {told}"
    if imported.outside_thread.lower() not in ("", imported.thread.lower()):
        yield (
            f"it is in the thread {imported.thread}: no thread here may be called so; "
            "--thread ID puts it into another"
        )
    missing = [
        f"its {name}" for name, value in (("id", has_id), ("time", imported.sent)) if not value
    ]
    if missing:
        say = {1: "it does not say {}", 2: "it says neither {} nor {}"}[len(missing)]
        yield say.format(*missing)
