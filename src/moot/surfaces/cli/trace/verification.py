"""`moot trace audit`, `export` and `verify`: is the trace intact, complete and within policy?"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import click
from msgspec import UNSET
from msgspec.structs import replace

from moot.api.traces import verification
from moot.core.findings import Finding, Severity
from moot.core.plural import plural
from moot.surfaces.cli.trace.options import trace_argument
from moot.surfaces.terminal.answer import DONE, REFUSED, Answer, finding_line, paint
from moot.surfaces.terminal.output import output_option
from moot.surfaces.terminal.page import page_option
from moot.surfaces.terminal.progress import progress
from moot.surfaces.terminal.shell import Shell, command
from moot.surfaces.terminal.verdict import exit_code, verdict_lines, verdict_word
from moot.verify.verdict import BundleVerdict

_PROFILE = click.option(
    "--profile",
    type=click.Choice(["strict", "default", "lenient"]),
    default="default",
    show_default=True,
    help="strict: disputes and undeclared writes fail; lenient: breaches of policy only warn.",
)
_TRUST = click.option(
    "--trust",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Believe this trust file (default: the one your key folder remembers).",
)
_MARKS = {"pass": ("pass", "green"), "warning": ("WARN", "yellow"), "fail": ("FAIL", "red")}
_COLOURS = {"pass": "green", "pass-with-warnings": "yellow", "fail": "red"}


@command(None, "audit", "trace.audit")
@trace_argument
@_PROFILE
@page_option
def audit(shell: Shell, trace: str, profile: str, output: Path | None) -> Answer:
    """Verify a finished trace and put the result on record (the auditor).

    Every signature, key, artifact and step is checked by code that shares nothing with what
    wrote them. The report is stored and named in the record. A trace that has ended is looked
    at again without recording anything. The exit code is 1 if it fails.

    Examples:
      moot trace audit t1
      moot trace audit t1 --profile strict -o report.html
    """
    done = verification.audit(shell.session, trace, profile=profile, file=output)
    code = REFUSED if done.status == "fail" else DONE
    return Answer(done, lambda: _audit_lines(done), code)


def _audit_lines(done: verification.TraceAudit) -> Iterable[str]:
    yield from _report_lines(done, done.profile, done.checks, done.findings)
    yield f"report {done.report}" + ("" if done.recorded else " (not recorded: it has ended)")


@command(None, "export", "trace.export")
@click.argument("trace", metavar="TRACE", required=False)
@click.option("--agent-trace", is_flag=True, help="What hooks saw, in the Agent Trace form.")
@output_option("Where to.", required=True)
def export(shell: Shell, trace: str | None, agent_trace: bool, output: Path) -> Answer:
    """Write a trace to one file that anyone can check offline.

    Its events, the keys they rest on, every stored input and output, and the proof that nothing
    is missing at its end. With --agent-trace, and without TRACE, it writes which lines of the files
    here agents were seen to write, by the Agent Trace draft 0.1.0: for other tools; nothing in it
    is proved.

    Examples:
      moot trace export t1 -o t1.moot
      moot trace export --agent-trace -o agent-trace.jsonl
    """
    made = verification.export(shell.session, trace, output, agent_trace=agent_trace)
    return Answer(made, lambda: _export_lines(made))


def _export_lines(made: verification.ExportedTrace) -> Iterable[str]:
    if made.records is not None:
        yield f"{plural(made.records, 'record')} written to {made.file}, sha256 {made.sha256}"
        return
    yield f"{made.trace} exported to {made.file}: {made.bytes} bytes, sha256 {made.sha256}"
    if not made.complete:
        yield "no checkpoint could be made here: that its end is complete is not proven"
    yield f"check it with `moot trace verify {made.file}`"


@command(None, "verify", "trace.verify")
@click.argument("what", metavar="FILE|TRACE")
@_TRUST
@_PROFILE
@click.option(
    "--jobs", type=click.IntRange(1, 64), help="Processes to check with (default: by its length)."
)
@page_option
def verify(
    shell: Shell,
    what: str,
    trust: Path | None,
    profile: str,
    jobs: int | None,
    output: Path | None,
) -> Answer:
    """Check a trace, or an exported one, from its bytes up. Nothing is written.

    A FILE needs no workspace. First the record itself, then every step of the trace by its own
    rules. The exit code is 0 if all holds, 1 if not, 3 if nothing proves that the end is there.

    Examples:
      moot trace verify t1.moot --trust trust.json
      moot trace verify t1 --profile strict
    """
    with progress("checking") as tell:
        verified = verification.verify(
            shell.session,
            what,
            trust=trust,
            profile=profile,
            jobs=jobs,
            file=output,
            progress=tell,
        )
    code = exit_code(verified) if verified.holds else REFUSED
    return Answer(verified, lambda: _verified_lines(verified, profile), code)


def _verified_lines(verified: verification.VerifiedTraces, profile: str) -> Iterable[str]:
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
    """`FAIL · t1 at event 4 · the record itself is INTACT`: what matters most, first."""
    trace = next(trace for trace in verified.traces if trace.status == "fail")
    at = "" if trace.first_bad is None else f" at event {trace.first_bad}"
    name, word = trace.trace.removeprefix("trace/"), verdict_word(verified.record)
    return f"{paint('FAIL', 'red')} · {name}{at} · the record itself is {word}"


def _open_line(traces: list[verification.TraceVerdict], word: str) -> str:
    """`OPEN · t1 is claiming · the record so far is INTACT`: nothing was concluded yet."""
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
