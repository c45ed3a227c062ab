"""Files that tell of a decision nobody could have taken are not imported, however well they fit."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.parliament_session import FOLDER, ParliamentSession
from tests.project import Project

Files = dict[str, Any]


def append(files: Files, kind: str, sender: str, **content: Any) -> None:
    messages = files["ledger.json"]["messages"]
    last = messages[-1]
    messages.append(
        {
            "id": f"msg-{len(messages) + 1:03d}",
            "type": kind,
            "round": last["round"],
            "timestamp": last["timestamp"],
            "from": sender,
            "content": content,
        }
    )
    files["session.json"]["next_message_id"] += 1


def approve_without_a_vote(files: Files) -> None:
    append(files, "PM_DECISION", "prime_minister", decision="approve", reason="so", guidance="")
    files["session.json"]["status"] = "synthesis"


def tally_without_votes(files: Files) -> None:
    append(
        files,
        "VOTE_TALLY",
        "speaker",
        bill_version=1,
        yes_votes=[],
        no_votes=[],
        tally={"yes": 0, "no": 0, "total": 3},
        passed=True,
        key_objections=[],
        next_action="advance_to_pm",
    )
    files["session.json"]["status"] = "pm_review"


def vote_for_everyone(files: Files) -> None:
    for _ in range(3):
        content = {"vote": "YES", "reasoning": "so", "reservations": "", "conditions": []}
        append(files, "VOTE", "rep_1", **content, motive_scores={})
    files["session.json"]["status"] = "voting"


def speak_as_nobody(files: Files) -> None:
    files["ledger.json"]["messages"][0]["from"] = "rep_9"


def claim_to_be_complete(files: Files) -> None:
    files["session.json"]["status"] = "complete"


@pytest.mark.parametrize(
    "forge",
    [
        approve_without_a_vote,
        tally_without_votes,
        vote_for_everyone,
        speak_as_nobody,
        claim_to_be_complete,
    ],
)
def test_a_forged_session_is_refused_and_leaves_nothing(
    parliament: ParliamentSession, tmp_path: Path, forge: Callable[[Files], None]
) -> None:
    parliament.to_debate()
    there = Project(tmp_path / "elsewhere", tmp_path / "other-keys")
    shutil.copytree(parliament.project.root / FOLDER, there.root / FOLDER)
    there.ok("init")
    files = {
        file.name: json.loads(file.read_text("utf-8"))
        for file in (there.root / FOLDER).glob("*.json")
    }
    forge(files)
    for name, document in files.items():
        (there.root / FOLDER / name).write_text(json.dumps(document), "utf-8")
    log = there.ok("ledger", "log")
    assert there.json("parliament", "import", FOLDER).code == 1
    assert there.ok("ledger", "log") == log
    assert list((tmp_path / "other-keys").rglob("*rep-*")) == []
