"""What is observed says something, what resumes has a mark, and a timeout is noted once."""

from __future__ import annotations

from typing import Any

import pytest

from moot.core.findings import select_errors
from moot.core.machine import Context, KeyClass, VerifiedActor
from moot.core.names import SYSTEM
from moot.protocols.debate import commands as ask
from moot.protocols.debate.machine import MACHINE
from moot.testing import World

from .test_record import STREAM, adding, begun, late


def judge(world: World, command: Any) -> list[str]:
    machine = VerifiedActor(SYSTEM, 1, "", KeyClass.SYSTEM)
    context = Context(world.clock(), machine, STREAM, "o")
    decision = MACHINE.decide(world.engine.state(MACHINE, STREAM), command, context)
    return [finding.code for finding in select_errors(decision.findings)]


@pytest.mark.requirement("BNC-067")
def test_what_is_observed_ends_with_an_entry_or_a_mark() -> None:
    world = begun()
    assert judge(world, adding(world, "Only words.\n", ask.Observe)) == ["nothing_said"]


@pytest.mark.requirement("BNC-051")
def test_anyone_who_resumes_leaves_a_mark() -> None:
    world = begun("ant", "bee", escalation="human")
    late(world)
    assert judge(world, adding(world, "Go on.\n", ask.Resume)) == ["no_mark"]


@pytest.mark.requirement("BNC-168")
def test_a_timeout_is_noted_once() -> None:
    world = begun("ant", "bee", escalation="human")
    late(world)
    assert judge(world, ask.NoteTimeout()) == []
    world.engine.tick(STREAM)
    assert judge(world, ask.NoteTimeout()) == ["noted_already"]


def test_the_version_of_the_machine_is_raised_on_purpose() -> None:
    """Snapshots of another version are not read: all states would be computed again."""
    assert MACHINE.version == 2
