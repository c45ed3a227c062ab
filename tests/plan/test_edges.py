"""A plan at its edges: the longest page, how it is found, what a strange id is called."""

from __future__ import annotations

from typing import Any

from moot.core.machine import Context, KeyClass, VerifiedActor
from moot.protocols.plan.commands import Amend
from moot.protocols.plan.machine import MACHINE as PLAN
from moot.protocols.plan.model import MAX_TEXT_BYTES, State
from moot.testing import World, given

STREAM = "plan/T-7"


def test_a_page_is_as_long_as_this_and_no_longer() -> None:
    scene = given(World(), PLAN, STREAM).as_("amber-otter")
    scene.refused("plan_too_long", Amend(work="T-7", text="x" * (MAX_TEXT_BYTES + 1), version=0))
    scene.when(Amend(work="T-7", text="x" * MAX_TEXT_BYTES, version=0))


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
