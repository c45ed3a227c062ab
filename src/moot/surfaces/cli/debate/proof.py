"""`moot debate verify` and `watch`: the file against its record, and the file as it grows."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import click
import msgspec

from moot.surfaces.cli.debate import lines
from moot.surfaces.cli.debate.group import debate, file_argument, session_clock, space_of
from moot.surfaces.terminal.answer import DONE, REFUSED, UNPROVEN, Answer, print_line
from moot.surfaces.terminal.shell import Shell, command

_EXITS = {"valid": DONE, "unproven": UNPROVEN}


@command(debate, "verify", "debate.verify")
@file_argument()
@click.option(
    "--trust",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="TRUST",
    help="Believe this trust file (default: the one your key folder remembers).",
)
def verify(shell: Shell, file: Path, trust: Path | None) -> Answer:
    """Is every byte of a session file what its authors signed, or what was observed?

    The file is compared with the record in this workspace: what was changed, removed, inserted or
    put elsewhere is named with its line and entry. The exit code is 0 if all holds, 1 if not, 3
    if something stands there that the record does not prove. Nothing is written by checking.

    Examples:
      moot debate verify api-design.md
      moot debate verify api-design.md --json
    """
    from moot.flows.debate.check import verify as hold
    from moot.workspace.check import How

    data, _ = hold(shell.place, How(shell.folder, trust), file)
    return Answer(data, lambda: lines.verified(file, data), _EXITS.get(data["verdict"], REFUSED))


@command(debate, "watch", "debate.watch")
@file_argument()
@click.option(
    "--seconds", type=click.FloatRange(min=0), metavar="N", help="Stop after so long (0: one look)."
)
def watch(shell: Shell, file: Path, seconds: float | None) -> Answer:
    """Follow a session as it is written, until it ends; show each entry as it is yielded.

    In a workspace entries by other programs, or by hand, are recorded as observed.

    Examples:
      moot debate watch api-design.md
      moot debate watch api-design.md --seconds 0 --json
    """
    from moot.flows.debate.watch import Watch, follow
    from moot.protocols.debate.views import EntryView, view_entry

    end = None if seconds is None else time.monotonic() + seconds
    watching = Watch(file, space_of(shell))
    entries: list[EntryView] = []
    for one in follow(watching, lambda: end is not None and time.monotonic() >= end):
        if one.entry is not None and not one.double:
            entries.append(msgspec.structs.replace(view_entry(one.entry), line=one.line))
            if not shell.json:
                print_line(lines.heard(entries[-1]), at_once=True)
    data = {"entries": entries, **_standing(watching, shell)}
    return Answer(data, lambda: lines.watched(data))


def _standing(watching: Any, shell: Shell) -> dict[str, Any]:
    """Where the session stands, by what was heard."""
    from moot.core.clock import to_text
    from moot.core.errors import Refused
    from moot.protocols.debate.state import course_from_state
    from moot.protocols.debate.turns import find_standing

    state = watching.follower.state
    if state is None or state.rules is None:
        raise Refused(
            "invalid_session",
            "this file is not a session that can be followed",
            hint="`moot debate check FILE` says what to mend",
        )
    here = find_standing(course_from_state(state, state.rules), session_clock(shell)())
    return {
        "state": here.phase.value,
        "round": here.round,
        "turn": here.turn,
        "next": here.next_speaker,
        "deadline": None if here.deadline is None else to_text(here.deadline),
        "ended_at_round": state.ended_at_round,
    }
