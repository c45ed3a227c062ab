"""`moot trace export --agent-trace`: which lines agents were seen to write, by the draft 0.1.0.

The draft's schema is repeated here as checks, so that nothing is fetched.
"""

from __future__ import annotations

import hashlib
import json
import re
import uuid
from pathlib import Path
from typing import Any

import pytest

from moot.api.guard.agent_trace import LineAuthor, find_line_ranges
from tests.hooks.tool_calls import call
from tests.project import CRANE, IDENTITY, OTTER, Project

ALLOWED = {
    "record": ({"version", "id", "timestamp", "files"}, {"vcs", "tool", "metadata"}),
    "file": ({"path", "conversations"}, set[str]()),
    "conversation": ({"ranges"}, {"url", "contributor", "related"}),
    "range": ({"start_line", "end_line"}, {"content_hash", "contributor"}),
    "contributor": ({"type"}, {"model_id"}),
}


def require(kind: str, value: dict[str, Any]) -> None:
    needed, more = ALLOWED[kind]
    assert needed <= value.keys() <= needed | more, (kind, value)


def require_valid(record: dict[str, Any]) -> None:
    require("record", record)
    assert re.fullmatch(r"[0-9]+\.[0-9]+", record["version"])
    assert str(uuid.UUID(record["id"])) == record["id"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", record["timestamp"])
    assert record["tool"].keys() == {"name", "version"}
    if "vcs" in record:
        assert record["vcs"]["type"] == "git"
        assert re.fullmatch(r"[0-9a-f]{40}", record["vcs"]["revision"])
    for file in record["files"]:
        require("file", file)
        assert not file["path"].startswith("/")
        for conversation in file["conversations"]:
            require("conversation", conversation)
            require("contributor", conversation["contributor"])
            for part in conversation["ranges"]:
                require("range", part)
                assert 1 <= part["start_line"] <= part["end_line"]


@pytest.fixture
def place(tmp_path: Path) -> Project:
    """A repository with one committed file, a workspace and two agents."""
    root = tmp_path / "project"
    root.mkdir()
    project = Project(root, tmp_path / "keys")
    project.git("init", "-q", "-b", "main")
    (root / "a.txt").write_text("one\ntwo\nthree\n", encoding="utf-8")
    project.git("add", "-A")
    project.git("commit", "-qm", "first", **IDENTITY)
    project.ok("init")
    for name in (OTTER, CRANE):
        project.ok("agent", "register", name)
    return project


def edit(
    project: Project, text: str, agent: str, file: str = "a.txt", tool: str = "claude"
) -> None:
    """As the tool does it: the hook before, the bytes, the hook after."""
    before, after = {
        "claude": ("claude-write", "claude-write-done"),
        "codex": ("codex-patch", "codex-patch-done"),
    }[tool]
    added = "".join(f"+{line}\n" for line in text.splitlines())
    sent = {
        "claude": {"file_path": str(project.root / file), "content": text},
        "codex": {"command": f"*** Begin Patch\n*** Add File: {file}\n{added}*** End Patch"},
    }[tool]
    for _ in range(2):  # a version that the session has not seen is told of once
        if not project.hook(tool, call(before, project.root, file, tool_input=sent), agent).out:
            break
    (project.root / file).write_text(text, encoding="utf-8")
    project.hook(tool, call(after, project.root, file, tool_input=sent), agent)


def export(project: Project) -> list[dict[str, Any]]:
    made = project.ok("trace", "export", "--agent-trace", "-o", "trace.jsonl")
    lines = (project.root / "trace.jsonl").read_text("utf-8").splitlines()
    records = [json.loads(line) for line in lines]
    assert made["records"] == len(records)
    for record in records:
        require_valid(record)
    return records


def test_only_the_lines_an_agent_wrote_are_named(place: Project) -> None:
    edit(place, "one\n2\nthree\nfour\n", OTTER)
    (record,) = export(place)
    assert "vcs" not in record
    ((file),) = record["files"]
    assert file["path"] == "a.txt"
    (conversation,) = file["conversations"]
    assert conversation["contributor"] == {"type": "ai"}
    assert conversation["ranges"] == [
        {"start_line": 2, "end_line": 2, "content_hash": _hash("2\n")},
        {"start_line": 4, "end_line": 4, "content_hash": _hash("four\n")},
    ]
    (session,) = record["metadata"]["moot"]["sessions"]
    assert session["agent"] == OTTER
    assert session["record"].startswith(f"observed/{OTTER}~")


def test_what_is_committed_names_its_commit(place: Project) -> None:
    edit(place, "one\n2\nthree\n", OTTER)
    place.git("commit", "-qam", "second", **IDENTITY)
    (record,) = export(place)
    assert record["vcs"]["revision"] == place.git("rev-parse", "HEAD").out.strip()
    assert export(place) == [record]  # the same again, to the id


def test_a_persons_lines_are_nobodys(place: Project) -> None:
    edit(place, "one\n2\nthree\n", OTTER)
    (place.root / "a.txt").write_text("by hand\none\n2\nthree\n", encoding="utf-8")
    place.ok("release", "--all", "--agent", OTTER)
    edit(place, "by hand\none\n2\n3\n", OTTER)
    (record,) = export(place)
    (conversation,) = record["files"][0]["conversations"]
    assert [part["start_line"] for part in conversation["ranges"]] == [3]
    assert conversation["ranges"][0]["end_line"] == 4


def test_the_model_is_what_the_tool_said(place: Project) -> None:
    edit(place, "one\n2\nthree\n", OTTER, tool="codex")
    (record,) = export(place)
    (conversation,) = record["files"][0]["conversations"]
    assert conversation["contributor"] == {"type": "ai", "model_id": "gpt-5.5"}


def test_what_changed_unseen_since_says_nothing(place: Project) -> None:
    edit(place, "one\n2\nthree\n", OTTER)
    (place.root / "a.txt").write_text("quite another\n", encoding="utf-8")
    assert export(place) == []


def test_a_trace_and_an_agent_trace_are_not_one(place: Project) -> None:
    for words in (("t1", "--agent-trace"), ()):
        assert place.refused("trace", "export", *words, "-o", "x.jsonl") == ("one_or_the_other", 1)
    assert not (place.root / "x.jsonl").exists()


def test_lines_keep_their_author_through_later_versions() -> None:
    first, second = LineAuthor("a", "s"), LineAuthor("b", "t")
    ranges = find_line_ranges(
        [(None, "x\n"), (first, "x\ny\n"), (second, "w\nx\ny\n"), (None, "w\nx\nnew\ny\n")]
    )
    found = [(one.author, one.first, one.last, one.text) for one in ranges]
    assert found == [(second, 1, 1, "w\n"), (first, 4, 4, "y\n")]


def _hash(text: str) -> str:
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"
