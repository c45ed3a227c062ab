"""A person's word: prepared by a page, signed in the terminal of `moot serve --decide`."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import signal
import subprocess
import termios
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.cli.project import MOOT, Project
from tests.readable import is_readable
from tests.web.served import SECONDS, Visitor, serving

PASSPHRASE = "correct horse battery staple"
VOICES = "rules:approve,rules:sceptic,rules:listener"


class Terminal:
    """`moot serve --decide` at a terminal of its own."""

    def __init__(self, project: Project) -> None:
        self._ours, theirs = pty.openpty()
        self.process = subprocess.Popen(
            [*MOOT, "serve", "--decide"],
            cwd=project.root,
            env={**project.env, "TERM": "dumb"},
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # noqa: PLW1509
        )
        os.close(theirs)
        self.shown = ""

    def read_until(self, pattern: str) -> str:
        """What matches, once the terminal shows it."""
        limit = time.monotonic() + SECONDS
        while (match := re.search(pattern, self.shown)) is None:
            assert time.monotonic() < limit, self.shown
            if is_readable(self._ours, 0.2):
                self.shown += os.read(self._ours, 65536).decode("utf-8", "replace")
        return match[0]

    def type(self, text: str) -> None:
        os.write(self._ours, f"{text}\n".encode())

    def close(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(timeout=SECONDS)
        os.close(self._ours)


@pytest.fixture
def asked(tmp_path: Path) -> Project:
    """A decision that waits for its person."""
    root, file = tmp_path / "project", tmp_path / "passphrase"
    root.mkdir()
    file.write_text(PASSPHRASE)
    file.chmod(0o600)
    project = Project(root, tmp_path / "keys")
    project.ok("init", MOOT_PASSPHRASE_FILE=str(file))
    options = ("--option", "Postgres", "--option", "Kafka")
    project.ok("ask", "Queue: Postgres or Kafka?", *options, "--with", VOICES)
    return project


@contextmanager
def deciding(project: Project) -> Iterator[tuple[Terminal, Visitor]]:
    terminal = Terminal(project)
    try:
        visitor = Visitor(terminal.read_until(r"http://\S+/enter#[\w-]+(?=\s)"))
        visitor.enter()
        yield terminal, visitor
    finally:
        terminal.close()


def offer(visitor: Visitor, **changes: Any) -> dict[str, Any]:
    word = visitor.get("/api/v1/decisions/q-1").data["word"]
    shown = {name: word[name] for name in ("decision", "position", "sha256")}
    return {**shown, "word": "approve", "reason": "It is cheap.", **changes}


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
            while visitor.get("/api/v1/words").data["state"] == "waiting":
                listener.changed()
        assert visitor.get("/api/v1/words").data["state"] == "given"
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
            while visitor.get("/api/v1/words").data["state"] == "waiting":
                listener.changed()
        assert visitor.get("/api/v1/words").data["state"] == "not_given"
        assert visitor.get("/api/v1/decisions/q-1").data["line"]["state"] == "waiting: carried"


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
        assert terminal.shown.count("A page asks for your word") == 1


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
            while visitor.get("/api/v1/words").data["state"] == "waiting":
                listener.changed()
        assert visitor.get("/api/v1/words").data["state"] == "not_given"
        shown = visitor.get("/api/v1/decisions/q-1").data
        assert shown["line"]["state"].startswith("vetoed")
        assert shown["standing"]["decision"]["word"]["reason"] == "I was first."
