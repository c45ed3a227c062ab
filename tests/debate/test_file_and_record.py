"""A session in a workspace: file and record are written in one step, and brought in step again."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from moot.api.debates import record as sessionrecord
from moot.api.debates import session as debates
from moot.api.debates.check import compare_with_record
from moot.core.clock import fixed_clock
from moot.core.errors import MootError, Refused, StoreFailed
from moot.core.names import SYSTEM
from moot.engine.replay import read_record
from moot.keys.folder import KeyFolder
from moot.protocols.debate import events as did
from moot.protocols.debate.checker import check_session
from moot.protocols.debate.drafts import EntryDraft
from moot.protocols.debate.machine import MACHINE
from moot.protocols.debate.views import view_status
from moot.store.sqlite import SqliteStore
from moot.workspace.relocatable_store import RelocatableStore
from moot.workspace.workspace import Workspace
from tests.cli.damage import edit, of
from tests.debate.sessions import entry, session
from tests.project import Project, make_project

FOX, HEN, OWL = "red-fox", "blue-hen", "grey-owl"
CLOCK = "2026-03-01T09:01:00Z"
LATER = "2026-03-01T09:30:00Z"
SAID = ("--stance", "approve", "--confidence", "0.8", "--summary", "Yes.")


@pytest.fixture
def place(tmp_path: Path) -> Project:
    """A workspace with two registered agents, where the clock stands still."""
    return make_project(tmp_path, FOX, HEN, MOOT_CLOCK=CLOCK)


def new(place: Project, *more: str, agents: str = f"{FOX},{HEN}") -> Path:
    place.ok("debate", "new", "s.md", "--title", "Which queue?", "--agents", agents, *more)
    return place.root / "s.md"


def add(place: Project, author: str, *more: str, **settings: str) -> dict[str, Any]:
    data: dict[str, Any] = place.ok(
        "debate", "add", "s.md", "--author", author, *SAID, *more, **settings
    )
    return data


def history(place: Project, file: Path) -> list[Any]:
    """The events of the session, each with who signed it."""
    stream = f"debate/{check_session(file.read_bytes()).document.session_id}"
    with place.workspace() as space, space.store.read() as view:
        return [read_record(MACHINE, record) for record in view.records(stream)]


def kinds(place: Project, file: Path) -> list[tuple[str, str]]:
    return [(type(one.event).__name__, one.actor.id) for one in history(place, file)]


def verdict(place: Project, name: str = "s.md") -> tuple[str, int]:
    done = place.json("debate", "verify", name)
    return done.data["verdict"], done.code


# Each command leaves its event -------------------------------------------------------------------


@pytest.mark.requirement("BNC-165")
def test_each_entry_is_an_event_with_its_bytes_signed_by_its_author(place: Project) -> None:
    file = new(place)
    assert add(place, FOX)["recorded"] == "signed"
    assert add(place, HEN, "--body", "Because.")["recorded"] == "signed"
    assert kinds(place, file) == [
        ("SessionBegan", SYSTEM),
        ("EntryYielded", FOX),
        ("EntryYielded", HEN),
        ("SessionEnded", HEN),
    ]
    events = [one.event for one in history(place, file)]
    pieces = [event.text or "" for event in events if isinstance(event, did.Piece)]
    assert "".join(pieces).encode() == file.read_bytes()
    assert verdict(place) == ("valid", 0)


def test_who_begins_a_session_under_its_name_signs_it(place: Project) -> None:
    place.ok(*("--as", FOX, "debate", "new", "s.md", "--title", "Why?", "--agents", f"{FOX},{HEN}"))
    assert kinds(place, place.root / "s.md") == [("SessionBegan", FOX)]


def test_an_unregistered_author_is_observed_and_never_signed(place: Project) -> None:
    file = new(place, agents=f"{OWL},{FOX}")
    assert add(place, OWL)["recorded"] == "observed"
    assert add(place, FOX)["recorded"] == "signed"
    assert [one[0] for one in kinds(place, file)][1:3] == ["EntryObserved", "EntryYielded"]
    assert verdict(place) == ("valid", 0)


def test_a_registered_name_without_its_key_writes_nothing(place: Project, tmp_path: Path) -> None:
    file = new(place)
    before = file.read_bytes()
    other = {"MOOT_KEYS": str(tmp_path / "other-keys")}
    code = place.refused("debate", "add", "s.md", "--author", FOX, *SAID, **other)
    assert code == ("key_missing", 1)
    assert file.read_bytes() == before


@pytest.mark.requirement("BNC-004")
def test_a_file_nothing_is_known_of_stays_a_file(place: Project) -> None:
    file = place.root / "s.md"
    file.write_text(session(agents=(OWL, "cow")), encoding="utf-8")
    assert add(place, OWL)["recorded"] is None
    assert place.refused("debate", "verify", "s.md") == ("not_recorded", 1)
    with place.workspace() as space:
        assert space.engine.open_streams() == []


def test_a_registered_author_makes_an_old_file_known_with_all_it_holds(place: Project) -> None:
    file = place.root / "s.md"
    file.write_text(session(entry(1, FOX), turn_timeout="86400"), encoding="utf-8")
    assert add(place, HEN)["recorded"] == "signed"
    assert kinds(place, file)[:3] == [
        ("SessionBegan", SYSTEM),
        ("EntryObserved", SYSTEM),
        ("EntryYielded", HEN),
    ]
    assert verdict(place) == ("valid", 0)


@pytest.mark.requirement("BNC-008")
def test_an_entry_written_by_hand_is_observed_and_its_author_may_sign_it(place: Project) -> None:
    file = new(place)
    with file.open("a", encoding="utf-8") as opened:
        opened.write(entry(1, FOX))
    assert verdict(place) == ("unproven", 3)
    assert add(place, HEN)["recorded"] == "signed"
    assert verdict(place) == ("valid", 0)
    done = place.ok("debate", "sign", "s.md", "--author", FOX)
    assert len(done["entries"]) == 1
    assert ("EntrySigned", FOX) in kinds(place, file)
    assert (
        "entries: 2 signed by their authors, 0 only observed"
        in (place.ok("debate", "verify", "s.md")["authenticity"])
    )


@pytest.mark.requirement("BNC-062")
def test_more_context_is_recorded_where_it_stands(place: Project) -> None:
    file = new(place)
    add(place, FOX)
    old = file.read_bytes()
    place.ok("debate", "add-context", "s.md", "--title", "More", "The budget was cut.")
    assert verdict(place) == ("valid", 0)
    assert kinds(place, file)[-1] == ("ContextAdded", SYSTEM)
    add(place, HEN)
    assert verdict(place) == ("valid", 0)
    assert old[old.index(b"## Dialogue") :] in file.read_bytes()


@pytest.mark.requirement("BNC-053")
def test_time_limits_take_effect_with_the_next_command_that_writes(place: Project) -> None:
    file = new(place, "--escalation", "timeout-skip")
    code = place.refused("debate", "add", "s.md", "--author", FOX, *SAID, MOOT_CLOCK=LATER)
    assert code == ("wrong_speaker", 1)
    assert kinds(place, file)[1:] == [("TurnTimedOut", SYSTEM), ("EntryGenerated", SYSTEM)]
    add(place, HEN, MOOT_CLOCK=LATER)
    assert verdict(place) == ("valid", 0)


@pytest.mark.requirement("BNC-117")
def test_a_round_that_the_supervisor_begins_is_signed_as_such(place: Project) -> None:
    file = new(place, "--turn-order", "supervised")
    add(place, FOX)
    done = place.ok("debate", "add", "s.md", "--author", FOX, *SAID, "--round", "2")
    assert (done["round"], done["turn"], done["recorded"]) == (2, 1, "signed")
    last = history(place, file)[-1].event
    assert (last.round, last.turn) == (2, 1)
    assert verdict(place) == ("valid", 0)


@pytest.mark.requirement("BNC-051")
def test_the_operators_acts_are_observed_where_no_person_is_registered(place: Project) -> None:
    file = new(place)
    assert (
        place.ok("debate", "resume", "s.md", "--late", MOOT_CLOCK=LATER)["recorded"] == "observed"
    )
    add(place, FOX, MOOT_CLOCK="2026-03-01T09:31:00Z")
    done = place.ok("debate", "close", "s.md", "--reason", "Enough.", MOOT_CLOCK=LATER)
    assert (done["recorded"], done["state"]) == ("observed", "ended:closed-by-operator")
    names = [name for name, _ in kinds(place, file)]
    assert names[1:] == [
        *("TurnTimedOut", "SessionResumed", "EntryYielded", "EntryObserved", "SessionEnded"),
    ]
    assert verdict(place) == ("valid", 0)


@pytest.mark.requirement("BNC-169")
def test_where_a_person_is_registered_their_key_closes(place: Project, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("correct horse", encoding="utf-8")
    secret.chmod(0o600)
    place.ok("agent", "register", "operator", "--human", MOOT_PASSPHRASE_FILE=str(secret))
    file = new(place)
    words = ("debate", "close", "s.md", "--reason", "Enough.")
    before = file.read_bytes()
    assert place.refused(*words) == ("human_key_required", 1)
    assert place.refused("--as", FOX, *words) == ("human_key_required", 1)
    assert file.read_bytes() == before
    done = place.ok(*words, MOOT_PASSPHRASE_FILE=str(secret))
    assert done["recorded"] == "signed"
    last = [one for one in history(place, file) if isinstance(one.event, did.EntryYielded)][-1]
    assert (last.actor.id, last.event.closes, last.event.attended) == ("operator", True, False)


def test_the_agenda_of_the_workspace_says_whose_turn_it_is(place: Project) -> None:
    new(place)
    add(place, FOX)
    (due,) = place.ok("agenda", "--agent", HEN)["due"]
    assert (due["what"], due["by"]) == ("speak", "2026-03-01T09:06:00.000Z")


def test_a_tick_of_everything_notes_the_timeout_and_leaves_the_file_alone(place: Project) -> None:
    file = new(place, "--escalation", "timeout-skip")
    before = file.read_bytes()
    (noted,) = place.ok("tick", MOOT_CLOCK=LATER)["applied"]
    assert noted["type"] == "debate.turn_timed_out"
    assert place.ok("tick", MOOT_CLOCK=LATER)["applied"] == []
    assert file.read_bytes() == before
    assert len(place.ok("debate", "tick", "s.md", MOOT_CLOCK=LATER)["entries"]) == 1
    assert kinds(place, file)[1:] == [("TurnTimedOut", SYSTEM), ("EntryGenerated", SYSTEM)]
    assert verdict(place) == ("valid", 0)


# In one step -------------------------------------------------------------------------------------


@contextmanager
def opened(place: Project, clock: str = CLOCK) -> Iterator[Workspace]:
    with Workspace(place.root / ".moot", KeyFolder(place.keys), clock_text=clock) as space:
        yield space


DRAFT = EntryDraft(author=FOX, stance="approve", confidence="0.8", summary="Yes.", body="Because.")


def test_if_the_file_cannot_be_written_nothing_is_recorded(
    place: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = new(place)
    before, events = file.read_bytes(), kinds(place, file)

    def full(_descriptor: int, _data: bytes) -> int:
        raise OSError(28, "No space left on device")

    with opened(place) as space, monkeypatch.context() as patch:
        patch.setattr("moot.api.debates.session_file.os.write", full)
        with pytest.raises(StoreFailed, match="No space left"):
            debates.add(file, DRAFT, fixed_clock(CLOCK), space)
    assert file.read_bytes() == before
    assert kinds(place, file) == events


class Uncommitted(SqliteStore):
    """A store whose next commit fails, after everything else has happened."""

    failing = False

    @contextmanager
    def write(self) -> Iterator[Any]:
        with super().write() as change:
            yield change
            if self.failing:
                raise sqlite3.OperationalError("disk I/O error")


@pytest.mark.requirement("BNC-102")
@pytest.mark.parametrize("seen", [False, True])
def test_a_retry_after_a_failed_commit_signs_the_entry_that_stands_there(
    place: Project, seen: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = new(place)
    monkeypatch.setattr("moot.store.sqlite.read_only.SqliteStore", Uncommitted)
    with opened(place) as space:
        assert isinstance(space.store, RelocatableStore)
        store = space.store._store
        assert isinstance(store, Uncommitted)
        store.failing = True
        with pytest.raises(MootError):
            debates.add(file, DRAFT, fixed_clock(CLOCK), space)
        store.failing = False
    (left,) = check_session(file.read_bytes()).document.entries
    if seen:  # by someone else, before its author came back
        place.ok("debate", "tick", "s.md")
    size = file.stat().st_size
    with opened(place) as space:
        done = debates.add(file, DRAFT, fixed_clock(CLOCK), space)
    assert (done.entries, done.again, done.recorded) == ((left.id,), True, "signed")
    assert file.stat().st_size == size
    assert kinds(place, file)[1:] == [("EntryObserved", SYSTEM), ("EntrySigned", FOX)]
    assert verdict(place) == ("valid", 0)


def test_a_retry_is_known_although_others_spoke_meanwhile(place: Project) -> None:
    file = new(place, "--turn-order", "free-form", "--max-turns-per-round", "5")
    left = entry(1, FOX, summary="Yes.", body="Because.")
    with file.open("a", encoding="utf-8") as opened_:
        opened_.write(left)  # as a process leaves it that dies before its commit
    add(place, HEN, "--stance", "reject")
    with opened(place) as space:
        done = debates.add(file, DRAFT, fixed_clock(CLOCK), space)
        assert (done.again, done.recorded) == (True, "signed")
        again = debates.add(file, DRAFT, fixed_clock(CLOCK), space)
        assert not again.again  # signed by now: the same words are a new entry
    assert len(check_session(file.read_bytes()).document.entries) == 3


def test_a_call_with_an_id_may_be_made_again(place: Project) -> None:
    file = new(place, "--turn-order", "free-form", "--max-turns-per-round", "5")
    chosen = ("--id", "0b9f3a52-6a0f-4d5e-9b55-1d2f6f0f7c11")
    first, again = add(place, FOX, *chosen), add(place, FOX, *chosen)
    assert (first["again"], again["again"]) == (False, True)
    assert first["entry"] == again["entry"] == chosen[1]
    assert len(check_session(file.read_bytes()).document.entries) == 1
    taken = place.refused(
        *("debate", "add", "s.md", "--author", FOX, "--stance", "reject", "--confidence", "0.8"),
        *("--summary", "No.", *chosen),
    )
    assert taken == ("id_taken", 1)


# Out of step -------------------------------------------------------------------------------------


def test_what_the_file_has_lost_is_put_back_if_it_is_an_exact_beginning(place: Project) -> None:
    file = new(place)
    add(place, FOX)
    add(place, HEN, "--stance", "reject")
    whole = file.read_bytes()
    for size in (len(whole) - 1, len(whole) // 2 + 200, whole.index(b"## Dialogue") + 4):
        file.write_bytes(whole[:size])
        assert verdict(place) == ("truncated", 1)
        assert file.read_bytes() == whole[:size]
        place.ok("debate", "tick", "s.md")
        assert file.read_bytes() == whole
    assert verdict(place) == ("valid", 0)


@pytest.mark.requirement("BNC-097")
def test_a_changed_file_is_reported_and_nothing_is_written_to_it(place: Project) -> None:
    file = new(place)
    add(place, FOX)
    changed = file.read_bytes().replace(b"Yes.", b"No!.")
    for data in (changed, changed[:-30]):
        file.write_bytes(data)
        for words in (("add", "s.md", "--author", HEN, *SAID), ("tick", "s.md")):
            assert place.refused("debate", *words) == ("session_changed", 1)
        assert file.read_bytes() == data
        assert verdict(place) == ("tampered", 1)


@pytest.mark.requirement("BNC-026")
def test_two_files_with_one_session_id_are_reported(place: Project) -> None:
    file = new(place)
    add(place, FOX)
    double = place.root / "copy.md"
    double.write_bytes(file.read_bytes())
    found = place.ok("debate", "check", "copy.md")["findings"]
    assert [one["code"] for one in found] == ["duplicate_session"]
    assert place.ok("debate", "check", "s.md")["findings"] == []
    code = place.refused("debate", "add", "copy.md", "--author", HEN, *SAID)
    assert code == ("duplicate_session", 1)
    assert double.read_bytes() == file.read_bytes()
    file.unlink()  # now it has moved
    place.ok("debate", "add", "copy.md", "--author", HEN, *SAID)
    assert verdict(place, "copy.md") == ("valid", 0)


# Every byte --------------------------------------------------------------------------------------


@pytest.fixture
def proved(place: Project) -> Iterator[tuple[Any, bytes]]:
    """A recorded session, and a way to hold any bytes against it."""
    file = new(place)
    add(place, FOX)
    place.ok("debate", "add-context", "s.md", "--title", "More", "The budget was cut.")
    add(place, HEN, "--stance", "reject", "--body", "Because\n\n- of this\n- of that")
    stream = f"debate/{check_session(file.read_bytes()).document.session_id}"
    with opened(place) as space, space.store.read() as view:
        yield (
            lambda data: compare_with_record(view, stream, space.artifacts, data),
            file.read_bytes(),
        )


@pytest.mark.requirement("BNC-066")
def test_every_changed_removed_or_inserted_byte_is_found(proved: tuple[Any, bytes]) -> None:
    held, data = proved
    assert held(data).verdict == "valid"
    for place in range(0, len(data), 3):
        line = data.count(b"\n", 0, place) + 1
        flipped = data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]
        found = held(flipped)
        assert found.verdict == "tampered"
        assert found.first_bad.line == flipped.count(b"\n", 0, place) + 1
        assert found.findings[0].line == found.first_bad.line
        removed = held(data[:place] + data[place + 1 :])
        assert removed.verdict in ("tampered", "truncated")
        inserted = held(data[:place] + b"x" + data[place:])
        assert inserted.verdict == "tampered"
        assert inserted.first_bad.line in (line, line - 1)
    for more in (b"x", b"\n", b" "):
        assert held(data + more).verdict == "unproven"
        assert held(data + more).findings


def test_entries_that_changed_places_are_named(proved: tuple[Any, bytes]) -> None:
    held, data = proved
    first, second = (data.index(b"\n<!-- entry:"), data.rindex(b"\n<!-- entry:"))
    swapped = held(data[:first] + data[second:] + data[first:second])
    assert swapped.verdict == "tampered"
    assert "entries_reordered" in [one.code for one in swapped.findings]
    gone = held(data[:first] + data[second:])
    assert "entry_deleted" in [one.code for one in gone.findings]
    doubled = held(data[:second] + entry(9, FOX).encode() + data[second:])
    assert "entry_inserted" in [one.code for one in doubled.findings]
    assert doubled.first_bad.entry == check_session(data).document.entries[1].id


def test_a_changed_session_id_does_not_hide_the_file(place: Project) -> None:
    file = new(place)
    add(place, FOX)
    lines = file.read_bytes().split(b"\n")
    lines[2] = b"<!-- session-id: 7d1f3a52-6a0f-4d5e-9b55-1d2f6f0f7c11 -->"
    file.write_bytes(b"\n".join(lines))
    done = place.json("debate", "verify", "s.md")
    assert (done.code, done.data["verdict"], done.data["first_bad"]["line"]) == (1, "tampered", 3)
    assert set(done.data) >= {
        *("verdict", "integrity", "authenticity", "completeness", "freshness", "key_status"),
        *("artifacts", "custody", "first_bad", "last_trusted", "checks", "findings"),
    }


def test_a_damaged_ledger_is_said_before_anything_of_the_file(place: Project) -> None:
    file = new(place)
    add(place, FOX)
    stream = f"debate/{check_session(file.read_bytes()).document.session_id}"
    edit(place.ledger, f"UPDATE events SET sig = zeroblob(64) WHERE {of(stream)} AND seq = 1")
    assert place.json("debate", "verify", "s.md").data["verdict"] == "tampered"


# Programs that run participants ------------------------------------------------------------------


def test_a_runner_opens_looks_and_adds_by_plain_functions(place: Project) -> None:
    file = new(place)
    clock = fixed_clock(CLOCK)
    with opened(place) as space:
        stream = f"debate/{debates.read(file).document.session_id}"
        ((_, due),) = space.engine.agenda([stream])
        assert due.who == FOX
        status = view_status(debates.read(file), clock())
        assert (status.may_speak, status.round, status.entries) == ((FOX,), 1, ())
        done = debates.add(file, DRAFT, clock, space)
        assert done.recorded == "signed"
        assert view_status(debates.read(file), clock()).may_speak == (HEN,)
        ((_, due),) = space.engine.agenda([stream])
        assert due.who == HEN
        with pytest.raises(Refused) as wrong:
            debates.add(file, DRAFT, clock, space)
        assert wrong.value.code == "wrong_speaker"
    assert debates.read(file).valid


def test_a_file_whose_beginning_is_just_being_committed_is_begun_once(
    place: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file is there before its record is: another writer may come between."""
    file = new(place)
    with opened(place) as space, monkeypatch.context() as patch:
        known = sessionrecord.SessionRecord.is_known
        looks = iter([False])
        patch.setattr(
            sessionrecord.SessionRecord,
            "is_known",
            property(lambda self: next(looks, None) is None and known.fget(self)),  # type: ignore[attr-defined]
        )
        assert debates.add(file, DRAFT, fixed_clock(CLOCK), space).recorded == "signed"
    assert [name for name, _ in kinds(place, file)] == ["SessionBegan", "EntryYielded"]
