"""`moot agent heartbeat` (also `bb agent heartbeat`, OPR-080): a signed sign of life (OPR-093)."""

from __future__ import annotations

import click

from moot.api import agents
from moot.surfaces.terminal.answer import Answer, remarks
from moot.surfaces.terminal.shell import Shell, command


@command(None, "heartbeat", "agent.heartbeat")
@click.option("--agent", metavar="NAME", help="Who is alive (default: whoever acts).")
def heartbeat(shell: Shell, agent: str | None) -> Answer:
    """Say that an agent is alive, signed with its key.

    Only the latest sign of life is kept; it is not an event on record.

    Examples:
      moot agent heartbeat --agent amber-otter
      bb agent heartbeat --agent amber-otter --json
    """
    beat = agents.heartbeat(shell.session, agent=agent)
    lines = [f"{beat.agent} was alive at {beat.last_seen_at}", *remarks(shell.session.remarks)]
    return Answer(beat, lambda: lines)
