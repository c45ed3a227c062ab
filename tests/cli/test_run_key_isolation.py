"""Below `moot run`, the key folder that it lent is the only one: no variable gives another name."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.project import CRANE, MOOT, OTTER, Project, make_project

LIMIT = 120
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes above are not shown")


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return make_project(tmp_path, OTTER, CRANE, git=True)


def below_run(project: Project, *words: str) -> tuple[int, dict[str, Any]]:
    """How the command ended that `moot run` started, and what it printed as JSON."""
    done = subprocess.run(
        [*MOOT, "run", "--name", "blue-heron", "--", *words],
        cwd=project.root,
        env=project.env,
        capture_output=True,
        timeout=LIMIT,
        check=False,
    )
    lines = [line for line in done.stdout.decode().splitlines() if line.startswith("{")]
    return done.returncode, json.loads(lines[-1]) if lines else {}


def sending(*before: str, options: tuple[str, ...] = ()) -> list[str]:
    return [*before, *MOOT, "--json", *options, "send", OTTER, "INFO: hello"]


def letters(project: Project) -> Any:
    """What OTTER was sent, as it is on record."""
    return project.ok("--as", OTTER, "inbox")


# Every way to another folder: none named, the user's own, another agent's.
WAYS = {
    "no key folder": ("env", "-u", "MOOT_KEYS", f"MOOT_AGENT={CRANE}"),
    "neither": ("env", "-u", "MOOT_KEYS", "-u", "MOOT_AGENT", "-u", "MOOT_SOCKET"),
    "nothing at all": ("env", "-i", "PATH=/usr/bin:/bin", "HOME={home}"),
    "the user's own": ("env", "-u", "MOOT_SOCKET", "MOOT_KEYS={keys}", f"MOOT_AGENT={CRANE}"),
    "a copy of it": ("env", "-u", "MOOT_SOCKET", "MOOT_KEYS={copy}", f"MOOT_AGENT={CRANE}"),
    "through a shell": ("sh", "-c", f'unset MOOT_KEYS; MOOT_AGENT={CRANE} "$@"', "sh"),
}


@pytest.mark.parametrize("way", WAYS)
def test_another_key_folder_is_refused(project: Project, tmp_path: Path, way: str) -> None:
    home = tmp_path / "home"
    usual = home / ".local/share/moot/keys"
    usual.parent.mkdir(parents=True)
    shutil.copytree(project.keys, copy := tmp_path / "copy")
    project.keys.rename(usual)  # where a user's keys are if nothing is said
    project.env = {**project.env, "HOME": str(home), "MOOT_KEYS": str(usual)}
    project.keys.symlink_to(usual)
    filled = [word.format(home=home, keys=usual, copy=copy) for word in WAYS[way]]
    before = letters(project)
    code, said = below_run(project, *sending(*filled, options=("--as", CRANE)))
    assert said["error"], said
    assert (code, said["error"]["code"]) == (1, "key_folder_not_lent")
    assert letters(project) == before
    assert "leave MOOT_KEYS" in said["error"]["hint"]


def test_the_lent_folder_is_used(project: Project) -> None:
    code, said = below_run(project, *sending())
    assert (code, said["ok"]) == (0, True)


def test_a_run_below_a_run_has_its_own(project: Project) -> None:
    code, said = below_run(project, *MOOT, "run", "--", *sending())
    assert (code, said["ok"]) == (0, True)


def test_another_ledger_with_keys_of_its_own_is_nothing_to_the_run(
    project: Project, tmp_path: Path
) -> None:
    """As for somebody who tests moot below `moot run`."""
    other, keys = tmp_path / "elsewhere", tmp_path / "own-keys"
    other.mkdir()
    line = f'cd {other} && MOOT_KEYS={keys} "$@" init && MOOT_KEYS={keys} "$@" --json status'
    code, said = below_run(project, "sh", "-c", line, "sh", *MOOT)
    assert (code, said["ok"]) == (0, True), said
