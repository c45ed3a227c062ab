"""`moot agent ...` and `moot admit`: who may sign here, with which key.

A heartbeat (also `bb agent heartbeat`, OPR-080) is a signed sign of life (OPR-093).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import click
import msgspec

from moot.api.presence import admitting, agent_keys, agents
from moot.api.presence.agents import ACTIVE, ShownAgent
from moot.api.typed_paths import typed_scope
from moot.core.errors import Refused
from moot.surfaces.terminal.answer import Answer, remarks, say_aside, table, visible
from moot.surfaces.terminal.derive import Values, derive
from moot.surfaces.terminal.lazy import LazyGroup
from moot.surfaces.terminal.listing import alive_word, listing, with_tool
from moot.surfaces.terminal.shell import Shell, command, text_argument

SECTIONS = {
    "Who": {
        "register": "a new name with a key of its own",
        "list": "who is registered here, active ones first",
        "show": "one agent: liveness, what it holds, its keys",
        "heartbeat": "report that an agent is alive",
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


def _with_passphrase(shell: Shell, values: Values) -> Values:
    return {**values, "passphrase": shell.new_passphrase}


@derive("agent.register", agents.register, """
    NAME
    --human           A person's key, locked by a passphrase.
    --keys DIRECTORY  Keep the new key in this folder, apart from the others.
""", group=agent, prepare=_with_passphrase)  # fmt: skip
def register(new: agents.NewAgent) -> Iterator[str]:
    """Register NAME with a new key. A name is never given twice.

    A further person needs the consent of a registered person. If no person's key is on this machine
    and several machines share the ledger, the new key waits: run the printed `moot admit WORD` on
    a machine that has a person's key. Running this again prints the same code.

    Examples:
      moot agent register amber-otter
      moot agent register operator --human
      moot agent register amber-otter --keys ~/agents/otter
    """
    if new.admission is None:
        yield f"registered {new.agent} (key {new.kid[:8]}…)"
        return
    yield f"the key of {new.agent} is made, and waits for the consent of a person"
    yield "on a machine where a person's key is:"
    yield f"  moot admit {new.admission}"
    yield f"compare this fingerprint with them, over another channel: {new.fingerprint}"


@derive("agent.list", agents.list_agents, "--all = ended  Also those that have ended.", group=agent)
def list_agents(known: agents.AgentList, ended: bool) -> Iterable[str]:
    """List who is registered here, active ones first; with --all also those that have ended.

    Examples:
      moot agent list
      moot agent list --all --json
    """
    if not known.agents:
        more = "" if ended else "; `moot agent list --all` shows those that have ended"
        return [f"no agents yet: `moot agent register NAME`{more}"]
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
    """Return the liveness label; people and voices have none, so return their kind."""
    if row.status == agents.ACTIVE and (row.voice or row.kind == "human"):
        return "Voice" if row.voice else "Person"
    return alive_word(row.label, row.evidence)


@derive("agent.show", agents.show, "NAME", group=agent)
def show(shown: agents.ShownAgent) -> Iterable[str]:
    """Show one agent: its liveness and the evidence for it, what it holds, its keys.

    Examples:
      moot agent show amber-otter
    """
    return table(agent_rows(shown))


@command(agent, "retire", "agent.retire")
@click.argument("name")
@click.option("--reason", default="", help="Why; kept on record.")
def retire(shell: Shell, name: str, reason: str) -> Answer:
    """End NAME's work. The name stays taken; its key can no longer sign.

    Moot first releases what it holds, if its key is here; otherwise its reservations go stale. A
    person may do this for any agent.

    Examples:
      moot agent retire amber-otter --reason "task finished"
      moot --as operator agent retire amber-otter
    """
    retired = agents.retire(shell.session, name, reason=text_argument(reason))
    later = _takeover_lines(shell, retired) if retired.still_holds else []
    return Answer(retired, lambda: [f"{name} has retired", *later])


def _takeover_lines(shell: Shell, retired: agents.RetiredAgent) -> list[str]:
    """Say when and how others can take over what it still holds."""
    stale_from = agents.stale_from(shell.session, retired.agent)
    when = "now" if stale_from is None else f"from {stale_from} on"
    scopes = " ".join(map(typed_scope, retired.still_holds))
    takeover = f"moot reserve {scopes} --takeover-stale"
    return [
        f"it still holds {', '.join(retired.still_holds)}: its key was not here to release that",
        f"{when} `{takeover}` takes it over",
    ]


@derive("agent.rotate", agent_keys.rotate, """
    NAME
    --reason TEXT     Why; kept on record.
    --keys DIRECTORY  The folder that keeps NAME's key, if it is not yours; the new key goes there.
