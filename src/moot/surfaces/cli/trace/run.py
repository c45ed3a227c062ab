"""`moot trace run`: let participants play the roles of a trace."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import click

from moot.surfaces.cli.runs.ended_run import ended_line, exit_code, ran_data, room_of
from moot.surfaces.cli.runs.limits import limit_options, limits_of
from moot.surfaces.terminal.answer import Answer
from moot.surfaces.terminal.shell import Shell, command

if TYPE_CHECKING:
    from moot.flows.runs.run_seats import FinishedRun


@command(None, "run", "trace.run")
@click.argument("trace_id", metavar="TRACE")
@click.option(
    "--participant",
    "participants",
    multiple=True,
    required=True,
    metavar="NAME=SPEC",
    help="Who works as NAME: cmd:COMMAND, llm:PROVIDER/MODEL, script:FILE, rules:NAME, human.",
)
@click.option("--execute", is_flag=True, help="Also run the intents that may run.")
@limit_options
def run(
    shell: Shell, trace_id: str, participants: tuple[str, ...], execute: bool, **limits: Any
) -> Answer:
    """Let participants propose, judge, intend and claim until the work is verified.

    What they say is signed by their keys and judged by the trace's own rules. A command that they
    intend runs only with --execute, and only if the critic and the policy let it.

    Examples:
      moot trace run t1 --participant "amber-otter=cmd:claude -p"
          --participant "teal-crane=cmd:codex exec"
    """
    from moot.agents.spec import read_named
    from moot.flows.runs.run_trace import run_trace
    from moot.flows.runs.runnable_trace import Ground
    from moot.surfaces.cli.presence.here import Here
    from moot.surfaces.cli.runs.live_run import watching

    space = shell.workspace
    specs = read_named(participants)
    for name in specs:
        if shell.acting:
            shell.actor(name)
    ground = Ground(Here(shell).worktree, shell.env) if execute else None
    with watching(trace_id) as watch:
        room = room_of(shell)
        ran = run_trace(space, trace_id, specs, room, limits_of(limits), watch, ground)
    data = {"trace": trace_id, "decision": ran.decision, **ran_data(ran)}
    return Answer(data, lambda: _lines(ran), exit_code(ran.ended))


def _lines(ran: FinishedRun) -> Iterable[str]:
    yield ended_line(ran.ended)
    yield f"{ran.standing['state']}"
