"""The user's own program is told when something waits for them: once each, and by nobody else's
settings."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from moot.surfaces.hooks.entry import answer
from tests.project import Project
from tests.wait_readable import is_readable

PASSPHRASE = "correct horse battery staple"


BLOCKED = (
    *("--subject", "which port?", "--blocker", "none is named"),
    *("--requested-action", "name it", "--work", "T-1"),
)


class Bell:
    """A program that writes what it is told into a pipe, and its settings file."""

    def __init__(self, folder: Path) -> None:
        self.pipe = folder / "bell"
        os.mkfifo(self.pipe)
        self._read = ""
        self._reader = os.open(self.pipe, os.O_RDWR | os.O_NONBLOCK)
        program = folder / "ring"
        program.write_text(f'#!/bin/sh\nprintf "%s: %s\\n" "$MOOT_MOMENT" "$1" > {self.pipe}\n')
        program.chmod(0o700)
        self.settings = folder / "own.toml"
        self.settings.write_text(f'[notify]\ncommand = "{program}"\n')

    def next(self) -> str:
        while "\n" not in self._read:
            ready = is_readable(self._reader, 20)
            assert ready, "nobody was told"
            self._read += os.read(self._reader, 4096).decode()
        line, _, self._read = self._read.partition("\n")
        return line

    def close(self) -> None:
        os.close(self._reader)


@pytest.fixture
def bell(tmp_path: Path) -> Iterator[Bell]:
    bell = Bell(tmp_path)
    yield bell
    bell.close()


def add_person(project: Project, tmp_path: Path) -> None:
    file = tmp_path / "passphrase"
    file.write_text(PASSPHRASE)
    file.chmod(0o600)
    project.ok("agent", "register", "boss-person", "--human", MOOT_PASSPHRASE_FILE=str(file))


def test_an_agent_that_is_blocked_on_a_person_rings_their_bell(
    project: Project, bell: Bell, tmp_path: Path
) -> None:
    add_person(project, tmp_path)
    own = {"MOOT_CONFIG": str(bell.settings)}
    project.ok("--as", "amber-otter", "blocked", "boss-person", *BLOCKED, **own)
    assert bell.next() == "blocked: moot: amber-otter is blocked on you: which port?"


def test_a_message_to_another_agent_rings_nobodys_bell(
    project: Project, bell: Bell, tmp_path: Path
) -> None:
    add_person(project, tmp_path)
    own = {"MOOT_CONFIG": str(bell.settings)}
    project.ok("--as", "amber-otter", "blocked", "teal-crane", *BLOCKED, **own)
    project.ok("--as", "teal-crane", "blocked", "boss-person", *BLOCKED, **own)
    assert bell.next() == "blocked: moot: teal-crane is blocked on you: which port?"


def test_a_question_that_waits_for_a_word_rings(project: Project, bell: Bell) -> None:
    own = {"MOOT_CONFIG": str(bell.settings)}
    project.ok("ask", "Ship it?", "--with", "rules:approve,rules:approve", **own)
    assert bell.next().startswith("decision: moot: q-1 needs your ruling: Ship it?")


@pytest.mark.parametrize("message", ["Claude needs your permission to use Bash"])
def test_a_tool_that_waits_for_a_permission_rings_once(
    project: Project, bell: Bell, message: str
) -> None:
    env = {**project.env, "MOOT_CONFIG": str(bell.settings), "MOOT_AGENT": "amber-otter"}
    for text in (message, message, "Claude is waiting for your input", f"{message} again"):
        said = b'{"session_id":"s","cwd":"%s","hook_event_name":"Notification","message":"%s"}'
        data = said % (os.fsencode(project.root), text.encode())
        reply = answer("claude", data, env, str(project.root))
        assert (reply.out, reply.err, reply.code) == ("", "", 0)
    assert sorted([bell.next(), bell.next()]) == [
        f"permission: moot: claude waits for you: {message}",
        f"permission: moot: claude waits for you: {message} again",
    ]


def test_a_repository_cannot_name_a_program(project: Project, bell: Bell) -> None:
    (project.root / "moot.toml").write_text(bell.settings.read_text())
    findings = project.json("doctor").data["findings"]
    assert [finding["code"] for finding in findings] == ["bad_setting"]
    assert "a user's own settings" in findings[0]["message"]


def test_a_program_that_cannot_start_is_in_nobodys_way(project: Project, tmp_path: Path) -> None:
    add_person(project, tmp_path)
    for text in ('[notify]\ncommand = "/no/such/program"\n', "[notify\n", "[notify]\ncommand='\"'"):
        own = tmp_path / "own.toml"
        own.write_text(text)
        sent = ("--as", "amber-otter", "blocked", "boss-person", *BLOCKED)
        assert project.ok(*sent, MOOT_CONFIG=str(own))["event"]["to_agent"] == "boss-person"
