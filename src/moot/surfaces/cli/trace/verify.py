"""`moot trace audit`, `export` and `verify`: is the trace intact, complete and within policy?"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from moot.core.errors import MootError
from moot.core.findings import Finding, Severity, filled
from moot.core.plural import plural
from moot.store.named_files import write_pieces
from moot.surfaces.terminal.answer import DONE, REFUSED, Answer, finding_line, paint
from moot.surfaces.terminal.output import output_option
from moot.surfaces.terminal.page import page_option, write_page
from moot.surfaces.terminal.progress import progress
from moot.surfaces.terminal.shell import Shell, command

if TYPE_CHECKING:
    from moot.flows.trace.inspection import Inspected
    from moot.protocols.trace.audit.report import AuditReport

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


@command(None, "audit", "trace.audit")
@click.argument("trace_id", metavar="TRACE")
@_PROFILE
@page_option
def audit(shell: Shell, trace_id: str, profile: str, output: Path | None) -> Answer:
    """Verify a finished trace and put the result on record (the auditor).

    Every signature, key, artifact and step is checked by code that shares nothing with what
    wrote them. The report is stored and named in the record. A trace that has ended is looked
    at again without recording anything. The exit code is 1 if it fails.

    Examples:
      moot trace audit t1
      moot trace audit t1 --profile strict -o report.html
    """
    from moot.flows.trace.auditing import verify as run
    from moot.protocols.trace.audit import page
    from moot.protocols.trace.model import Profile, Role
    from moot.surfaces.cli.trace.group import Desk
    from moot.surfaces.terminal.answer import findings_json

    desk = Desk(shell, trace_id)
    done = run(desk.space, desk.stream, desk.actor(Role.AUDITOR), Profile(profile))
    if output is not None:
        write_page(output, page.trace_page(done.events, done.report))
    found = [*audit_findings(done.report), *done.findings]
    data = {
        "trace": desk.name,
        "status": str(done.report.verdict),
        "run": done.run,
        "recorded": done.run is not None,
        "report": done.artifact.sha256,
        "page": done.page.sha256,
        "head": done.report.head,
        "events": done.report.events,
        "first_bad": done.report.first_bad,
        "last_trusted": done.report.last_trusted,
        "checks": [_check(check) for check in done.report.checks],
        "state": str(desk.state.stage),
        "findings": findings_json(found),
    }
    said = f"report {done.artifact.sha256}" + ("" if done.run else " (not recorded: it has ended)")
    return Answer(data, lambda: [*report_lines(done.report, found), said], _code(done.report))


@command(None, "export", "trace.export")
@click.argument("trace_id", metavar="TRACE")
@output_option("Where to.", required=True)
def export(shell: Shell, trace_id: str, output: Path) -> Answer:
    """Write a trace to one file that anyone can check offline.

    Its events, the keys they rest on, every stored input and output, and the proof that nothing
    is missing at its end.

    Examples:
      moot trace export t1 -o t1.moot
    """
    from moot.engine.export import bundle
    from moot.surfaces.cli.trace.group import Desk

    desk = Desk(shell, trace_id)
    space = desk.space
    with suppress(MootError):  # without its key the end stays unproven, and checking says so
        space.engine.checkpoint()
    with space.store.read() as view:
        lines = bundle(view, space.trust, space.artifacts, [desk.stream])
        sha256, size = write_pieces(output, lines)
        unpinned = {name for name, _ in view.stale_heads()}
    complete = desk.stream not in unpinned
    data = {"trace": desk.name, "file": str(output), "sha256": sha256, "bytes": size}
    data["complete"] = complete
    said = [f"{desk.name} exported to {output}: {size} bytes, sha256 {sha256}"]
    if not complete:
        said.append("no checkpoint could be made here: that its end is complete is not proven")
    return Answer(data, lambda: [*said, f"check it with `moot trace verify {output}`"])


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
    from moot.flows.trace import inspection
    from moot.protocols.trace.audit import page
    from moot.protocols.trace.model import Profile
    from moot.workspace.check import How

    with progress("checking") as tell:
        how = How(shell.folder, trust, jobs or inspection.jobs_for(Path(what)), tell)
        if Path(what).exists() or not _may_be_trace(what):
            found = inspection.inspect_file(Path(what), how, Profile(profile))
        else:
            found = _live(shell, what, how, profile)
    if output is not None and found.reports:
        report = found.reports[0]
        write_page(output, page.trace_page(found.events[report.trace], report))
    return _answer(found)


def _may_be_trace(what: str) -> bool:
    from moot.flows.trace.tracing import stream_of

    try:
        stream_of(what)
    except MootError:
        return False
    return "." not in what


def _live(shell: Shell, what: str, how: Any, profile: str) -> Inspected:
    from moot.flows.trace import inspection, tracing
    from moot.protocols.trace.model import Profile

    return inspection.inspect_live(shell.place, how, tracing.stream_of(what), Profile(profile))


def _answer(found: Inspected) -> Answer:
    from moot.surfaces.terminal.verdict import exit_code, verdict_lines

    data = found.verdict.to_dict()
    findings = [one for report in found.reports for one in audit_findings(report)]
    audited = [_check(check) for report in found.reports for check in report.checks]
    data["checks"] = [*data["checks"], *audited]
    data["findings"] = [*data["findings"], *map(_json, findings)]
    data["traces"] = [
        {
            "trace": report.trace,
            "status": str(report.verdict),
            "events": report.events,
            "head": report.head,
            "first_bad": report.first_bad,
            "last_trusted": report.last_trusted,
            "state": str(report.stage),
        }
        for report in found.reports
    ]
    code = exit_code(found.verdict) if _holds(found) else REFUSED

    def lines() -> Iterable[str]:
        yield from verdict_lines(found.verdict)
        for report in found.reports:
            yield ""
            yield from report_lines(report, audit_findings(report))
        if not found.reports:
            yield ""
            yield "there is no trace in it"

    return Answer(data, lines, code)


def _holds(found: Inspected) -> bool:
    return bool(found.reports) and all(str(one.verdict) != "fail" for one in found.reports)


def _code(report: AuditReport) -> int:
    return REFUSED if str(report.verdict) == "fail" else DONE


def _check(check: Any) -> dict[str, Any]:
    """In the shape of the ledger's own checks; the word stands beside the yes or no."""
    status = str(check.status)
    return {
        "name": check.id,
        "ok": status != "fail",
        "detail": check.evidence,
        "status": status,
        "about": check.about,
    }


