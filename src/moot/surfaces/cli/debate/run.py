"""`moot debate run`: let participants argue a session to its end."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click

from moot.api.debates import runs
from moot.surfaces.cli.debate import lines
from moot.surfaces.cli.debate.options import file_argument
from moot.surfaces.cli.runs.ended_run import ended_line, exit_code
from moot.surfaces.cli.runs.human_seat import ShellTerminal
from moot.surfaces.cli.runs.limits import limit_options, limits_of
from moot.surfaces.cli.runs.live_run import watching
from moot.surfaces.terminal.answer import Answer, visible
from moot.surfaces.terminal.shell import Shell, command

# The wait is the session's own rule, set when it was begun.
_PATIENCE = (
    "Ctrl-C keeps everything, the same command goes on; "
    "begun with `--turn-timeout N`, a session waits no longer than that"
)


@command(None, "run", "debate.run")
@file_argument()
@click.option(
    "--participant",
    "participants",
    multiple=True,
    required=True,
    metavar="NAME=SPEC",
    help="Who speaks as NAME: cmd:COMMAND, llm:PROVIDER/MODEL, script:FILE, rules:NAME, human.",
)
@limit_options
def run(shell: Shell, file: Path, participants: tuple[str, ...], **limits: Any) -> Answer:
    """Let participants argue, turn by turn, until the session is over or a limit is reached.

    Each entry is written by its author's turn and, in a workspace, signed by its author's key. A
    reply that cannot be used is asked for once more; after that the session's own timeout policy
    decides. Interrupted or killed, it goes on where the file stands when it is run again.

    Examples:
      moot debate run plan.md --participant "amber-otter=cmd:claude -p"
          --participant "teal-crane=cmd:codex exec"
      moot debate run plan.md --participant amber-otter=rules:approve
          --participant teal-crane=rules:sceptic --max-seconds 600
    """
    with watching(file.name, _PATIENCE) as watch:
        done = runs.run(
            shell.session,
            file,
            participants,
            limits=limits_of(limits),
            watch=watch,
            terminal=ShellTerminal(shell),
        )
    return Answer(done, lambda: _lines(done), exit_code(done))


def _lines(done: runs.DebateRun) -> Iterable[str]:
    if done.restored is not None:
        yield visible(lines.restored(done.file, done.restored))
    yield ended_line(done)
    yield lines.standing(done.standing)
    suggestion = runs.suggest_decision(done)
    if suggestion is not None:
        yield f"waiting for you: {suggestion}"
