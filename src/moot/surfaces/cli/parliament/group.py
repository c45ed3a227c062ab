"""What the commands of a parliament share: their group, the folder, who acts, what is answered."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from moot.core.names import SYSTEM
from moot.surfaces.terminal.answer import Answer, findings_json, remarks, visible
from moot.surfaces.terminal.lazy import LazyGroup
from moot.surfaces.terminal.people import a_persons_name

if TYPE_CHECKING:
    from moot.flows.parliament.chamber import Done, Room
    from moot.protocols.parliament.model import State
    from moot.surfaces.terminal.shell import Shell


SECTIONS = {
    "Sit": {
        "new": "call a parliament on a problem",
        "template": "a message of a type, to be filled in",
        "submit": "bring a message: statement, question, vote or ruling",
        "run": "let participants take the seats",
    },
    "The bill": {
        "drafter": "choose who drafts it",
        "incorporate": "work an amendment into it, as its next version",
        "withdraw": "take back an amendment of yours",
        "conclude": "end the discussion of an amendment",
        "tally": "count the votes and announce the result",
        "decide": "the prime minister's word: a person's",
        "final": "write the final document and close the session",
    },
    "Read": {
        "status": "where a session stands",
        "next": "who is expected to do what, and how",
        "context": "what a participant is given to read",
        "history": "every version of the bill",
        "summarize": "tell a round that has ended better",
    },
    "The four files": {
        "check": "are they sound? every field, reference and tally",
        "import": "go on with a session from elsewhere",
        "export": "write them again from the record",
    },
}


@click.command("parliament", cls=LazyGroup, sections=SECTIONS, no_args_is_help=False)
def parliament() -> None:
    """Representatives draft, debate, amend and vote; a person decides."""


def folder_argument(function: Callable[..., Answer]) -> Callable[..., Answer]:
    return click.argument(
        "folder", type=click.Path(path_type=Path, file_okay=False), metavar="DIR"
    )(function)


def room_at(shell: Shell, folder: Path) -> Room:
    """The session whose four files are in the folder."""
    from moot.flows.parliament.chamber import Room

    return Room.open(shell.workspace, folder)


def who_acts(shell: Shell) -> Callable[[str | None, bool], str]:
    """The name whose key is needed, if whoever runs this may use it."""

    def find(needed: str | None, person: bool) -> str:
        return a_persons_name(shell, "the prime minister's word") if person else shell.actor(needed)

    return find


def official(shell: Shell) -> str:
    """The speaker and the clerk: the session itself, never an agent in passing."""
    return shell.actor(SYSTEM)


def seat_holder(shell: Shell, room: Room, seat: str) -> str:
    """The agent of a seat, if whoever runs this may use its key."""
    return shell.actor(room.signer(seat))


def standing(state: State) -> dict[str, Any]:
    """Where the session is; part of every answer."""
    return {
        "parliament_id": state.parliament_id,
        "status": str(state.status),
        "round": state.round.number,
        "bill_version": state.bill.version if state.bill else 0,
        "outcome": str(state.outcome) if state.outcome else None,
    }


def answer(done: Done, said: Iterable[str], **data: Any) -> Answer:
    """What was done, and where the session is now."""
    whole = {**standing(done.state), **data, "findings": findings_json(done.findings)}
    lines = [visible(line) for line in said]
    return Answer(whole, lambda: [*lines, *remarks(done.findings)])


def message_line(message: dict[str, Any]) -> str:
    to = f" to {message['to']}" if message.get("to") else ""
    action = message["content"].get("action")
    kind = f"{message['type']} {action}" if message["type"] == "SPEAKER_RULING" else message["type"]
    return f"{message['id']} {kind} by {message['from']}{to}, round {message['round']}"
