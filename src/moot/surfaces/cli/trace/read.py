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
    from moot.protocols.trace.views import ClaimView, EndedRunView, IntentView, TraceStatus
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
    from msgspec.structs import asdict, replace

    from moot.flows.observed import watching
    from moot.flows.trace import running
    from moot.protocols.observed.views import count_work
    from moot.protocols.trace import views
    from moot.surfaces.cli.trace.group import Desk

    desk = Desk(shell, trace_id)
    state = desk.state
    known = views.view_status(state, desk.name, desk.space.engine.clock())
    sessions = watching.sessions_during_trace(desk.space, state)
    shown = replace(
        known,
        intents=_with_commands(desk, known.intents),
        running=tuple(
            replace(run, alive=running.runs(desk.space.path, desk.stream, run.intent))
            for run in known.running
        ),
        claims=_with_texts(desk, known.claims),
        ended=_ended_runs(desk),
        counted=count_work(state.completed + state.failures, [one.state for one in sessions]),
    )
    return Answer(asdict(shown), lambda: _status_lines(shown))


def _with_commands(desk: Desk, intents: tuple[IntentView, ...]) -> tuple[IntentView, ...]:
    """What exactly the newest intents would run: nobody approves a name alone."""
    from msgspec.structs import replace

    from moot.flows.trace import tracing

    shown = []
    for intent in intents[-MOST_SHOWN:]:
        event = tracing.intent(desk.space, desk.stream, intent.id)
        shown.append(replace(intent, command=event.command, cwd=event.cwd, why=event.justification))
    return (*intents[:-MOST_SHOWN], *shown)


def _with_texts(desk: Desk, claims: tuple[ClaimView, ...]) -> tuple[ClaimView, ...]:
    from msgspec.structs import replace

    from moot.flows.trace import tracing
    from moot.protocols.trace.events import ClaimIssued

    shown = []
    for claim in claims[-MOST_SHOWN:]:
        event = tracing.event(desk.space, desk.stream, claim.id, ClaimIssued).event
        shown.append(replace(claim, text=event.text))
    return (*claims[:-MOST_SHOWN], *shown)


def _ended_runs(desk: Desk) -> tuple[EndedRunView, ...]:
    """The last runs that have ended, and what they left to be claimed from."""
    from moot.flows.trace import tracing
    from moot.protocols.trace.events import ToolExecutionCompleted
    from moot.protocols.trace.views import EndedRunView

    state = desk.state
    names = (f"x{number}" for number in range(state.execution_count, 0, -1))
    newest_first = []
    for name in islice((name for name in names if name not in state.running), MOST_SHOWN):
        event = tracing.end_of(desk.space, desk.stream, name).event
        well = isinstance(event, ToolExecutionCompleted)
        outputs = {"input": event.input_artifact, **{x.name: x.sha256 for x in event.outputs}}
        newest_first.append(EndedRunView(name, event.intent_id, well, outputs))
    return tuple(reversed(newest_first))


def _status_lines(status: TraceStatus) -> Iterable[str]:
    because = f" ({visible(status.because)})" if status.because else ""
    yield f"{status.trace} {status.state}{because}: {visible(status.task.splitlines()[0])}"
    yield ", ".join(f"{role} {agent}" for role, agent in status.roles.items())
    yield status.counted or ""
    over = status.state in ("completed", "failed", "aborted")
    rows = list(_status_rows(status, over))
    if rows:
        yield from listing(rows, ("ID", "STANDS", "WHAT"))
    for intent in () if over else status.intents:
        if intent.waits_for_critic:
            yield visible(f"{intent.id} would run: {_command_line(intent)}")
    if status.verdict:
        yield f"verified: {status.verdict}, report {status.report}"
    for due in status.next:
        yield f"next: {due.who}: {due.what}" + (f" ({due.hint})" if due.hint else "")


def _status_rows(status: TraceStatus, over: bool) -> Iterable[tuple[str, str, str]]:
    for proposal in status.proposals:
        yield proposal.id, proposal.status, proposal.objective
    for intent in status.intents:
        yield intent.id, "not run" if over else _intent_standing(intent), _intent_summary(intent)
    for run in status.ended or ():
        left = ", ".join(f"{run.id}/{name}" for name in run.outputs)
        yield run.id, "done" if run.well else "failed", left
    for running in status.running:
        how = "running" if running.alive else "died; the next command records it"
        yield running.id, how, running.tool
    for claim in status.claims:
        yield claim.id, "challenged" if claim.challenged else "stands", claim.text or ""


def _intent_summary(intent: IntentView) -> str:
    """What waits for approval is shown in full below the table, so here only its tool."""
    what = intent.tool if intent.waits_for_critic else _command_line(intent)
    return f"({intent.risk}) {what}"


def _command_line(intent: IntentView) -> str:
    return shlex.join(intent.command or ()) or intent.tool


def _intent_standing(intent: IntentView) -> str:
    if intent.waits_for_critic:
        return "waits for the critic"
    return "blocked" if intent.consent == "blocked" else "may run"


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
    watched = [one.state for one in watching.sessions_during_trace(desk.space, state)]
    counted = count_work(state.completed + state.failures, watched)
    found = inspection.inspect_live(desk.space.path, How(shell.folder), desk.stream)
    shown = page.trace_page(found.events[desk.stream], found.reports[0], counted)
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

    sessions = watching.list_sessions(shell.workspace, agent)
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
