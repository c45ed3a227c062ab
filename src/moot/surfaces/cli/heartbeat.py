"""`moot agent heartbeat` (also `bb agent heartbeat`): a signed sign of life."""

from __future__ import annotations

import click

from moot.core.clock import to_text
from moot.surfaces.cli.answer import Answer
from moot.surfaces.cli.shell import Shell, command


@command(None, "heartbeat", "agent.heartbeat")
@click.option("--agent", metavar="NAME", help="Who is alive (default: whoever acts).")
def heartbeat(shell: Shell, agent: str | None) -> Answer:
    """Say that an agent is alive, signed with its key.

    Only the latest sign of life is kept; it is not an event on record.

    Examples:
      moot agent heartbeat --agent amber-otter
      bb agent heartbeat --agent amber-otter --json
    """
    name = shell.actor(agent)
    at = to_text(shell.workspace.engine.beat(name))
    data = {"agent": name, "last_seen_at": at}
    return Answer(data, lambda: [f"{name} was alive at {at}"])
