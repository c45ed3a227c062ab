"""Writers that die: no acknowledged entry is lost, and file and record find together again."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from moot.api.debates import session as debates
from moot.core.errors import Refused
from moot.protocols.debate.checker import check_session
from moot.protocols.debate.model import DebateEntry
from tests.debate.writing_process import DEATHS, draft
from tests.project import Project, make_project
from tests.tidy.source import ROOT

SEED = int(os.environ.get("MOOT_SEED", "4"))
NAMES = ("ant-one", "bee-two", "cow-three")


@pytest.fixture
def place(tmp_path: Path) -> Project:
    made = make_project(tmp_path)
    for name in NAMES:
        made.ok("agent", "register", name)
    return made


def begin(place: Project, *more: str) -> Path:
    named = ("--agents", ",".join(NAMES))
    place.ok("debate", "new", "s.md", "--title", "Which queue?", *named, *more)
    return place.root / "s.md"


def speak(place: Project, file: Path, *words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "tests.debate.writing_process", str(file), *words],
        cwd=ROOT,
        env={**place.env, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        text=True,
    )


def killed(process: subprocess.Popen[str]) -> list[str]:
    """End it at once; what it had said until then."""
    process.send_signal(signal.SIGKILL)
    return process.communicate(timeout=120)[0].split()


def entries(file: Path) -> list[DebateEntry]:
    """All of them, after the only error that may be there: the last one is open."""
    checked = check_session(file.read_bytes())
    wrong = [one for one in checked.findings if one.severity == "error"]
    assert [one.code for one in wrong] in ([], ["MISSING_YIELD_MARKER"])
    found = list(checked.document.entries)
    assert all(one.yielded for one in found[:-1])
    return found


@pytest.mark.requirement("BNC-102")
@pytest.mark.parametrize("moment", DEATHS)
def test_whenever_a_writer_dies_its_author_comes_back_to_one_entry(
    place: Project, moment: str
) -> None:
    file = begin(place)
    with speak(place, file, NAMES[0], "1", moment) as dead:
        assert dead.stdout is not None
        assert dead.stdout.read() == ""
    assert dead.returncode == 9
    left = entries(file)
    with place.workspace() as space:
        clock = space.engine.clock
        if moment == "before it is acknowledged":  # it is recorded: the next one's turn
            with pytest.raises(Refused, match="not ant-one's turn"):
                debates.add(file, draft(NAMES[0], 0), clock, space)
        else:
            done = debates.add(file, draft(NAMES[0], 0), clock, space)
            assert done.recorded == "signed"
        debates.add(file, draft(NAMES[1], 0), clock, space)
    after = entries(file)
    assert [one.author for one in after] == [NAMES[0], NAMES[1]]
    assert all(one.yielded for one in after)
    if left and left[0].yielded:
        assert after[0].id == left[0].id
    assert place.ok("debate", "verify", "s.md")["verdict"] == "valid"


@pytest.mark.requirement("BNC-101")
@pytest.mark.requirement("BNC-104")
def test_writers_killed_at_random_moments_lose_nothing_that_was_acknowledged(
    place: Project,
) -> None:
    rng = random.Random(SEED)
    file = begin(place, "--turn-order", "free-form", "--max-turns-per-round", "10",
                 "--max-rounds", "100")  # fmt: skip
    acknowledged: list[str] = []
    running = {name: speak(place, file, name, "1000") for name in NAMES}
    for _ in range(6):
        name = rng.choice(NAMES)
        victim = running[name]
        assert victim.stdout is not None
        acknowledged += [victim.stdout.readline().strip() for _ in range(rng.randint(1, 4))]
        for _ in range(rng.randint(0, 40_000)):
            pass  # some part of an append goes by
        acknowledged += killed(victim)
        running[name] = speak(place, file, name, "1000")
    for process in running.values():
        acknowledged += killed(process)
    acknowledged = [one for one in acknowledged if one]
    written = [one.id for one in entries(file)]
    assert len(acknowledged) > 10, f"seed {SEED}"
    assert [one for one in acknowledged if written.count(one) != 1] == [], f"seed {SEED}"
    place.ok("debate", "tick", "s.md")
    assert place.json("debate", "verify", "s.md").data["verdict"] in ("valid", "unproven")
    assert check_session(file.read_bytes()).findings == () or entries(file)
