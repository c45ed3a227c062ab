"""A plan at its edges: the longest page, how it is found, what a strange id is called."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest

from moot.core.machine import Command, Context, KeyClass, VerifiedActor
from moot.protocols.plan.machine import MACHINE as PLAN
from moot.protocols.plan.machine import Amend, State, stream_of
from moot.testing import World, given

STREAM = "plan/T-7"


def test_a_page_is_as_long_as_this_and_no_longer() -> None:
    scene = given(World(), PLAN, STREAM).as_("amber-otter")
    scene.refused("plan_too_long", Amend(work="T-7", text="x" * 8_193, version=0))
    scene.when(Amend(work="T-7", text="x" * 8_192, version=0))


@pytest.mark.parametrize("work", ["", "w" * 201])
def test_a_work_item_has_an_id_of_a_certain_length(work: str) -> None:
    scene = given(World(), PLAN, stream_of(work)).as_("amber-otter")
    scene.refused("bad_work", Amend(work=work, text="x", version=0))


def test_an_id_of_two_hundred_letters_or_of_one_is_taken() -> None:
    for work in ("w", "w" * 200):
        given(World(), PLAN, stream_of(work)).as_("amber-otter").when(
            Amend(work=work, text="x", version=0)
        )


def test_an_id_that_no_stream_can_have_is_known_by_its_hash() -> None:
    assert stream_of("ein Wörk") == "plan/~" + hashlib.sha256("ein Wörk".encode()).hexdigest()[:32]


def test_an_unknown_command_is_refused_by_the_machine_itself() -> None:
    class Strange(Command, frozen=True):
        pass

    context: Any = None
    decision = PLAN.decide(State(), Strange(), context)
    assert (decision.refused, decision.findings[0].code) == (True, "unknown_command")


def test_a_plan_is_found_by_its_words() -> None:
    scene = given(World(), PLAN, STREAM).as_("amber-otter")
    scene.when(Amend(work="T-7", text="1. green cache", version=0))
    with scene.world.store.read() as view:
        assert view.search("plan.pages", "green cache") == ["T-7"]


def test_a_strange_id_is_repeated_in_short() -> None:
    actor = VerifiedActor("amber-otter", 1, "k", KeyClass.AGENT)
    context: Any = Context(1_000, actor, STREAM, "o")
    decision = PLAN.decide(State(), Amend(work="w" * 70, text="x", version=0), context)
    assert decision.findings[0].message == f"{'w' * 60!r} is no work item's id"


def test_nothing_is_written_at_first() -> None:
    assert State() == State(work="", version=0, text="", by="", at=0)
