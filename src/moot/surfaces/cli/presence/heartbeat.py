"""`moot agent heartbeat` (also `bb agent heartbeat`, OPR-080): a signed sign of life (OPR-093)."""

from __future__ import annotations

import click

from moot.core.clock import to_text
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
    from moot.protocols.presence import liveness  # `agent list` need not load it
    from moot.protocols.presence.model import DEFAULT_STALE_MILLIS

    name = shell.actor(agent)
    at = shell.workspace.engine.beat(name)
    now = shell.workspace.engine.clock()
    wish, warning = liveness.read_stale_minutes(shell.env.get(liveness.STALE_VARIABLE))
    alive = liveness.judge_liveness(at, now, wish or DEFAULT_STALE_MILLIS).liveness
    data = {"agent": name, "last_seen_at": to_text(at), "liveness": str(alive)}
    said = f"{name} was alive at {to_text(at)}"
    return Answer(data, lambda: [said, *remarks([warning] if warning else [])])
