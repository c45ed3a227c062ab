"""`moot agenda` and `moot tick`: what is due, for whom, by when; and what happens when it is late.

Reading applies nothing: what is overdue is only shown, until the next writing command or `tick`.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import click

from moot.core.clock import to_text
from moot.core.errors import NotFound, Refused
from moot.core.machine import Due
from moot.core.names import RESERVED
from moot.surfaces.cli.presence.due_ways import way
from moot.surfaces.terminal.answer import Answer, visible
from moot.surfaces.terminal.listing import listing
from moot.surfaces.terminal.shell import Shell, command

if TYPE_CHECKING:
    from moot.core.clock import Millis
    from moot.engine.engine import Engine

LOOK_SECONDS = 0.1  # how often a waiting agenda asks whether anyone has written
AGAIN_SECONDS = 5.0  # and how often it looks again although nobody has
_ARGUED = ("debate/", "parliament/")


@command(None, "agenda", "agenda")
@click.option("--agent", metavar="NAME", help="Only what waits for NAME (default: whoever acts).")
@click.option(
    "--wait",
    type=click.FloatRange(min=0),
    metavar="SECONDS",
    help="If nothing is due, wait up to so long until something is.",
)
def agenda(shell: Shell, agent: str | None, wait: float | None) -> Answer:
    """What is due, for whom, and by when.

    Examples:
      moot agenda
      moot agenda --agent amber-otter --wait 300 --json
    """
    who = agent or shell.acting
    engine = shell.workspace.engine
    items = waiting(engine, who, 0.0)
    if not items:  # one who is not registered may have a turn all the same, in a session's file
        _require_somebody(engine, who)
        items = waiting(engine, who, wait) if wait else items
    return Answer({"due": items}, lambda: due_lines(items))


def _require_somebody(engine: Engine, who: str | None) -> None:
    """Nothing will ever be due for a name that was mistyped."""
    if who is not None and who not in RESERVED and who not in engine.registry().agents:
        raise NotFound(
            "agent_not_found", f"no agent is called {who}", hint="`moot agent list` shows all"
        )


@command(None, "tick", "tick")
@click.argument("name", metavar="[ID]", required=False)
def tick(shell: Shell, name: str | None) -> Answer:
    """Let every time limit that has passed take effect now, on ID or on everything that is open.

    Examples:
      moot tick
    """
    from moot.engine.keys import hand_of_system

    engine = shell.workspace.engine
    if hand_of_system(engine.trust, engine.keys) is None:
        raise Refused(
            "key_missing",
            "time limits are applied by the root key, which is not in this key folder",
            hint="whoever ran `moot init` can do this; until then it stays due",
        )
    outcomes = [engine.tick(stream) for stream in ([name] if name else engine.open_streams())]
    applied: list[dict[str, Any]] = [
        {"id": done.stream, "seq": done.seq, "at": to_text(done.at), "type": _type(engine, done)}
        for outcome in outcomes
        for done in (outcome.recorded if outcome else ())
    ]
    rows = [(item["id"], str(item["seq"]), item["type"]) for item in applied]
    head = ("ID", "EVENT", "TYPE")
    return Answer(
        {"applied": applied}, lambda: listing(rows, head) if rows else ["nothing was due"]
    )


def _type(engine: Engine, recorded: Any) -> str:
    return engine.load(recorded.stream).machine.type_of[type(recorded.event)]


def waiting(engine: Engine, who: str | None, seconds: float) -> list[dict[str, Any]]:
    """What is due for `who` (or anyone): now, or as soon as something is within `seconds`."""
    end = time.monotonic() + seconds
    while True:
        seen, now = engine.store.changes(), engine.clock()
        dues = list(engine.agenda(_awaited(engine)))
        items = [_item(stream, due, engine, now) for stream, due in dues if who in (None, due.who)]
        items += _mail(engine, who, now)
        if items or time.monotonic() >= end:
            return sorted(items, key=_urgency)
        limits = [due.by for _, due in dues if due.by is not None and due.by > now]
        _pause(engine, seen, end, min(limits, default=None))


def _awaited(engine: Engine) -> list[str]:
    """What is open, without the sessions whose question a person has decided already."""
    streams = engine.open_streams()
    if not any(one.startswith(_ARGUED) for one in streams):
        return streams
    from moot.flows.parliament.ruling import everyone_has_decided

    return [
        one
        for one in streams
        if not (one.startswith(_ARGUED) and everyone_has_decided(engine, one))
    ]


def _pause(engine: Engine, seen: int, end: float, limit: Millis | None) -> None:
    """Until somebody writes, a time limit passes, or it is time to look again anyway."""
    again = min(end, time.monotonic() + AGAIN_SECONDS)
    while time.monotonic() < again and engine.store.changes() == seen:
        if limit is not None and engine.clock() >= limit:
            return
        time.sleep(LOOK_SECONDS)


def _item(stream: str, due: Due, engine: Engine, now: Millis) -> dict[str, Any]:
    return {
        "who": due.who,
        "what": due.what,
        "subject": due.subject,
        "since": None if due.since is None else to_text(due.since),
        "by": None if due.by is None else to_text(due.by),
        "overdue": due.overdue(now),
        "id": stream,
        "hint": way(stream, due, people=bool(engine.registry().human_keys())),
    }


def _mail(engine: Engine, who: str | None, now: Millis) -> list[dict[str, Any]]:
    """New mail of `who` that asks for nothing: it may be what `who` waits for."""
    from moot.flows.mail import inbox

    agent = engine.registry().agents.get(who) if who is not None else None
    if agent is None:
        return []
    with engine.store.read() as view:
        unread = inbox.unread(view, inbox.Box(agent.name, agent.epoch), now)
    new = [slip for slip in unread if not slip.value["ack_required"]]
    if not new:
        return []
    last = new[-1]
    due = Due(
        who=agent.name,
        what="read mail",
        subject=f"{len(new)} new, the last from {last.sender}: {last.value['subject']}",
        since=new[0].value["at"],
        hint="moot inbox",
    )
    return [_item("mail", due, engine, now)]


def _urgency(item: dict[str, Any]) -> tuple[bool, str, str]:
    return item["by"] is None, item["by"] or "", item["since"] or ""


def due_lines(items: list[dict[str, Any]]) -> Iterable[str]:
    if not items:
        return ["nothing is due"]
    rows = [(item["who"], item["what"], item["subject"], _by(item), item["id"]) for item in items]
    return [*listing(rows, ("WHO", "WHAT", "SUBJECT", "BY", "ID")), "how:", *_ways(items)]


def _ways(items: list[dict[str, Any]]) -> Iterable[str]:
    """Below the table, for a command is copied and never cut: each once, with all whose it is."""
    whose: dict[str, dict[str, None]] = {}
    for item in items:
        whose.setdefault(item["hint"], {})[item["who"]] = None
    return [visible(f"  {', '.join(names)}: {hint}") for hint, names in whose.items()]


def _by(item: dict[str, Any]) -> str:
    text = item["by"] or "-"
    return f"{text} overdue" if item["overdue"] else text
