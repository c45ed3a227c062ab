"""Work items are read, never written; what cannot be read is passed over and counted."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from moot.system.beads import UNAVAILABLE, BeadsItem, read_beads_items


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PATH", os.devnull)
    (tmp_path / ".beads").mkdir()
    return tmp_path


def write(root: Path, *lines: object) -> Path:
    file = root / ".beads" / "issues.jsonl"
    text = "\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines)
    file.write_text(text + "\n", encoding="utf-8")
    return file


def test_without_beads_it_is_not_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", os.devnull)
    found = read_beads_items(tmp_path)
    assert (found.items, found.why) == (None, UNAVAILABLE)


@pytest.mark.requirement("OPR-010")
def test_the_assignee_owns_it_else_the_owner(root: Path) -> None:
    write(
        root,
        {"id": "bb-1", "status": "in_progress", "assignee": "amber-otter", "owner": "x"},
        {"id": "bb-2", "status": "open", "owner": "teal-crane"},
        {"id": "bb-3", "status": "closed"},
    )
    assert read_beads_items(root).items == (
        BeadsItem("bb-1", "in_progress", "amber-otter"),
        BeadsItem("bb-2", "open", "teal-crane"),
        BeadsItem("bb-3", "closed", ""),
    )


def test_the_last_word_on_an_id_counts(root: Path) -> None:
    write(
        root,
        {"id": "bb-1", "status": "open", "owner": "a"},
        {"id": "bb-1", "status": "closed", "owner": "b"},
    )
    assert read_beads_items(root).items == (BeadsItem("bb-1", "closed", "b"),)


@pytest.mark.requirement("OPR-004")
def test_corrupt_lines_are_passed_over_and_the_file_stays_as_it_is(root: Path) -> None:
    good = {"id": "bb-1", "status": "in_progress", "owner": "amber-otter"}
    file = write(root, "{", "[]", "null", '{"id": 7}', good, '{"id":"x","owner":[1]}')
    before = hashlib.sha256(file.read_bytes()).digest(), file.stat().st_mtime_ns
    found = read_beads_items(root)
    assert found.items == (BeadsItem("bb-1", "in_progress", "amber-otter"),)
    assert found.unreadable == 5
    assert (hashlib.sha256(file.read_bytes()).digest(), file.stat().st_mtime_ns) == before


def test_bd_is_asked_first_and_its_failure_falls_back_to_the_file(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    program = programs / "bd"
    monkeypatch.setenv("PATH", f"{programs}:/usr/bin:/bin")
    write(root, {"id": "from-file", "status": "open", "owner": "a"})
    said = json.dumps([{"id": "from-bd", "status": "in_progress", "assignee": "b"}])
    program.write_text(f"#!/bin/sh\n[ \"$*\" = 'list --json' ] && echo '{said}'\n")
    program.chmod(0o755)
    assert read_beads_items(root).items == (BeadsItem("from-bd", "in_progress", "b"),)
    for broken in ("exit 1", "echo nonsense", "echo '{}'"):
        program.write_text(f"#!/bin/sh\n{broken}\n")
        assert read_beads_items(root).items == (BeadsItem("from-file", "open", "a"),)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=300))
def test_any_bytes_in_the_file_are_survived(root: Path, data: bytes) -> None:
    (root / ".beads" / "issues.jsonl").write_bytes(data)
    assert read_beads_items(root).items is not None