""", group=agent, prepare=_with_passphrase)  # fmt: skip
def rotate(rotated: agents.RegisteredAgent, name: str, keys: Path | None) -> Iterator[str]:
    """Give NAME a new key, kept where its old one is.

    The old key signs the change; if it was revoked or is lost, a person does.

    Examples:
      moot agent rotate amber-otter
      moot agent rotate amber-otter --keys ~/agents/otter
    """
    place = f"; it is in {keys.absolute()}" if keys else ""
    yield f"{name} signs with key {rotated.kid[:8]}… from now on{place}"


@derive("agent.revoke", agent_keys.revoke, """
    NAME
    --reason TEXT   Why; kept on record.
    --kid TEXT:raw  An older key of NAME; 8 digits are enough (default: the current key).
""", group=agent)  # fmt: skip
def revoke(revoked: agents.RegisteredAgent, name: str, kid: str | None) -> Iterator[str]:
    """Stop trusting NAME's key: it leaked or was lost. What it signed until now still counts.

    Examples:
      moot agent revoke amber-otter --reason "laptop stolen"
      moot agent revoke amber-otter --reason "old backup leaked" --kid 3f786850
    """
    key = (kid or revoked.kid)[:8]
    yield f"the key {key}… of {name} is no longer trusted"


@command(agent, "heartbeat", "agent.heartbeat")
@click.option("--agent", metavar="NAME", help="Who is alive (default: you).")
def heartbeat(shell: Shell, agent: str | None) -> Answer:
    """Report that an agent is alive, signed with its key.

    Only the latest sign of life is kept; it is not an event on record.

    Examples:
      moot agent heartbeat --agent amber-otter
      bb agent heartbeat --agent amber-otter --json
    """
    beat = agents.heartbeat(shell.session, agent=agent)
    lines = [f"{beat.agent} was alive at {beat.last_seen_at}", *remarks(shell.session.remarks)]
    return Answer(beat, lambda: lines)


def _compare_fingerprint(shell: Shell, values: Values) -> Values:
    """Ask the user to compare the fingerprint first, at a terminal."""
    if shell.interactive():
        _require_yes(admitting.preview_admission(shell.session, values["word"]))
    return values


@derive("admit", admitting.admit, """
    WORD
    --key KEY  Idempotency key: a repeat with the same key does nothing.
""", prepare=_compare_fingerprint)  # fmt: skip
def admit(admitted: admitting.AdmittedPerson) -> Iterator[str]:
    """Admit a person whose key is on another machine; WORD is the code that machine printed.

    There, `moot agent register NAME --human` made the key and printed the code. Here, a registered
    person unlocks their own key and consents to the new one, which can then sign at once, on the
    machine where it is. The new person may do all that people may: rule on decisions, admit others.

    At a terminal it first shows who asks, and a fingerprint. Compare that with what the other
    machine shows, over a channel other than the one the code came by: an attacker who replaced the
    code on its way would be admitted instead. Running it again changes nothing.

    Examples:
      moot admit bob#lgHEEDeA…
      moot --as operator admit bob#lgHEEDeA…
    """
    if admitted.by is None:
        yield f"{admitted.agent} had been admitted before"
    else:
        yield f"{admitted.agent} is a person here, by the consent of {admitted.by}"
    yield f"the key is {_place(admitted)}, fingerprint {admitted.fingerprint}"


def _require_yes(asked: admitting.AdmissionPreview) -> None:
    if asked.is_admitted:
        return
    say_aside(f"{asked.name} asks to be a person here; the key is {_place(asked)}")
    say_aside(f"its fingerprint, to be compared with what {asked.name} sees: {asked.fingerprint}")
    if not click.confirm("is it the same, and are they who they say?", default=False, err=True):
        raise Refused(
            "not_admitted",
            f"{asked.name} was not admitted",
            hint="ask them for their code and fingerprint again, over another channel",
        )


def _place(asked: admitting.AdmissionPreview | admitting.AdmittedPerson) -> str:
    folder = f"key folder {asked.custodian[:8]}…"
    return f"on {visible(asked.machine)} ({folder})" if asked.machine else f"in {folder}"


def agent_rows(agent: ShownAgent) -> Iterable[tuple[str, str]]:
    """Return the rows of `agent show`; an agent that has ended has no liveness."""
    is_active = agent.status == ACTIVE
    fields: dict[str, Any] = msgspec.to_builtins(agent)
    if not is_active:
        fields["liveness"] = f"none: {agent.status}"
    for field, value in fields.items():
        if field == "keys":
            yield from (("key", f"{key['kid']} {key['status']}") for key in value)
        elif field == "sub_agents":
            yield from (("sub-agent", _sub_agent_in_words(view)) for view in value)
        elif field == "usage":
            yield "used", value["line"] if value else "unknown"
        elif is_active or field not in ("label", "because"):  # which speak of liveness, too
            yield field, _in_words(value)


def _sub_agent_in_words(view: dict[str, Any]) -> str:
    """Describe a sub-agent, and name the session whose key signs for it."""
    holds = f", holds {', '.join(view['holds'])}" if view["holds"] else ""
    kind = f" ({view['kind']})" if view["kind"] else ""
    label, session = view["label"].lower(), view["signed_by"]
    return f"{view['name']}{kind}: {label}{holds}; signed by {session}'s key"


def _in_words(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        return ", ".join(value) or "-"
    return "-" if value in (None, "") else str(value)
