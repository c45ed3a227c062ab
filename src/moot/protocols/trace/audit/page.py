"""A trace as a page: the verdict, what was claimed and objected, what rests on what, every check.

The page is data for `core.report`, which draws it as HTML, markdown or JSON. It is a rendering;
the exported record beside it is the proof.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from moot import pages as page
from moot.core.clock import to_text
from moot.core.findings import filled
from moot.core.machine import Recorded
from moot.protocols.trace import events as did
from moot.protocols.trace import views
from moot.protocols.trace.audit.report import Check, Report, Status
from moot.protocols.trace.evolution import evolve
from moot.protocols.trace.model import State, Verdict

_TONES: dict[Verdict, page.Tone] = {
    Verdict.PASS: "good",
    Verdict.WARNINGS: "caution",
    Verdict.FAIL: "bad",
}
_MARKS: dict[Status, page.Tone] = {
    Status.PASS: "good",
    Status.WARNING: "caution",
    Status.FAIL: "bad",
}
_WORDS = {Verdict.PASS: "PASS", Verdict.WARNINGS: "PASS WITH WARNINGS", Verdict.FAIL: "FAIL"}
_ENDINGS: dict[str, page.Tone] = {
    "tool_execution_failed": "bad",
    "session_failed": "bad",
    "session_aborted": "bad",
    "claim_challenged": "caution",
    "proposal_reviewed": "plain",
    "verification_run_completed": "good",
}
# More boxes than these cannot be read in one picture; the table below it has all.
MOST_BOXES = 120
# What is longer is no title but a text.
MOST_TITLE = 100


def report(
    events: Iterable[Recorded[Any]],
    found: Report,
    counted: str = "",
    proof: page.Proof | None = None,
) -> page.Report:
    """The page of a trace and what its audit found. `counted` tells watched work apart."""
    recorded = list(events)
    state = _state(recorded)
    return page.Report(
        kind="trace",
        title=_title(state.task) or found.trace,
        subtitle=f"{found.trace}, {len(recorded)} events, {state.stage}",
        verdict=page.Verdict(
            _WORDS[found.verdict], _TONES[found.verdict], f"profile {found.profile}"
        ),
        decision=_decision(recorded, found),
        dissent=_dissent(recorded),
        blocks=tuple(_blocks(recorded, state, found, counted)),
        proof=proof,
    )


def _title(task: str) -> str:
    """The first line of the task, as far as a title goes."""
    first = next((line.strip() for line in task.splitlines() if line.strip()), "")
    return first if len(first) <= MOST_TITLE else f"{first[:MOST_TITLE]}…"


def _state(events: list[Recorded[Any]]) -> State:
    state = State()
    for recorded in events:
        state = evolve(state, recorded)
    return state


def _decision(events: list[Recorded[Any]], found: Report) -> page.Decision:
    final = [one.event for one in events if isinstance(one.event, did.FinalStatementSigned)]
    statement = final[-1].statement if final else "There is no final statement yet."
    last = found.last_trusted
    facts = (
        page.Fact("trace", found.trace, code=True),
        page.Fact("head", found.head, code=True),
        page.Fact("events", str(found.events)),
        page.Fact("first bad event", "none" if found.first_bad is None else str(found.first_bad)),
        page.Fact("last trusted event", "none" if last is None else str(last)),
    )
    return page.Decision(statement, facts, heading="Final statement")


def _dissent(events: list[Recorded[Any]]) -> page.Dissent:
    """Every objection, in the critic's own words, whatever became of it."""
    voices = tuple(
        page.Quote(
            author=one.actor.id,
            text=one.event.reason,
            stance=f"challenged {one.event.claim_id}",
            tone="caution",
            note=to_text(one.at),
            refs=one.event.evidence,
        )
        for one in events
        if isinstance(one.event, did.ClaimChallenged)
    )
    return page.Dissent(voices, "" if voices else "No claim was challenged.", heading="Objections")


