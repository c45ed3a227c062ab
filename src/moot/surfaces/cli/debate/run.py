"""`moot debate run`: let participants argue a session to its end."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec

from moot.core.plural import plural
from moot.surfaces.cli.debate.group import debate, file_argument, session_clock, space_of
from moot.surfaces.cli.runs.limits import limit_options, limits_of
from moot.surfaces.terminal.answer import REFUSED, Answer, visible
from moot.surfaces.terminal.shell import Shell, command

if TYPE_CHECKING:
    from moot.agents.outcome import Ended
    from moot.agents.seats import Room
    from moot.api.parliament_runs import ParliamentRun
    from moot.flows.runs.run_debate import Ran

INTERRUPTED = 130
# The wait is the session's own rule, set when it was begun.
_PATIENCE = (
    "Ctrl-C keeps everything, the same command goes on; "
    "begun with `--turn-timeout N`, a session waits no longer than that"
)


@command(debate, "run", "debate.run")
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
    from moot.agents.spec import read_named
    from moot.flows.runs.run_debate import run_debate
    from moot.surfaces.cli.runs.live_run import watching

    specs = read_named(participants)
    for name in specs:
        if shell.acting:
            shell.actor(name)
    with watching(file.name, _PATIENCE) as watch:
        ran = run_debate(
            file,
            specs,
            room_of(shell),
            session_clock(shell),
            space_of(shell),
            limits_of(limits),
            watch,
        )
    restored = ran.lost.value if ran.lost else None
    data = {"file": str(file), "decision": ran.decision, **ran_data(ran), "restored": restored}
    return Answer(data, lambda: _lines(file, ran), exit_code(ran.ended))


def room_of(shell: Shell) -> Room:
    from moot.agents.seats import Room
    from moot.surfaces.cli.runs.human_seat import ShellTerminal

    return Room(shell.cwd, shell.env, ShellTerminal(shell))


def ran_data(ran: Ran) -> dict[str, Any]:
    return {**ended_data(ran.ended), "standing": ran.standing}


def ended_data(ended: Ended) -> dict[str, Any]:
    return {
        "stop": ended.stop.value,
        "detail": ended.detail,
        "turns": ended.turns,
        "waits_for": list(ended.waits_for),
        "cost": msgspec.to_builtins(ended.cost),
    }


def exit_code(ended: Ended | ParliamentRun) -> int:
    """0 if there was nothing left to do here; 1 if it was stopped before; 130 if interrupted."""
    from moot.agents.outcome import Stop

    good = {Stop.SETTLED: 0, Stop.WAITING: 0, Stop.INTERRUPTED: INTERRUPTED}
    return good.get(ended.stop, REFUSED)


def ended_line(ended: Ended | ParliamentRun) -> str:
    from moot.agents.cost import in_words

    more = f": {visible(ended.detail)}" if ended.detail else ""
    return f"{ended.stop.value}{more} ({plural(ended.turns, 'turn')}, {in_words(ended.cost)})"


def _lines(file: Path, ran: Ran) -> Iterable[str]:
    from moot.flows.debate.mending import mended_line
    from moot.flows.runs.run_debate import RESULTS, standing_words
    from moot.protocols.decision.views import suggest_decide_command

    if ran.lost is not None:
        yield visible(mended_line(file, ran.lost))
    yield ended_line(ran.ended)
    yield standing_words(ran.standing)
    if ran.decision is not None and ran.standing["state"].startswith("ended:"):
        result = RESULTS.get(ran.standing["state"])
        yield f"waiting for you: {suggest_decide_command(ran.decision, result)}"
