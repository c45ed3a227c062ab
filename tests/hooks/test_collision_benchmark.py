"""The benchmark of collisions counts what it says: a small course of it, and its pieces.

The whole of it is `make bench-collisions`.
"""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec
import pytest
from bench.collisions import tool
from bench.collisions.arms import ARMS, Arm
from bench.collisions.coordination import Heeding, PromptLock
from bench.collisions.course import Course, Row, make_template
from bench.collisions.directed_model import DirectedModel
from bench.collisions.merging import merge_branch, would_merge
from bench.collisions.page import build_report, draw_pictures
from bench.collisions.work import SHARED, Change, choose_changes, write_repository

from moot.pages import to_markdown
from tests.real_tools.scripted_model import END, Turn, Use

BY_NAME = {arm.name: arm for arm in ARMS}
TABLE = Change(0, 0, SHARED[0], -1, False, 30.0)
OTHER_LINE = Change(1, 1, SHARED[0], -1, False, 30.0)
FUNCTION = Change(2, 1, SHARED[0], 3, True, 30.0)


@pytest.fixture
def shared_file(tmp_path: Path) -> Path:
    write_repository(tmp_path)
    return tmp_path / SHARED[0]


def run(tmp_path: Path, arm: Arm, **place: float) -> Row:
    make_template(tmp_path / "template")
    (tmp_path / "course").mkdir()
    chosen = {"agents": 2, "overlap": 1.0, "seed": 1} | place
    course = Course(
        tmp_path / "course" / arm.name,
        tmp_path / "template",
        arm,
        agents=int(chosen["agents"]),
        overlap=chosen["overlap"],
        seed=int(chosen["seed"]),
    )
    return course.run(scale=200)


def test_a_seed_gives_every_arm_the_same_work() -> None:
    chosen = choose_changes(3, 4, 0.5)
    assert chosen == choose_changes(3, 4, 0.5)
    assert chosen != choose_changes(4, 4, 0.5)
    places = [(change.path, change.place) for change in chosen if change.place >= 0]
    assert len(places) == len(set(places))  # no two contradict each other


def test_lines_of_one_table_conflict_and_functions_do_not(shared_file: Path) -> None:
    base = shared_file.read_text("utf-8")
    assert not would_merge(base, [TABLE], [OTHER_LINE])
    assert would_merge(base, [TABLE], [FUNCTION])


def test_a_whole_file_from_memory_loses_what_came_between(shared_file: Path) -> None:
    root = shared_file.parents[1]
    seen = shared_file.read_text("utf-8")
    shared_file.write_text(TABLE.apply(seen), encoding="utf-8")
    assert not tool.write_change("claude", root, FUNCTION, seen)  # it looks again
    assert TABLE.is_in(shared_file.read_text("utf-8"))
    assert tool.write_change("gemini", root, FUNCTION, seen)
    text = shared_file.read_text("utf-8")
    assert (TABLE.is_in(text), FUNCTION.is_in(text)) == (False, True)


def test_a_lock_holds_only_those_who_heed_it(tmp_path: Path) -> None:
    first = PromptLock(tmp_path, "first", Heeding(1.0, "a"))
    heeds, ignores = (PromptLock(tmp_path, "second", Heeding(p, "b")) for p in (1.0, 0.0))
    assert first.claim(TABLE)
    assert (heeds.claim(TABLE), ignores.claim(TABLE)) == (False, True)
    heeds.give_back([TABLE.path])  # not its own
    assert not heeds.is_free(TABLE)
    first.give_back([TABLE.path])
    assert heeds.claim(TABLE)


def test_a_conflict_drops_nothing_of_either_side(tmp_path: Path) -> None:
    arm = BY_NAME["worktrees"]
    make_template(tmp_path / "template")
    place = tmp_path / "place"
    place.mkdir()
    course = Course(place, tmp_path / "template", arm, agents=2, overlap=1.0, seed=1)
    changes = [TABLE, OTHER_LINE]
    for number, change in enumerate(changes):
        root = course.root(f"agent-{number}")
        file = root / change.path
        file.write_text(change.apply(file.read_text("utf-8")), encoding="utf-8")
        course.git("commit", "-qam", "work", cwd=root)
    merged = [merge_branch(course.main, course.env, f"agent-{n}", changes) for n in (0, 1)]
    assert [one.conflicts for one in merged] == [0, 1]
    assert merged[1].thinking == OTHER_LINE.thinking
    text = (course.main / SHARED[0]).read_text("utf-8")
    assert all(change.is_in(text) for change in changes)


@pytest.mark.thorough
def test_under_moot_every_change_of_a_small_course_survives(tmp_path: Path) -> None:
    row = run(tmp_path, BY_NAME["moot-first"])
    assert (row.lost, row.failing, row.given_up, row.conflicts) == (0, 0, 0, 0)
    assert row.hook_millis_per_edit > 0


def test_what_is_missing_at_the_end_is_counted_and_fails_its_test(tmp_path: Path) -> None:
    row = run(tmp_path, BY_NAME["nothing"], overlap=1.0)
    assert row.lost == row.failing
    assert (row.refused, row.hook_millis_per_edit) == (0, 0)


def test_a_worker_decides_the_turns_of_a_directed_model() -> None:
    """A request that comes again gets the same answer, one that is offered no tool is no turn."""
    model, read = DirectedModel(), Use("Read", {"file_path": "a.py"})
    write = Use("Write", {"file_path": "a.py"})
    offered: dict[str, dict[str, object]] = {"Read": {}, "Write": {}}
    with model, ThreadPoolExecutor(1) as worker:
        told = worker.submit(lambda: (model.use(read), model.use(write)))
        model.read.append({"text": "do it"})
        assert model.answer(Turn(0, {})) == END
        assert model.answer(Turn(0, offered)) == [read]
        model.read.append({"text": "what a.py says"})
        assert model.answer(Turn(1, offered)) == [write]
        assert model.answer(Turn(1, offered)) == [write]
        model.read.append({"text": "a.py is held by crane"})
        model.end()
        assert model.answer(Turn(2, offered)) == END
        assert told.result(10) == ("what a.py says", "a.py is held by crane")


def test_without_the_real_tools_it_says_what_they_take(tmp_path: Path) -> None:
    env = {**os.environ, "MOOT_AGENT_TOOLS": str(tmp_path / "tools"), "PATH": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-m", "bench.collisions", "--real"],
        cwd=Path(__file__).parents[2],
        env=env,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert "takes npm" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_page_shows_what_was_counted() -> None:
    row = Row(
        arm="nothing",
        agents=4,
        overlap=0.5,
        seed=1,
        heeded=None,
        changes=16,
        lost=3,
        noticed=1,
        conflicts=0,
        failing=3,
        thrown_away=40.0,
        waited=0.0,
        wall=200.0,
        hook_millis_per_edit=0.0,
        refused=0,
        needless=0,
        needless_tellings=0,
        given_up=0,
    )
    worse = msgspec.structs.replace(row, seed=2, lost=5)
    text = to_markdown(build_report([row, worse], []))
    assert "4 (3 to 5)" in text
    assert "Changes lost in silence, of 32" in draw_pictures([row, worse])["collisions.svg"]
