"""Errands at their edges: what the index keeps after the first event, and after meddling."""

from __future__ import annotations

import json

from moot.protocols.example.commands import Withdraw
from moot.protocols.example.events import Meddled
from moot.protocols.example.machine import MACHINE as EXAMPLE
from moot.testing import World

from .test_errands import CRANE, STREAM, TEA, story


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
    """Snapshots of another version are not read: all states would be worked out anew."""
    assert EXAMPLE.version == 1
