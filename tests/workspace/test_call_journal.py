"""The journal of calls: what may still write, what a call announced, and what is forgotten."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from moot.workspace import call_journal
from moot.workspace.call_journal import (
    MADE_UP,
    REMOVED,
    Call,
    CallFile,
    CallJournal,
    CallKind,
    Look,
    ProcessMark,
)
from moot.workspace.file_versions import FileVersions

DAY_NS = 24 * 3600 * 10**9
ALWAYS = (0, 2**62)
PROCESS = ProcessMark(7, "boot:1")


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[FileVersions]:
    with FileVersions(tmp_path) as versions:
        yield versions


@pytest.fixture
def journal(memory: FileVersions) -> CallJournal:
    return memory.journal


def a_call(
    call_id: str = "c1",
    kind: CallKind = CallKind.EDIT,
    session: str = "s1",
    tool: str = "Write",
    tells_end: bool = True,
    files: tuple[CallFile, ...] = (),
) -> Call:
    return Call(
        *(session, "amber-otter", "", call_id, tool, kind, "/w"), tells_end=tells_end, files=files
    )


def read(journal: CallJournal, number: int) -> Call:
    (found,) = [call for call in journal.list_overlapping(*ALWAYS) if call.number == number]
    return found


def list_open(journal: CallJournal) -> list[int]:
    return [call.number for call in journal.list_overlapping(*ALWAYS) if call.ended_ns is None]


def test_a_call_is_read_as_it_was_written(journal: CallJournal) -> None:
    files = (CallFile("/w", "a.txt", "1", ("2", REMOVED), b"{}"), CallFile("/w", "b.txt"))
    call = Call(
        *("s1", "amber-otter", "sub", "c1", "Bash", CallKind.COMMAND, "/w", "/w/src", "make"),
        tells_end=False,
        last_process=5,
        state=b"state",
        files=files,
    )
    before = time.time_ns()
    number = journal.begin(call)
    kept = read(journal, number)
    assert before <= kept.began_ns <= time.time_ns()
    assert kept == call._replace(number=number, began_ns=kept.began_ns)
    assert [file.leads_to("2") for file in files] == [True, False]
    assert [file.leads_to("") for file in files] == [True, False]


def test_a_call_of_which_nothing_more_is_said_is_not_written_yet_and_tells_its_end() -> None:
    call = Call("s1", "amber-otter", "", "c1", "Write", CallKind.EDIT, "/w")
    assert (call.number, call.began_ns, call.last_process) == (0, 0, 0)
    assert call.tells_end


def test_what_is_long_is_cut_and_reading_names_no_files(journal: CallJournal) -> None:
    whole, too_long = b"x" * 65_536, b"x" * 65_537
    files = [CallFile("/w", f"{number:03}", "1", ("2",), whole) for number in range(201)]
    files[1] = files[1]._replace(announced=too_long)
    kept = read(journal, journal.begin(a_call(files=tuple(files))._replace(text="x" * 61)))
    assert kept.text == "x" * 60
    assert len(kept.files) == 200
    assert kept.files[0] == files[0]
    assert kept.files[1] == files[1]._replace(announced=b"")
    reading = journal.begin(a_call("c2", CallKind.READING, files=(files[0],)))
    assert read(journal, reading).files == ()


def test_an_open_call_of_the_same_id_is_over(journal: CallJournal) -> None:
    first = journal.begin(a_call())
    others = [
        journal.begin(a_call(session="s2")),
        journal.begin(a_call("c2")),
        journal.begin(a_call(kind=CallKind.COMMAND)),
        *(journal.begin(a_call(f"{MADE_UP}1")) for _ in range(2)),
        *(journal.begin(a_call("")) for _ in range(2)),
    ]
    again = journal.begin(a_call())
    assert sorted(list_open(journal)) == [*others, again]
    assert read(journal, first).ended_ns == read(journal, again).began_ns


def test_a_call_that_left_processes_is_not_over_when_its_id_comes_again(
    journal: CallJournal,
) -> None:
    first = journal.begin(a_call())
    journal.end(read(journal, first), processes=[PROCESS])
    again = journal.begin(a_call())
    journal.end(read(journal, again))
    assert list_open(journal) == [first]


def test_the_call_that_ends_is_the_oldest_open_one(journal: CallJournal) -> None:
    older = journal.begin(a_call(f"{MADE_UP}1"))
    named = journal.begin(a_call("c1"))
    exact = journal.begin(a_call(f"{MADE_UP}2"))

    def find(call_id: str, session: str = "s1", tool: str = "Write") -> int | None:
        found = journal.find_begun(session, call_id, tool)
        return None if found is None else found.number

    assert find("c1") == named
    assert find("c2") is None
    assert find("") == older
    assert find(f"{MADE_UP}2") == exact
    assert find(f"{MADE_UP}3") == older
    assert find("c1", session="s2") is None
    assert find("c1", tool="Edit") is None
    journal.end(read(journal, older), processes=[PROCESS])
    assert find(f"{MADE_UP}3") == named


def test_the_end_of_a_call_says_what_its_files_are(journal: CallJournal) -> None:
    files = (CallFile("/w", "a.txt", "1"), CallFile("/w", "b.txt", "1"))
    number = journal.begin(a_call(files=files)._replace(state=b"state"))
    patch = journal.begin(a_call(kind=CallKind.COMMAND))
    other = journal.begin(a_call("c2"))
    journal.end(read(journal, number), {("/w", "a.txt"): "2"}, at_ns=77)
    ended = read(journal, number)
    assert (ended.ended_ns, ended.state, ended.processes) == (77, b"", ())
    assert [file.after for file in ended.files] == ["2", None]
    assert read(journal, patch).ended_ns == 77
    assert list_open(journal) == [other]


def test_a_made_up_id_ends_its_own_call_only(journal: CallJournal) -> None:
    first, second = (journal.begin(a_call(f"{MADE_UP}1")) for _ in range(2))
    journal.end(read(journal, first))
    assert list_open(journal) == [second]


def test_a_call_with_processes_stays_open_until_they_are_gone(journal: CallJournal) -> None:
    left, idle, other = (
        journal.begin(a_call("c1")),
        journal.begin(a_call("c2")),
        journal.begin(a_call("c3", session="s2")),
    )
    journal.end(read(journal, left), processes=[PROCESS])
    assert read(journal, left).processes == (PROCESS,)
    journal.end_session("s1")
    assert sorted(list_open(journal)) == [left, other]
    ended = read(journal, idle).ended_ns
    journal.close([])
    journal.close([left, idle])
    assert list_open(journal) == [other]
    assert read(journal, idle).ended_ns == ended


def test_an_edit_whose_end_nobody_tells_is_looked_at_until_it_is_settled(
    journal: CallJournal,
) -> None:
    file = CallFile("/w", "a.txt", "1")
    proved = journal.begin(a_call("c1", tells_end=False, files=(file,)))
    other = journal.begin(a_call("c2", tells_end=False))
    journal.begin(a_call("c3"))
    assert [call.number for call in journal.list_untold()] == [proved, other]
    journal.end_by_files(read(journal, proved), {("/w", "a.txt"): "2"}, is_over=True)
    assert read(journal, proved).files[0].after == "2"
    journal.end_by_files(read(journal, other), {}, is_over=False)
    assert journal.list_untold() == []
    assert read(journal, proved).ended_ns is not None
    assert read(journal, other).ended_ns is None


def test_calls_overlap_a_time_from_their_beginning_to_their_end(journal: CallJournal) -> None:
    number = journal.begin(a_call())
    began = read(journal, number).began_ns

    def overlaps(since: int, until: int) -> bool:
        return bool(journal.list_overlapping(since, until))

    assert overlaps(began, began)
    assert overlaps(began + DAY_NS, began + DAY_NS)
    assert not overlaps(began - 5, began - 1)
    journal.end(read(journal, number), at_ns=began + 10)
    assert overlaps(began, began)
    assert overlaps(began + 10, began + 20)
    assert not overlaps(began + 11, began + 20)
    assert not overlaps(began - 5, began - 1)


def test_an_older_look_replaces_no_newer_one(journal: CallJournal) -> None:
    journal.note_looks("/w", {"a.txt": "1", "b.txt": "1"}, 10)
    journal.note_looks("/w", {"a.txt": "2"}, 9)
    journal.note_looks("/w", {"b.txt": "2"}, 10)
    journal.note_looks("/v", {"a.txt": "3", "c.txt": "3"}, 11)
    assert journal.find_looks("/w") == {"a.txt": Look("1", 10), "b.txt": Look("2", 10)}
    assert journal.find_look("/v", "a.txt") == Look("3", 11)
    assert journal.find_look("/v", "b.txt") is None


def test_who_spoke_is_known_by_name_and_session(journal: CallJournal) -> None:
    journal.hear("s1", "amber-otter")
    journal.hear("s2", "")
    journal.begin(a_call(session="s3"))
    assert journal.list_active_names() == {"s1", "s2", "s3", "amber-otter"}


def test_the_oldest_of_very_many_are_forgotten(
    memory: FileVersions, journal: CallJournal, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every 500 calls; at most 500 are given at once."""
    monkeypatch.setattr(call_journal, "MOST_CALLS", 499)
    file = CallFile("/w", "a.txt", "1")
    first = journal.begin(a_call("", files=(file,)))
    second = journal.begin(a_call("", files=(file,)))
    now = time.time_ns()
    old_look = now - 30 * DAY_NS
    journal.note_looks("/w", {"old": "1"}, old_look - 1)
    journal.note_looks("/w", {"new": "1"}, old_look + DAY_NS)
    for _ in range(497):
        journal.begin(a_call(""))
    assert first in list_open(journal)
    newest = journal.begin(a_call(""))
    assert list_open(journal) == list(range(newest, first, -1))
    assert read(journal, second).files == (file,)
    assert memory.query("SELECT call FROM call_files", ()) == [(second,)]
    assert {*journal.find_looks("/w")} == {"new"}
    for _ in range(2):
        journal.begin(a_call(""))
    assert len(journal.list_overlapping(*ALWAYS)) == 500


def test_calls_and_sessions_of_yesterday_are_forgotten(
    memory: FileVersions, journal: CallJournal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(call_journal, "_SWEEP_EVERY", 1)
    now = time.time_ns()
    yesterday, today, still_open = (journal.begin(a_call(f"c{number}")) for number in range(3))
    journal.end(read(journal, yesterday), at_ns=now - DAY_NS - 1)
    journal.end(read(journal, today), at_ns=now - DAY_NS + 3600 * 10**9)
    journal.hear("s0", "gray-heron")
    with memory.transaction() as db:
        db.execute("UPDATE call_sessions SET heard_ns = ?", (now - DAY_NS - 1,))
    journal.hear("s1", "amber-otter")
    last = journal.begin(a_call("c4", session="s2"))
    kept = [call.number for call in journal.list_overlapping(*ALWAYS)]
    assert kept == [last, still_open, today]
    assert journal.list_active_names() == {"s1", "s2", "amber-otter"}
