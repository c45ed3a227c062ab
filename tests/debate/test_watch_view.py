"""`moot debate watch`: columns that stay, text that wraps, whose turn it is and how long."""

from __future__ import annotations

from pathlib import Path

import pytest

from moot.api.debates.proof import DebateTurn, watch
from moot.api.session import Session
from moot.protocols.debate.checker import check_session
from moot.protocols.debate.phases import Phase
from moot.protocols.debate.views import EntryView, require_course, view_entry
from moot.surfaces.cli.debate.proof import WatchView, entry_lines, turn_line
from tests.debate.sessions import TWO_ROUNDS, entry, session


def entries() -> list[EntryView]:
    rounds = require_course(check_session(TWO_ROUNDS)).rounds
    return [view_entry(one) for each in rounds for one in each.entries]


def test_columns_stand_below_each_other() -> None:
    shown = [next(iter(entry_lines(one, 12, None))) for one in entries()]
    starts = {line.index(one.summary) for line, one in zip(shown, entries(), strict=True)}
    assert len(starts) == 1
    assert len(shown) == 4


@pytest.mark.parametrize("columns", [30, 60, 80, 120])
def test_long_text_is_wrapped_under_itself(columns: int) -> None:
    long = entries()[0]
    words = "one two three four five six seven eight nine ten eleven twelve thirteen"
    said = EntryView(**{**{f: getattr(long, f) for f in long.__struct_fields__}, "summary": words})
    lines = list(entry_lines(said, 12, columns))
    assert max(map(len, lines)) <= max(columns, 48)
    assert " ".join(" ".join(lines).split()).endswith(words)


def test_the_turn_and_the_time_left_are_told() -> None:
    turn = DebateTurn(Phase.ACTIVE, 2, 3, "blue-hen", 250.0)
    assert turn_line(turn) == "round 2 turn 3: blue-hen, 4 min 10 s left"
    late = DebateTurn(Phase.ACTIVE, 2, 3, "blue-hen", -65.0)
    assert turn_line(late) == "round 2 turn 3: blue-hen, 1 min 5 s over its time"


def test_a_pipe_hears_of_a_turn_once(capsys: pytest.CaptureFixture[str]) -> None:
    view = WatchView()
    for left in (10.0, 9.0, 8.0):
        view.show_turn(DebateTurn(Phase.ACTIVE, 1, 1, "red-fox", left))
    view.show_turn(DebateTurn(Phase.ACTIVE, 1, 2, "blue-hen", 300.0))
    view.close()
    assert capsys.readouterr().out.splitlines() == [
        "round 1 turn 1: red-fox, 10 s left",
        "round 1 turn 2: blue-hen, 5 min 0 s left",
    ]


def test_a_watch_tells_whose_turn_it_is(tmp_path: Path) -> None:
    file = tmp_path / "s.md"
    file.write_text(session(entry(1, "red-fox")), "utf-8")
    turns: list[DebateTurn] = []
    with Session(tmp_path, env={}) as opened:
        watched = watch(opened, file, seconds=0, receive_turn=turns.append)
    assert [turn.next for turn in turns] == [watched.next]
    assert watched.next == "blue-hen"
