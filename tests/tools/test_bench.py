"""The benchmark's own ground stands, and what breaks in it is named and spoils nothing else."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from bench import __main__ as bench
from bench.crowd import gathered
from bench.figure import Figure
from bench.ground import Ground, keys_of, opened
from bench.measures import MEASURES
from bench.reserver import acting

from moot.api.presence import scopes


def test_a_crowd_holds_what_it_was_given_and_can_be_acted_in(tmp_path: Path) -> None:
    place = gathered(Ground(tmp_path, quick=True), "crowd", agents=4, held=6)
    assert not keys_of(place).is_relative_to(place)
    with acting(place, "agent-1") as session:
        held = scopes.list_reservations(session).reservations
        assert len(held) == 6
    with opened(place) as workspace:
        assert len(workspace.engine.registry().agents) >= 4


def test_a_measure_that_fails_is_named_and_the_others_are_taken(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    def fail(_ground: Ground) -> Iterator[Figure]:
        yield Figure(name="the first half", unit="ms", ours=1.0)
        raise OSError("the disk is full")

    def succeed(_ground: Ground) -> Iterator[Figure]:
        yield Figure(name="another", unit="ms", ours=2.0)

    for name in list(MEASURES):
        monkeypatch.delitem(MEASURES, name)
    monkeypatch.setitem(MEASURES, "failing", lambda: fail)
    monkeypatch.setitem(MEASURES, "sound", lambda: succeed)
    monkeypatch.setattr(sys, "argv", ["bench"])
    monkeypatch.setattr("bench.results.keep", lambda _data: tmp_path / "latest.json")
    monkeypatch.setattr("gc.set_threshold", lambda _most: None)
    assert bench.main() == 1
    shown = capsys.readouterr()
    assert "not measured to the end:\n  failing: the disk is full" in shown.err
    assert ("the first half" in shown.out, "another" in shown.out) == (True, True)
