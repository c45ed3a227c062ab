"""Inspect traces: the ledger's checker verifies the bytes, then the trace's own audit follows.

A live workspace and an exported file take the same path. The checker, which shares no code with
what it checks, reads all lines. Each event that it accepts goes through the trace's own rules, and
the checker's findings about the bytes become the facts of the audit. Inspecting writes nothing.
"""

from __future__ import annotations

import hashlib
import os
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec

from moot.api.traces import running, tracing
from moot.core.canonical import canonical
from moot.core.errors import MootError
from moot.core.machine import Recorded
from moot.core.names import REGISTRY, protocol_of
from moot.core.record import ArtifactRef, Body, record_hash
from moot.engine.replay import read_body
from moot.pages import to_html, to_markdown
from moot.protocols.trace.audit import page
from moot.protocols.trace.audit.replay import TraceWalk
from moot.protocols.trace.audit.report import (
    ArtifactPresence,
    AuditFacts,
    AuditReport,
    report_document,
)
from moot.protocols.trace.audit.verification import audit_walk
from moot.protocols.trace.commands import CompleteVerification, StartVerification
from moot.protocols.trace.machine import MACHINE
from moot.protocols.trace.model import AuditVerdict as Audited
from moot.protocols.trace.model import Profile, VerificationRun
from moot.verify import BundlePlace, BundleVerdict
from moot.verify.bundle import lines_of
from moot.workspace.integrity_check import (
    CheckOptions,
    check_file,
    check_workspace,
    pinned_trust,
    stored_artifacts,
)

if TYPE_CHECKING:
    from moot.core.findings import Finding
    from moot.workspace.workspace import Workspace


PROTOCOL: Final = "trace"
_EVENT: Final = b'{"payload":'
_ARTIFACT: Final = b'{"artifact":{"sha256":"'
_PROOF: Final = b'{"proof":'
_HEX: Final = 64
IN_ONE_GO: Final = 4_096
WORTH_A_PROCESS: Final = 6 * 1024 * 1024
MOST_JOBS: Final = 4


class Inspection(NamedTuple):
    """The checker's verdict on the bytes, and the audit of each trace in them.

    `begins` maps a trace to the line of its first event; `is_live`: read from a workspace.
    """

    verdict: BundleVerdict
    reports: tuple[AuditReport, ...]
    events: dict[str, list[Recorded[Any]]]
    begins: dict[str, int]
    is_live: bool = False

    @property
    def holds(self) -> bool:
        failed = any(report.verdict is Audited.FAIL for report in self.reports)
        return bool(self.verdict) and not failed


def choose_jobs(file: Path) -> int:
    """Return how many processes to use for a file: for a small one, a single process is faster."""
    try:
        size = file.stat().st_size
    except OSError:
        return 1
    return 1 if size < WORTH_A_PROCESS else min(MOST_JOBS, os.cpu_count() or 1)


def inspect_file(file: Path, how: CheckOptions, profile: Profile = Profile.DEFAULT) -> Inspection:
    """Inspect every trace in an exported file; needs no workspace."""
    collector = _TraceCollector(process_while_reading=how.jobs == 1)
    verdict = check_file(file, how._replace(watch=collector.lines))
    if verdict.verdict == "tampered":  # reading stopped there; list the artifacts that follow
        with file.open("rb") as opened:
            collector.list_artifacts(lines_of(opened))
    return collector.inspected(verdict, profile)


def inspect_live(
    place: Path,
    how: CheckOptions,
    stream: str,
    profile: Profile = Profile.DEFAULT,
    subject: tuple[str, int] | None = None,
) -> Inspection:
    """Inspect one trace of a workspace, up to `subject` (head and number of events) if given."""
    collector = _TraceCollector(process_while_reading=how.jobs == 1, only=stream, subject=subject)
    verdict = check_workspace(place, how._replace(watch=collector.lines), stream)
    collector.expect(stream)
    if verdict.verdict == "tampered":
        collector.list_stored(place)
    return collector.inspected(verdict, profile)._replace(is_live=True)


class _Signature(msgspec.Struct):
    keyid: str
    sig: bytes


class _Envelope(msgspec.Struct):
    payload: bytes
    signatures: tuple[_Signature]


class _Payload(msgspec.Struct):
    """Decodes the payload only, which is all that most events need; skips the rest."""

    payload: bytes


