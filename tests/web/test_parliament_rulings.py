"""A parliament that waits for a person: what is asked, its text and hash, and the word itself."""

from __future__ import annotations

import hashlib
import shlex
from pathlib import Path

import pytest

from tests.cli.parliament_session import FOLDER, SECTIONS
from tests.web.deciding_terminal import (
    PASSPHRASE,
    deciding,
    make_deciding_project,
    offer,
    wait_for_end,
)
from tests.web.server import serving
from tests.web.waiting_parliament import WaitingParliament, make_waiting


@pytest.fixture
def waiting(tmp_path: Path) -> WaitingParliament:
    return make_waiting(tmp_path)


def test_it_shows_the_whole_bill_its_hash_and_a_command_that_works(
    waiting: WaitingParliament,
) -> None:
    with serving(waiting.project) as visitor:
        word = visitor.get(waiting.address).data["word"]
        due = visitor.get("/api/v1/agenda").data["due"]
    text = word["text"]
    assert word["sha256"] == hashlib.sha256(text.encode()).hexdigest()
    assert "Uploads in parts (version 1)" in text
    scope = SECTIONS["scope"]
    assert isinstance(scope, dict)
    for part in (SECTIONS["problem"], SECTIONS["solution"], SECTIONS["implementation"]):
        assert str(part) in text
    assert all(each in text for each in (*scope["in_scope"], *scope["out_of_scope"]))
    assert word["words"] == ["approve", "veto"]
    (asked,) = (item for item in due if item["who"] == "prime-minister")
    assert asked["hint"].startswith(word["command"])
    typed = shlex.split(word["command"])
    assert typed[:3] == ["moot", "parliament", "decide"]
    assert Path(typed[3]) == (waiting.project.root / FOLDER).resolve()
    waiting.project.ok(*typed[1:], **waiting.unattended)
    assert waiting.parliament.moot("status")["outcome"] == "approved"


def test_the_terminal_shows_the_bill_and_signs_one_word(waiting: WaitingParliament) -> None:
    with deciding(waiting.project) as (terminal, visitor):
        offered = offer(visitor, waiting.id)
        with visitor.listen() as listener:
            listener.frame()
            assert visitor.post("/api/v1/words", offered).data["state"] == "waiting"
            terminal.read_until("passphrase of operator")
            assert "Send parts and join them." in terminal.shown
            assert offered["sha256"] in terminal.shown
            assert "\\x0a" not in terminal.shown, "a line of the bill is a line here"
            terminal.type(PASSPHRASE)
            assert wait_for_end(visitor, listener) == "given"
        shown = visitor.get(waiting.address).data
        assert shown["word"] is None
        assert shown["line"]["state"].endswith("approved")
        assert visitor.post("/api/v1/words", offered).code == "busy", "it was decided meanwhile"
        assert PASSPHRASE not in terminal.shown
    assert waiting.parliament.document("session.json")["status"] == "synthesis"


def test_a_veto_gives_its_reason_as_guidance(waiting: WaitingParliament) -> None:
    with deciding(waiting.project) as (terminal, visitor):
        offered = offer(visitor, waiting.id, word="veto", reason="Old clients break.")
        with visitor.listen() as listener:
            listener.frame()
            visitor.post("/api/v1/words", offered)
            terminal.read_until("passphrase of operator")
            terminal.type(PASSPHRASE)
            assert wait_for_end(visitor, listener) == "given"
    status = waiting.parliament.moot("status")
    assert (status["status"], status["guidance"]) == ("debate", "Old clients break.")


def test_a_wrong_passphrase_or_another_text_decides_nothing(waiting: WaitingParliament) -> None:
    with deciding(waiting.project) as (terminal, visitor):
        for changes in ({"sha256": "0" * 64}, {"position": 1}, {"decision": "parl-20200101-001"}):
            assert visitor.post("/api/v1/words", offer(visitor, waiting.id, **changes)).code == (
                "busy"
            )
        with visitor.listen() as listener:
            listener.frame()
            visitor.post("/api/v1/words", offer(visitor, waiting.id))
            terminal.read_until("passphrase of operator")
            terminal.type("wrong")
            assert wait_for_end(visitor, listener) == "not_given"
    assert waiting.parliament.moot("status")["status"] == "pm_review"


def test_a_hash_on_the_command_line_binds_the_word_to_what_was_shown(
    waiting: WaitingParliament,
) -> None:
    with serving(waiting.project) as visitor:
        shown = visitor.get(waiting.address).data["word"]["sha256"]
    words = ("--reason", "Fine.", "--sha256")
    code = waiting.parliament.refused("decide", "approve", *words, "0" * 64, **waiting.unattended)
    assert code == "busy"
    assert waiting.parliament.moot("status")["status"] == "pm_review"
    assert waiting.decide("approve", *words, shown)["decision"] == "approve"


def test_where_its_folder_is_not_known_the_command_leaves_it_open(
    waiting: WaitingParliament,
) -> None:
    root = waiting.project.root
    (root / FOLDER).rename(root / "elsewhere")
    with deciding(waiting.project) as (terminal, visitor):
        word = visitor.get(waiting.address).data["word"]
        assert word["words"] == []
        assert word["command"].startswith("moot parliament decide DIR approve")
        reply = visitor.post("/api/v1/words", offer(visitor, waiting.id))
        assert (reply.status, reply.code) == (409, "folder_unknown")
        assert "passphrase" not in terminal.shown


def test_a_question_that_a_parliament_argued_shows_the_bill(tmp_path: Path) -> None:
    project, _ = make_deciding_project(tmp_path)
    voices = "rules:approve,rules:approve,rules:approve"
    project.ok("ask", "Queue: Postgres or Kafka?", "--with", voices, "--chamber", "parliament")
    with serving(project) as visitor:
        of_question = visitor.get("/api/v1/decisions/q-1").data
        session = of_question["standing"]["decision"]["session"]["id"]
        of_parliament = visitor.get(f"/api/v1/decisions/{_quoted(session)}").data
    assert of_question["word"]["decision"] == "q-1"
    assert "(version 1)" in of_question["word"]["text"]
    assert of_parliament["word"] == of_question["word"], "one word is asked for, not two"


def _quoted(stream: str) -> str:
    return stream.replace("/", "%2F")


def test_without_decide_it_takes_no_word(waiting: WaitingParliament) -> None:
    with serving(waiting.project) as visitor:
        reply = visitor.post("/api/v1/words", offer(visitor, waiting.id))
        assert (reply.status, reply.code) == (403, "decide_off")
