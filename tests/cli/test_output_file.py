"""`-o FILE`: what is written where, and what is left alone."""

from __future__ import annotations

import json
import os
import re
import stat
import threading
from pathlib import Path

import pytest

import moot
from tests.project import Project

SOURCE = Path(moot.__file__).parent

FULL = Path("/dev/full")
CHECKPOINT = ("ledger", "checkpoint", "-o")
EXPORT = ("ledger", "export", "-o")
TRUST = ("trust", "export", "-o")
WRITERS = [CHECKPOINT, EXPORT, TRUST, ("verify", "-o")]


def name_for(words: tuple[str, ...]) -> str:
    return "out.html" if words[0] == "verify" else "out"


def names_in(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()} - {".moot"}


@pytest.mark.parametrize("words", WRITERS)
def test_a_link_stays_one_and_what_it_points_to_is_written(
    project: Project, words: tuple[str, ...], tmp_path: Path
) -> None:
    link, target = project.root / name_for(words), tmp_path / "target"
    link.symlink_to(target)
    project.ok(*words, str(link))
    assert link.is_symlink()
    assert target.stat().st_size > 0
    assert not target.is_symlink()


@pytest.mark.parametrize("words", WRITERS)
def test_a_fifo_is_written_to_and_stays(project: Project, words: tuple[str, ...]) -> None:
    fifo = project.root / name_for(words)
    os.mkfifo(fifo)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(fifo.read_bytes()))
    reader.start()
    project.ok(*words, str(fifo))
    reader.join()
    assert read[0]
    assert stat.S_ISFIFO(fifo.stat().st_mode)
    assert names_in(project.root) == {fifo.name}


@pytest.mark.skipif(not FULL.is_char_device(), reason="no device that is always full")
@pytest.mark.parametrize("words", [CHECKPOINT, EXPORT, TRUST])
def test_a_device_is_written_to_and_stays(
    project: Project, words: tuple[str, ...], tmp_path: Path
) -> None:
    link = tmp_path / "full"
    link.symlink_to(FULL)
    error = project.json(*words, str(link)).error
    assert (error["code"], error["hint"]) == ("unwritable_file", "free some space and try again")
    assert link.is_symlink()
    assert FULL.is_char_device()
    project.ok(*words, os.devnull)
    assert Path(os.devnull).is_char_device()


@pytest.mark.parametrize("words", WRITERS)
def test_a_folder_is_refused(project: Project, words: tuple[str, ...]) -> None:
    (project.root / name_for(words)).mkdir()
    assert project.refused(*words, name_for(words)) == ("usage", 2)
    (project.root / "link.html").symlink_to(name_for(words))
    assert project.refused(*words, "link.html") == ("usage", 2)


@pytest.mark.parametrize("words", WRITERS)
def test_a_folder_that_is_not_there_is_made(project: Project, words: tuple[str, ...]) -> None:
    project.ok(*words, f"new/deep/{name_for(words)}")
    assert (project.root / "new" / "deep" / name_for(words)).stat().st_size > 0
    assert names_in(project.root / "new" / "deep") == {name_for(words)}


@pytest.mark.parametrize("words", WRITERS)
def test_a_folder_that_cannot_be_made_leaves_nothing_behind(
    project: Project, words: tuple[str, ...]
) -> None:
    (project.root / "taken").write_text("mine")
    assert project.refused(*words, f"taken/{name_for(words)}") == ("unwritable_file", 4)
    assert project.refused(*words, f"taken/deep/{name_for(words)}") == ("unwritable_file", 4)
    assert names_in(project.root) == {"taken"}
    assert (project.root / "taken").read_text() == "mine"


def test_a_refused_command_makes_no_folder(project: Project) -> None:
    assert project.refused("report", "q-9", "-o", "new/q.html")[0] == "not_found"
    assert names_in(project.root) == set()


# These write files of Moot, git or the project, never one that an option names.
OTHER_FILES = {
    "api/traces/running.py",
    "api/mail/outgoing.py",
    "api/hook_setup/hook_stamps.py",
    "api/hook_setup/companion_hooks.py",
    "api/guard/unsaved_work.py",
    "api/guard/undo.py",
    "api/guard/shell/python_code.py",  # writes nothing: it reads what others' code opens
}


def test_every_option_for_an_output_file_makes_its_folder() -> None:
    """All of them are written by one function; none has a way of its own."""
    writers = {
        file.relative_to(SOURCE).as_posix()
        for file in (SOURCE / "surfaces").rglob("*.py")
        if '"-o"' in file.read_text("utf-8")
    }
    assert {name for name in writers if "/demo/" not in name} == {
        "surfaces/cli/decisions/reports.py",
        "surfaces/terminal/derive.py",  # which asks `output_option` for it
        "surfaces/terminal/output.py",
    }
    direct = {
        file.relative_to(SOURCE).as_posix()
        for file in (SOURCE / "api").rglob("*.py")
        if re.search(r"\.write_(text|bytes)\(|open\([^)]*\"[wx]b?\"", file.read_text("utf-8"))
    }
    assert direct == OTHER_FILES


@pytest.mark.parametrize("words", WRITERS)
def test_what_is_written_again_replaces_the_old_file(
    project: Project, words: tuple[str, ...]
) -> None:
    file = project.root / name_for(words)
    file.write_text("old")
    project.ok(*words, file.name)
    assert file.read_text() != "old"
    assert names_in(project.root) == {file.name}


# `-o -`.


def test_a_document_can_be_printed(project: Project) -> None:
    told = project.run(*TRUST, "-")
    assert json.loads(told.out)["format"] == "moot-trust/1"
    told = project.run(*CHECKPOINT, "-")
    assert told.out == project.ok("ledger", "checkpoint")["note"]
    assert names_in(project.root) == set()


@pytest.mark.parametrize("words", [TRUST, CHECKPOINT])
def test_an_envelope_shares_standard_output_with_nothing(
    project: Project, words: tuple[str, ...]
) -> None:
    assert project.refused(*words, "-") == ("usage", 2)
    assert names_in(project.root) == set()


@pytest.mark.parametrize("words", [EXPORT, ("verify", "-o")])
def test_what_is_no_text_to_be_read_needs_a_file(project: Project, words: tuple[str, ...]) -> None:
    assert project.refused(*words, "-") == ("usage", 2)
    assert "-" in project.run(*words, "-").err
    assert names_in(project.root) == set()


def test_a_checkpoint_says_where_it_was_written(project: Project) -> None:
    assert "written to note.txt" in project.run(*CHECKPOINT, "note.txt").out
