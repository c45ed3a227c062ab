"""Every word of a trace's page, made from the record alone."""

from __future__ import annotations

from typing import Any, TypeVar

import pytest

from moot import pages
from moot.core.machine import Draft
from moot.core.names import OPERATOR
from moot.protocols.trace import commands as ask
from moot.protocols.trace import events as did
from moot.protocols.trace.audit.page import trace_page
from moot.protocols.trace.audit.report import ArtifactPresence
from moot.protocols.trace.model import Profile

from .scene import CRITIC, EXECUTOR, NOWHERE, Trace
from .test_audit import finished, judged

B = TypeVar("B")


def page_of(trace: Trace, profile: Profile = Profile.DEFAULT, **facts: Any) -> pages.Report:
    return trace_page(trace.history(), judged(trace, profile, **facts))


def block(report: pages.Report, kind: type[B], title: str) -> B:
    (found,) = (one for one in report.blocks if isinstance(one, kind) and one.title == title)
    return found


def objections(report: pages.Report) -> pages.Dissent:
    assert report.dissent is not None
    return report.dissent


def sentences(trace: Trace) -> list[tuple[str, str]]:
    moments = block(page_of(trace), pages.Timeline, "What happened").moments
    assert [moment.ref for moment in moments] == [f"event {seq}" for seq in range(len(moments))]
    return [(moment.what, moment.tone) for moment in moments]


def test_a_finished_trace_from_above() -> None:
    trace = finished()
    report = page_of(trace, Profile.STRICT, anchored=True)
    assert (report.title, report.subtitle) == ("fix the parser", "trace/t1, 8 events, auditing")
    assert report.verdict == pages.VerdictBadge("PASS", "good", "profile strict")
    assert objections(report).note == "No claim was challenged."
    card = report.decision
    assert (card.statement, card.facts) == ("done", ())
    head = trace.history()[-1].hash.hex()
    assert [(fact.label, fact.value, fact.code) for fact in card.details] == [
        ("trace", "trace/t1", True),
        ("head", head, True),
        ("events", "8", False),
        ("last trusted event", "7", False),
    ]
    assert [block.title for block in report.blocks] == [
        *("Claims", "What rests on what", "What the audit found", "Who played which part"),
        *("What happened", "What was checked: 15 checks", "Their keys"),
    ]
    folded = [one.title for one in report.blocks if isinstance(one, pages.Table) and one.folded]
    assert folded == ["What was checked: 15 checks", "Their keys"]
    checks = block(report, pages.Table, "What was checked: 15 checks")
    assert checks.rows[0] == (
        pages.Cell("CHK_SCHEMA_CONFORMANCE", code=True),
        pages.Cell("pass", "good"),
        "every event can be read",
        "8 events: nothing found",
    )
    keys = block(report, pages.Table, "Their keys")
    assert keys.rows[1] == (EXECUTOR, pages.Cell(trace.kid(EXECUTOR), code=True))


def test_a_trace_that_is_under_way_has_no_statement_yet() -> None:
    report = page_of(Trace().to("auditing"))
    assert report.verdict == pages.VerdictBadge("PASS WITH WARNINGS", "caution", "profile default")
    assert report.decision.statement == "There is no final statement yet."
    (found,) = block(report, pages.Findings, "What the audit found").items
    assert (found.severity, found.where) == ("warning", "")
    assert found.rule == "finalization_incomplete (medium)"


def test_what_is_wrong_is_told_with_its_place_and_what_can_be_trusted() -> None:
    trace = finished()
    lost = trace.history()[-2].event.evidence[0]
    report = page_of(trace, artifacts={}, signatures={3: "no good"})
    assert report.verdict == pages.VerdictBadge("FAIL", "bad", "profile default")
    assert [(fact.label, fact.value) for fact in report.decision.facts] == [
        ("first bad event", "3"),
        ("last trusted event", "2"),
    ]
    rows = block(report, pages.Findings, "What the audit found").items
    assert {row.severity for row in rows} == {"error"}
    assert (rows[0].where, rows[0].rule) == ("event 3", "sig_invalid (critical)")
    assert f"event 5 {lost[:16]}" in [row.where for row in rows]


def test_nothing_can_be_trusted_if_the_first_event_is_bad() -> None:
    report = page_of(finished(), signatures={0: "no good"})
    assert [(fact.label, fact.value) for fact in report.decision.facts] == [
        ("first bad event", "0"),
        ("last trusted event", "none"),
    ]


def test_a_remedy_names_the_trace() -> None:
    trace = Trace().to("executing")
    trace.start(trace.intend("p1"))
    rows = block(page_of(trace), pages.Findings, "What the audit found").items
    assert "record how it ended: `moot trace recover t1`" in [row.hint for row in rows]


def test_an_objection_stands_with_who_made_it_and_what_it_cites() -> None:
    trace = Trace().to("auditing")
    ref = trace.store(b"a counterexample")
    cited = (ask.Cited(ref.sha256, ref),)
    trace.run(ask.ChallengeClaim(claim_id="c1", reason="*weak*", evidence=cited), CRITIC)
    (voice,) = objections(page_of(trace)).voices
    assert (voice.author, voice.text, voice.stance) == (CRITIC, "*weak*", "challenged c1")
    assert (voice.tone, voice.refs, voice.markdown) == ("caution", (ref.sha256,), True)
    assert objections(page_of(trace)).note == ""


