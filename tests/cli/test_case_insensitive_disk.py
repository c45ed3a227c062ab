"""On a disk that ignores case two spellings of one path are one scope.

The disk is a real one where it can be mounted: a folder shown through FUSE, which needs root and
/dev/fuse (`tests/system/case_insensitive_disk.py`). Elsewhere only the simulated one is asked:
there what Python asks of the disk is answered without regard to case, and opening a file is not.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from moot.workspace import find
from tests.project import MOOT, Project
from tests.system import case_insensitive_disk

OTHER_SPELLINGS = ("src/a.py", "SRC/A.PY", "Src/a.py")


@contextmanager
def mounted(backing: Path, target: Path) -> Iterator[None]:
    """The disk, as long as its program's input is open."""
    words = [sys.executable, str(case_insensitive_disk.__file__), str(backing), str(target)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as program:
        try:
            assert program.stdout is not None
            if program.stdout.readline() != b"ready\n":
                pytest.skip("no disk can be mounted here; the simulated one was asked")
            yield
        finally:
            program.communicate(timeout=60)


LISTED, LOOKED_AT = os.listdir, os.lstat


def find_on_disk(path: str | os.PathLike[str]) -> str:
    """The path as the real disk has it, whatever the case of its letters."""
    found = os.sep
    for part in os.path.abspath(path).split(os.sep)[1:]:
        names = LISTED(found) if os.path.isdir(found) else []
        alike = (name for name in names if name.casefold() == part.casefold())
        found = os.path.join(found, part if part in names else next(alike, part))
    return found


@contextmanager
def simulated() -> Iterator[None]:
    """Python's looks at the disk, answered as by one that ignores case."""
    with (
        mock.patch.object(os, "lstat", lambda path, **_: LOOKED_AT(find_on_disk(path))),
        mock.patch.object(os, "listdir", lambda path=".": LISTED(find_on_disk(path))),
    ):
        yield


@pytest.fixture(params=["mounted", "simulated"])
def project(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Project]:
    root, backing = tmp_path / "disk", tmp_path / "backing"
    root.mkdir()
    backing.mkdir()
    disk = mounted(backing, root) if request.param == "mounted" else simulated()
    with disk:
        (root / "Src").mkdir()
        (root / "Src" / "A.py").write_text("a = 1\n")
        project = Project(root, tmp_path / "keys")
        project.ok("init")
        for name in ("amber-otter", "teal-crane"):
            project.ok("agent", "register", name)
        yield project


def held(project: Project) -> list[tuple[str, str]]:
    rows = project.ok("scope", "list")["reservations"]
    return [(row["scope"], row["owner"]) for row in rows]


@pytest.mark.parametrize("spelling", OTHER_SPELLINGS)
def test_a_file_is_one_scope_however_it_is_spelled(project: Project, spelling: str) -> None:
    (kept,) = project.ok("--as", "amber-otter", "reserve", spelling)["reserved"]
    assert kept["scope"] == "Src/A.py"
    for other in ("Src/A.py", *OTHER_SPELLINGS, "src", "SRC/*"):
        taken = project.refused("--as", "teal-crane", "reserve", other)
        assert taken == ("reservation_conflict", 1), other
        asked = project.json("guard", "check", other, "--agent", "teal-crane")
        assert asked.envelope["error"] or not asked.data["allowed"], other
    assert held(project) == [("Src/A.py", "amber-otter")]
    project.ok("--as", "amber-otter", "release", spelling.swapcase())
    assert held(project) == []


def test_a_new_file_is_compared_as_it_is_written_in_its_folder_as_that_is_listed(
    project: Project,
) -> None:
    """A file that does not exist has no spelling yet; the agent that creates it gives it one."""
    (kept,) = project.ok("--as", "amber-otter", "reserve", "SRC/New.py")["reserved"]
    assert kept["scope"] == "Src/New.py"
    (project.root / "Src" / "New.py").write_text("")
    taken = project.refused("--as", "teal-crane", "reserve", "src/NEW.py")
    assert taken == ("reservation_conflict", 1)


@pytest.mark.parametrize("project", ["mounted"], indirect=True)
@pytest.mark.parametrize("spelling", OTHER_SPELLINGS)
def test_a_hook_holds_back_an_edit_under_another_spelling(project: Project, spelling: str) -> None:
    project.ok("--as", "amber-otter", "reserve", "Src/A.py")
    said: dict[str, Any] = {
        "session_id": "s-1",
        "hook_event_name": "PreToolUse",
        "cwd": str(project.root),
        "tool_name": "Write",
        "tool_input": {"file_path": str(project.root / spelling), "content": "a = 2\n"},
    }
    done = subprocess.run(
        [*MOOT, "hook", "claude"],
        cwd=project.root,
        env={**project.env, "MOOT_AGENT": "teal-crane"},
        input=json.dumps(said),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert "amber-otter" in done.stdout + done.stderr, done
    assert done.returncode == 2 or '"deny"' in done.stdout, done
    assert held(project) == [("Src/A.py", "amber-otter")]


def test_names_that_differ_in_more_than_case_stay_two_files(project: Project) -> None:
    project.ok("--as", "amber-otter", "reserve", "Src/A.py")
    (project.root / "Src" / "B.py").write_text("")
    (kept,) = project.ok("--as", "teal-crane", "reserve", "src/b.py")["reserved"]
    assert kept["scope"] == "Src/B.py"


def test_where_the_disk_tells_names_apart_they_are_two_files(tmp_path: Path) -> None:
    for name in ("A.py", "a.py"):
        (tmp_path / name).write_text(name)
    if len(os.listdir(tmp_path)) == 2:
        for name in ("A.py", "a.py"):
            assert find.spell_as_listed(str(tmp_path / name)) == str(tmp_path / name)
    else:  # a Mac's: the first name is kept
        assert find.spell_as_listed(str(tmp_path / "a.py")) == str(tmp_path / "A.py")
