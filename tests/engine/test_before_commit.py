"""What must happen together with a commit happens just before it; if it fails, nothing did."""

from __future__ import annotations

from pathlib import Path

import pytest

from moot.core.errors import StoreFailed
from moot.engine.batch import Result
from moot.engine.job import Job, JobOutcome
from moot.store.sqlite import SqliteStore
from tests.engine.tampering import chain, everything
from tests.engine.toy_protocol import MACHINE as TOY
from tests.engine.toy_protocol import STREAM, Complain, jot, toy_world

OTTER = "amber-otter"


def test_it_sees_every_result_before_anything_is_durable(tmp_path: Path) -> None:
    world = toy_world(store=SqliteStore(tmp_path / "ledger.db", create=True))
    looker = SqliteStore(tmp_path / "ledger.db")
    seen: list[list[Result]] = []

    def look(results: list[Result]) -> None:
        seen.append(results)
        with looker.read() as view:
            assert view.head(STREAM) is None

    jobs = [Job(STREAM, jot("one"), OTTER), Job(STREAM, Complain(text="no"), OTTER)]
    results = world.engine.execute_all(jobs, look)
    assert seen == [results]
    assert isinstance(results[0], JobOutcome)
    with looker.read() as view:
        assert view.head(STREAM) is not None
    looker.close()
    world.store.close()


@pytest.mark.requirement("LDG-060")
def test_if_it_raises_nothing_is_recorded_and_nothing_remembered() -> None:
    world = toy_world()
    world.engine.execute(STREAM, jot("before"), OTTER)
    before, state = everything(world), world.engine.state(TOY, STREAM)

    def fail(_results: list[Result]) -> None:
        raise StoreFailed("disk_full", "no room for the file")

    with pytest.raises(StoreFailed, match="no room"):
        world.engine.execute_all([Job(STREAM, jot("lost"), OTTER)], fail)
    assert everything(world) == before
    assert world.engine.state(TOY, STREAM) == state
    world.engine.execute(STREAM, jot("after"), OTTER)
    assert [record.body.data["text"] for record in chain(world, STREAM)] == ["before", "after"]
