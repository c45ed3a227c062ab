"""A trace as a page: the verdict, what was claimed and objected, what rests on what, every check.

The page is data for `moot.pages`, which draws it as HTML, markdown or JSON. It only displays; the
exported record is the proof.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from moot import pages as page
from moot.core.clock import to_text
from moot.core.findings import fill_hint
from moot.core.machine import Recorded
from moot.core.names import SYSTEM
from moot.protocols.trace import events as did
from moot.protocols.trace import views
from moot.protocols.trace.audit.report import AuditCheck, AuditReport, CheckStatus
from moot.protocols.trace.evolution import evolve
from moot.protocols.trace.model import AuditVerdict, State

_VERDICT_TONES: dict[AuditVerdict, page.Tone] = {
    AuditVerdict.PASS: "good",
    AuditVerdict.WARNINGS: "caution",
    AuditVerdict.FAIL: "bad",
}
_STATUS_TONES: dict[CheckStatus, page.Tone] = {
    CheckStatus.PASS: "good",
    CheckStatus.WARNING: "caution",
    CheckStatus.FAIL: "bad",
}
_VERDICT_WORDS = {
    AuditVerdict.PASS: "PASS",
    AuditVerdict.WARNINGS: "PASS WITH WARNINGS",
    AuditVerdict.FAIL: "FAIL",
}
_EVENT_TONES: dict[str, page.Tone] = {
    "tool_execution_failed": "bad",
    "session_failed": "bad",
    "session_aborted": "bad",
    "claim_challenged": "caution",
    "proposal_reviewed": "plain",
    "verification_run_completed": "good",
}
# Each event as a sentence; `says` begins with the id of its subject.
_SENTENCES = {
    "session_initialized": "{who} opened the trace: {says}",
    "proposal_created": "{who} made proposal {says}",
    "proposal_reviewed": "{who} reviewed proposal {says}",
    "tool_intent_signed": "{who} asked to run {says}",
    "tool_intent_reviewed": "{who} reviewed the request {says}",
    "tool_execution_started": "{who} began: {says}",
    "tool_execution_completed": "{who} saw it through: {says}",
    "tool_execution_failed": "{who} saw it fail: {says}",
    "claim_issued": "{who} made claim {says}",
    "claim_challenged": "{who} objected: {says}",
    "claim_withdrawn": "{who} took a claim back: {says}",
    "final_statement_signed": "{who} concluded: {says}",
    "verification_run_started": "{who} began to check: {says}",
    "verification_run_completed": "{who} finished checking, {says}",
    "session_aborted": "{who} gave the trace up: {says}",
    "session_failed": "The trace failed: {says}",
    "key_rotated": "{who}: {says}",
}
_REVIEWS = ("proposal_reviewed", "tool_intent_reviewed")  # an id, then what was said of it
# More boxes than these cannot be read in one picture; the tables have everything.
MAX_BOXES = 120
# A longer first line is cut: the whole task is below it.
MAX_TITLE = 100


def trace_page(
    events: Iterable[Recorded[Any]],
    audit: AuditReport,
    counted: str = "",
    proof: page.ProofFile | None = None,
) -> page.Report:
    """The page of a trace and its audit. `counted` says how much other work was only observed."""
    recorded = list(events)
    state = _replay(recorded)
    return page.Report(
        kind="trace",
        title=_title_of(state.task) or audit.trace,
        subtitle=f"{audit.trace}, {len(recorded)} events, {state.stage}",
        verdict=page.VerdictBadge(
            _VERDICT_WORDS[audit.verdict], _VERDICT_TONES[audit.verdict], f"profile {audit.profile}"
        ),
        decision=_final_statement(recorded, audit),
        dissent=_objections(recorded),
        blocks=tuple(_blocks(recorded, state, audit, counted)),
        proof=proof,
    )


def _title_of(task: str) -> str:
    """Return the first line of the task, as far as a title goes."""
    first = next((line.strip() for line in task.splitlines() if line.strip()), "")
    return first if len(first) <= MAX_TITLE else f"{first[:MAX_TITLE]}…"


def _replay(events: list[Recorded[Any]]) -> State:
    state = State()
    for recorded in events:
        state = evolve(state, recorded)
    return state


def _final_statement(events: list[Recorded[Any]], audit: AuditReport) -> page.DecisionCard:
    final = [
        recorded.event
        for recorded in events
        if isinstance(recorded.event, did.FinalStatementSigned)
    ]
    statement = final[-1].statement if final else "There is no final statement yet."
    last = audit.last_trusted
    facts = [] if audit.first_bad is None else [_fact_of_event("first bad event", audit.first_bad)]
    if last != audit.events - 1:
        facts.append(_fact_of_event("last trusted event", last))
    details = (
        page.Fact("trace", audit.trace, code=True),
        page.Fact("head", audit.head, code=True),
        page.Fact("events", str(audit.events)),
        _fact_of_event("last trusted event", last),
    )
    return page.DecisionCard(
        statement, tuple(facts), heading="Final statement", details=details, markdown=True
    )


def _fact_of_event(label: str, event: int | None) -> page.Fact:
    return page.Fact(label, "none" if event is None else str(event))


def _objections(events: list[Recorded[Any]]) -> page.Dissent:
    """Return every objection in the critic's own words, also those that were answered."""
    voices = tuple(
        page.Quote(
            author=recorded.actor.id,
            text=recorded.event.reason,
            stance=f"challenged {recorded.event.claim_id}",
            tone="caution",
            note=page.human_time(to_text(recorded.at)),
            refs=recorded.event.evidence,
            markdown=True,
        )
        for recorded in events
        if isinstance(recorded.event, did.ClaimChallenged)
    )
    return page.Dissent(voices, "" if voices else "No claim was challenged.", heading="Objections")


