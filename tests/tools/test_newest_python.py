"""`python -m tools.newest_python`: what starts is taken, what only has the name is not."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tools.newest_python import claimed_versions, find_newest, name_of

ROOT = Path(__file__).resolve().parents[2]
THIS = sys.version_info[:2]
LATER = (THIS[0], THIS[1] + 1)
LONGEST_SECONDS = 60
PAGE = (ROOT / "docs" / "quality.md").read_text("utf-8")


def add_python(folder: Path, version: tuple[int, int], *, starts: bool = True) -> Path:
    """This Python under some name, or what a version manager has for one that is switched off."""
    python = folder / f"python{name_of(version)}"
    folder.mkdir(exist_ok=True)
    if starts:
        python.symlink_to(sys.executable)
    else:
        python.write_text("#!/bin/sh\nexit 127\n")
        python.chmod(0o755)
    return python


def test_what_starts_is_found_behind_what_does_not(tmp_path: Path) -> None:
    folders = [tmp_path / "missing", tmp_path / "switched-off", tmp_path / "installed"]
    add_python(folders[1], LATER, starts=False)
    add_python(folders[1], THIS, starts=False)
    installed = add_python(folders[2], THIS)
    assert find_newest([LATER, THIS], folders) == installed


def test_a_name_that_promises_another_version_is_passed_over(tmp_path: Path) -> None:
    add_python(tmp_path, LATER)
    assert find_newest([LATER], [tmp_path]) is None


def test_a_machine_without_a_newer_one_says_so(tmp_path: Path) -> None:
    elsewhere = {"PATH": str(tmp_path), "HOME": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-m", "tools.newest_python"],
        env={**os.environ, **elsewhere, "PYENV_ROOT": ""},
        cwd=ROOT,
        capture_output=True,
        encoding="utf-8",
        timeout=LONGEST_SECONDS,
        check=True,
    )
    assert done.stdout == ""
    assert done.stderr.startswith(f"newer than {name_of(THIS)}: ")
    assert done.stderr.endswith("so nothing was run on another Python\n")


@pytest.mark.parametrize("version", claimed_versions(), ids=name_of)
def test_a_python_is_claimed_only_if_the_page_says_what_was_run_on_it(
    version: tuple[int, int],
) -> None:
    assert f"\n| {name_of(version)}." in PAGE
