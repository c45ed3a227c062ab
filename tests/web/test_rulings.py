"""A person's word: prepared by a page, signed in the terminal of `moot serve --decide`."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.project import Project
from tests.web.deciding_terminal import (
    PASSPHRASE,
    deciding,
    make_deciding_project,
    offer,
    wait_for_end,
)
from tests.web.server import SECONDS, Visitor, serving

VOICES = "rules:approve,rules:sceptic,rules:listener"


@pytest.fixture
def asked(tmp_path: Path) -> Project:
    """A decision that waits for its person."""
    project, _ = make_deciding_project(tmp_path)
    options = ("--option", "Postgres", "--option", "Kafka")
    project.ok("ask", "Queue: Postgres or Kafka?", *options, "--with", VOICES)
    return project


@pytest.mark.requirement("PAG-009")
def test_the_terminal_shows_the_text_and_asks_there_for_the_passphrase(asked: Project) -> None:
    with deciding(asked) as (terminal, visitor):
        offered = offer(visitor)
        with visitor.listen() as listener:
            listener.frame()
            assert visitor.post("/api/v1/words", offered).data["state"] == "waiting"
            assert visitor.post("/api/v1/words", offered).code == "busy", "one at a time"
            terminal.read_until("passphrase of operator")
            assert "Postgres" in terminal.shown
            assert offered["sha256"] in terminal.shown
            terminal.type(PASSPHRASE)
            assert wait_for_end(visitor, listener) == "given"
        shown = visitor.get("/api/v1/decisions/q-1").data
        assert (shown["line"]["state"], shown["word"]) == ("approved: carried", None)
        assert visitor.post("/api/v1/words", offered).code == "busy", "it was decided meanwhile"
        assert PASSPHRASE not in terminal.shown


def test_without_the_passphrase_nothing_is_signed(asked: Project) -> None:
    with deciding(asked) as (terminal, visitor):
        with visitor.listen() as listener:
            listener.frame()
            visitor.post("/api/v1/words", offer(visitor))
            terminal.read_until("passphrase of operator")
            terminal.type("wrong")
            assert wait_for_end(visitor, listener) == "not_given"
        assert visitor.get("/api/v1/decisions/q-1").data["line"]["state"] == "waiting: carried"


@pytest.mark.requirement("PAG-010")
@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"position": 1}, "busy"),
        ({"sha256": "0" * 64}, "busy"),
        ({"word": "amend"}, "bad_body"),
        ({"reason": " "}, "bad_body"),
        ({"reason": "@/etc/passwd"}, "bad_body"),
        ({"passphrase": "x"}, "bad_body"),
        ({"decision": "--help"}, "busy"),
    ],
)
def test_what_is_not_exactly_what_was_shown_is_refused(
    asked: Project, changes: dict[str, Any], code: str
) -> None:
    with deciding(asked) as (terminal, visitor):
        assert visitor.post("/api/v1/words", offer(visitor, **changes)).code == code
        assert "passphrase" not in terminal.shown


@pytest.mark.requirement("PAG-011")
def test_a_server_without_decide_takes_no_word(asked: Project) -> None:
    with serving(asked) as visitor:
        reply = visitor.post("/api/v1/words", offer(visitor))
        assert (reply.status, reply.code) == (403, "decide_off")
        assert visitor.get("/api/v1/words").data == {"offered": False}


def test_of_two_who_decide_at_once_one_is_asked_and_the_other_is_told_so(asked: Project) -> None:
    with deciding(asked) as (terminal, one):
        other = Visitor(f"http://{one.host}/enter#{one.token}")
        other.enter()
        approve, veto = offer(one), offer(other, word="veto", reason="It is not.")
        with ThreadPoolExecutor(2) as both:
            replies = [
                both.submit(who.post, "/api/v1/words", word)
                for who, word in ((one, approve), (other, veto))
            ]
        statuses = sorted(reply.result(SECONDS).status for reply in replies)
        assert statuses == [200, 409]
        terminal.read_until("passphrase of operator")
        assert terminal.shown.count("The page asks for your ruling") == 1


def test_a_word_given_elsewhere_meanwhile_is_the_only_one(asked: Project) -> None:
    file = asked.root.parent / "passphrase"
    with deciding(asked) as (terminal, visitor):
        with visitor.listen() as listener:
            listener.frame()
            visitor.post("/api/v1/words", offer(visitor))
            terminal.read_until("passphrase of operator")
            words = ("decide", "q-1", "veto", "--reason", "I was first.")
            asked.ok(*words, MOOT_PASSPHRASE_FILE=str(file))
            terminal.type(PASSPHRASE)
            assert wait_for_end(visitor, listener) == "not_given"
        shown = visitor.get("/api/v1/decisions/q-1").data
        assert shown["line"]["state"].startswith("vetoed")
        assert shown["standing"]["decision"]["word"]["reason"] == "I was first."