def test_a_claim_that_was_replaced_stands_no_longer() -> None:
    trace = Trace().to("auditing")
    trace.claim(trace.ran("p1"), supersedes="c1", text="half of it is fixed")
    claims = block(page_of(trace), pages.Table, "Claims")
    assert [row[3] for row in claims.rows] == [
        pages.Cell("no longer", "neutral"),
        pages.Cell("stands", "good"),
    ]
    assert claims.rows[1][:3] == (pages.Cell("c2", code=True), "half of it is fixed", "0.9")


def test_the_story_is_told_in_sentences() -> None:
    trace = Trace().to("auditing")
    trace.challenge("c1")
    name = trace.intend("p1", "pytest", "again", risk="high")
    trace.consent(name)
    trace.fail(trace.start(name))
    trace.run(ask.WithdrawClaim(claim_id="c1", reason="it was wrong?"), EXECUTOR)
    trace.run(ask.AbortTrace(reason="nobody needs it"), OPERATOR)
    assert sentences(trace) == [
        ("Moot opened the trace: fix the parser.", "plain"),
        ("plan-owl made proposal p1: run the tests.", "plain"),
        ("teal-crane reviewed proposal p1, approved: seen.", "plain"),
        ("amber-otter asked to run i1 (low) under p1: pytest -q.", "plain"),
        ("amber-otter began: x1 runs i1.", "plain"),
        ("amber-otter saw it through: x1 ended, exit status 0: stdout.", "plain"),
        ("amber-otter made claim c1 (0.9): the parser is fixed.", "plain"),
        ("teal-crane objected: c1 challenged: weak.", "caution"),
        ("amber-otter asked to run i2 (high) under p1: pytest again.", "plain"),
        ("teal-crane reviewed the request i2, approved: seen.", "plain"),
        ("amber-otter began: x2 runs i2.", "plain"),
        ("amber-otter saw it fail: x2 failed (exit): exit status 1.", "bad"),
        ("amber-otter took a claim back: c1 withdrawn: it was wrong?", "plain"),
        ("operator gave the trace up: nobody needs it.", "bad"),
    ]


def test_the_end_of_a_story_is_told_in_sentences() -> None:
    trace = finished()
    trace.run(ask.RotateKey(role="critic", epoch=1, kid="a" * 32, reason="lost"), OPERATOR)
    trace.verify()
    assert sentences(trace)[7:] == [
        ("amber-otter concluded: done (c1)", "plain"),
        ("operator: teal-crane plays the critic under a new key: lost.", "plain"),
        ("grey-heron began to check: v1 looks at 9 events (default)", "plain"),
        ("grey-heron finished checking, v1: pass.", "good"),
    ]


def graph_of(trace: Trace) -> pages.Graph:
    return block(page_of(trace), pages.Graph, "What rests on what")


def test_what_rests_on_what() -> None:
    trace = finished()
    ended = trace.history()[5].event
    given, left = ended.input_artifact, ended.outputs[0].sha256
    graph = graph_of(trace)
    assert graph.nodes == (
        pages.Node(0, "c1", "the parser is fixed"),
        pages.Node(1, "x1", "i1", tone="good"),
        pages.Node(2, "x1/input", given[:16], given),
        pages.Node(2, "x1/stdout", left[:16], left, "good"),
    )
    assert set(graph.edges) == {(0, 1), (1, 2), (1, 3)}
    assert graph.caption == ""


def test_evidence_that_no_run_left_comes_from_nowhere() -> None:
    trace = Trace().to("claiming")
    event = did.ClaimIssued(claim_id="c1", text="x", confidence="1", evidence=(NOWHERE,))
    trace.record(Draft(event), EXECUTOR)
    graph = graph_of(trace)
    lost = pages.Node(2, NOWHERE[:12], "from nowhere", NOWHERE, "bad")
    assert graph.nodes[1] == lost
    assert (0, 1) in graph.edges


@pytest.mark.parametrize(("claims", "caption"), [(117, ""), (118, "1 more are left out")])
def test_a_picture_has_120_boxes(claims: int, caption: str) -> None:
    """In addition to the claims: a run, its input and its output."""
    trace = Trace().to("auditing")
    left = trace.history()[-1].event.evidence
    for number in range(2, claims + 1):
        event = did.ClaimIssued(claim_id=f"c{number}", text="x", confidence="1", evidence=left)
        trace.record(Draft(event), EXECUTOR)
    graph = graph_of(trace)
    assert len(graph.nodes) == 120
    assert graph.caption.startswith(caption)
    assert bool(graph.caption) == bool(caption)


@pytest.mark.parametrize(("length", "shown"), [(100, "x" * 100), (101, "x" * 100 + "…")])
def test_a_title_has_100_characters(length: int, shown: str) -> None:
    trace = Trace()
    task = "x" * length
    trace.run(ask.OpenTrace(task=task, roles=trace.bindings()), OPERATOR)
    report = page_of(trace)
    assert report.title == shown
    assert (report.blocks[0].title == "The task") == (shown != task)


def test_erased_bytes_only_warn_with_their_hash() -> None:
    trace = finished()
    lost = trace.history()[-2].event.evidence[0]
    artifacts = {
        sha256: ArtifactPresence.PRESENT
        for record in trace.history()
        for sha256 in [ref.sha256 for ref in record.artifacts]
    }
    report = page_of(trace, artifacts={**artifacts, lost: ArtifactPresence.ERASED})
    (row,) = block(report, pages.Findings, "What the audit found").items
    assert (row.severity, row.where) == ("warning", f"event 5 {lost[:16]}")