class _PendingEvent(NamedTuple):
    """An event that waits for its successor, which names its hash."""

    number: int
    body: Body
    line: bytes


class _Proof(msgspec.Struct):
    hash: str
    seq: int
    stream: str


class _ProofLine(msgspec.Struct):
    proof: _Proof


_decode_payload: Final = msgspec.json.Decoder(_Payload).decode
_decode_envelope: Final = msgspec.json.Decoder(_Envelope).decode
_decode_body: Final = msgspec.json.Decoder(Body).decode
_decode_proof: Final = msgspec.json.Decoder(_ProofLine).decode


class _TraceCollector:
    """Collects the traces while the checker reads, and notes the artifacts and proofs it passes.

    The checker asks for a line only after it has accepted the previous one, so events are
    processed after their check, in batches of some thousands because that is faster. If several
    processes read ahead, all events wait for the verdict.
    """

    def __init__(
        self,
        process_while_reading: bool,
        only: str | None = None,
        subject: tuple[str, int] | None = None,
    ) -> None:
        self.walks: dict[str, TraceWalk] = {}
        self._process_while_reading = process_while_reading
        self._only = only
        self._subject = subject
        self._waiting: list[tuple[int, bytes]] = []
        self._pending: _PendingEvent | None = None
        self._first_lines: dict[str, int] = {}
        self._unreadable: dict[str, dict[int, str]] = {}
        self._artifacts: set[str] = set()
        self._artifact_lines: list[tuple[int, str]] = []
        self._erased: set[str] = set()
        self._proofs: dict[str, _Proof] = {}
        self._in_charge: set[str] = set()

    def inspected(self, verdict: BundleVerdict, profile: Profile) -> Inspection:
        self._finish(verdict.first_bad if verdict.verdict == "tampered" else None)
        reports = tuple(
            audit_walk(walk, self._facts(stream, verdict), profile)
            for stream, walk in self.walks.items()
        )
        events = {stream: walk.events for stream, walk in self.walks.items()}
        return Inspection(verdict, reports, events, self._first_lines)

    def expect(self, stream: str) -> None:
        """Report on this stream even if it is missing: the caller asked for it."""
        self._walk(stream)

    # Lines that the checker reads.

    def lines(self, lines: Iterable[bytes]) -> Iterator[bytes]:
        for number, line in enumerate(lines, 1):
            if line.startswith(_EVENT):
                yield line
                self._waiting.append((number, line))
                if self._process_while_reading and len(self._waiting) == IN_ONE_GO:
                    self._process_waiting(None)
                continue
            if line.startswith(_ARTIFACT):
                self._artifact_lines.append((number, _artifact_hash(line)))
            elif line.startswith(_PROOF):
                self._take_proof(line)
            yield line

    def _process_waiting(self, bad: BundlePlace | None) -> None:
        waiting, self._waiting = self._waiting, []
        for number, line in waiting:
            if bad is None or number < bad.line:
                self._take_event(number, line)

    def _finish(self, bad: BundlePlace | None) -> None:
        self._process_waiting(bad)
        self._flush_pending()

    def list_artifacts(self, lines: Iterable[bytes]) -> None:
        """Count the artifacts that a damaged file lists as present, although none was checked."""
        self._artifacts.update(_artifact_hash(line) for line in lines if line.startswith(_ARTIFACT))

    def list_stored(self, place: Path) -> None:
        for walk in self.walks.values():
            self._artifacts.update(stored_artifacts(place, walk.cited))

    def _take_proof(self, line: bytes) -> None:
        try:
            proof = _decode_proof(line).proof
        except (msgspec.DecodeError, UnicodeDecodeError):
            return  # the checker says what is wrong with it
        self._proofs[proof.stream] = proof

    def _take_event(self, number: int, line: bytes) -> None:
        try:
            body = _decode_body(_decode_payload(line).payload)
        except (msgspec.DecodeError, UnicodeDecodeError):
            return  # the checker says what is wrong with it
        if body.stream == REGISTRY:
            self._take_registry_event(body)
        elif protocol_of(body.stream) == PROTOCOL and self._only in (None, body.stream):
            self._flush_pending(body)
            self._pending = _PendingEvent(number, body, line)

    def _flush_pending(self, after: Body | None = None) -> None:
        """Process the pending event; its successor names its hash, which the checker compared."""
        pending, self._pending = self._pending, None
        if pending is None:
            return
        number, body, line = pending
        if after is not None and (after.stream, after.seq) == (body.stream, body.seq + 1):
            self._add_to_walk(number, body, bytes.fromhex(after.prev))
        else:
            self._add_to_walk(number, body, _event_hash(line))

    def _take_registry_event(self, body: Body) -> None:
        data = body.data
        if body.seq == 0:
            self._in_charge.add(_key_id(data["root"]))
        elif data.get("class") == "human":
            self._in_charge.add(_key_id(data["public"]))
        elif body.type == "registry.artifact_erased":
            self._erased.add(data["sha256"])

    def _add_to_walk(self, number: int, body: Body, event_hash: bytes) -> None:
        if self._subject is not None and body.seq >= self._subject[1]:
            return
        self._first_lines.setdefault(body.stream, number - body.seq)
        walk = self._walk(body.stream)
        try:
            recorded = read_body(MACHINE, body, event_hash)
        except MootError as error:
            self._unreadable.setdefault(body.stream, {})[body.seq] = str(error)
        else:
            walk.take_event(recorded)

    def _walk(self, stream: str) -> TraceWalk:
        """Return the stream's walk. The registry comes first, so people's keys are known by now."""
        walk = self.walks.get(stream)
        if walk is None:
            walk = self.walks[stream] = TraceWalk(frozenset(self._in_charge))
        return walk

    # Facts for the audit.

    def _facts(self, stream: str, verdict: BundleVerdict) -> AuditFacts:
        head, count = self._expected_head(stream)
        found: dict[str, Any] = {"unreadable": dict(self._unreadable.get(stream, {}))}
        for seq, kind, why in self._problems(stream, verdict):
            found.setdefault(kind, {})[seq] = why
        seen = self._artifact_presence(verdict)
        cited = self.walks[stream].cited
        has_problem = any(found.values()) or any(
            seen.get(sha) is ArtifactPresence.DIFFERS for sha in cited
        )
        if verdict.verdict not in _ANCHORED and not has_problem:
            # The problem has no position in this trace: report it at the trace's end.
            error_messages = (one.message for one in verdict.findings if one.severity == "error")
            found["chain"] = {len(self.walks[stream].events): next(error_messages, verdict.verdict)}
        return AuditFacts(
            trace=stream,
            head=head,
            events=count,
            artifacts=seen,
            in_charge=frozenset(self._in_charge),
            anchored=_ANCHORED.get(verdict.verdict),
            **found,
        )

    def _expected_head(self, stream: str) -> tuple[str, int]:
        """Return the head and count to expect: the subject's, the checkpoint's, else those read."""
        if self._subject is not None:
            return self._subject
        events = self.walks[stream].events
        unread = len(self._unreadable.get(stream, {}))
        here = (events[-1].hash.hex() if events else "", len(events) + unread)
        proof = self._proofs.get(stream)
        return (proof.hash, proof.seq + 1) if proof and proof.seq + 1 > here[1] else here

    def _problems(self, stream: str, verdict: BundleVerdict) -> Iterator[tuple[int, str, str]]:
        """Yield the checker's errors by position in this trace."""
        for finding in verdict.findings:
            check = finding.rule.partition("/")[2]
            kind = _KINDS.get(check)
            if finding.severity != "error" or kind is None:
                continue
            seq = self._seq_of_finding(stream, finding.line, verdict)
            if seq is not None:
                revoked = finding.code == "key_revoked"
                yield seq, kind, "revoked" if revoked else finding.message

    def _seq_of_finding(self, stream: str, line: int | None, verdict: BundleVerdict) -> int | None:
        """Return the position a finding is about; a bad registry affects the trace from event 0."""
        begins, walk = self._first_lines.get(stream), self.walks[stream]
        if line is not None and begins is not None and 0 <= line - begins < len(walk.events):
            return line - begins  # the events of one stream are contiguous
        bad = verdict.first_bad
        if bad is None or bad.line != line:
            return None
        if bad.stream == stream:
            return bad.seq
        return 0 if bad.stream in (None, REGISTRY) else None

    def _artifact_presence(self, verdict: BundleVerdict) -> dict[str, ArtifactPresence]:
        seen = dict.fromkeys(self._artifacts, ArtifactPresence.PRESENT)
        seen.update((sha, ArtifactPresence.PRESENT) for _, sha in self._artifact_lines)
        for finding in verdict.findings:
            if finding.code == "artifact_hash" and finding.line is not None:
                seen[self._artifact_at(finding.line)] = ArtifactPresence.DIFFERS
        seen.update((sha, ArtifactPresence.ERASED) for sha in self._erased if sha not in seen)
        return seen

    def _artifact_at(self, line: int) -> str:
        """Return the artifact whose bytes are on this line: the last one that began before it."""
        place = bisect_right(self._artifact_lines, line, key=lambda one: one[0])
        return self._artifact_lines[place - 1][1] if place else ""


