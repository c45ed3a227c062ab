"""F-8: one byte of a file or of the record is changed, and nothing goes on from it."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.bridges.payments_project import FINCH, PARTS, SCOPE, PaymentsProject
from tests.bridges.test_flows import CRITIQUE, working
from tests.cli.damage import edit, of
from tests.project import CRANE, OTTER


def first_bad(project: PaymentsProject, *words: str) -> str:
    """What is said of a changed file: its name and the hash of a record."""
    error = project.json(*words).error
    assert error["code"] == "file_changed", error
    assert re.search(r"\b[0-9a-f]{64}\b", error["message"])
    said: str = error["message"]
    return said


def each_byte(file: Path, places: int) -> Iterator[int]:
    """Change one bit here and there, one after the other; the file is whole again at the end."""
    whole = file.read_bytes()
    for place in range(3, len(whole), max(1, len(whole) // places)):
        file.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        yield place
    file.write_bytes(whole)


@pytest.mark.requirement("FLO-08")
def test_a_byte_anywhere_in_a_debate_stops_it(project: PaymentsProject) -> None:
    project.debate(project.blocked())
    project.agreed()
    go = ("flow", "consensus-to-parliament", "payments.md", "--dir", "bill")
    for _ in each_byte(project.root / "payments.md", 15):
        assert "payments.md: changed on line" in first_bad(project, *go)
    assert project.streams("parliament") == []
    project.ok(*go)


@pytest.mark.requirement("FLO-08")
def test_a_byte_anywhere_in_the_files_of_a_parliament_stops_it(project: PaymentsProject) -> None:
    project.approved()
    go = ("--as", CRANE, "flow", "approval-to-trace", "bill", *PARTS)
    for name in ("ledger.json", "session.json", "bill.json", "round-summaries.json"):
        for _ in each_byte(project.root / "bill" / name, 3):
            assert f"{name}: not what was recorded" in first_bad(project, *go)
    assert project.streams("trace") == []
    project.ok(*go)


@pytest.mark.requirement("FLO-08")
def test_the_first_message_that_differs_is_named_in_any_state_of_the_file(
    project: PaymentsProject,
) -> None:
    project.approved()
    file = project.root / "bill" / "ledger.json"
    whole = file.read_bytes()
    message = next(
        one["id"]
        for one in json.loads(whole)["messages"]
        if one["content"].get("reasoning") == "rep_2 says YES."
    )
    go = ("--as", CRANE, "flow", "approval-to-trace", "bill", *PARTS)
    for bad in (b"rep_2 says NOO.", b'rep_2 says "YES.'):  # other words; no JSON any more
        changed = whole.replace(b"rep_2 says YES.", bad)
        file.write_bytes(changed)
        assert f"not what was recorded at {message};" in first_bad(project, *go)
    # Nor does it help to change what we remember of having written it.
    for note in (project.root / ".moot" / "papers").glob("*.json"):
        was, now = (hashlib.sha256(data).hexdigest() for data in (whole, changed))
        note.write_text(note.read_text("utf-8").replace(was, now), "utf-8")
    assert f"not what was recorded at {message};" in first_bad(project, *go)
    assert project.streams("trace") == []


def damage(project: PaymentsProject, stream: str, old: str, new: str) -> None:
    edit(
        project.ledger,
        f"UPDATE events SET body = CAST(replace(CAST(body AS TEXT), '{old}', '{new}') AS BLOB)"
        f" WHERE {of(stream)}",
    )


@pytest.mark.requirement("FLO-08")
def test_what_a_flow_would_write_to_must_be_whole_too(project: PaymentsProject) -> None:
    intent = working(project)
    project.ok_as(OTTER, "reserve", SCOPE)
    project.ok("trace", "exec", "t1", intent)
    claim = ("trace", "claim", "t1", "--confidence", "0.9", "--evidence", "x1/stdout")
    project.ok(*claim, "--text", "paid")
    sent = project.ok_as(CRANE, "send", FINCH, "CRITIQUE: no", project.file(CRITIQUE % "t1/c1"))[
        "id"
    ]
    damage(project, "trace/t1", "paid", "Paid")
    before = project.count_events()
    done = project.json("--as", FINCH, "flow", "critique-to-challenge", sent)
    assert done.error["code"] == "tampered"
    assert re.search(r"trace/t1 .*; the first bad record is [0-9a-f]{64}$", done.error["message"])
    assert project.count_events() == before
