"""A session file among others: pipes and devices, its lock, links to it, names that are no text."""

from __future__ import annotations

import os
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from moot.api.debates import locked_session as sessionlock
from moot.api.debates.locked_session import lock_file
from moot.api.debates.session_file import append, rewrite
from moot.core.errors import StoreFailed
from tests.debate.sessions import TWO_ROUNDS
from tests.debate.test_file_and_record import FOX, new, place
from tests.debate.test_hostile_files import SAID, bare
from tests.project import Project

__all__ = ["bare", "place"]
WORDS = [word for pair in SAID.items() for word in pair]
posix = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such files")

# What is no file ----------------------------------------------------------------------------------


@posix
@pytest.mark.requirement("BNC-171")
@pytest.mark.parametrize(
    "words",
    [
        ("check", "s.md"),
        ("status", "s.md"),
        ("compare", "s.md", "s.md"),
        ("report", "s.md"),
        ("watch", "s.md", "--seconds", "0"),
        ("tick", "s.md"),
        ("add", "s.md", *WORDS),
        ("run", "s.md", "--participant", f"{FOX}=rules:approve"),
    ],
    ids=lambda words: words[0],
)
def test_a_pipe_or_a_device_is_refused_and_never_waited_for(
    bare: Project, words: tuple[str, ...]
) -> None:
    file = bare.root / "s.md"
    os.mkfifo(file)
    found = bare.json("debate", *words).error
    assert (found["code"], "pipe or a device" in found["message"]) == ("unreadable_file", True)
    assert "regular file" in found["hint"]
    file.unlink()
    file.symlink_to("/dev/zero")
    assert bare.json("debate", *words).error["code"] == "unreadable_file"
    file.unlink()
    file.mkdir()
    assert "a folder" in bare.json("debate", *words).error["message"]


@posix
@pytest.mark.requirement("BNC-171")
def test_a_pipe_in_a_workspace_is_refused_too(place: Project) -> None:
    os.mkfifo(place.root / "s.md")
    for words in (("check",), ("verify",), ("tick",), ("watch", "--seconds", "0")):
        found = place.json("debate", words[0], "s.md", *words[1:]).error
        assert found["code"] == "unreadable_file"


# The lock -----------------------------------------------------------------------------------------


@pytest.mark.requirement("BNC-101")
def test_nothing_is_left_beside_a_session(bare: Project) -> None:
    new(bare)
    bare.ok("debate", "add", "s.md", *WORDS)
    bare.ok("debate", "add-context", "s.md", "--title", "More", "The budget was cut.")
    assert [one.name for one in bare.root.iterdir()] == ["s.md"]


def busy(file: Path, monkeypatch: pytest.MonkeyPatch) -> bool:
    monkeypatch.setattr(sessionlock, "LOCK_SECONDS", 0.01)
    try:
        with lock_file(file):
            return False
    except StoreFailed as failed:
        return failed.code == "lock_timeout"


@posix
@pytest.mark.requirement("BNC-101")
def test_every_name_of_a_file_has_one_lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, link, hard = (tmp_path / name for name in ("s.md", "link.md", "hard.md"))
    file.write_text(TWO_ROUNDS, encoding="utf-8")
    link.symlink_to(file)
    hard.hardlink_to(file)
    with lock_file(file):
        append(file, b"\n")  # opened and closed by the holder: the lock stays
        assert [busy(one, monkeypatch) for one in (file, link, hard)] == [True] * 3
    assert not any(busy(one, monkeypatch) for one in (file, link, hard))
    with pytest.raises(ZeroDivisionError), lock_file(file):
        raise ZeroDivisionError
    assert not busy(file, monkeypatch)


@posix
@pytest.mark.requirement("BNC-101")
def test_a_file_that_was_replaced_meanwhile_is_locked_as_it_is_now(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "s.md"
    file.write_text(TWO_ROUNDS, encoding="utf-8")
    waits, held, done = threading.Event(), threading.Event(), threading.Event()
    sleep = time.sleep

    def slept(seconds: float) -> None:
        waits.set()
        sleep(seconds)

    monkeypatch.setattr(time, "sleep", slept)

    def wait() -> None:
        with lock_file(file):
            held.set()
            done.wait(20)

    other = threading.Thread(target=wait)
    with lock_file(file):
        other.start()
        assert waits.wait(20)
        rewrite(file, b"another file of the same name\n")
    assert held.wait(20)
    assert busy(file, monkeypatch)
    done.set()
    other.join(20)
    assert not busy(file, monkeypatch)


@posix
@pytest.mark.requirement("BNC-101")
def test_a_file_that_may_only_be_read_can_still_be_recorded(
    place: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    (place.root / "s.md").write_text(TWO_ROUNDS, encoding="utf-8")
    opens = os.open

    def denied(path: Any, flags: int, *more: Any, **named: Any) -> int:
        if str(path).endswith("s.md") and flags & os.O_RDWR:
            raise PermissionError(13, "Permission denied", str(path))
        return opens(path, flags, *more, **named)

    monkeypatch.setattr(os, "open", denied)
    assert len(place.ok("debate", "watch", "s.md", "--seconds", "0")["entries"]) == 4
    assert place.ok("debate", "verify", "s.md")["verdict"] == "valid"


# Names --------------------------------------------------------------------------------------------


def odd_name(folder: Path) -> str:
    name = os.fsdecode(b"b\xffd.md")
    try:
        (folder / name).write_text(TWO_ROUNDS, encoding="utf-8")
    except OSError:
        pytest.skip("this disk has no such names")
    return name


@posix
@pytest.mark.requirement("BNC-004")
@pytest.mark.parametrize("command", ["tick", "verify", "watch", "add", "new", "sign"])
def test_a_name_that_is_no_text_cannot_be_recorded(place: Project, command: str) -> None:
    name = odd_name(place.root)
    before = (place.root / name).read_bytes()
    more = {
        "add": WORDS,
        "new": ["--title", "Why?", "--agents", "red-fox,blue-hen"],
        "sign": ["--author", FOX],
        "watch": ["--seconds", "0"],
    }
    done = place.json("debate", command, name, *more.get(command, []))
    assert done.error["code"] == "unnameable_file"
    assert "rename" in done.error["hint"]
    assert (place.root / name).read_bytes() == before


@posix
@pytest.mark.requirement("BNC-004")
def test_outside_a_workspace_any_name_will_do(bare: Project, place: Project) -> None:
    name = odd_name(bare.root)
    assert bare.ok("debate", "check", name)["valid"]
    assert bare.ok("debate", "status", name)["state"] == "ended:consensus"
    assert bare.ok("debate", "new", f"2{name}", "--title", "Why?", "--agents", "red-fox,blue-hen")
    odd_name(place.root)
    assert place.ok("debate", "check", name)["valid"]
