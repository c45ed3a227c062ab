"""`moot trace list` to `verify`: what is in a trace, and whether it is intact and within policy."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator

from msgspec import UNSET
from msgspec.structs import replace

from moot.api.traces import reading, verification
from moot.core.findings import Finding, Severity
from moot.core.text import plural
from moot.pages import Report, to_markdown
from moot.surfaces.terminal.answer import DONE, REFUSED, finding_line, paint, visible
from moot.surfaces.terminal.derive import derive, with_progress
from moot.surfaces.terminal.listing import listing
from moot.surfaces.terminal.verdict import exit_code, verdict_lines, verdict_word
from moot.verify.verdict import BundleVerdict


@derive("trace.status", reading.status, "TRACE")
def status(status: reading.TraceStatus) -> Iterator[str]:
    """Show a trace: its state, what is open, the outputs of the last runs, and who must act.

    Examples:
      moot trace status t1
      moot trace status t1 --json
    """
    because = f" ({visible(status.because)})" if status.because else ""
    yield f"{status.trace} {status.state}{because}: {visible(status.task.splitlines()[0])}"
    yield ", ".join(f"{role} {agent}" for role, agent in status.roles.items())
    yield status.counted or ""
    over = status.state in ("completed", "failed", "aborted")
    rows = list(_status_rows(status, over))
    if rows:
        yield from listing(rows, ("ID", "STATE", "WHAT"))
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
    """Show the command; only the tool if the command waits for approval and is shown below."""
    what = intent.tool if intent.waits_for_critic else _command_line(intent)
    return f"({intent.risk}) {what}"


def _command_line(intent: reading.IntentView) -> str:
    return shlex.join(intent.command or ()) or intent.tool


def _intent_standing(intent: reading.IntentView) -> str:
    if intent.waits_for_critic:
        return "waits for the critic"
    return "blocked" if intent.consent == "blocked" else "may run"


@derive("trace.report", reading.report, """
    TRACE
    -o PAGE = file
""")  # fmt: skip
def report(made: reading.TraceReport) -> Iterable[str]:
    """Show a trace as a page: its story, the evidence of each claim, and every check.

    Examples:
      moot trace report t1 -o t1.html
      moot trace report t1
    """
    if isinstance(made.report, Report):
        return to_markdown(made.report).splitlines()
    return [f"{made.trace} written to {made.file}", made.counted]


@derive("trace.list", reading.list_traces)
def list_traces(listed: reading.TraceList) -> Iterable[str]:
    """All traces, and which of them are open.

    Examples:
      moot trace list
    """
    if not listed.traces:
        return ["no traces yet: `moot trace new`"]
    rows = [
        (line.trace, "open" if line.open else "ended", line.task.splitlines()[0])
        for line in listed.traces
    ]
    return listing(rows, ("TRACE", "STATE", "TASK"))


@derive("trace.observed", reading.observed, "--agent NAME  Only this agent's sessions.")
def observed(work: reading.ObservedWork) -> Iterator[str]:
    """List work that a hook only observed, and the times without a hook.

    Nothing here was planned, approved or proved: it is what a coding tool's hook saw.

    Examples:
      moot trace observed
      moot trace observed --agent amber-otter --json
    """
    yield work.counted
    rows = []
    for session in work.sessions:
        tools = ", ".join(f"{name} {count}" for name, count in session.tools.items())
        gaps = str(session.gap_count + (session.blind_since is not None))
        tests = session.tests or "-"
        rows.append((session.agent, session.session, str(session.observed), gaps, tests, tools))
    if rows:
        yield from listing(rows, ("AGENT", "SESSION", "OBSERVED", "GAPS", "TESTS", "TOOLS"))


_MARKS = {"pass": ("pass", "green"), "warning": ("WARN", "yellow"), "fail": ("FAIL", "red")}
_COLOURS = {"pass": "green", "pass-with-warnings": "yellow", "fail": "red"}


@derive("trace.audit", verification.audit, """
    TRACE
    --profile strict|default|lenient  strict: disputes and undeclared writes fail; lenient: \
        breaches of policy only warn.
    -o PAGE = file
""", exits=lambda done: REFUSED if done.status == "fail" else DONE)  # fmt: skip
def audit(done: verification.TraceAudit) -> Iterator[str]:
    """Verify a finished trace and put the result on record (the auditor).

    Code that shares nothing with what wrote them checks every signature, key, artifact and step.
    The report is stored, and the record names it. A trace that has ended is checked again without
    recording anything. The exit code is 1 if it fails.

    Examples:
      moot trace audit t1
      moot trace audit t1 --profile strict -o report.html
    """
    yield from _report_lines(done, done.profile, done.checks, done.findings)
    yield f"report {done.report}" + ("" if done.recorded else " (not recorded: it has ended)")


@derive("trace.export", verification.export, """
    TRACE:optional
    --agent-trace       What hooks saw, in the Agent Trace form.
    -o FILE:new = file  Where to.
