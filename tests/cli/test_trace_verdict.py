"""A trace that fails says so first: in the data's verdict, and in the first line of the text."""

from __future__ import annotations

import hashlib
import json
import subprocess
from pathlib import Path

import pytest

from tests.cli.test_trace import (
    AUDITOR,
    CLAIM,
    CRITIC,
    MARK,
    NEW,
    PROPOSE,
    intended,
    to_final,
)
from tests.project import Project

STRICTLY = ("trace", "verify", "t1", "--profile", "strict")


@pytest.fixture
def approved(project: Project) -> Project:
    for name in (CRITIC, AUDITOR):
        project.ok("agent", "register", name)
    project.ok(*NEW)
    project.ok("trace", "propose", "t1", *PROPOSE)
    project.ok("trace", "review", "t1", "p1", "--verdict", "approved", "--rationale", "fine")
    return project


@pytest.fixture
def failing(approved: Project) -> Project:
    """A sound record of a trace that the strict profile does not let pass."""
    project = approved
    subprocess.run(["git", "init", "-q"], cwd=project.root, check=True, timeout=30)
    project.ok("trace", "exec", "t1", intended(project, *MARK))
    project.ok(*CLAIM, "--evidence", "x1/stdout")
    return project


@pytest.mark.requirement("TRC-068")
def test_a_failing_trace_is_told_at_the_top_of_the_data(failing: Project) -> None:
    found = failing.json(*STRICTLY)
    (trace,) = found.data["traces"]
    assert (found.code, trace["status"]) == (1, "fail")
    assert (found.data["verdict"], found.data["record"]) == ("fail", "valid")
    place = found.data["first_bad"]
    assert (place["stream"], place["seq"]) == ("trace/t1", trace["first_bad"])
    assert found.data["last_trusted"]["seq"] == trace["last_trusted"]


def test_a_failing_trace_is_told_in_the_first_line(failing: Project) -> None:
    first, *rest = failing.run(*STRICTLY).out.splitlines()
    trace = failing.json(*STRICTLY).data["traces"][0]
    assert first == f"FAIL · t1 at event {trace['first_bad']} · the record itself is INTACT"
    assert any(line.startswith("INTACT") for line in rest)


def test_a_passing_trace_keeps_the_verdict_of_its_record(approved: Project) -> None:
    to_final(approved)
    approved.ok("trace", "audit", "t1")
    data = approved.ok("trace", "verify", "t1")
    assert (data["verdict"], data["record"], data["first_bad"]) == ("valid", "valid", None)
    assert approved.run("trace", "verify", "t1").out.startswith("INTACT")


def test_a_damaged_record_keeps_its_own_graver_verdict(
    approved: Project,
    tmp_path: Path,
) -> None:
    to_final(approved)
    approved.ok("trace", "export", "t1", "-o", "t1.moot")
    file = approved.root / "t1.moot"
    lines = file.read_bytes().splitlines(keepends=True)
    damaged = tmp_path / "damaged.moot"
    damaged.write_bytes(b"".join(lines[:-3]))
    data = approved.json("trace", "verify", str(damaged)).data
    assert data["verdict"] == data["record"] != "valid"


def test_a_hint_on_a_file_says_where_its_command_can_be_typed(
    approved: Project,
    tmp_path: Path,
) -> None:
    to_final(approved)
    approved.ok("trace", "export", "t1", "-o", "t1.moot")
    approved.ok("trust", "export", "-o", "trust.json")
    elsewhere = Project(tmp_path / "elsewhere", tmp_path / "no-keys")
    elsewhere.root.mkdir()
    lines = (approved.root / "t1.moot").read_bytes().splitlines(keepends=True)
    unanchored = [line for line in lines if b'"checkpoint"' not in line and b'"proof"' not in line]
    body = b"".join(unanchored[1:])
    head = json.loads(lines[0])
    head |= {"lines": len(unanchored) - 1, "digest": hashlib.sha256(body).hexdigest()}
    first = json.dumps(head, separators=(",", ":"), sort_keys=True).encode()
    (elsewhere.root / "t1.moot").write_bytes(first + b"\n" + body)
    trust = str(approved.root / "trust.json")
    found = elsewhere.json("trace", "verify", "t1.moot", "--trust", trust)
    (hint,) = {row["hint"] for row in found.data["findings"] if row["code"] == "not_anchored"}
    assert hint == "in its own workspace: make a checkpoint: `moot ledger checkpoint`"
