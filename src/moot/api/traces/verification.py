"""Audit a trace on the record, export it to a file, or verify it without recording anything."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

import msgspec
from msgspec.structs import asdict

from moot.api.operation import operation
from moot.api.traces import tracing
from moot.api.traces.tracing import actor_in_role
from moot.core.errors import Malformed, MootError
from moot.core.findings import Finding, Severity, fill_hint
from moot.protocols.trace.machine import MACHINE as TRACE
from moot.protocols.trace.model import ENDED, Profile, Role
from moot.store.files import write_pieces
from moot.verify.verdict import BundlePlace, BundleVerdict, VerdictCheck, VerdictName
from moot.verify.verdict import VerdictFinding as CheckerFinding

if TYPE_CHECKING:
    from moot.api.session import Session
    from moot.api.traces.inspection import Inspection
    from moot.protocols.trace.audit.report import AuditCheck, AuditReport

_SOUND: Final = ("valid", "unproven")


class TraceCheck(VerdictCheck, frozen=True):
    """A check of the bytes, or one of a trace's own checks, which also has `status` and `about`.

    `trace` names the trace if several may have been verified.
    """

    status: str | msgspec.UnsetType = msgspec.UNSET
    about: str | msgspec.UnsetType = msgspec.UNSET
    trace: str | msgspec.UnsetType = msgspec.UNSET


class TraceFinding(CheckerFinding, frozen=True):
    """A finding about the bytes, or by a trace's own rules if `trace` is set."""

    trace: str | msgspec.UnsetType = msgspec.UNSET


class TraceAudit(msgspec.Struct, frozen=True):
    """The result of an audit: pass, pass-with-warnings or fail, and every check.

    `run` is None and `recorded` False if the trace had already ended. `report` and `page` are the
    hashes of the stored report; `profile` is how strict the audit was.
    """

    trace: str
    status: str
    run: str | None
    recorded: bool
    report: str
    page: str
    head: str
    events: int
    first_bad: int | None
    last_trusted: int | None
    checks: tuple[TraceCheck, ...]
    state: str
    findings: tuple[Finding, ...]
    profile: str


class ExportedTrace(msgspec.Struct, frozen=True):
    """`complete`: a checkpoint proves that nothing is missing at its end.

    For an Agent Trace, `trace` is empty, `records` is the number of records, and nothing is proved.
    """

    trace: str
    file: str
    sha256: str
    bytes: int
    complete: bool
    records: int | None = None


class TraceVerdict(msgspec.Struct, frozen=True):
    """The audit of one of the verified traces; `trace` is its full id.

    `open`: it has not ended, so its status covers only the steps so far.
    """

    trace: str
    status: str
    events: int
    head: str
    first_bad: int | None
    last_trusted: int | None
    state: str
    open: bool = False


class VerifiedTraces(BundleVerdict, frozen=True, kw_only=True):
    """The verdict on the bytes, with the checks and findings of every trace in them.

    `record` is the verdict on the bytes alone. If they are sound and a trace in them is not,
    `verdict` is `fail`, and `first_bad` and `last_trusted` are places in the first such trace.
    """

    verdict: VerdictName | Literal["fail"]  # type: ignore[assignment] # one value more
    record: VerdictName
    checks: tuple[TraceCheck, ...]
    findings: tuple[TraceFinding, ...]
    traces: tuple[TraceVerdict, ...]

    @property
    def holds(self) -> bool:
        """True if there is a trace and none failed, whatever the verdict on the bytes."""
        return bool(self.traces) and all(trace.status != "fail" for trace in self.traces)


