"""Errands, told as stories: given, when, then."""

from __future__ import annotations

import json

import pytest

from moot.core.names import SYSTEM
from moot.protocols.example.machine import MACHINE as EXAMPLE
from moot.protocols.example.model import (
    Ask,
    ErrandAsked,
    ErrandDone,
    ErrandLapsed,
    ErrandWithdrawn,
    Finish,
    Lapse,
    Meddled,
    State,
    Withdraw,
)
from moot.protocols.example.views import ErrandView, view_list
from moot.testing import Scenario, World, given

STREAM, OTTER, CRANE = "example/today", "amber-otter", "teal-crane"
TEA = Ask(title="tea", of=CRANE)
ASKED = ErrandAsked(id="e1", title="tea", of=CRANE, due_at=None)


@pytest.fixture
def world() -> World:
    return World()


def story(world: World) -> Scenario[State]:
    return given(world, EXAMPLE, STREAM).as_(CRANE).as_(OTTER)


def test_an_errand_is_asked_and_done_by_the_one_asked(world: World) -> None:
    story(world).when(TEA).then(ASKED).as_(CRANE).when(Finish(id="e1")).then(ErrandDone(id="e1"))
    state = world.engine.state(EXAMPLE, STREAM)
    assert (len(state.open), state.asked, state.closed) == (0, 1, 1)


def test_errands_are_numbered_in_the_order_of_asking(world: World) -> None:
    told = story(world).when(TEA, TEA, TEA).recorded
    assert [event.id for event in told if isinstance(event, ErrandAsked)] == ["e1", "e2", "e3"]


def test_the_asker_takes_an_errand_back(world: World) -> None:
    story(world).when(TEA).when(Withdraw(id="e1")).then(ErrandWithdrawn(id="e1"))


@pytest.mark.parametrize("title", ["", "   ", "\n"])
def test_an_errand_needs_a_title(world: World, title: str) -> None:
    story(world).refused("title_required", Ask(title=title, of=CRANE))


@pytest.mark.parametrize("name", ["", "x", "Teal Crane", "a/b"])
def test_an_errand_is_asked_of_an_agent(world: World, name: str) -> None:
    story(world).refused("bad_name", Ask(title="tea", of=name))


@pytest.mark.parametrize("command", [Finish, Withdraw])
def test_what_is_not_open_cannot_be_closed(world: World, command: type[Finish]) -> None:
    story(world).when(TEA).refused("errand_not_open", command(id="e2"))
    story(world).as_(CRANE).when(Finish(id="e1")).refused("errand_not_open", command(id="e1"))


@pytest.mark.parametrize(
    ("actor", "command", "tried"),
    [
        (OTTER, Finish(id="e1"), "finish"),
        (CRANE, Withdraw(id="e1"), "withdraw"),
        (OTTER, Lapse(id="e1"), "lapse"),
        (CRANE, Lapse(id="e1"), "lapse"),
    ],
)
def test_meddling_is_refused_and_on_record(
    world: World, actor: str, command: Finish, tried: str
) -> None:
    story(world).when(TEA).as_(actor).refused("not_yours", command, Meddled(id="e1", tried=tried))
    state = world.engine.state(EXAMPLE, STREAM)
    assert dict(state.meddlers) == {actor: 1}
    assert "e1" in state.open


def test_the_machine_lets_an_errand_lapse_when_its_time_is_over(world: World) -> None:
    due = world.clock.now + 60_000
    tale = story(world).when(Ask(title="tea", of=CRANE, due_at=due))
    world.clock.forward(minutes=1)
    tale.as_(CRANE).refused("errand_not_open", Finish(id="e1"), ErrandLapsed(id="e1"))


def test_the_machine_does_not_lapse_an_errand_before_its_time(world: World) -> None:
    due = world.clock.now + 60_000
    story(world).when(Ask(title="tea", of=CRANE, due_at=due), TEA)
    early = given(world, EXAMPLE, STREAM)
    early.actor = SYSTEM
    early.refused("too_early", Lapse(id="e1")).refused("too_early", Lapse(id="e2"))


def test_the_agenda_says_who_must_do_what_by_when(world: World) -> None:
    due = world.clock.now + 60_000
    story(world).when(TEA, Ask(title="cake", of=OTTER, due_at=due))
    first, second = (due for _, due in world.engine.agenda([STREAM]))
    assert (first.who, first.subject, first.by, first.command) == (CRANE, "e1: tea", None, None)
    assert (second.who, second.by, second.command) == (OTTER, due, Lapse(id="e2"))
    assert first.since == world.clock.now


def test_open_errands_are_indexed_and_found_by_their_words(world: World) -> None:
    story(world).when(TEA, Ask(title="green tea", of=OTTER), Ask(title="cake", of=CRANE))
    story(world).as_(CRANE).when(Finish(id="e1"))
    with world.store.read() as view:
        rows = [row.key for row in view.rows("example.errands", f"{STREAM}#")]
        assert rows == [f"{STREAM}#e2", f"{STREAM}#e3"]
        assert view.search("example.errands", "green tea") == [f"{STREAM}#e2"]
        assert [row.key for row in view.rows("open")] == [STREAM]


def test_what_people_read_lists_errands_as_they_were_asked(world: World) -> None:
    due = world.clock.now + 60_000
    story(world).when(*[Ask(title=str(n), of=CRANE, due_at=due) for n in range(12)])
    errands = view_list(world.engine.state(EXAMPLE, STREAM))
    assert [errand.title for errand in errands.open] == [str(n) for n in range(12)]
    assert errands.open[0] == ErrandView(
        id="e1", title="0", asked_by=OTTER, asked_of=CRANE, due_at="2026-02-18T16:01:00.000Z"
    )
    assert (errands.asked, errands.closed) == (12, 0)


def test_the_scenario_itself_notices_what_it_should(world: World) -> None:
    tale = story(world).when(TEA)
    with pytest.raises(AssertionError):
        tale.then(ErrandDone(id="e1"))
    with pytest.raises(AssertionError):
        tale.refused("errand_not_open", Withdraw(id="e1"))
    with pytest.raises(AssertionError):
        tale.as_(CRANE).refused("not_yours", Withdraw(id="e1"))
    with pytest.raises(AssertionError):
        tale.refused("title_required", Finish(id="e9"))


# Errands at their edges: what the index keeps after the first event, and after meddling.


def test_a_list_is_found_from_its_first_errand_on() -> None:
    world = World()
    story(world).when(TEA)
    assert world.engine.open_streams() == [STREAM]


def test_meddling_leaves_the_errand_where_it_is_found() -> None:
    world = World()
    withdraw = Withdraw(id="e1")
    story(world).when(TEA).as_(CRANE).refused(
        "not_yours", withdraw, Meddled(id="e1", tried="withdraw")
    )
    with world.store.read() as view:
        assert view.search("example.errands", "tea") == [f"{STREAM}#e1"]
        row = view.row("example.errands", f"{STREAM}#e1")
    assert row is not None
    assert json.loads(row.value) == {"of": CRANE, "title": "tea"}


def test_the_version_of_the_machine_is_raised_on_purpose() -> None:
    """Snapshots of another version are not read: all states would be computed again."""
    assert EXAMPLE.version == 1
