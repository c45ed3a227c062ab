"""`moot agent ...`: who may sign here."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import click

from moot.api import agents
from moot.api.typed_paths import typed_scope
from moot.surfaces.cli.presence.agent_facts import agent_rows, alive_word, with_tool
from moot.surfaces.terminal.answer import Answer, table
from moot.surfaces.terminal.lazy import Entry, LazyGroup
from moot.surfaces.terminal.shell import Shell, command, text_argument

_HERE = "moot.surfaces.cli.presence"
SECTIONS: dict[str, dict[str, Entry | str]] = {
    "Who": {
        "register": "a new name with a key of its own",
        "list": "who is registered here, the living first",
        "show": "one agent: how alive, what it holds, its keys",
        "heartbeat": Entry(f"{_HERE}.heartbeat:heartbeat", "say that an agent is alive"),
        "retire": "end an agent's work; the name stays taken",
    },
    "Keys": {
        "rotate": Entry(f"{_HERE}.agent_keys:rotate", "a new key for a name"),
        "revoke": Entry(
            f"{_HERE}.agent_keys:revoke", "stop trusting a key that leaked or was lost"
        ),
    },
}


@click.command("agent", cls=LazyGroup, sections=SECTIONS, no_args_is_help=False)
def agent() -> None:
    """Agents and people: the names that may sign here, and their keys."""


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

    A further person needs the consent of a registered one. If nobody's key is on this machine, and
    the ledger is shared by several, the new key waits: the word that is printed is for
    `moot admit`, on a machine where a person's key is. Asking again prints the same word.

    Examples:
      moot agent register amber-otter
      moot agent register operator --human
      moot agent register amber-otter --keys ~/agents/otter
    """
    registered = agents.register(
        shell.session, name, human=human, passphrase=shell.new_passphrase, keys=keys
    )
    return Answer(registered, lambda: _registered_lines(registered))


def _registered_lines(new: agents.NewAgent) -> Iterable[str]:
    if new.admission is None:
        yield f"registered {new.agent} (key {new.kid[:8]}…)"
        return
    yield f"the key of {new.agent} is made, and waits for the consent of a person"
    yield "on a machine where a person's key is:"
    yield f"  moot admit {new.admission}"
    yield f"they compare this with you, by another way: {new.fingerprint}"


@command(agent, "list", "agent.list")
@click.option("--all", "ended", is_flag=True, help="Also those that have ended.")
def list_agents(shell: Shell, ended: bool) -> Answer:
    """Who is registered here, the living first; with --all also those that have ended.

    Examples:
      moot agent list
      moot agent list --all --json
    """
    known = agents.list_agents(shell.session, ended=ended)
    return Answer(known, lambda: _agent_lines(known, ended=ended))


def _agent_lines(known: agents.AgentList, *, ended: bool) -> Iterable[str]:
    if not known.agents:
        more = "" if ended else "; `moot agent list --all` shows those that have ended"
        return [f"no agents yet: `moot agent register NAME`{more}"]
    from moot.surfaces.terminal.listing import listing

    rows = [
        (with_tool(row.agent, row.tool), _alive(row), row.last_seen_at or "-", row.work or "-")
        for row in known.agents
    ]
    rows += [
        (row.name, row.label, row.last_seen_at or "-", "sub-agent, without a key")
        for row in known.sub_agents
    ]
    return listing(rows, ("NAME", "ALIVE", "LAST SEEN", "WORK"))


def _alive(row: agents.ListedAgent) -> str:
    """A person and a voice are neither alive nor stale."""
    if row.status == agents.ACTIVE and (row.voice or row.kind == "human"):
        return "Voice" if row.voice else "Person"
    return alive_word(row.label, row.evidence)


@command(agent, "show", "agent.show")
@click.argument("name")
def show(shell: Shell, name: str) -> Answer:
    """One agent: how alive it is and why we say so, what it holds, its keys.

    Examples:
      moot agent show amber-otter
    """
    shown = agents.show(shell.session, name)
    return Answer(shown, lambda: table(agent_rows(shown)))


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
    retired = agents.retire(shell.session, name, reason=text_argument(reason))
    later = _takeover_lines(shell, retired) if retired.still_holds else []
    return Answer(retired, lambda: [f"{name} has retired", *later])


def _takeover_lines(shell: Shell, retired: agents.RetiredAgent) -> list[str]:
    """From when on, and how, others have what it still holds."""
    stale_from = agents.stale_from(shell.session, retired.agent)
    when = "now" if stale_from is None else f"from {stale_from} on"
    scopes = " ".join(map(typed_scope, retired.still_holds))
    takeover = f"moot reserve {scopes} --takeover-stale"
    return [
        f"it still holds {', '.join(retired.still_holds)}: no key of its own gave that back",
        f"{when} `{takeover}` takes it over",
    ]
