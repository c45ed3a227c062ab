"""What the commands of a debate share: their group, the file, the clock, the workspace if any."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from moot.core.clock import Clock, fixed_clock, system_clock
from moot.core.errors import Unavailable
from moot.surfaces.terminal.answer import Answer
from moot.surfaces.terminal.lazy import LazyGroup

if TYPE_CHECKING:
    from moot.protocols.debate.checker import CheckedSession
    from moot.surfaces.terminal.shell import Shell
    from moot.workspace.workspace import Workspace


SECTIONS = {
    "Argue": {
        "new": "begin a session: a file that each agent appends to",
        "add": "append an entry; its id, turn and time are filled in",
        "add-context": "add a subsection to the context",
        "run": "let participants argue until it is over",
        "sign": "sign entries of yours that were only observed",
    },
    "Read": {
        "status": "whose turn it is, until when, who stands where",
        "consensus": "does a round agree, and how surely?",
        "summary": "a session in short, as markdown",
        "report": "how it went, as a page",
        "watch": "follow a session as it is written",
    },
    "Check": {
        "check": "a file against every rule, to the line",
        "compare": "is NEW only OLD with something appended?",
        "verify": "is every byte signed, or observed?",
    },
    "Time and end": {
        "tick": "let a turn that has timed out take effect",
        "resume": "go on with a session that waits for its operator",
        "close": "end a session",
    },
}


@click.command("debate", cls=LazyGroup, sections=SECTIONS, no_args_is_help=False)
def debate() -> None:
    """Argue in turns in one markdown file, and see whether all agree."""


def file_argument(
    name: str = "file",
) -> Callable[[Callable[..., Answer]], Callable[..., Answer]]:
    return click.argument(name, type=click.Path(path_type=Path), metavar=name.upper())


def number(text: str) -> Decimal:
    """A decimal from 0 to 1, exactly as typed."""
    from moot.protocols.debate.model import DECIMAL_PATTERN

    if not DECIMAL_PATTERN.fullmatch(text) or Decimal(text) > 1:
        raise click.BadParameter(f"{text!r} is not a number from 0.0 to 1.0")
    return Decimal(text)


def choice(kind: Any) -> click.Choice[str]:
    return click.Choice([value.value for value in kind])


def space_of(shell: Shell) -> Workspace | None:
    """The workspace around us, if there is one: a session file needs none."""
    try:
        shell.place  # noqa: B018 - looked up for its error
    except Unavailable as error:
        if shell.home is not None or error.code != "no_workspace":
            raise
        return None
    return shell.workspace


def session_clock(shell: Shell) -> Clock:
    """The time; MOOT_CLOCK counts unless a workspace here forbids it."""
    text = shell.env.get("MOOT_CLOCK")
    if not text:
        return system_clock
    space = space_of(shell)
    return fixed_clock(text) if space is None else space.engine.clock


def operator_of(shell: Shell) -> Callable[[], str | None]:
    """The person whose key signs an operator's act; where no person is registered, nobody."""

    def person() -> str | None:
        from moot.surfaces.terminal.people import require_no_agent

        require_no_agent(shell, "this act of the operator")
        names = [key.name for key in shell.workspace.engine.registry().human_keys()]
        return shell.acting or (names[0] if names else None)

    return person


def read_file(path: Path) -> bytes:
    from moot.flows.debate.file import read_file as read

    return read(path)


def checked_file(path: Path, strict_uuid: bool = False, lenient: bool = False) -> CheckedSession:
    from moot.protocols.debate.checker import check_session

    data = read_file(path)
    return check_session(data, strict_uuid=strict_uuid, file_name=path.name, lenient=lenient)