def _blocks(
    events: list[Recorded[Any]], state: State, audit: AuditReport, counted: str
) -> Iterable[page.Block]:
    if _title_of(state.task) != state.task:
        yield page.Prose(state.task, title="The task", markdown=True)
    if counted:
        yield page.Prose(f"{counted}.", title="Governed and observed")
    yield _claims_table(events, state)
    yield _evidence_graph(events)
    yield page.Findings(tuple(_finding_rows(audit)), title="What the audit found")
    yield page.Table(
        ("Part", "Agent"),
        tuple((str(binding.role), binding.agent) for binding in state.roles),
        title="Who played which part",
    )
    yield page.Timeline(
        tuple(map(_timeline_moment, views.view_timeline(events))), title="What happened"
    )
    yield page.Table(
        ("Check", "Result", "About", "Evidence"),
        tuple(map(_check_row, audit.checks)),
        title=f"What was checked: {len(audit.checks)} checks",
        folded=True,
    )
    yield page.Table(
        ("Agent", "Key"),
        tuple((binding.agent, page.Cell(binding.kid, code=True)) for binding in state.roles),
        title="Their keys",
        folded=True,
    )


def _claims_table(events: list[Recorded[Any]], state: State) -> page.Table:
    rows = []
    for recorded in events:
        event = recorded.event
        if isinstance(event, did.ClaimIssued):
            is_standing = event.claim_id in state.claims
            cell = page.Cell("stands", "good") if is_standing else page.Cell("no longer", "neutral")
            name = page.Cell(event.claim_id, code=True)
            rows.append((name, event.text, event.confidence, cell))
    return page.Table(("Claim", "Text", "Confidence", "Standing"), tuple(rows), title="Claims")


def _check_row(check: AuditCheck) -> tuple[str | page.Cell, ...]:
    result = page.Cell(str(check.status), _STATUS_TONES[check.status])
    return page.Cell(check.id, code=True), result, check.about, check.evidence


