"""`moot status`: one screen."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import msgspec

from moot.core.errors import Tampered
from moot.core.plural import plural
from moot.protocols.presence import views
from moot.surfaces.cli.presence.agenda import due_lines, waiting
from moot.surfaces.cli.presence.agent_facts import ACTIVE, label_of
from moot.surfaces.cli.presence.here import Here
from moot.surfaces.terminal.answer import Answer, paint
from moot.surfaces.terminal.listing import listing
from moot.surfaces.terminal.shell import Shell, command

SHOWN = 4

if TYPE_CHECKING:
    from moot.workspace.workspace import Workspace


class RegisteredAgentView(views.AgentView, frozen=True, kw_only=True):
    """An agent as presence sees it, with its class and whether its key has ended."""

    kind: str = msgspec.field(name="class")
    status: str


@command(None, "status", "status")
def status(shell: Shell) -> Answer:
    """One screen: who is here, what is due, and how the record stands.

    Examples:
      moot status
      moot status --json
    """
    space, here = shell.workspace, Here(shell)
    presence = views.view_status(here.state, here.moment(), shell.acting)
    data = {
        "workspace": str(space.path),
        "you": shell.acting,
        "agents": _agents(here),
        "reservations": presence.reservations,
        "pending": presence.pending,
        "work": presence.work,
        "health": presence.health,
        "due": waiting(space.engine, None, 0.0),
        "mail": _mail(shell),
        "record": _record(space),
    }
    return Answer(data, lambda: _lines(data))


def _agents(here: Here) -> list[RegisteredAgentView]:
    """Everyone registered, with how alive they are."""
    registry, state = here.space.engine.registry(), here.state
    moment = here.moment(registry.agents)
    shown = []
    for name, agent in sorted(registry.agents.items()):
        view = views.view_agent(state, name, moment)
        status = str(registry.keys[agent.kid].ending or ACTIVE)
        alive = {**msgspec.structs.asdict(view), "label": label_of(view, status)}
        shown.append(RegisteredAgentView(**alive, kind=str(agent.kind), status=status))
    return shown


def _mail(shell: Shell) -> dict[str, Any]:
    """Who owes how many answers, and how much is new for whoever asks."""
    from collections import Counter

    from moot.flows.mail import inbox

    engine, owed = shell.workspace.engine, Counter[str]()
    registry = engine.registry()
    for stream in engine.open_streams():
        if stream.startswith("mail/"):
            from moot.protocols.mail.views import receivers_owing as owed_in

            owing = owed_in(engine.state(stream))
            owed.update(one.name for one in owing if registry.is_holder(one.name, one.epoch))
    box = inbox.box_of(shell.workspace, shell.acting) if shell.acting else None
    unread = 0
    if box is not None:
        with shell.workspace.store.read() as view:
            unread = len(inbox.unread(view, box, engine.clock()))
    return {"owed": dict(sorted(owed.items())), "unread": unread}


def _record(space: Workspace) -> dict[str, Any]:
    from moot.engine.checkpoints import newest

    last = None
    with space.store.read() as view:
        with suppress(Tampered):  # one screen must not fail for it: `moot verify` says so
            last = newest(view, space.trust)
        events = view.counts()[1]
        pending = len(view.stale_heads())
    return {
        "events": events,
        "bytes": space.store.path.stat().st_size,
        "checkpoint": None if last is None else {"number": last.number, "at": last.at},
        "pinned": pending == 0,
        "rolled_back": space.rolled_back is not None,
        "test_clock": space.engine.registry().clock == "fixed",
    }


def _lines(data: dict[str, Any]) -> Iterable[str]:
    yield f"workspace  {data['workspace']}"
    yield f"record     {_standing(data['record'])}"
    if data["record"]["rolled_back"]:
        yield paint("rolled back", "red") + ": events that were here before are gone; nothing is"
        yield "written until `moot ledger doctor` is followed"
    yield ""
    yield from _agent_lines(data)
    yield ""
    yield from _work_lines(data["work"])
    yield from _mail_lines(data["mail"])
    yield from due_lines(data["due"])


def _mail_lines(mail: dict[str, Any]) -> Iterable[str]:
    """Only if there is something to say."""
    said = []
    if mail["unread"]:
        said.append(f"new mail   {mail['unread']}: `moot inbox`")
    if mail["owed"]:
        names = ", ".join(f"{name} {count}" for name, count in mail["owed"].items())
        said.append(f"answers    owed by {names}: `moot mail pending`")
    yield from [*said, ""] if said else ()


def _standing(record: dict[str, Any]) -> str:
    last = record["checkpoint"]
    pinned = "" if record["pinned"] else ", newer events wait for the next"
    said = f"checkpoint {last['number']} of {last['at']}{pinned}" if last else "no checkpoint"
    clock = " · test clock" if record["test_clock"] else ""
    events = plural(record["events"], "event")
    return f"{events} · {record['bytes']} bytes · {said}{clock}"


def _agent_lines(data: dict[str, Any]) -> Iterable[str]:
    """Who is here, or has something to do; of the others only how many."""
    agents: list[RegisteredAgentView] = data["agents"]
    current = [view for view in agents if view.status == ACTIVE]
    busy = {data["you"], *data["mail"]["owed"], *(due["who"] for due in data["due"])}
    shown = [view for view in current if view.here or view.holds or view.agent in busy]
    if shown:
        held = data["reservations"]
        rows = [(view.agent, view.label, _work(view, held), _some(view.holds)) for view in shown]
        yield from listing(rows, ("NAME", "ALIVE", "WORK", "HOLDS"))
    else:
        yield "nobody is here: `moot run -- COMMAND`, or `moot join`"
    if len(current) > len(shown):
        others = plural(len(current) - len(shown), "other is", "others are")
        yield f"{others} not here: `moot agent list`"


def _work(agent: views.AgentView, held: Iterable[views.ReservationView]) -> str:
    """What it holds something for, as `scope list` says; else what it joined for."""
    works = dict.fromkeys(view.work for view in held if view.owner == agent.agent)
    return ", ".join(filter(None, works)) or agent.work or agent.branch or "-"


def _work_lines(work: Sequence[views.WorkItemView]) -> Iterable[str]:
    """How each work item stands, if there is any."""
    if work:
        rows = [(item.work, item.label, ", ".join(item.agents) or "-") for item in work]
        yield from listing(rows, ("WORK", "STANDS", "BY"))
        yield ""


def _some(scopes: Sequence[str]) -> str:
    more = f" and {len(scopes) - SHOWN} more" if len(scopes) > SHOWN else ""
    return ", ".join(scopes[:SHOWN]) + more or "-"