def audit_findings(report: AuditReport) -> list[Finding]:
    """What an audit found, as every command tells findings."""
    return [
        Finding(
            rule=one.check,
            code=one.code,
            message=one.message,
            severity=Severity.ERROR if str(one.status) == "fail" else Severity.WARNING,
            where=_where(one.event, one.artifact),
            hint=filled(one.suggested_action, {"TRACE": report.trace.partition("/")[2]}),
        )
        for one in report.failures()
    ]


def _where(event: int | None, artifact: str | None) -> str | None:
    said = [f"event {event}"] if event is not None else []
    said += [artifact] if artifact is not None else []
    return " ".join(said) or None


def _json(finding: Finding) -> dict[str, Any]:
    import msgspec

    plain: dict[str, Any] = msgspec.to_builtins(finding)
    return plain


def report_lines(report: AuditReport, found: Iterable[Finding]) -> Iterable[str]:
    word = {"pass": "green", "pass-with-warnings": "yellow", "fail": "red"}[str(report.verdict)]
    name = report.trace.removeprefix("trace/")
    events = plural(report.events, "event")
    yield f"{name} {paint(str(report.verdict), word)} · {events} · {report.profile}"
    for check in report.checks:
        text, colour = _MARKS[str(check.status)]
        yield f"  {paint(text, colour)}  {check.id:<31} {check.about} ({check.evidence})"
    if report.first_bad is not None:
        last = "nothing" if report.last_trusted is None else f"event {report.last_trusted}"
        yield f"first bad: event {report.first_bad}; trusted up to {last}"
    yield from map(finding_line, found)