def _finding_rows(audit: AuditReport) -> Iterable[page.FindingRow]:
    for failure in audit.failures():
        where = "" if failure.event is None else f"event {failure.event}"
        yield page.FindingRow(
            severity="error" if failure.status is CheckStatus.FAIL else "warning",
            message=failure.message,
            rule=f"{failure.code} ({failure.severity})",
            where=where if failure.artifact is None else f"{where} {failure.artifact[:16]}",
            hint=fill_hint(failure.suggested_action, {"TRACE": audit.trace.partition("/")[2]}),
        )


def _timeline_moment(line: views.TimelineLine) -> page.TimelineEntry:
    who = "Moot" if line.who == SYSTEM else line.who
    template = _SENTENCES.get(line.what, "{who}: {what}: {says}")
    says = line.says.replace(" ", ", ", 1) if line.what in _REVIEWS else line.says
    sentence = template.format(who=who, what=line.what.replace("_", " "), says=says).strip(" :")
    return page.TimelineEntry(
        at=line.at,
        who="",
        what=sentence if sentence.endswith((".", "!", "?", "…", ")")) else f"{sentence}.",
        ref=f"event {line.seq}",
        tone=_EVENT_TONES.get(line.what, "plain"),
    )


def _evidence_graph(events: list[Recorded[Any]]) -> page.Graph:
    """Draw each claim, the runs that it rests on, and what these left."""
    graph = _EvidenceGraph()
    left: dict[str, str] = {}
    runs: dict[str, Recorded[Any]] = {}
    claims = []
    for recorded in events:
        event = recorded.event
        if isinstance(event, did.ExecutionEnded):
            runs[event.execution_id] = recorded
            for sha256 in (event.input_artifact, *(output.sha256 for output in event.outputs)):
                left.setdefault(sha256, event.execution_id)
        elif isinstance(event, did.ClaimIssued):
            claims.append(event)
    for claim in claims:
        graph.add_claim(claim, left)
    for name, recorded in runs.items():
        graph.add_run(name, recorded.event)
    return graph.to_page()


class _EvidenceGraph:
    """Boxes and lines as they are added, each once."""

    def __init__(self) -> None:
        self._nodes: dict[str, page.Node] = {}
        self._edges: dict[tuple[str, str], None] = {}
        self._cited: set[str] = set()

    def add_claim(self, claim: did.ClaimIssued, left: dict[str, str]) -> None:
        self._nodes[claim.claim_id] = page.Node(0, claim.claim_id, claim.text)
        for sha256 in claim.evidence:
            self._cited.add(sha256)
            if sha256 in left:
                self._edges[claim.claim_id, left[sha256]] = None
            else:
                self._add_node(sha256, page.Node(2, sha256[:12], "from nowhere", sha256, "bad"))
                self._edges[claim.claim_id, sha256] = None

    def add_run(self, name: str, event: Any) -> None:
        good = isinstance(event, did.ToolExecutionCompleted)
        text = event.intent_id if good else f"{event.intent_id} failed"
        self._add_node(name, page.Node(1, name, text, tone="good" if good else "bad"))
        artifacts = (
            ("input", event.input_artifact),
            *((output.name, output.sha256) for output in event.outputs),
        )
        for label, sha256 in artifacts:
            tone: page.Tone = "good" if sha256 in self._cited else "plain"
            self._add_node(sha256, page.Node(2, f"{name}/{label}", sha256[:16], sha256, tone))
            self._edges[name, sha256] = None

    def _add_node(self, name: str, node: page.Node) -> None:
        self._nodes.setdefault(name, node)

    def to_page(self) -> page.Graph:
        shown = dict(list(self._nodes.items())[:MAX_BOXES])
        places = {name: place for place, name in enumerate(shown)}
        edges = [(places[a], places[b]) for a, b in self._edges if a in places and b in places]
        more = len(self._nodes) - len(shown)
        return page.Graph(
            ("Claims", "Runs", "What they left"),
            tuple(shown.values()),
            tuple(edges),
            title="What rests on what",
            caption=f"{more} more are left out of the picture." if more > 0 else "",
        )