_ANCHORED: Final = {"valid": True, "unproven": False}
# The checker's failed check -> the field of `AuditFacts` that it belongs to.
_KINDS: Final = {
    "format": "unreadable",
    "fields": "unreadable",
    "signatures": "signatures",
    "chain": "chain",
    "authors": "keys",
    "registry": "keys",
    "trust": "keys",
    "forks": "chain",
    "kept": "chain",
}


def _artifact_hash(line: bytes) -> str:
    return line[len(_ARTIFACT) : len(_ARTIFACT) + _HEX].decode("latin-1")


def _event_hash(line: bytes) -> bytes:
    said = _decode_envelope(line)
    (signed,) = said.signatures
    return record_hash(said.payload, signed.keyid, signed.sig)


def _key_id(public: str) -> str:
    return hashlib.sha256(bytes.fromhex(public)).hexdigest()[:32]


# The auditor's report is stored before the event that names it. A verification that was started and
# not completed is resumed. A trace that has ended is inspected again without a record (E-41).

JSON: Final = "application/vnd.moot.trace-report+json"
MARKDOWN: Final = "text/markdown"
HTML: Final = "text/html"


class AuditOutcome(NamedTuple):
    """The result of an audit; `run` is None if nothing was recorded."""

    report: AuditReport
    run: str | None
    artifact: ArtifactRef
    page: ArtifactRef
    events: list[Recorded[Any]]
    findings: tuple[Finding, ...] = ()


