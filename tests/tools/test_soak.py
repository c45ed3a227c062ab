"""The soak's own eyes: what it must see in a record, and how it draws what it measured."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from bench.soak import keys_beside
from bench.soak.crew import Acknowledged
from bench.soak.invariants import count_events, find_double_holders, find_flaws
from bench.soak.picture import draw
from bench.soak.watch import Sample, Watch

from moot.core.clock import system_clock
from moot.core.machine import Recorded
from moot.core.record import Actor
from moot.keys.folder import KeyFolder
from moot.protocols.presence import events as did
from moot.workspace.create import create_workspace


def recorded(name: str, event: Any) -> Recorded[Any]:
    return Recorded(event, "presence", 0, 0, Actor(name, 1, "k"), b"")


def reserved(fencing: int) -> did.ScopeReserved:
    return did.ScopeReserved(
        fencing=fencing, key="src/a.py", scope="src/a.py", work=None, worktree="/w", branch=None,
        expires_at=None, automatic=False,
    )  # fmt: skip


def test_two_holders_of_one_file_are_seen_and_one_after_the_other_is_not() -> None:
    first, second = recorded("otter", reserved(1)), recorded("crane", reserved(2))
    released = recorded("otter", did.ScopeReleased(fencing=1, key="src/a.py", scope="src/a.py"))
    assert list(find_double_holders([first, released, second])) == []
    assert len(list(find_double_holders([first, second]))) == 1


def test_what_was_acknowledged_and_is_not_on_record_is_named(tmp_path: Path) -> None:
    root = tmp_path / "project"
    root.mkdir()
    create_workspace(root, KeyFolder(keys_beside(root)), system_clock)
    told = Acknowledged("otter", ("send", "thread:1"), 1.0)
    assert list(find_flaws(root, [])) == []
    (flaw,) = find_flaws(root, [told])
    assert "('send', 'thread:1')" in flaw
    assert count_events(root) > 0


def test_growth_is_the_last_quarter_against_the_second(tmp_path: Path) -> None:
    watch = Watch(tmp_path)
    assert watch.tell_growth() == {}
    watch.samples = [Sample(number, 10.0, 4.0, 1.0 + (number >= 6)) for number in range(8)]
    assert watch.tell_growth() == {"memory_mb": 1.0, "bytes_per_event": 1.0, "latency_ms": 2.0}


def test_the_picture_is_well_formed_and_has_three_curves() -> None:
    samples = [Sample(0.1, 40.0, 9000.0, 12.0), Sample(1.0, 41.0, 5000.0, 14.0)]
    drawn = ElementTree.fromstring(draw(samples, "Soak"))
    curves = [one for one in drawn if one.tag.endswith("path") and one.get("class") is None]
    assert len(curves) == 3
