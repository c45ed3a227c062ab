"""What agents have read and left: the newest answers, and any number of processes may write."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from moot.core.errors import StoreFailed
from moot.workspace import file_versions
from moot.workspace.file_versions import Act, FileVersion, FileVersions


def version(path: str, act: Act, agent: str, blob: str, at: int = 0) -> FileVersion:
    return FileVersion("/repo", path, act, agent, f"{agent}:1", at, blob, 3, act is Act.KEPT)


def test_the_newest_version_answers(tmp_path: Path) -> None:
    otter = version("a.py", Act.LEFT, "otter", "11")
    crane = version("a.py", Act.LEFT, "crane", "22", at=5)
    with FileVersions(tmp_path) as versions:
        versions.note([otter, crane, version("a.py", Act.READ, "otter", "33")])
        assert versions.last("/repo", "a.py", Act.LEFT) == crane
        assert versions.last("/repo", "a.py", Act.LEFT, agent="otter") == otter
        assert versions.last("/repo", "a.py", Act.LEFT, session="otter:1") == otter
        assert versions.last("/elsewhere", "a.py", Act.LEFT) is None
        assert versions.last("/repo", "b.py", Act.LEFT) is None
    with FileVersions(tmp_path) as again:
        assert again.last("/repo", "a.py", Act.LEFT) == crane
        assert again.list_versions(Act.LEFT) == [crane, otter]
        assert again.list_versions(Act.LEFT, worktree="/elsewhere") == []


def test_many_write_at_once(tmp_path: Path) -> None:
    def write(agent: str) -> None:
        with FileVersions(tmp_path) as versions:
            for number in range(25):
                versions.note([version(f"{agent}{number}", Act.READ, agent, "1")])

    threads = [threading.Thread(target=write, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with FileVersions(tmp_path) as versions:
        assert len(versions.list_versions(Act.READ)) == 100


def test_the_oldest_are_forgotten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_versions, "MOST_ROWS", 5)
    monkeypatch.setattr(file_versions, "_SWEEP_EVERY", 10)
    with FileVersions(tmp_path) as versions:
        for number in range(20):
            versions.note([version(str(number), Act.LEFT, "otter", "1")])
        paths = [each.path for each in versions.list_versions(Act.LEFT)]
    assert paths == ["19", "18", "17", "16", "15"]


def test_a_damaged_memory_is_said(tmp_path: Path) -> None:
    (tmp_path / file_versions.FILE).write_bytes(b"no database" * 100)
    with pytest.raises(StoreFailed) as refused:
        FileVersions(tmp_path)
    assert refused.value.code == "file_memory_failed"
    assert (tmp_path / file_versions.FILE).read_bytes() == b"no database" * 100


def test_the_newest_that_each_agent_left_of_each_file(tmp_path: Path) -> None:
    rows = [version("a", Act.LEFT, "otter", "1"), version("a", Act.LEFT, "crane", "2")]
    rows += [version("a", Act.LEFT, "otter", "3"), version("b", Act.KEPT, "otter", "4")]
    with FileVersions(tmp_path) as versions:
        versions.note(rows)
        found = {(row.path, row.agent, row.blob) for row in versions.last_left("/repo")}
        assert found == {("a", "crane", "2"), ("a", "otter", "3")}
        newest = versions.newest("/repo", "a", session="crane:1")
        assert newest is not None
        assert newest.blob == "2"


def test_copies_are_found_and_counted(tmp_path: Path) -> None:
    rows = [version(path, Act.KEPT, "", "1", at=at) for at, path in enumerate("abcb")]
    with FileVersions(tmp_path) as versions:
        versions.note([*rows, version("z", Act.LEFT, "otter", "1")])
        assert versions.list_copied_files(2) == [("/repo", "b"), ("/repo", "c")]
        assert versions.has_copy("/repo", "a", "1")
        assert not versions.has_copy("/repo", "a", "2")
        assert versions.copied_bytes(Act.KEPT, since=2) == 6
        assert versions.copied_bytes(Act.LEFT, since=0) == 0


def test_reading_makes_no_file_and_changes_none(tmp_path: Path) -> None:
    with FileVersions(tmp_path, only_reads=True) as versions:
        assert versions.list_copied_files(5) == []
    assert list(tmp_path.iterdir()) == []
    with FileVersions(tmp_path) as versions:
        versions.note([version("a", Act.KEPT, "", "1")])
    with FileVersions(tmp_path, only_reads=True) as versions:
        assert len(versions.list_history("/repo", "a")) == 1
        with pytest.raises(StoreFailed):
            versions.note([version("a", Act.KEPT, "", "1")])
