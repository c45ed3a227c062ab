"""A trace as a page: what rests on what, who objected, every check; hostile words stay words."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from moot.api.traces import inspection, tracing
from moot.api.traces import inspection as auditing
from moot.keys.folder import KeyFolder
from moot.pages import Graph, Prose, to_html, to_json, to_markdown
from moot.pages.model import Report
from moot.protocols.trace import commands as ask
from moot.protocols.trace.audit import page
from moot.protocols.trace.model import Profile, Role
from moot.protocols.trace.policy import Policy
from moot.workspace.integrity_check import CheckOptions
from tests.trace.trace_project import AGENTS, AUDITOR, TraceProject, open_trace_project

HOSTILE = "<script>alert(1)</script> \u202e# [x](https://evil.example) \x1b[31m"


@pytest.fixture
def project(tmp_path: Path) -> Iterator[TraceProject]:
    with open_trace_project(tmp_path) as made:
        made.begin()
        yield made


def shown(project: TraceProject, counted: str = "") -> Report:
    how = CheckOptions(KeyFolder(project.keys))
    found = inspection.inspect_live(project.space.path, how, project.stream)
    return page.trace_page(found.events[project.stream], found.reports[0], counted)


def graph(report: Report) -> Graph:
    (one,) = (block for block in report.blocks if isinstance(block, Graph))
    return one


def claim(project: TraceProject, execution: str, text: str, **more: Any) -> None:
    evidence = (tracing.resolve_evidence(project.space, project.stream, f"{execution}/stdout"),)
    command = ask.IssueClaim(text=text, confidence="0.9", evidence=evidence, **more)
    project.ask(Role.EXECUTOR, command)


def test_a_claim_leads_to_its_run_and_to_what_the_run_left(project: TraceProject) -> None:
    done = project.execute_intent(project.script("print(1)"))
    claim(project, done.execution, "it prints 1")
    found = graph(shown(project))
    labels = [node.label for node in found.nodes]
    assert labels == ["c1", "x1", "x1/input", "x1/stdout", "x1/stderr", "x1/changed"]
    lines = {(labels[first], labels[second]) for first, second in found.edges}
    assert ("c1", "x1") in lines
    assert ("x1", "x1/stdout") in lines
    assert {node.label for node in found.nodes if node.tone == "good"} == {"x1", "x1/stdout"}


def test_objections_stand_in_full_and_superseded_claims_are_told_apart(
    project: TraceProject,
) -> None:
    done = project.execute_intent(project.script("print(1)"))
    claim(project, done.execution, "everything is fine")
    project.ask(Role.CRITIC, ask.ChallengeClaim(claim_id="c1", reason="not everything was tried"))
    claim(project, done.execution, "one thing is fine", supersedes="c1")
    markdown = to_markdown(shown(project, "governed 1, observed 0, gaps 0"))
    assert "not everything was tried" in markdown
    assert "no longer" in markdown
    assert "governed 1, observed 0, gaps 0" in markdown


@pytest.mark.parametrize(
    ("task", "title"),
    [
        ("Pay one order\n\nIn the new sandbox. The old one was switched off.", "Pay one order"),
        ("x" * 300, "x" * 100 + "…"),
    ],
)
def test_the_title_is_the_first_line_of_the_task_and_the_whole_comes_below(
    project: TraceProject, task: str, title: str
) -> None:
    project.stream = tracing.open_trace(project.space, task, AGENTS).stream
    report = shown(project)
    assert report.title == title
    assert report.blocks[0] == Prose(task, title="The task", markdown=True)


def test_a_task_of_one_line_is_said_once(project: TraceProject) -> None:
    assert not [block for block in shown(project).blocks if block.title == "The task"]


def test_hostile_words_stay_words_in_every_form(project: TraceProject) -> None:
    done = project.execute_intent(project.script("print(1)"))
    claim(project, done.execution, HOSTILE)
    project.ask(Role.CRITIC, ask.ChallengeClaim(claim_id="c1", reason=HOSTILE))
    report = shown(project)
    html = to_html(report)
    assert "<script>alert" not in html
    assert "\u202e" not in html
    assert "<script>" not in to_markdown(report)
    assert json.loads(to_json(report))["kind"] == "trace"


def test_a_picture_that_would_be_too_large_says_what_it_leaves_out(
    project: TraceProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page, "MAX_BOXES", 3)
    done = project.execute_intent(project.script("print(1)"))
    claim(project, done.execution, "it prints 1")
    found = graph(shown(project))
    assert len(found.nodes) == 3
    assert found.caption == "3 more are left out of the picture."


def test_a_failed_run_and_a_failed_audit_are_shown_as_such(project: TraceProject) -> None:
    project.begin(Policy(max_attempts=1))
    done = project.execute_intent(project.script("raise SystemExit(1)"))
    claim(project, done.execution, "it fails")
    (node,) = (node for node in graph(shown(project)).nodes if node.label == "x1")
    assert (node.tone, node.text) == ("bad", "i1 failed")
    (stderr,) = (one.ref.sha256 for one in done.outputs if one.name == "stdout")
    project.space.artifacts.erase(stderr)
    report = shown(project)
    assert (report.verdict.label, report.verdict.tone) == ("FAIL", "bad")


@pytest.mark.requirement("TRC-068")
def test_the_stored_report_names_its_pages_and_what_it_looked_at(project: TraceProject) -> None:
    project.to_final()
    before = project.length
    done = auditing.audit_trace(project.space, project.stream, AUDITOR, Profile.STRICT)
    document = json.loads(b"".join(project.space.artifacts.chunks(done.artifact.sha256)))
    assert (document["trace"], document["events"]) == (project.stream, before)
    assert document["head"] == done.report.head
    assert document["pages"]["html"] == done.page.sha256
    with project.space.store.read() as view:
        (*_, last) = view.records(project.stream)
    cited = [ref.sha256 for ref in last.body.artifacts]
    assert cited == [done.artifact.sha256, *document["pages"].values()]


def test_several_processes_say_the_same(project: TraceProject) -> None:
    project.to_final()
    project.space.engine.checkpoint()
    one, two = (
        inspection.inspect_live(
            project.space.path, CheckOptions(KeyFolder(project.keys), jobs=jobs), project.stream
        )
        for jobs in (1, 2)
    )
    assert one.reports == two.reports
    assert one.events == two.events


def test_a_short_file_is_not_worth_a_process(tmp_path: Path) -> None:
    assert inspection.choose_jobs(tmp_path / "none") == 1
    (tmp_path / "short").write_bytes(b"x")
    assert inspection.choose_jobs(tmp_path / "short") == 1


@pytest.mark.parametrize(("processors", "jobs"), [(None, 1), (1, 1), (2, 2), (64, 4)])
def test_a_long_one_is_worth_several(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, processors: int | None, jobs: int
) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: processors)
    with (tmp_path / "long").open("wb") as file:
        file.truncate(inspection.WORTH_A_PROCESS)
    assert inspection.choose_jobs(tmp_path / "long") == jobs