def audit_trace(workspace: Workspace, stream: str, actor: str, profile: Profile) -> AuditOutcome:
    """Verify a trace that has its final statement, and record the result as `actor`."""
    running.recover(workspace, stream)
    state = workspace.engine.state(MACHINE, stream)
    if state.ended:  # stored without an event: an ended trace takes no more events
        report, events, stored, pages = _make_report(workspace, stream, profile, None)
        return AuditOutcome(report, None, stored, pages[0], events)
    run = state.run or _start_verification(workspace, stream, actor, profile)
    with suppress(MootError):  # without its key the head stays unproven, and the report says so
        workspace.engine.checkpoint()
    subject = (run.head, run.events)
    report, events, stored, pages = _make_report(workspace, stream, run.profile, subject)
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


def _start_verification(
    workspace: Workspace, stream: str, actor: str, profile: Profile
) -> VerificationRun:
    outcome = tracing.execute_step(
        workspace, stream, StartVerification(profile=str(profile)), actor
    )
    run = MACHINE.require_state(outcome.state).run
    assert run is not None  # the accepted command started it
    return run


def _make_report(
    workspace: Workspace, stream: str, profile: Profile, subject: tuple[str, int] | None
) -> tuple[AuditReport, list[Recorded[Any]], ArtifactRef, tuple[ArtifactRef, ArtifactRef]]:
    """Audit a trace and store the report as JSON, HTML and Markdown; return it with the events."""
    pinned = pinned_trust(workspace.folder, workspace.trust.origin)
    how = CheckOptions(workspace.folder, None if pinned else workspace.path / "trust.json")
    inspected = inspect_live(Path(workspace.path), how, stream, profile, subject)
    events, report = inspected.events[stream], inspected.reports[0]
    rendered = page.trace_page(events, report)
    html = workspace.artifacts.put(to_html(rendered).encode(), HTML)
    markdown = workspace.artifacts.put(to_markdown(rendered).encode(), MARKDOWN)
    document = canonical(
        {**report_document(report), "pages": {"html": html.sha256, "markdown": markdown.sha256}}
    )
    return report, events, workspace.artifacts.put(document, JSON), (html, markdown)