@operation("trace.audit", writes=True, as_ledger=True, can_use_agent_key=True)
def audit(
    session: Session, trace: str, *, profile: str = "default", file: Path | None = None
) -> TraceAudit:
    """Verify a finished trace and put the result on record (the auditor).

    Every signature, key, artifact and step is checked by code that shares nothing with what wrote
    them. The report is stored and named in the record; `file` also receives its page. `profile` is
    strict, default or lenient. An audit that was interrupted is resumed with its first profile; a
    trace that has ended is inspected again without a record, so a repeat needs no key. Refused for
    everyone but the auditor, and before the final statement.
    """
    from moot.api.page.files import require_page_name, write_page
    from moot.api.traces import inspection as auditing
    from moot.protocols.trace.audit.page import trace_page

    require_page_name(file)
    workspace = session.workspace
    stream = tracing.require_trace(workspace, trace)
    actor = actor_in_role(session, stream, Role.AUDITOR)
    audited = auditing.audit_trace(workspace, stream, actor, _read_profile(profile))
    report = audited.report
    if file is not None:
        write_page(file, trace_page(audited.events, report))
    return TraceAudit(
        trace=tracing.short_name(stream),
        status=str(report.verdict),
        run=audited.run,
        recorded=audited.run is not None,
        report=audited.artifact.sha256,
        page=audited.page.sha256,
        head=report.head,
        events=report.events,
        first_bad=report.first_bad,
        last_trusted=report.last_trusted,
        checks=tuple(map(_trace_check, report.checks)),
        state=str(workspace.engine.state(TRACE, stream).stage),
        findings=(*_audit_findings(report), *audited.findings),
        profile=str(report.profile),
    )


@operation("trace.export")
def export(
    session: Session, trace: str | None, file: Path, *, agent_trace: bool = False
) -> ExportedTrace:
    """Write a trace to one file that anyone can check offline.

    Contains its events, their keys, every stored input and output, and the proof that nothing is
    missing at its end; for that it makes a checkpoint if the key is available. `agent_trace`
    instead exports which lines of this worktree agents were seen to write, one record of the Agent
    Trace draft per line; then `trace` must be None (`one_or_the_other`).
    """
    from moot.engine.export import bundle

    if agent_trace == (trace is not None):
        raise Malformed(
            "either a trace is exported, or what hooks saw as an Agent Trace",
            code="one_or_the_other",
            hint="moot trace export t1 -o t1.moot, or moot trace export --agent-trace -o t.jsonl",
        )
    if trace is None:
        return _export_agent_trace(session, file)
    workspace = session.workspace
    stream = tracing.require_trace(workspace, trace)
    with suppress(MootError):  # without its key the end stays unproven, and checking says so
        workspace.engine.checkpoint()
    with workspace.store.read() as view:
        lines = bundle(view, workspace.trust, workspace.artifacts, [stream])
        sha256, size = write_pieces(file, lines)
        complete = all(name != stream for name, _ in view.moved_heads())
    return ExportedTrace(tracing.short_name(stream), str(file), sha256, size, complete)


def _export_agent_trace(session: Session, file: Path) -> ExportedTrace:
    from moot.api.guard.agent_trace import make_records
    from moot.api.observed.sessions import find_session_records

    writers = find_session_records(session.workspace)
    records = make_records(session.workspace, session.place.worktree, writers)
    sha256, size = write_pieces(file, (msgspec.json.encode(one) + b"\n" for one in records))
    return ExportedTrace("", str(file), sha256, size, complete=False, records=len(records))


