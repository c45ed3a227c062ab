"""Whose turn it is: a value that tells everybody once, and keeps nobody waiting inside."""

from __future__ import annotations

import pytest

from moot.hosts import turns as turns_module
from moot.hosts.turns import Turns


class ClientConnection:
    """A line that lines up, and what it was told."""

    def __init__(self, turns: Turns, machine: int) -> None:
        self._turns = turns
        self._machine = machine
        self.told: list[bool] = []

    def take(self, *streams: str, early: bool = False) -> list[bool]:
        self._turns.queue_for_turn(self, self._machine, streams, self.told.append, early=early)
        return self.tell_all()

    def wait(self, *streams: str) -> list[bool]:
        self._turns.wait_until_free(self, self._machine, streams, self.told.append)
        return self.tell_all()

    def release(self) -> None:
        self._turns.release(self)
        self.tell_all()

    def tell_all(self) -> list[bool]:
        """What it has been told since it was last asked here."""
        before = len(self.told)
        while self._turns.notify_all():
            pass
        return self.told[before:]


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time, which stands still until a test moves it."""
    now = [1_000.0]
    monkeypatch.setattr("moot.hosts.turns.time.monotonic", lambda: now[0])
    return now


def lines(count: int) -> tuple[Turns, list[ClientConnection]]:
    turns = Turns()
    return turns, [ClientConnection(turns, number) for number in range(count)]


def test_a_few_commands_in_one_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns_module, "MAX_COMMITS_PER_TURN", 3)
    turns, (first, second) = lines(2)
    assert not turns.keep_turn(first), "without a turn there is none to keep"
    assert first.take("a") == [True]
    assert [turns.keep_turn(first) for _ in range(3)] == [True, True, False]
    assert not turns.keep_turn(second)
    first.release()
    assert not turns.keeps_turn(first)
    assert second.take("a") == [True]
    assert turns.keep_turn(second), "each turn counts from zero"


@pytest.mark.usefixtures("clock")
def test_anyone_who_is_next_is_told_early_and_keeps_its_place() -> None:
    _, (first, second, third) = lines(3)
    assert first.take("a", early=True) == [True]
    assert second.take("a", early=True) == [False], "it is next, at once"
    assert third.take("a") == []
    first.release()
    assert second.take("a") == [True]
    assert third.told == []
    second.release()
    assert third.told == [True]


@pytest.mark.usefixtures("clock")
def test_anyone_who_is_told_early_is_of_the_machine_whose_turn_comes_next() -> None:
    turns = Turns()
    first, second, same, other = (ClientConnection(turns, machine) for machine in (1, 2, 2, 3))
    assert first.take("a", early=True) == [True]
    assert second.take("a", early=True) == [False]
    assert same.take("a", early=True) == other.take("a", early=True) == []
    first.release()
    assert second.take("a") == [True]
    assert other.told == [False], "its machine has had no turn, unlike that of the one before it"
    assert same.told == []
    second.release()
    assert other.take("a") == [True]
    assert same.told == [False]


@pytest.mark.usefixtures("clock")
def test_anyone_who_comes_again_before_its_turn_waits_at_its_old_place() -> None:
    _, (first, second, third) = lines(3)
    assert first.take("a") == [True]
    assert second.take("a", early=True) == [False]
    assert third.take("a") == []
    assert second.take("a") == []
    first.release()
    assert (second.told, third.told) == ([False, True], [])


@pytest.mark.usefixtures("clock")
def test_a_line_that_ended_has_no_place_any_more() -> None:
    _, (first, second, third) = lines(3)
    assert first.take("a") == [True]
    assert second.take("a", early=True) == [False]
    second.release()
    first.release()
    assert third.take("a") == [True]


def test_a_turn_whose_holder_is_silent_is_over_by_itself(clock: list[float]) -> None:
    turns, (first, second) = lines(2)
    assert first.take("a") == [True]
    assert second.wait("a") == []
    assert turns.next_deadline() == clock[0] + turns_module.TURN_SECONDS
    clock[0] = turns.next_deadline()
    turns.expire()
    assert second.tell_all() == [True]


def test_anyone_who_waits_in_vain_is_told_in_time(
    clock: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(turns_module, "TURN_SECONDS", 3_600.0)
    turns, (first, second) = lines(2)
    assert first.take("a", "b") == [True]
    assert second.take("b") == []
    clock[0] = turns.next_deadline()
    assert clock[0] == 1_000.0 + turns_module.WAIT_SECONDS
    turns.expire()
    assert second.tell_all() == [False]
    first.release()
    assert second.tell_all() == [], "it has no place any more, and is told once"


@pytest.mark.usefixtures("clock")
def test_the_machine_that_had_its_turn_longest_ago_is_next() -> None:
    turns = Turns()
    greedy = [ClientConnection(turns, 1) for _ in range(3)]
    modest = ClientConnection(turns, 2)
    assert greedy[0].take("a") == [True]
    assert (greedy[1].take("a"), greedy[2].take("a"), modest.take("a")) == ([], [], [])
    greedy[0].release()
    assert modest.told == [True]


@pytest.mark.usefixtures("clock")
def test_streams_that_nobody_has_wait_for_nobody() -> None:
    turns, (first, second) = lines(2)
    assert first.take("a") == [True]
    assert second.take("b") == [True]
    assert ClientConnection(turns, 3).wait("c") == [True]