""")  # fmt: skip
def export(made: verification.ExportedTrace) -> Iterator[str]:
    """Write a trace to one file that anyone can check offline.

    Its events, the keys they rest on, every stored input and output, and the proof that nothing
    is missing at its end. With --agent-trace and without TRACE, it writes for other tools which
    lines of the files here hooks saw agents write, in the Agent Trace format (draft 0.1.0); nothing
    in it is proved.

    Examples:
      moot trace export t1 -o t1.moot
      moot trace export --agent-trace -o agent-trace.jsonl
    """
    if made.records is not None:
        yield f"{plural(made.records, 'record')} written to {made.file}, sha256 {made.sha256}"
        return
    yield f"{made.trace} exported to {made.file}: {made.bytes} bytes, sha256 {made.sha256}"
    if not made.complete:
        yield "no checkpoint could be made here, so nothing proves that its newest events are there"
    yield f"check it with `moot trace verify {made.file}`"


@derive("trace.verify", verification.verify, """
    FILE|TRACE = what
    --trust FILE                      Use this trust file (default: the one in your key folder).
    --profile strict|default|lenient  strict: disputes and undeclared writes fail; lenient: \
        breaches of policy only warn.
    --jobs 1..64                      Processes to check with (default: by its length).
    -o PAGE = file
""", within=with_progress("checking"),
   exits=lambda made: exit_code(made) if made.holds else REFUSED)  # fmt: skip
def verify(verified: verification.VerifiedTraces, profile: str) -> Iterator[str]:
    """Check a trace, or an exported one, from its bytes up. Writes nothing.

    A FILE needs no workspace. It checks the record itself, then every step of the trace by its own
    rules. The exit code is 0 if everything holds, 1 if not, 3 if nothing proves that the newest
    events are there.

    Examples:
      moot trace verify t1.moot --trust trust.json
      moot trace verify t1 --profile strict
    """
    in_bytes = tuple(finding for finding in verified.findings if finding.trace is UNSET)
    record: BundleVerdict = replace(verified, findings=in_bytes, verdict=verified.record)
    if verified.verdict == "fail":
        yield _failure_line(verified)
        yield ""
        record = replace(record, first_bad=None, last_trusted=None)
    elif unfinished := [trace for trace in verified.traces if trace.open]:
        yield _open_line(unfinished, verdict_word(verified.record))
        yield ""
    yield from verdict_lines(record)
    for trace in verified.traces:
        checks = [check for check in verified.checks if check.trace == trace.trace]
        findings = [_plain(found) for found in verified.findings if found.trace == trace.trace]
        yield ""
        yield from _report_lines(trace, profile, checks, findings)
    if not verified.traces:
        yield ""
        yield "there is no trace in it"


def _failure_line(verified: verification.VerifiedTraces) -> str:
    """Return `FAIL · t1 at event 4 · the record itself is INTACT`."""
    trace = next(trace for trace in verified.traces if trace.status == "fail")
    at = "" if trace.first_bad is None else f" at event {trace.first_bad}"
    name, word = trace.trace.removeprefix("trace/"), verdict_word(verified.record)
    return f"{paint('FAIL', 'red')} · {name}{at} · the record itself is {word}"


def _open_line(traces: list[verification.TraceVerdict], word: str) -> str:
    """Return `OPEN · t1 is claiming · the record so far is INTACT`."""
    each = ", ".join(f"{trace.trace.removeprefix('trace/')} is {trace.state}" for trace in traces)
    return f"{paint('OPEN', 'yellow')} · {each} · the record so far is {word}"


def _plain(finding: verification.TraceFinding) -> Finding:
    return Finding(
        rule=finding.rule,
        code=finding.code,
        message=finding.message,
        severity=Severity(finding.severity),
        where=finding.where,
        hint=finding.hint or "",
    )


def _report_lines(
    audit: verification.TraceAudit | verification.TraceVerdict,
    profile: str,
    checks: Iterable[verification.TraceCheck],
    findings: Iterable[Finding],
) -> Iterable[str]:
    name = audit.trace.removeprefix("trace/")
    status = paint(audit.status, _COLOURS[audit.status])
    so_far = "so far " if isinstance(audit, verification.TraceVerdict) and audit.open else ""
    yield f"{name} {so_far}{status} · {plural(audit.events, 'event')} · {profile}"
    for check in checks:
        text, colour = _MARKS[str(check.status)]
        yield f"  {paint(text, colour)}  {check.name:<31} {check.about} ({check.detail})"
    if audit.first_bad is not None:
        last = "nothing" if audit.last_trusted is None else f"event {audit.last_trusted}"
        yield f"first bad: event {audit.first_bad}; trusted up to {last}"
    yield from map(finding_line, findings)
