"""The table of a run: who is thinking and for how long, what each said, stance and cost."""

from __future__ import annotations

import re
import threading

import pytest
from rich.console import Console

from moot.agents.cost import cost_of_call
from moot.agents.outcome import CallEnding, CallOutcome
from moot.agents.participant import Nature, ParticipantKind
from moot.agents.reply import MOST_WORDS, shorten_reply
from moot.core.machine import Due
from moot.surfaces.cli.runs.live import Board, BoardRow, ending_line
from moot.surfaces.terminal.local_time import short_duration

PROGRAM = Nature(ParticipantKind.COMMAND, "cmd:claude -p")


class QuietBoard(Board):
    """Draws only when it is looked at."""

    def _show(self) -> None: ...

    def drawn(self) -> str:
        console = Console(width=140, record=True, file=None, quiet=True)
        console.quiet = False
        with console.capture() as captured:
            console.print(self)
        return captured.get()


def due(who: str) -> Due:
    return Due(who=who, what="first_answer", subject="first answer")


def answered(who: str, stance: str, words: str) -> CallOutcome:
    return CallOutcome(
        agent=who,
        what="entry",
        subject="round 1, entry 1",
        ending=CallEnding.ANSWERED,
        cost=cost_of_call(10, 5),
        stance=stance,
        words=words,
    )


@pytest.mark.requirement("AGT-080")
def test_it_shows_who_thinks_who_has_answered_and_what_was_said() -> None:
    board = QuietBoard("q-1: Ship it?")
    for name in ("amber-otter", "teal-crane"):
        board.on_asking(due(name), PROGRAM, 1)
    assert board.drawn().count("thinking …") == 2
    board.on_call_ended(due("teal-crane"), 65.0)
    seen = board.drawn()
    assert seen.count("thinking") == 1
    assert "answered after 1 min 5 s" in seen
    board.on_outcome(answered("teal-crane", stance="approve 0.8", words="It is ready."))
    seen = board.drawn()
    for words in ("It is ready.", "approve 0.8", "15 tokens", "cmd:claude -p", "so far"):
        assert words in seen


def test_its_clock_moves() -> None:
    row = BoardRow(PROGRAM)
    row.since = 100.0
    assert [row.now(at) for at in (100.0, 112.9, 165.0)] == [
        "thinking … 0 s",
        "thinking … 12 s",
        "thinking … 1 min 5 s",
    ]


def test_waiting_counts_down() -> None:
    board = QuietBoard("q-1", "Ctrl-C keeps everything")
    board.on_asking(due("amber-otter"), PROGRAM, 1)
    board.on_waiting(due("amber-otter"), 120.5)
    shown = " ".join(board.drawn().split())
    assert re.search(r"Ctrl-C keeps everything · \d+ (min|s)[ \d s]* left · \d+ s so far", shown)


def test_what_participants_say_cannot_draw_outside_its_cell() -> None:
    board = QuietBoard("q-1")
    board.on_asking(due("amber-otter"), PROGRAM, 1)
    evil = "\x1b[2J[bold red]x[/]\r\nsecond line ┃ ┃ \u202e" + "w" * 5_000
    board.on_outcome(answered("amber-otter", stance=evil[:40], words=evil))
    seen = board.drawn()
    assert "\x1b[2J" not in seen
    assert "\u202e" not in seen
    assert "[bold red]x[/]" in seen
    assert max(map(len, seen.splitlines())) <= 140
    line = ending_line(answered("amber-otter", stance=evil[:40], words=evil))
    assert line.isprintable()
    assert len(line) < 400


def test_two_threads_may_look_and_tell_at_once() -> None:
    board = QuietBoard("q-1")
    names = [f"agent-{number}" for number in range(40)]
    board.on_asking(due("agent-0"), PROGRAM, 1)

    def tell() -> None:
        for name in names:
            board.on_asking(due(name), PROGRAM, 1)
            board.on_call_ended(due(name), 1.0)

    teller = threading.Thread(target=tell)
    teller.start()
    while teller.is_alive():
        assert "participant" in board.drawn()
    teller.join(timeout=30)
    assert all(name in board.drawn() for name in names)


@pytest.mark.parametrize(
    ("reply", "stance", "words"),
    [
        ({"answer": "Postgres", "why": "It is there."}, "", "Postgres"),
        (
            {"stance": "approve", "confidence": 0.8, "summary": "Fine.\n\nx"},
            "approve 0.8",
            "Fine. x",
        ),
        ({"vote": "YES", "reasoning": "Because."}, "YES", "Because."),
        ({"stance": 7, "confidence": True, "summary": ["x"], "body": " "}, "", ""),
        ({"stance": "approve", "confidence": 1e309}, "approve inf", ""),
        ({}, "", ""),
    ],
)
def test_a_reply_in_short(reply: dict[str, object], stance: str, words: str) -> None:
    assert shorten_reply(reply) == (stance, words)


def test_a_megabyte_is_cut() -> None:
    assert len(shorten_reply({"answer": "w " * 500_000}).words) == MOST_WORDS


def test_durations_are_said_as_one_says_them() -> None:
    said = [short_duration(seconds) for seconds in (-3, 0.9, 59.9, 60, 3_599, 3_600, 90_000)]
    assert said == ["0 s", "0 s", "59 s", "1 min 0 s", "59 min 59 s", "1 h 0 min", "25 h 0 min"]
