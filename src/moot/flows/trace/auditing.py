"""The auditor's run: begun on record, looked at by the independent checker, ended with a report.

The report is stored before the event that names it, as JSON, markdown and a page. A run that was
begun and never ended is gone on with. A trace that has ended is only looked at again (E-41).
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from moot.core.canonical import canonical
from moot.core.errors import MootError
from moot.core.record import ArtifactRef
from moot.flows.trace import execution, inspection, tracing
from moot.pages import to_html, to_markdown
from moot.protocols.trace.audit import page
from moot.protocols.trace.audit.report import report_document
from moot.protocols.trace.commands import CompleteVerification, StartVerification
from moot.protocols.trace.machine import MACHINE
from moot.protocols.trace.model import Profile, VerificationRun
from moot.workspace.check import CheckOptions, pinned_trust

if TYPE_CHECKING:
    from moot.core.findings import Finding
    from moot.core.machine import Recorded
    from moot.protocols.trace.audit.report import AuditReport
    from moot.workspace.workspace import Workspace

JSON: Final = "application/vnd.moot.trace-report+json"
MARKDOWN: Final = "text/markdown"
HTML: Final = "text/html"


class AuditOutcome(NamedTuple):
    """What a run found; `run` is None if it was only looked at and nothing was recorded."""

    report: AuditReport
    run: str | None
    artifact: ArtifactRef
    page: ArtifactRef
    events: list[Recorded[Any]]
    findings: tuple[Finding, ...] = ()


def audit_trace(workspace: Workspace, stream: str, actor: str, profile: Profile) -> AuditOutcome:
    """Verify a trace that has its final statement, and record the result as `actor`."""
    execution.recover(workspace, stream)
    state = workspace.engine.state(MACHINE, stream)
    if state.ended:
        return _look_again(workspace, stream, profile)
    run = state.run or _begin(workspace, stream, actor, profile)
    with suppress(MootError):  # without its key the head stays unproven, and the report says so
        workspace.engine.checkpoint()
    inspected = _inspect(workspace, stream, run.profile, (run.head, run.events))
    events, report = inspected.events[stream], inspected.reports[0]
    stored, pages = _store(workspace, report, events)
    command = CompleteVerification(
        run_id=run.id,
        status=str(report.verdict),
        report=stored,
        pages=pages,
        head=run.head,
        events=run.events,
        failure_codes=report.failed_codes(),
    )
    outcome = tracing.execute_step(workspace, stream, command, actor)
    return AuditOutcome(report, run.id, stored, pages[0], events, outcome.findings)


def _begin(workspace: Workspace, stream: str, actor: str, profile: Profile) -> VerificationRun:
    outcome = tracing.execute_step(
        workspace, stream, StartVerification(profile=str(profile)), actor
    )
    run = MACHINE.require_state(outcome.state).run
    assert run is not None  # the command that was accepted has begun it
    return run


def _look_again(workspace: Workspace, stream: str, profile: Profile) -> AuditOutcome:
    """Stored, and named by nothing: the chain of an ended trace stays as it is."""
    inspected = _inspect(workspace, stream, profile, None)
    events, report = inspected.events[stream], inspected.reports[0]
    stored, pages = _store(workspace, report, events)
    return AuditOutcome(report, None, stored, pages[0], events)


def _inspect(
    workspace: Workspace, stream: str, profile: Profile, subject: tuple[str, int] | None
) -> inspection.Inspection:
    pinned = pinned_trust(workspace.folder, workspace.trust.origin)
    how = CheckOptions(workspace.folder, None if pinned else workspace.path / "trust.json")
    return inspection.inspect_live(Path(workspace.path), how, stream, profile, subject)


def _store(
    workspace: Workspace, report: AuditReport, events: list[Recorded[Any]]
) -> tuple[ArtifactRef, tuple[ArtifactRef, ArtifactRef]]:
    """The report itself, and its two readable forms."""
    rendered = page.trace_page(events, report)
    html = workspace.artifacts.put(to_html(rendered).encode(), HTML)
    markdown = workspace.artifacts.put(to_markdown(rendered).encode(), MARKDOWN)
    document = canonical(
        {**report_document(report), "pages": {"html": html.sha256, "markdown": markdown.sha256}}
    )
    return workspace.artifacts.put(document, JSON), (html, markdown)
