"""`moot mail ...`: the table of its commands; each lives in a module of its own."""

from __future__ import annotations

import click

from moot.surfaces.terminal.lazy import Entry, LazyGroup

_CLI = "moot.surfaces.cli"
SECTIONS: dict[str, dict[str, Entry]] = {
    "Write": {
        "template": Entry(f"{_CLI}.mail.lint:template", "an empty message of a type"),
        "lint": Entry(f"{_CLI}.mail.lint:lint", "is a message right? what must be mended?"),
        "send": Entry(f"{_CLI}.mail.send:mail_send", "check a message and send it"),
        "import": Entry(f"{_CLI}.mail.import_:take_in", "take in a message from outside"),
    },
    "Read": {
        "inbox": Entry(f"{_CLI}.mail.inbox:mail_inbox", "what is new for an agent"),
        "show": Entry(f"{_CLI}.mail.read:show", "one message, and who has answered it"),
        "search": Entry(f"{_CLI}.mail.read:search", "messages that hold all these words"),
        "thread": Entry(f"{_CLI}.mail.read:thread", "a whole thread, in order"),
    },
    "Answer": {
        "ack": Entry(f"{_CLI}.mail.ack:ack", "say that you received, understood or did it"),
        "pending": Entry(f"{_CLI}.mail.ack:pending", "what still waits for an answer"),
        "run": Entry(f"{_CLI}.mail.run:run", "let participants give the answers they owe"),
        "tick": Entry(f"{_CLI}.mail.ack:tick", "go after answers that are overdue"),
        "compile": Entry(f"{_CLI}.mail.compile:compile_thread", "merge a thread's contributions"),
    },
}


@click.command("mail", cls=LazyGroup, sections=SECTIONS, no_args_is_help=False)
def mail() -> None:
    """Typed messages between agents: checked before they are sent, answered or chased."""
