"""What is compared with what when held files are looked at, and from when to when it changed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from moot.api.guard.held_changes import (
    LAG_NS,
    _compare,
    _find_call_file,
    _find_holder,
    _valid_look,
    change_time,
    index_by_key,
    latest_change_time,
    reservations_around,
    was_touched,
)
from moot.api.guard.who_changed import FileChange
from moot.protocols.presence.model import Reservation
from moot.workspace.call_journal import Call, CallFile, CallKind, Look


def held(key: str, worktree: str = "", since: int = 5) -> Reservation:
    return Reservation(key, key, "amber-otter", 1, 1, since, worktree=worktree)


def test_a_file_is_touched_if_it_may_be_newer_by_the_coarse_clock_of_files(tmp_path: Path) -> None:
    file = str(tmp_path / "a.txt")
    Path(file).write_text("a")
    changed = os.lstat(file).st_ctime_ns
    assert LAG_NS == 20_000_000
    assert latest_change_time(file) == changed + LAG_NS
    assert was_touched(file, None)
    assert was_touched(file, changed + LAG_NS)
    assert not was_touched(file, changed + LAG_NS + 1)


def test_of_a_file_that_is_gone_the_folder_above_tells(tmp_path: Path) -> None:
    assert change_time(str(tmp_path / "no" / "a.txt")) == os.lstat(tmp_path).st_ctime_ns
    assert change_time("gone/a.txt") == 0


def test_the_nearest_reservation_holds_a_file_and_one_of_this_worktree_first() -> None:
    everywhere, folder, file = held(""), held("src", "/w"), held("src/a.txt", "/v")
    by = index_by_key((everywhere, folder, file, held("port:3000")))
    assert [*by] == ["", "src", "src/a.txt"]
    assert reservations_around("src/a.txt", by) == [everywhere, folder, file]
    assert _find_holder("src/a.txt", by, "/w") == folder
    assert _find_holder("src/a.txt", by, "/v") == file
    assert _find_holder("src/a.txt", {"src/a.txt": file}, "/w") == file
    assert _find_holder("b.txt", {"src": folder}, "/w") is None


def test_what_was_explained_before_it_was_held_is_not_the_holders() -> None:
    look = Look("1", 5_000_000)
    assert _valid_look(look, held("a"), "/w") == look
    assert _valid_look(look, held("a", "/w"), "/w") == look
    assert _valid_look(look, held("a", "/v"), "/w") is None
    assert _valid_look(look, held("a", since=6), "/w") is None
    assert _valid_look(None, held("a"), "/w") is None


@pytest.mark.parametrize(
    ("look", "beginning", "changes"),
    [
        (None, (None, None), []),
        (None, ("1", 20), [("1", "3", 20, 0)]),
        (None, (None, 20), [(None, "3", 20, 0)]),
        (None, ("3", 20), []),
        (Look("2", 10), ("1", None), [("2", "3", 10, 0)]),
        (Look("2", 10), (None, 20), [("2", "3", 10, 0)]),
        (Look("2", 20), ("1", 20), [("2", "3", 20, 0)]),
        (Look("2", 10), ("1", 20), [("2", "1", 10, 19), ("1", "3", 20, 0)]),
        (Look("2", 10), ("2", 20), [("2", "3", 20, 0)]),
        (Look("2", 10), ("3", 20), [("2", "3", 10, 19)]),
        (Look("3", 10), ("3", 20), []),
        (Look("3", 20), ("1", 20), []),
    ],
)
def test_a_file_is_compared_with_the_look_before_and_with_the_beginning(
    tmp_path: Path,
    look: Look | None,
    beginning: tuple[str | None, int | None],
    changes: list[tuple[str | None, str, int, int]],
) -> None:
    (tmp_path / "a.txt").write_text("a")
    root, until = str(tmp_path), latest_change_time(str(tmp_path / "a.txt"))
    assert list(_compare(root, "a.txt", look, beginning, "3")) == [
        FileChange(root, "a.txt", before, after, since, end or until)
        for before, after, since, end in changes
    ]


def test_a_call_names_a_file_also_by_another_name_of_it(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("folder")
    root = str(tmp_path)
    other, linked, same = (CallFile(root, path) for path in ("b", "link/a", "folder/a"))

    def find(*files: CallFile) -> CallFile | None:
        call = Call("s", "amber-otter", "", "c", "Write", CallKind.EDIT, root, files=files)
        return _find_call_file(call, FileChange(root, "folder/a", "1", "2", 10, 20))

    assert find(other, linked, same) is same
    assert find(other, linked) is linked
    assert find(other) is None
    assert find() is None
