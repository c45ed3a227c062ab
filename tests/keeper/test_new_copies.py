"""A copy that nobody has asked for news yet."""

from __future__ import annotations

import time

import pytest

from moot.keeper.joined_engine import JoinedEngine
from tests.cli.project import Project


def test_a_copy_is_never_fresh_before_it_was_asked_for_whatever_the_clock_says(
    laptop: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The clock that only goes forward begins when the machine is started: at nought."""
    monkeypatch.setattr(time, "monotonic", lambda: 0.01)
    with laptop.workspace() as workspace:
        engine = workspace.engine
        assert isinstance(engine, JoinedEngine)
        assert not engine._copy.is_fresh
