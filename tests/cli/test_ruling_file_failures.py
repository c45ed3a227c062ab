"""A person's word stands on record whether or not the files of its session can be written."""

from __future__ import annotations

import json
import os
import shutil
import subprocess

import pytest

from moot.api.parliaments.ruling import decision_signed_here
from moot.api.parliaments.session import ParliamentSession, id_of_folder
from moot.protocols.decision import stream_of
from moot.protocols.decision.machine import MACHINE as DECISION
from moot.protocols.parliament.messages.contents import PrimeMinisterChoice
from tests.project import MOOT, Project

VOICES = "rules:approve,rules:approve,rules:reject"
FOLDER = ".moot/decisions/q-1"
WHY = ("--reason", "It is cheap.")


@pytest.fixture
def asked(bare: Project, people: dict[str, str]) -> Project:
    """A parliament whose vote waits for a person."""
    bare.init(**people)
    bare.ok("ask", "Which queue?", "--with", VOICES, "--chamber", "parliament")
    return bare


def standing(project: Project) -> tuple[str, str]:
    with project.workspace() as space:
        state = space.engine.state(DECISION, stream_of("q-1"))
        folder = project.root / FOLDER
        held = ParliamentSession.open_by_id(space, folder, id_of_folder(space, folder)).state
    return state.stage.value, str(held.status)


@pytest.mark.requirement("DEC-028")
def test_a_word_is_recorded_where_the_folder_is_gone(
    asked: Project, people: dict[str, str]
) -> None:
    (asked.root / FOLDER).rename(asked.root / "else")
    done = asked.json("decide", "q-1", "approve", *WHY, **people)
    assert (done.error["code"], done.code) == ("files_behind", 4)
    assert "recorded" in done.error["message"]
    assert f"parliament export {asked.root / FOLDER}" in done.error["hint"]
    assert standing(asked) == ("approved", "complete")
    asked.ok("parliament", "export", FOLDER)
    assert asked.ok("parliament", "check", FOLDER)["valid"]
    assert asked.ok("parliament", "status", FOLDER)["status"] == "complete"


@pytest.mark.requirement("DEC-028")
def test_the_answer_names_what_was_decided(asked: Project, people: dict[str, str]) -> None:
    words = ("parliament", "decide", FOLDER, "approve", *WHY)
    done = asked.run(*words, **people)
    assert done.code == 0
    with asked.workspace() as space:
        session = id_of_folder(space, asked.root / FOLDER)
    assert str(session) in done.out
    assert "q-1: Which queue?" in done.out


@pytest.mark.requirement("DEC-028")
def test_the_answer_s_data_names_the_decision_and_its_question(
    asked: Project, people: dict[str, str]
) -> None:
    data = asked.ok("parliament", "decide", FOLDER, "approve", *WHY, **people)
    assert data["about"] == [{"decision": "q-1", "question": "Which queue?"}]


@pytest.mark.requirement("DEC-028")
def test_a_prime_minister_s_message_is_about_the_vote_that_was_there(
    asked: Project, people: dict[str, str]
) -> None:
    """The passphrase is typed slowly; meanwhile it is sent back, argued further, voted on again."""
    content = {"decision": "approve", "reason": "It is cheap.", "guidance": ""}
    message = {"type": "PM_DECISION", "from": "prime_minister", "content": content}
    (asked.root / "word.json").write_text(json.dumps(message), encoding="utf-8")
    slow = asked.root / "slow"
    os.mkfifo(slow)
    started = subprocess.Popen(
        [*MOOT, "--json", "parliament", "submit", FOLDER, "word.json"],
        cwd=asked.root,
        env={**asked.env, "MOOT_PASSPHRASE_FILE": str(slow)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        encoding="utf-8",
    )
    with slow.open("w", encoding="utf-8") as typed:  # opened once it is read
        asked.ok("decide", "q-1", "veto", *WHY, **people)
        asked.ok("ask", "--resume", "q-1")
        typed.write("correct horse battery staple\n")
    said = json.loads(started.communicate(timeout=120)[0])
    assert (said["ok"], said["error"]["code"]) == (False, "busy")
    assert standing(asked) == ("waiting", "pm_review")


@pytest.mark.requirement("DEC-028")
def test_a_word_that_came_with_files_is_nobody_s(asked: Project, people: dict[str, str]) -> None:
    asked.ok("parliament", "decide", FOLDER, "approve", *WHY, **people)
    shutil.copytree(asked.root / FOLDER, asked.root / "copy")
    told = asked.ok("parliament", "import", "copy", "--id", "parl-20260101-001")
    assert told["outcome"] == "approved"
    with asked.workspace() as space:
        here, copy = (ParliamentSession.open(space, asked.root / name) for name in (FOLDER, "copy"))
        assert decision_signed_here(space, here.stream) is PrimeMinisterChoice.APPROVE
        assert decision_signed_here(space, copy.stream) is None
