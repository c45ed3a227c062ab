"""What only the library promises: an idempotency key makes a repeated step one event."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest

import moot
from moot.api.session import Session
from moot.api.traces import claims, execution, lifecycle, planning, reading, verification
from moot.core.errors import Conflict, Malformed
from tests.trace.trace_project import AUDITOR, CRITIC, EXECUTOR, PLANNER, open_trace_project


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    """A project with four agents, seen by a program that acts for each part."""
    with open_trace_project(tmp_path) as project:
        root, keys = project.root, project.keys
    with moot.open(root, keys=keys) as opened:
        yield opened


def begin(session: Session, task: str = "see", key: str | None = None) -> str:
    return lifecycle.new(
        session,
        task,
        planner=PLANNER,
        executor=EXECUTOR,
        critic=CRITIC,
        auditor=AUDITOR,
        key=key,
    ).trace


def count_events(session: Session) -> int:
    with session.workspace.store.read() as view:
        return view.count_streams_and_events()[1]


def test_a_trace_begun_twice_under_one_key_is_one_trace(session: Session) -> None:
    assert begin(session) == "t1"
    assert begin(session, key="k1") == "t2"
    assert begin(session) == "t3"
    before = count_events(session)
    assert begin(session, key="k1") == "t2"
    with pytest.raises(Conflict) as refused:
        begin(session, "another task", key="k1")
    assert refused.value.code == "key_reused"
    assert count_events(session) == before
    assert begin(session, key="k2") == "t4"


def test_a_step_repeated_under_its_key_is_recorded_once(session: Session) -> None:
    trace = begin(session)
    first = planning.propose(session, trace, "look", tools=["python"], key="once")
    before = count_events(session)
    assert planning.propose(session, trace, "look", tools=["python"], key="once") == first
    assert count_events(session) == before
    assert planning.propose(session, trace, "look", tools=["python"]).proposal == "p2"


def test_a_program_may_play_all_parts_whose_keys_are_here(session: Session) -> None:
    trace = begin(session)
    session.env = {"PATH": os.environ["PATH"]}
    planning.propose(session, trace, "look", tools=["python"], expected_evidence=["a text"])
    planning.review(session, trace, "p1", "approved", "fine")
    words = [sys.executable, "-c", "print('seen')"]
    planning.intend(session, trace, "p1", words, tool="python", risk="low", why="to see")
    planning.review_intent(session, trace, "i1", "approved", "as proposed")
    done = execution.execute(session, trace, "i1")
    assert (done.failed, done.interrupted) == (False, msgspec.UNSET)
    with pytest.raises(moot.MootError) as refused:
        claims.claim(session, trace, "it is", 1.5, ["x1/stdout"])
    assert refused.value.code == "bad_confidence"
    made = claims.claim(session, trace, "it is", 0.9, ["x1/stdout"])
    assert made.evidence == (done.artifacts[0].sha256,)


def test_words_that_mean_nothing_are_named_before_anything_is_done(
    session: Session, tmp_path: Path
) -> None:
    trace = begin(session)
    before = count_events(session)
    page = tmp_path / "page.txt"
    attempts: dict[str, Callable[[], object]] = {
        "bad_role": lambda: lifecycle.rotate(session, trace, "singer"),
        "bad_profile": lambda: verification.audit(session, trace, profile="kind"),
        "bad_page_name": lambda: verification.audit(session, trace, file=page),
    }
    for code, attempt in attempts.items():
        with pytest.raises(Malformed) as refused:
            attempt()
        assert (refused.value.code, bool(refused.value.hint)) == (code, True)
    assert count_events(session) == before
    assert not page.exists()


def test_every_result_has_a_schema() -> None:
    results = [
        *(
            lifecycle.NewTrace,
            lifecycle.RotatedRole,
            lifecycle.AbortedTrace,
            planning.RecordedProposal,
        ),
        *(planning.ReviewedProposal, planning.SignedIntent, planning.ReviewedIntent),
        *(
            execution.ExecutedIntent,
            execution.RecoveredRuns,
            execution.TraceRun,
            claims.RecordedClaim,
        ),
        *(claims.ClaimStep, claims.FinalStatement, reading.TraceStatus, reading.TraceReport),
        *(
            reading.TraceList,
            reading.ObservedWork,
            verification.TraceAudit,
            verification.ExportedTrace,
        ),
        verification.VerifiedTraces,
    ]
    _, components = msgspec.json.schema_components(results)
    assert {result.__name__ for result in results} <= components.keys()