def _blocks(
    events: list[Recorded[Any]], state: State, found: Report, counted: str
) -> Iterable[page.Block]:
    if _title(state.task) != state.task:
        yield page.Prose(state.task, title="The task")
    if counted:
        yield page.Prose(f"{counted}.", title="Governed and observed")
    yield page.Table(
        ("Part", "Agent", "Key"),
        tuple((str(one.role), one.agent, page.Cell(one.kid, code=True)) for one in state.roles),
        title="Who played which part",
    )
    yield _claims(events, state)
    yield _graph(events)
    yield page.Table(
        ("Check", "Result", "About", "Evidence"),
        tuple(map(_check, found.checks)),
        title="What was checked",
    )
    yield page.Findings(tuple(_findings(found)), title="What the audit found")
    yield page.Timeline(tuple(map(_moment, views.timeline(events))), title="What happened")


def _claims(events: list[Recorded[Any]], state: State) -> page.Table:
    rows = []
    for one in events:
        event = one.event
        if isinstance(event, did.ClaimIssued):
            stands = event.claim_id in state.claims
            standing = page.Cell("stands", "good") if stands else page.Cell("no longer", "neutral")
            name = page.Cell(event.claim_id, code=True)
            rows.append((name, event.text, event.confidence, standing))
    return page.Table(("Claim", "Text", "Confidence", "Standing"), tuple(rows), title="Claims")


def _check(check: Check) -> tuple[str | page.Cell, ...]:
    result = page.Cell(str(check.status), _MARKS[check.status])
    return page.Cell(check.id, code=True), result, check.about, check.evidence


def _findings(found: Report) -> Iterable[page.FindingRow]:
    for one in found.failures():
        where = "" if one.event is None else f"event {one.event}"
        yield page.FindingRow(
            severity="error" if one.status is Status.FAIL else "warning",
            message=one.message,
            rule=f"{one.code} ({one.severity})",
            where=where if one.artifact is None else f"{where} {one.artifact[:16]}",
            hint=filled(one.suggested_action, {"TRACE": found.trace.partition("/")[2]}),
        )


def _moment(line: views.TimelineLine) -> page.Moment:
    return page.Moment(
        at=line.at,
        who=line.who,
        what=f"{line.what}: {line.says}",
        ref=f"event {line.seq}",
        tone=_ENDINGS.get(line.what, "plain"),
    )


def _graph(events: list[Recorded[Any]]) -> page.Graph:
    """From each claim to the runs it rests on, and to what they left."""
    drawn = _Drawn()
    left: dict[str, str] = {}
    runs: dict[str, Recorded[Any]] = {}
    claims = []
    for one in events:
        event = one.event
        if isinstance(event, did.ExecutionEnded):
            runs[event.execution_id] = one
            for sha256 in (event.input_artifact, *(output.sha256 for output in event.outputs)):
                left.setdefault(sha256, event.execution_id)
        elif isinstance(event, did.ClaimIssued):
            claims.append(event)
    for claim in claims:
        drawn.claim(claim, left)
    for name, one in runs.items():
        drawn.run(name, one.event)
    return drawn.graph()


class _Drawn:
    """Boxes and lines, each once."""

    def __init__(self) -> None:
        self._nodes: dict[str, page.Node] = {}
        self._edges: dict[tuple[str, str], None] = {}
        self._cited: set[str] = set()

    def claim(self, claim: did.ClaimIssued, left: dict[str, str]) -> None:
        self._nodes[claim.claim_id] = page.Node(0, claim.claim_id, claim.text)
        for sha256 in claim.evidence:
            self._cited.add(sha256)
            if sha256 in left:
                self._edges[claim.claim_id, left[sha256]] = None
            else:
                self._box(sha256, page.Node(2, sha256[:12], "from nowhere", sha256, "bad"))
                self._edges[claim.claim_id, sha256] = None

    def run(self, name: str, event: Any) -> None:
        good = isinstance(event, did.ToolExecutionCompleted)
        text = event.intent_id if good else f"{event.intent_id} failed"
        self._box(name, page.Node(1, name, text, tone="good" if good else "bad"))
        named = (
            ("input", event.input_artifact),
            *((one.name, one.sha256) for one in event.outputs),
        )
        for label, sha256 in named:
            tone: page.Tone = "good" if sha256 in self._cited else "plain"
            self._box(sha256, page.Node(2, f"{name}/{label}", sha256[:16], sha256, tone))
            self._edges[name, sha256] = None

    def _box(self, name: str, node: page.Node) -> None:
        self._nodes.setdefault(name, node)

    def graph(self) -> page.Graph:
        shown = dict(list(self._nodes.items())[:MOST_BOXES])
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
