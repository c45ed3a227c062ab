"""On a disk without any room: what cannot be done is said by its name, with what helps."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.project import MOOT, Project, Result

# A small disk of our own, which takes the project along and is then filled to the last byte.
ROOM = (
    'mount -t tmpfs -o size=1m none "$0" && cp -a "$1/." "$0" && '
    '{ cat /dev/zero > "$0/filler" 2> /dev/null; cd "$0" && shift && exec "$@"; }'
)


def on_a_full_disk(project: Project, disk: Path, *words: str) -> Result:
    disk.mkdir(exist_ok=True)
    within = ("unshare", "--map-root-user", "--mount", "sh", "-c", ROOM, str(disk))
    done = subprocess.run(
        [*within, str(project.root), *words],
        env=project.env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    return Result(done.returncode, done.stdout, done.stderr)


@pytest.fixture
def disk(project: Project, tmp_path: Path) -> Path:
    if shutil.which("unshare") is None or on_a_full_disk(project, tmp_path / "disk", "true").code:
        pytest.skip("no disk can be mounted here")
    return tmp_path / "disk"


def test_what_only_reads_answers_on_a_full_disk(project: Project, disk: Path) -> None:
    done = on_a_full_disk(project, disk, *MOOT, "--json", "agent", "list")
    assert (done.code, len(done.data["agents"])) == (0, 2)


@pytest.mark.parametrize("words", [("tick",), ("agent", "register", "coral-finch")])
def test_a_new_process_says_that_the_disk_is_full(
    project: Project, disk: Path, words: tuple[str, ...]
) -> None:
    done = on_a_full_disk(project, disk, *MOOT, "--json", *words)
    assert (done.error["code"], done.code) == ("disk_full", 4)
    assert "free some space" in done.error["hint"]
    assert not list(project.keys.glob("*/coral-finch.*"))
