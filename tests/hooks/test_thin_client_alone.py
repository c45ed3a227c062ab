"""The thin client with nobody beside it: it goes on itself where a new Python would do the same."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from moot.coding_tools.hook_command import hook_words
from tests.hooks.tool_calls import call
from tests.project import CRANE, OTTER, Project

LIMIT = 60
STARTED_AGAIN = 77
CLIENT = hook_words("claude")[3]


def answer(
    project: Project, before: str = "", client: str = CLIENT, **settings: str
) -> tuple[bytes, bytes, int]:
    """What the client printed, said aside, and ended with, after the code `before`."""
    script = f"""
import os, runpy, sys
os.execv = lambda *_: os._exit({STARTED_AGAIN})
{before}
sys.argv = [{client!r}, "claude"]
runpy.run_path({client!r}, run_name="__main__")
"""
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", script],
        cwd=project.root,
        env={**project.env, "MOOT_AGENT": OTTER, **settings},
        input=json.dumps(call("claude-write", project.root)).encode(),
        capture_output=True,
        timeout=LIMIT,
        check=False,
    )
    return done.stdout, done.stderr, done.returncode


def test_it_answers_itself_without_a_new_process(project: Project) -> None:
    assert answer(project) == (b"", b"", 0)
    assert project.owners() == {"a.txt": OTTER}


def test_it_holds_an_edit_back_as_the_whole_hook_does(project: Project) -> None:
    project.reserve(CRANE, "a.txt")
    out, err, code = answer(project)
    assert (json.loads(out)["decision"], err, code) == ("block", b"", 0)
    assert project.owners() == {"a.txt": CRANE}


@pytest.mark.parametrize(
    ("name", "code"),
    [("PYTHONPATH", STARTED_AGAIN), ("PYTHONUTF8", STARTED_AGAIN), ("PYTHONUNBUFFERED", 0)],
)
def test_settings_for_python_count_where_they_matter(
    project: Project, name: str, code: int
) -> None:
    assert answer(project, **{name: "1"})[2] == code


def test_a_moot_that_python_would_not_find_there_is_started_again(
    project: Project, tmp_path: Path
) -> None:
    folder = tmp_path / "elsewhere" / "moot" / "surfaces" / "hooks"
    folder.mkdir(parents=True)
    copy = shutil.copy(CLIENT, folder)
    assert answer(project, client=str(copy))[2] == STARTED_AGAIN
    assert project.owners() == {}


@pytest.mark.skipif(sys.prefix == sys.base_prefix, reason="needs an environment of its own")
@pytest.mark.parametrize(("is_there", "code"), [(True, STARTED_AGAIN), (False, 0)])
def test_modules_of_the_users_own_are_looked_for_by_a_new_process(
    project: Project, tmp_path: Path, is_there: bool, code: int
) -> None:
    """Outside of an environment, which is what the client is made to believe."""
    users = tmp_path / "modules"
    if is_there:
        users.mkdir()
    before = f"import site; sys.base_prefix = {sys.prefix!r}; site.USER_SITE = {os.fspath(users)!r}"
    assert answer(project, before)[2] == code
    believing_nothing = answer(project, f"import site; site.USER_SITE = {os.fspath(users)!r}")
    assert believing_nothing[2] == 0
