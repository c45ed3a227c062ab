"""`moot agent ...`: who may sign here."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from moot.core.errors import NotFound, Refused
from moot.core.machine import KeyClass
from moot.surfaces.cli.answer import Answer, table
from moot.surfaces.cli.heartbeat import heartbeat
from moot.surfaces.cli.people import a_person, require_own
from moot.surfaces.cli.shell import Shell, command, text_argument

if TYPE_CHECKING:
    from moot.core.registry.model import Agent, State


@click.group("agent", no_args_is_help=False)
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
    passphrase = _passphrase(shell, name) if human else None
    endorser = a_person(shell) if human else None  # the very first needs none
    signer = folder.add(space.trust.origin, name, kind, passphrase=passphrase)
    try:
        enter(space.engine, name, signer, custodian=folder.custodian, kind=kind, endorser=endorser)
    except BaseException:
        folder.forget(space.trust.origin, name, signer.kid)
        raise
    space.pin_trust(folder)
    data = _shown(space.engine.registry(), name)
    return Answer(data, lambda: [f"registered {name} (key {signer.kid[:8]}…)"])


def _passphrase(shell: Shell, name: str) -> str:
    if shell.env.get("MOOT_AGENT"):
        raise Refused(
            "human_key_required",
            "an agent may not make a person's key",
            hint="run this yourself, outside of `moot run`",
        )
    given = shell.new_passphrase(name)
    if not given:
        raise Refused(
            "passphrase_required",
            "a person's key needs a passphrase",
            hint="run this at a terminal; for automation set MOOT_PASSPHRASE_FILE",
        )
    return given


@command(agent, "list", "agent.list")
def list_agents(shell: Shell) -> Answer:
    """All names ever registered here.

    Examples:
      moot agent list
      moot agent list --json
    """
    registry = shell.workspace.engine.registry()
    agents = [_shown(registry, name) for name in sorted(registry.agents)]
    return Answer({"agents": agents}, lambda: _agent_lines(agents))


def _agent_lines(agents: list[dict[str, Any]]) -> Iterable[str]:
    if not agents:
        return ["no agents yet: `moot agent register NAME`"]
    rows = [
        (one["agent"], one["class"], one["status"], one["kid"][:8], one["since"]) for one in agents
    ]
    return table(rows, ("NAME", "CLASS", "STATUS", "KEY", "SINCE"))


@command(agent, "show", "agent.show")
@click.argument("name")
def show(shell: Shell, name: str) -> Answer:
    """One agent: how alive it is and why we say so, what it holds, its key.

    Examples:
      moot agent show amber-otter
    """
    from moot.presence import views
    from moot.surfaces.cli.here import Here

    here, registered = Here(shell), _shown(_known(shell, name), name)
    data = {**registered, **views.agent(here.state, name, here.moment([name]))}
    return Answer(data, lambda: table([(key, str(value)) for key, value in data.items()]))


@command(agent, "retire", "agent.retire")
@click.argument("name")
@click.option("--reason", default="", help="Why; kept on record.")
def retire(shell: Shell, name: str, reason: str) -> Answer:
    """End NAME's work. The name stays taken; its key signs no more.

    What it holds is given back first, if its key is here to say so; else that goes stale.

    Examples:
      moot agent retire amber-otter --reason "task finished"
    """
    from moot.engine.agents import retire as end

    require_own(shell, name)
    space, why = shell.workspace, text_argument(reason)
    if _may_leave(shell, name):
        from moot.flows.presence.arrival import leave

        leave(space, name, why)
    end(space.engine, name, why)
    data = _shown(space.engine.registry(), name)
    return Answer(data, lambda: [f"{name} has retired"])


def _may_leave(shell: Shell, name: str) -> bool:
    """An agent's own last word: only by itself, or at a terminal where its key is."""
    registry = shell.workspace.engine.registry()
    agent = registry.agents.get(name)
    if agent is None or agent.kind is not KeyClass.AGENT or shell.acting not in (None, name):
        return False
    ended = registry.keys[agent.kid].ending is not None
    return not ended and shell.workspace.keys.find(name, agent.kid) is not None


@command(agent, "rotate", "agent.rotate")
@click.argument("name")
@click.option("--reason", default="routine", show_default=True, help="Why; kept on record.")
def rotate(shell: Shell, name: str, reason: str) -> Answer:
    """Give NAME a new key; its old key consents, or a person if that key is not here.

    Examples:
      moot agent rotate amber-otter
    """
    from moot.engine.agents import rotate as turn

    require_own(shell, name)
    space, folder = shell.workspace, shell.folder
    known = _known(shell, name).agents[name]
    old = space.keys.find(name, known.kid)
    endorser = old.signer if old is not None else a_person(shell)
    if endorser is None:
        raise Refused(
            "not_endorsed",
            f"neither {name}'s old key nor a person's key is here",
            hint="run this where the old key is, or let a person unlock theirs",
        )
    human = known.kind is KeyClass.HUMAN
    passphrase = _passphrase(shell, name) if human else None
    signer = folder.add(space.trust.origin, name, known.kind, passphrase=passphrase)
    try:
        turn(
            space.engine,
            name,
            signer,
            endorser=endorser,
            custodian=folder.custodian,
            reason=text_argument(reason),
        )
    except BaseException:
        folder.forget(space.trust.origin, name, signer.kid)
        raise
    data = _shown(space.engine.registry(), name)
    return Answer(data, lambda: [f"{name} signs with key {signer.kid[:8]}… from now on"])


@command(agent, "revoke", "agent.revoke")
@click.argument("name")
@click.option("--reason", required=True, help="Why; kept on record.")
@click.option("--kid", help="An older key of NAME (default: the current one).")
def revoke(shell: Shell, name: str, reason: str, kid: str | None) -> Answer:
    """Stop trusting NAME's key: it leaked or was lost. What it signed until now still counts.

    Examples:
      moot agent revoke amber-otter --reason "laptop stolen"
    """
    from moot.engine.agents import HEADS_MEDIA_TYPE, heads_now
    from moot.engine.agents import revoke as end

    registry = _known(shell, name)
    require_own(shell, name)
    kid = kid or registry.agents[name].kid
    if kid not in registry.keys or registry.keys[kid].name != name:
        raise NotFound("key_not_found", f"{name} never had the key {kid}")
    space = shell.workspace
    reason = text_argument(reason)
    _, heads = heads_now(space.engine)
    ref = space.artifacts.put(heads, HEADS_MEDIA_TYPE)
    end(space.engine, kid, reason, ref)
    data = _shown(space.engine.registry(), name)
    return Answer(data, lambda: [f"the key {kid[:8]}… of {name} is no longer trusted"])


def _known(shell: Shell, name: str) -> State:
    registry = shell.workspace.engine.registry()
    if name not in registry.agents:
        raise NotFound(
            "agent_not_found", f"no agent is called {name}", hint="`moot agent list` shows all"
        )
    return registry


def _shown(registry: State, name: str) -> dict[str, Any]:
    from moot.core.clock import to_text

    one: Agent = registry.agents[name]
    key = registry.keys[one.kid]
    return {
        "agent": one.name,
        "class": str(one.kind),
        "status": str(key.ending) if key.ending else "active",
        "epoch": one.epoch,
        "kid": one.kid,
        "public": key.public,
        "custodian": key.custodian,
        "since": to_text(one.since),
    }
