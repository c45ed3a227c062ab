"""`moot agent ...`: who may sign here."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click
import msgspec

from moot.core.machine import KeyClass
from moot.surfaces.cli.presence.agent_facts import agent_rows, keys_of, known, label_of, shown
from moot.surfaces.cli.presence.agent_keys import revoke, rotate
from moot.surfaces.cli.presence.heartbeat import heartbeat
from moot.surfaces.terminal.answer import Answer, table
from moot.surfaces.terminal.lazy import LazyGroup
from moot.surfaces.terminal.people import a_person, persons_passphrase, require_own
from moot.surfaces.terminal.shell import Shell, command, text_argument

SECTIONS = {
    "Who": {
        "register": "a new name with a key of its own",
        "list": "all names ever registered here",
        "show": "one agent: how alive, what it holds, its keys",
        "heartbeat": "say that an agent is alive",
        "retire": "end an agent's work; the name stays taken",
    },
    "Keys": {
        "rotate": "a new key for a name",
        "revoke": "stop trusting a key that leaked or was lost",
    },
}


@click.command("agent", cls=LazyGroup, sections=SECTIONS, no_args_is_help=False)
def agent() -> None:
    """Agents and people: the names that may sign here, and their keys."""


agent.add_command(heartbeat)


@command(agent, "register", "agent.register")
@click.argument("name")
@click.option("--human", is_flag=True, help="A person's key, locked by a passphrase.")
@click.option(
    "--keys",
    type=click.Path(path_type=Path, file_okay=False),
    help="Keep the new key in this folder instead: a custodian of its own.",
)
def register(shell: Shell, name: str, human: bool, keys: Path | None) -> Answer:
    """Register NAME with a new key. A name is never given twice.

    Examples:
      moot agent register amber-otter
      moot agent register operator --human
      moot agent register amber-otter --keys ~/agents/otter
    """
    from moot.engine.agents import register as enter
    from moot.keys.folder import KeyFolder

    kind = KeyClass.HUMAN if human else KeyClass.AGENT
    folder = KeyFolder(keys.absolute()) if keys else shell.folder
    space = shell.workspace
    passphrase = persons_passphrase(shell, name) if human else None
    endorser = a_person(shell) if human else None  # the very first needs none
    signer = folder.add(space.trust.origin, name, kind, passphrase=passphrase)
    try:
        enter(space.engine, name, signer, custodian=folder.custodian, kind=kind, endorser=endorser)
    except BaseException:
        folder.forget(space.trust.origin, name, signer.kid)
        raise
    space.pin_trust(folder)
    data = shown(space.engine.registry(), name)
    return Answer(data, lambda: [f"registered {name} (key {signer.kid[:8]}…)"])


@command(agent, "list", "agent.list")
def list_agents(shell: Shell) -> Answer:
    """All names ever registered here.

    Examples:
      moot agent list
      moot agent list --json
    """
    registry = shell.workspace.engine.registry()
    agents = [shown(registry, name) for name in sorted(registry.agents)]
    return Answer({"agents": agents}, lambda: _agent_lines(agents))


def _agent_lines(agents: list[dict[str, Any]]) -> Iterable[str]:
    if not agents:
        return ["no agents yet: `moot agent register NAME`"]
    from moot.surfaces.terminal.listing import listing

    rows = [
        (one["agent"], one["class"], one["status"], one["kid"][:8], one["since"]) for one in agents
    ]
    return listing(rows, ("NAME", "CLASS", "STATUS", "KEY", "SINCE"))


@command(agent, "show", "agent.show")
@click.argument("name")
def show(shell: Shell, name: str) -> Answer:
    """One agent: how alive it is and why we say so, what it holds, its keys.

    Examples:
      moot agent show amber-otter
    """
    from moot.protocols.presence import views
    from moot.surfaces.cli.presence.here import Here

    here, registry = Here(shell), known(shell, name)
    facts, view = shown(registry, name), views.view_agent(here.state, name, here.moment([name]))
    alive = {**msgspec.structs.asdict(view), "label": label_of(view, facts["status"])}
    data = {**facts, **alive, "keys": keys_of(registry, name)}
    return Answer(data, lambda: table(agent_rows(data)))


@command(agent, "retire", "agent.retire")
@click.argument("name")
@click.option("--reason", default="", help="Why; kept on record.")
def retire(shell: Shell, name: str, reason: str) -> Answer:
    """End NAME's work. The name stays taken; its key signs no more.

    What it holds is given back first, if its key is here to say so; else that goes stale. A person
    may do this for any agent.

    Examples:
      moot agent retire amber-otter --reason "task finished"
      moot --as operator agent retire amber-otter
    """
    from moot.engine.agents import retire as end
    from moot.surfaces.cli.presence.freeing import stale_line, still_held

    require_own(shell, name)
    space, why = shell.workspace, text_argument(reason)
    if _may_leave(shell, name):
        from moot.flows.presence.arrival import leave

        leave(space, name, why)
    end(space.engine, name, why)
    data = {**shown(space.engine.registry(), name), "still_holds": still_held(space, name)}
    later = stale_line(shell, name, data["still_holds"])
    return Answer(data, lambda: [f"{name} has retired", *later])


def _may_leave(shell: Shell, name: str) -> bool:
    """An agent's own last word: whoever may end it says it, where its key is."""
    registry = shell.workspace.engine.registry()
    agent = registry.agents.get(name)
    if agent is None or agent.kind is not KeyClass.AGENT:
        return False
    ended = registry.keys[agent.kid].ending is not None
    return not ended and shell.workspace.keys.find(name, agent.kid) is not None


agent.add_command(rotate)
agent.add_command(revoke)