@operation("trace.verify")
def verify(
    session: Session,
    what: str,
    *,
    trust: Path | None = None,
    profile: str = "default",
    jobs: int | None = None,
    file: Path | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> VerifiedTraces:
    """Check a trace of this workspace, or every trace in an exported file, from its bytes up.

    A file needs no workspace. Checks the bytes first, then every step by the trace's own rules.
    `trust` is a trust file to use instead of the one in the key folder. `jobs` None chooses the
    number of processes by the file's size. Writes nothing, except the page of the first trace to
    `file` if given.
    """
    from moot.api.page.files import require_page_name, write_page
    from moot.api.traces import inspection, tracing
    from moot.protocols.trace.audit.page import trace_page
    from moot.workspace.find import require_ledger
    from moot.workspace.integrity_check import CheckOptions

    require_page_name(file)
    how = CheckOptions(session.keys, trust, jobs or inspection.choose_jobs(Path(what)), progress)
    strictness = _read_profile(profile)
    if Path(what).exists() or not _may_be_trace(what):
        inspected = inspection.inspect_file(Path(what), how, strictness)
    else:
        folder = require_ledger(session.workspace_folder)
        inspected = inspection.inspect_live(folder, how, tracing.stream_of(what), strictness)
    if file is not None and inspected.reports:
        report = inspected.reports[0]
        write_page(file, trace_page(inspected.events[report.trace], report))
    return _combine_verdicts(inspected)


def _may_be_trace(what: str) -> bool:
    """Return False if it can only be a file name."""
    try:
        tracing.stream_of(what)
    except MootError:
        return False
    return "." not in what


def _combine_verdicts(inspected: Inspection) -> VerifiedTraces:
    verdict, reports = inspected.verdict, inspected.reports
    checks = [TraceCheck(check.name, check.ok, check.detail) for check in verdict.checks]
    findings = [TraceFinding(**asdict(finding)) for finding in verdict.findings]
    for report in reports:
        checks += (_trace_check(check, report.trace) for check in report.checks)
        findings += (
            _with_trace(finding, report.trace, inspected.is_live)
            for finding in _audit_findings(report)
        )
    fields = asdict(verdict) | {"checks": tuple(checks), "findings": tuple(findings)}
    fields |= _failing_trace(inspected)
    traces = tuple(map(_trace_verdict, reports))
    return VerifiedTraces(**fields, record=verdict.verdict, traces=traces)


def _failing_trace(inspected: Inspection) -> dict[str, Any]:
    """Return the top-level fields to replace if the bytes are sound and a trace in them fails."""
    failing = next((report for report in inspected.reports if str(report.verdict) == "fail"), None)
    if failing is None or inspected.verdict.verdict not in _SOUND:
        return {}

    def place(seq: int | None) -> BundlePlace | None:
        line = inspected.begins.get(failing.trace)
        if seq is None or line is None:
            return None
        return BundlePlace(line + seq, failing.trace, seq)

    return {
        "verdict": "fail",
        "first_bad": place(failing.first_bad),
        "last_trusted": place(failing.last_trusted),
    }


def _trace_verdict(report: AuditReport) -> TraceVerdict:
    return TraceVerdict(
        trace=report.trace,
        status=str(report.verdict),
        events=report.events,
        head=report.head,
        first_bad=report.first_bad,
        last_trusted=report.last_trusted,
        state=str(report.stage),
        open=report.stage not in ENDED,
    )


def _trace_check(check: AuditCheck, trace: str | msgspec.UnsetType = msgspec.UNSET) -> TraceCheck:
    """Convert an audit check to the form of the ledger's checks, and keep its status."""
    status = str(check.status)
    return TraceCheck(check.id, status != "fail", check.evidence, status, check.about, trace)


def _audit_findings(report: AuditReport) -> Iterator[Finding]:
    """Convert the failures of an audit to findings."""
    for failure in report.failures():
        yield Finding(
            rule=failure.check,
            code=failure.code,
            message=failure.message,
            severity=Severity.ERROR if str(failure.status) == "fail" else Severity.WARNING,
            where=_describe_place(failure.event, failure.artifact),
            hint=fill_hint(failure.suggested_action, {"TRACE": report.trace.partition("/")[2]}),
        )


def _describe_place(event: int | None, artifact: str | None) -> str | None:
    words = [] if event is None else [f"event {event}"]
    words += [] if artifact is None else [artifact]
    return " ".join(words) or None


def _with_trace(finding: Finding, trace: str, is_live: bool) -> TraceFinding:
    """Add the trace to a finding. Commands in its hint work only in the trace's own workspace."""
    hint = finding.hint
    if not is_live and "`moot " in hint:
        hint = f"in its own workspace: {hint}"
    return TraceFinding(
        rule=finding.rule,
        code=finding.code,
        severity=finding.severity.value,
        message=finding.message,
        line=finding.line,
        where=finding.where,
        hint=hint,
        trace=trace,
    )


def _read_profile(text: str) -> Profile:
    try:
        return Profile(text)
    except ValueError:
        hint = f"one of {', '.join(Profile)}"
        raise Malformed(f"{text!r} is no profile", code="bad_profile", hint=hint) from None
