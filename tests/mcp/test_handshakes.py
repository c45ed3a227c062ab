"""What the four coding tools really sent, line by line, in a run each: see handshakes/.

Only the address of a home page was taken out. Each greets, lists the tools, looks, asks for a held
file and then for a free one, and writes to the holder; opencode cancels every call it has heard of.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.mcp.raw import raw_server
from tests.project import Project

RECORDED = sorted(Path(__file__).with_name("handshakes").glob("*.jsonl"))


@pytest.mark.parametrize("file", RECORDED, ids=lambda file: file.stem)
def test_the_tool_gets_what_it_asked_for(project: Project, file: Path) -> None:
    project.ok("reserve", "held.txt", MOOT_AGENT="teal-crane")
    answers: dict[int, Any] = {}
    with raw_server(project) as server:
        for line in file.read_bytes().splitlines():
            server.write(line)
            sent = json.loads(line)
            if "id" in sent:
                answer = server.read()
                assert answer["id"] == sent["id"]
                answers[answer["id"]] = answer["result"]
        assert server.end() == 0
    hello, listing, now, held, free, mail = answers.values()
    assert hello["serverInfo"]["name"] == "moot"
    assert len(listing["tools"]) == 8
    assert now["structuredContent"]["data"]["you"] == "amber-otter"
    assert held["isError"] is True
    assert held["structuredContent"]["error"]["code"] == "reservation_conflict"
    assert free["structuredContent"]["data"]["reserved"][0]["scope"] == "free.txt"
    assert mail["structuredContent"]["data"]["to"] == ["teal-crane"]
    assert json.loads(mail["content"][0]["text"]) == mail["structuredContent"]


def test_all_four_are_here() -> None:
    assert [file.stem for file in RECORDED] == ["claude", "codex", "gemini", "opencode"]


def test_the_newest_revision_is_spoken_without_a_handshake(project: Project) -> None:
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "raw", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    with raw_server(project) as server:
        server.request("tools/call", 1, name="now", arguments={}, _meta=meta)
        answer = server.read()
        assert answer["result"]["structuredContent"]["data"]["you"] == "amber-otter"
        assert server.end() == 0
