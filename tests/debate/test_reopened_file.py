"""A process that comes back to a file: it reads only what is new, and misses no change."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.api.debates import session as debates
from moot.api.debates import session_file as sessionreading
from moot.api.debates.session_file import CachedFile, make_reading
from moot.core.clock import fixed_clock
from moot.core.errors import MootError, Refused
from moot.protocols.debate import checker
from moot.protocols.debate.checker import check_session
from moot.protocols.debate.drafts import EntryDraft
from tests.debate.sessions import TWO_ROUNDS, entry, session
from tests.debate.test_file_and_record import CLOCK, FOX, HEN, new
from tests.project import Project, make_project

NOW = fixed_clock(CLOCK)
THREE = session(entry(1, FOX), entry(2, HEN, 1, 2, stance="reject"), entry(3, FOX, 2))


@pytest.fixture
def place(tmp_path: Path) -> Project:
    """A workspace with two registered agents."""
    return make_project(tmp_path, FOX, HEN)


def draft(author: str, **more: Any) -> EntryDraft:
    said = {"stance": "reject", "confidence": "0.5", "summary": "No. Ä 🦊", **more}
    return EntryDraft(author=author, **said)


def in_place(file: Path, data: bytes) -> None:
    """Other bytes in the same file, with the times it had."""
    times = file.stat()
    with file.open("r+b") as opened:
        opened.write(data)
        opened.truncate()
    os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))


def flipped(data: bytes, at: int) -> bytes:
    at %= len(data)
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]


CHANGES: dict[str, Callable[[bytes, int], bytes]] = {
    "a byte": flipped,
    "a byte more": lambda data, at: data[: at % len(data)] + b"x" + data[at % len(data) :],
    "a byte less": lambda data, at: data[: at % len(data)] + data[at % len(data) + 1 :],
    "cut": lambda data, at: data[: at % len(data)],
    "appended": lambda data, _: data + entry(4, HEN, 2, 2).encode(),
    "begun": lambda data, _: data + b"\n<!-- entry: ",
    "no text": lambda data, _: data + b"\xff\xfe",
    "a mark": lambda data, _: b"\xef\xbb\xbf" + data,
    "CRLF": lambda data, _: data.replace(b"\n", b"\r\n"),
}


@given(st.sampled_from(sorted(CHANGES)), st.integers(0, 100_000), st.booleans())
def test_whatever_was_done_to_a_file_it_is_read_as_it_is_now(
    tmp_path_factory: pytest.TempPathFactory, name: str, at: int, written: bool
) -> None:
    file = tmp_path_factory.mktemp("held") / "s.md"
    file.write_text(THREE)
    held = CachedFile(file)
    held.read()
    if written:  # what we wrote ourselves is held as what we read
        debates.add(file, draft(HEN), NOW, cached=held)
    changed = CHANGES[name](file.read_bytes(), at)
    in_place(file, changed)
    found, expected = held.read(), make_reading(changed, "s.md")
    assert found.checked == expected.checked
    assert (found.size, found.digest, found.data) == (len(changed), expected.digest, changed)
    assert held.peek().checked == expected.checked


def test_what_is_no_text_stays_so_whatever_follows(tmp_path: Path) -> None:
    file = tmp_path / "s.md"
    file.write_bytes(THREE.encode().replace(b"Words", b"W\xffrds", 1))
    held = CachedFile(file)
    held.read()
    with file.open("a") as opened:
        opened.write(entry(4, HEN, 2, 2))
    expected = make_reading(file.read_bytes(), "s.md")
    assert (held.read().checked, held.read().data) == (expected.checked, file.read_bytes())
    assert "encoding" in [one.code for one in expected.checked.findings]


def test_every_single_byte_counts(tmp_path: Path) -> None:
    file = tmp_path / "s.md"
    file.write_text(TWO_ROUNDS)
    data = file.read_bytes()
    known, held = make_reading(data, "s.md"), CachedFile(file)
    for at in range(len(data)):
        in_place(file, flipped(data, at))
        held.remember(known)
        assert held.read().data == flipped(data, at)


@pytest.mark.parametrize("at", [0, 130, 700, 900, -30])
def test_a_byte_changed_between_two_turns_is_reported_and_nothing_is_written(
    place: Project, at: int
) -> None:
    file = new(place, "--turn-timeout", "86400")
    held = CachedFile(file)
    with place.workspace() as space:
        for author in (FOX, HEN, FOX):
            debates.add(file, draft(author), space.engine.clock, space, cached=held)
        sound = file.read_bytes()
        in_place(file, flipped(sound, at))
        stream = f"debate/{check_session(sound).document.session_id}"
        before = space.engine.load(stream).seq
        with pytest.raises(MootError) as caught:
            debates.add(file, draft(HEN), space.engine.clock, space, cached=held)
        assert caught.value.code == "session_changed"
        assert file.read_bytes() == flipped(sound, at)
        assert space.engine.load(stream).seq == before
        in_place(file, sound)
        done = debates.add(file, draft(HEN), space.engine.clock, space, cached=held)
        assert done.recorded == "signed"
    assert place.ok("debate", "verify", "s.md")["verdict"] == "valid"


def test_two_who_hold_the_same_file_hear_each_other(place: Project) -> None:
    file = new(place, "--max-rounds", "20")
    one, other = CachedFile(file), CachedFile(file)
    with place.workspace() as space:
        for _ in range(5):
            debates.add(file, draft(FOX), space.engine.clock, space, cached=one)
            debates.add(file, draft(HEN), space.engine.clock, space, cached=other)
        with pytest.raises(Refused, match="not blue-hen's turn"):
            debates.add(file, draft(HEN), space.engine.clock, space, cached=one)
    assert one.peek().checked == other.peek().checked == check_session(file.read_bytes())
    assert place.ok("debate", "verify", "s.md")["verdict"] == "valid"


def test_a_holder_checks_a_file_only_as_it_will_be_and_a_command_also_as_it_is(
    place: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = new(place, "--max-rounds", "20")
    seen: list[int] = []

    def counted(data: Any, **more: Any) -> Any:
        seen.append(len(data))
        return check_session(data, **more)

    for module in (checker, sessionreading):
        monkeypatch.setattr(module, "check_session", counted)
    with place.workspace() as space:
        held = CachedFile(file)
        for author in (FOX, HEN) * 3:
            debates.add(file, draft(author), space.engine.clock, space, cached=held)
        assert len(seen) == 1 + 6
        debates.add(file, draft(FOX), space.engine.clock, space)
        assert len(seen) == 1 + 6 + 2
