"""What a run's watcher notices reaches the person's own program, each once."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.test_person_notices import Bell
from tests.hooks.yard import CRANE, Yard
from tests.watching.post import hold

WRITE = "open('a.txt', 'w').write('changed')"


@pytest.fixture
def bell(tmp_path: Path) -> Iterator[Bell]:
    folder = tmp_path / "bell-of-person"
    folder.mkdir()
    bell = Bell(folder)
    yield bell
    bell.close()


def run_program(yard: Yard, bell: Bell, text: str) -> None:
    words = ("run", "--name", "coral-finch", "--", sys.executable, "-c", text)
    assert yard.spawn(*words, MOOT_CONFIG=str(bell.settings)).code == 0


def test_a_change_of_what_another_holds_rings_once(yard: Yard, bell: Bell) -> None:
    hold(yard, CRANE, yard.other, "a.txt")
    run_program(yard, bell, f"{WRITE}; {WRITE}")
    expected = (
        "changed while coral-finch's command ran; no one else known to Moot was at work, while"
        " teal-crane holds it: a.txt"
    )
    assert bell.next() == f"incursion: moot: {expected}"
    # What rings next is another happening: nothing was told in between.
    yard.ok(
        "ask", "Is it?", "--with", "rules:approve,rules:approve", MOOT_CONFIG=str(bell.settings)
    )
    assert bell.next().startswith("decision: ")


def test_a_change_by_someone_unknown_rings_too(yard: Yard, bell: Bell) -> None:
    hold(yard, CRANE, yard.other, "a.txt")
    yard.ok("--as", "amber-otter", "join")  # a second one here: nobody can tell who it was
    run_program(yard, bell, WRITE)
    expected = "changed by someone unknown, while teal-crane holds it: a.txt"
    assert bell.next() == f"incursion: moot: {expected}"
