"""`moot trace status`, `report`, `list` and `observed`: what there is, shown and not changed."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from pathlib import Path

import click

from moot.api.traces import reading
from moot.surfaces.cli.trace.options import trace_argument
from moot.surfaces.terminal.answer import Answer, visible
from moot.surfaces.terminal.listing import listing
from moot.surfaces.terminal.page import page_option
from moot.surfaces.terminal.shell import Shell, command


@command(None, "status", "trace.status")
@trace_argument
def status(shell: Shell, trace: str) -> Answer:
    """Where a trace stands, what is open, what the last runs left, and who is to act.

    Examples:
      moot trace status t1
      moot trace status t1 --json
    """
    shown = reading.status(shell.session, trace)
    return Answer(shown, lambda: _status_lines(shown))


def _status_lines(status: reading.TraceStatus) -> Iterable[str]:
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


def _status_rows(status: reading.TraceStatus, over: bool) -> Iterable[tuple[str, str, str]]:
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


def _intent_summary(intent: reading.IntentView) -> str:
    """What waits for approval is shown in full below the table, so here only its tool."""
    what = intent.tool if intent.waits_for_critic else _command_line(intent)
    return f"({intent.risk}) {what}"


def _command_line(intent: reading.IntentView) -> str:
    return shlex.join(intent.command or ()) or intent.tool


def _intent_standing(intent: reading.IntentView) -> str:
    if intent.waits_for_critic:
        return "waits for the critic"
    return "blocked" if intent.consent == "blocked" else "may run"


@command(None, "report", "trace.report")
@trace_argument
@page_option
def report(shell: Shell, trace: str, output: Path | None) -> Answer:
    """A trace as a page: its story, what rests on what, and every check, as it stands now.

    Examples:
      moot trace report t1 -o t1.html
      moot trace report t1
    """
    made = reading.report(shell.session, trace, file=output)
    return Answer(made, lambda: _report_lines(made))


def _report_lines(made: reading.TraceReport) -> Iterable[str]:
    from moot.pages import Report, to_markdown

    if isinstance(made.report, Report):
        return to_markdown(made.report).splitlines()
    return [f"{made.trace} written to {made.file}", made.counted]


@command(None, "list", "trace.list")
def list_traces(shell: Shell) -> Answer:
    """All traces, and which of them are open.

    Examples:
      moot trace list
    """
    listed = reading.list_traces(shell.session)
    return Answer(listed, lambda: _list_lines(listed))


def _list_lines(listed: reading.TraceList) -> Iterable[str]:
    if not listed.traces:
        return ["no traces yet: `moot trace new`"]
    rows = [
        (line.trace, "open" if line.open else "ended", line.task.splitlines()[0])
        for line in listed.traces
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
    work = reading.observed(shell.session, agent=agent)
    return Answer(work, lambda: _observed_lines(work))


def _observed_lines(work: reading.ObservedWork) -> Iterable[str]:
    yield work.counted
    rows = []
    for session in work.sessions:
        tools = ", ".join(f"{name} {count}" for name, count in session.tools.items())
        gaps = str(session.gap_count + (session.blind_since is not None))
        tests = session.tests or "-"
        rows.append((session.agent, session.session, str(session.observed), gaps, tests, tools))
    if rows:
        yield from listing(rows, ("AGENT", "SESSION", "OBSERVED", "GAPS", "TESTS", "TOOLS"))
