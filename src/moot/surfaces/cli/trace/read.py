"""`moot trace status`, `report`, `list` and `observed`: what there is, shown and not changed."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from moot.surfaces.terminal.answer import Answer, visible
from moot.surfaces.terminal.listing import listing
from moot.surfaces.terminal.page import page_option, write_page
from moot.surfaces.terminal.shell import Shell, command

if TYPE_CHECKING:
    from moot.protocols.observed.views import SessionView
    from moot.surfaces.cli.trace.group import Desk

MOST_LISTED = 1_000
# Of what is open and of what has ended, the newest: a status is for the eye.
MOST_SHOWN = 20


@command(None, "status", "trace.status")
@click.argument("trace_id", metavar="TRACE")
def status(shell: Shell, trace_id: str) -> Answer:
    """Where a trace stands, what is open, what the last runs left, and who is to act.

    Examples:
      moot trace status t1
      moot trace status t1 --json
    """
    from moot.flows.observed import watching
    from moot.flows.trace import running, tracing
    from moot.protocols.observed.views import count_work
    from moot.protocols.trace import views
    from moot.protocols.trace.events import ClaimIssued
    from moot.surfaces.cli.trace.group import Desk

    desk = Desk(shell, trace_id)
    state = desk.state
    data = views.status(state, desk.name, desk.space.engine.clock())
    for one in data["running"]:
        one["alive"] = running.runs(desk.space.path, desk.stream, one["intent"])
    for one in data["intents"][-MOST_SHOWN:]:
        one.update(_intended(desk, one["id"]))
    for one in data["claims"][-MOST_SHOWN:]:
        one["text"] = tracing.event(desk.space, desk.stream, one["id"], ClaimIssued).event.text
    data["ended"] = _ended(desk)
    watched = watching.beside(desk.space, state)
    data["counted"] = count_work(state.completed + state.failures, [one.state for one in watched])
    return Answer(data, lambda: _status_lines(data))


def _intended(desk: Desk, name: str) -> dict[str, Any]:
    """What exactly would be run: nobody approves a name alone."""
    from moot.flows.trace import tracing

    event = tracing.intent(desk.space, desk.stream, name)
    return {"command": list(event.command), "cwd": event.cwd, "why": event.justification}


def _ended(desk: Desk) -> list[dict[str, Any]]:
    """The last runs that have ended, and what they left to be claimed from."""
    from moot.flows.trace import tracing
    from moot.protocols.trace.events import ToolExecutionCompleted

    state = desk.state
    names = (f"x{number}" for number in range(state.execution_count, 0, -1))
    found = []
    for name in islice((one for one in names if one not in state.running), MOST_SHOWN):
        event = tracing.end_of(desk.space, desk.stream, name).event
        well = isinstance(event, ToolExecutionCompleted)
        outputs = {"input": event.input_artifact, **{x.name: x.sha256 for x in event.outputs}}
        found.append({"id": name, "intent": event.intent_id, "well": well, "outputs": outputs})
    return found[::-1]


def _status_lines(data: dict[str, Any]) -> Iterable[str]:
    because = f" ({visible(data['because'])})" if data["because"] else ""
    yield f"{data['trace']} {data['state']}{because}: {visible(data['task'].splitlines()[0])}"
    yield ", ".join(f"{role} {agent}" for role, agent in data["roles"].items())
    yield data["counted"]
    rows = [(one["id"], one["status"], one["objective"]) for one in data["proposals"]]
    over = data["state"] in ("completed", "failed", "aborted")
    rows += [
        (one["id"], "not run" if over else _intent(one), _said_of(one)) for one in data["intents"]
    ]
    for one in data["ended"]:
        left = ", ".join(f"{one['id']}/{name}" for name in one["outputs"])
        rows.append((one["id"], "done" if one["well"] else "failed", left))
    for one in data["running"]:
        how = "running" if one["alive"] else "died; the next command records it"
        rows.append((one["id"], how, one["tool"]))
    for one in data["claims"]:
        standing = "challenged" if one["challenged"] else "stands"
        rows.append((one["id"], standing, one.get("text", "")))
    if rows:
        yield from listing(rows, ("ID", "STANDS", "WHAT"))
    for one in () if over else data["intents"]:
        if one["waits_for_critic"]:
            yield visible(f"{one['id']} would run: {_words(one)}")
    if data["verdict"]:
        yield f"verified: {data['verdict']}, report {data['report']}"
    for due in data["next"]:
        yield f"next: {due['who']}: {due['what']}{_said(due)}"


def _said_of(one: dict[str, Any]) -> str:
    """What is to be approved is said below, in full."""
    return f"({one['risk']}) {one['tool'] if one['waits_for_critic'] else _words(one)}"


def _words(one: dict[str, Any]) -> str:
    return shlex.join(one.get("command", ())) or str(one["tool"])


def _said(due: dict[str, Any]) -> str:
    return f" ({due['hint']})" if due["hint"] else ""


def _intent(one: dict[str, Any]) -> str:
    if one["waits_for_critic"]:
        return "waits for the critic"
    return "blocked" if one["consent"] == "blocked" else "may run"


@command(None, "report", "trace.report")
@click.argument("trace_id", metavar="TRACE")
@page_option
def report(shell: Shell, trace_id: str, output: Path | None) -> Answer:
    """A trace as a page: its story, what rests on what, and every check, as it stands now.

    Examples:
      moot trace report t1 -o t1.html
      moot trace report t1
    """
    import json

    from moot.flows.observed import watching
    from moot.flows.trace import inspection
    from moot.pages import to_json, to_markdown
    from moot.protocols.observed.views import count_work
    from moot.protocols.trace.audit import page
    from moot.surfaces.cli.trace.group import Desk
    from moot.workspace.check import How

    desk = Desk(shell, trace_id)
    state = desk.state
    watched = [one.state for one in watching.beside(desk.space, state)]
    counted = count_work(state.completed + state.failures, watched)
    found = inspection.inspect_live(desk.space.path, How(shell.folder), desk.stream)
    shown = page.report(found.events[desk.stream], found.reports[0], counted)
    if output is not None:
        write_page(output, shown)
        data = {"trace": desk.name, "file": str(output), "counted": counted}
        return Answer(data, lambda: [f"{desk.name} written to {output}", counted])
    data = {"trace": desk.name, "counted": counted, "report": json.loads(to_json(shown))}
    return Answer(data, lambda: to_markdown(shown).splitlines())


@command(None, "list", "trace.list")
def listed(shell: Shell) -> Answer:
    """All traces, and which of them are open.

    Examples:
      moot trace list
    """
    import msgspec

    from moot.core.clock import to_text

    with shell.workspace.store.read() as view:
        rows = view.rows("trace.traces", limit=MOST_LISTED)
        ended = {row.key for row in view.rows("trace.ended", limit=MOST_LISTED)}
    found = []
    for row in rows:
        told = msgspec.json.decode(row.value)
        found.append(
            {
                "trace": row.key.removeprefix("trace/"),
                "task": told["task"],
                "since": to_text(told["at"]),
                "open": row.key not in ended,
            }
        )
    found.sort(key=lambda one: one["since"])
    return Answer({"traces": found}, lambda: _listed_lines(found))


def _listed_lines(found: list[dict[str, Any]]) -> Iterable[str]:
    if not found:
        return ["no traces yet: `moot trace new`"]
    rows = [
        (one["trace"], "open" if one["open"] else "ended", one["task"].splitlines()[0])
        for one in found
    ]
    return listing(rows, ("TRACE", "STANDS", "TASK"))


@command(None, "observed", "trace.observed")
@click.option("--agent", metavar="NAME", help="Only this agent's sessions.")
def observed(shell: Shell, agent: str | None) -> Answer:
    """Work that was only watched by a hook, and when nobody watched.

    Nothing here was planned, approved or proved: it is what a coding tool's hook saw.

    Examples:
      moot trace observed
      moot trace observed --agent amber-otter --json
    """
    from moot.flows.observed import watching
    from moot.protocols.observed.views import count_work, view_session

    sessions = watching.sessions(shell.workspace, agent)
    counted = count_work(0, [one.state for one in sessions]).removeprefix("governed 0, ")
    shown = [view_session(one.stream, one.state) for one in sessions]
    return Answer({"counted": counted, "sessions": shown}, lambda: _observed_lines(counted, shown))


def _observed_lines(counted: str, sessions: Iterable[SessionView]) -> Iterable[str]:
    yield counted
    rows = []
    for session in sessions:
        tools = ", ".join(f"{name} {count}" for name, count in session.tools.items())
        gaps = str(session.gap_count + (session.blind_since is not None))
        rows.append((session.agent, session.session, str(session.observed), gaps, tools))
    if rows:
        yield from listing(rows, ("AGENT", "SESSION", "OBSERVED", "GAPS", "TOOLS"))
