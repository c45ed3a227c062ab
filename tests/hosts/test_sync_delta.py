"""What a machine is told of what its copy lacks: all of it, in answers that are not too long."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from moot.core.ledger import Snapshot
from moot.engine.job import Job
from moot.engine.replay import SNAPSHOT_EVERY
from moot.hosts import messages as wire
from moot.hosts.joined_engine import JoinedEngine
from moot.hosts.sync_delta import read_delta
from moot.protocols.example.model import Ask
from tests.hosts.kept_ledger import KeptLedger
from tests.project import Project

AGENT = "coral-finch"
STREAMS = tuple(f"example/{number}" for number in range(4))
MOST = "moot.hosts.sync_delta.MOST_BYTES"


@pytest.fixture
def written(kept: KeptLedger) -> KeptLedger:
    """A ledger with four long states, each signed in a snapshot."""
    kept.project.ok("agent", "register", AGENT)
    for stream in STREAMS:
        write(kept, stream, SNAPSHOT_EVERY)
    return kept


def write(kept: KeptLedger, stream: str, number: int) -> None:
    with kept.project.workspace() as workspace:
        jobs = [Job(stream, Ask("a" * 500, AGENT), AGENT) for _ in range(number)]
        workspace.engine.execute_all(jobs)


def snapshots_of(project: Project) -> dict[str, Snapshot]:
    with project.workspace() as workspace, workspace.store.read() as view:
        return {one.stream: one for one in view.all_snapshots()}


def all_news(kept: KeptLedger, position: int = 0) -> list[wire.SyncDelta]:
    """One answer after another, until there is no more."""
    told: list[wire.SyncDelta] = []
    with kept.project.workspace() as workspace, workspace.store.read() as view:
        while not told or told[-1].more:
            last = view.records_after(position - 1, 1)[0].hash if position else b""
            told.append(read_delta(view, wire.CopyPosition(position, last, 0, 2**60), 0))
            position += len(told[-1].records)
        assert position == view.newest_position()
    return told


def test_snapshots_count_as_well_and_all_of_them_come_at_last(
    written: KeptLedger, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A thousand events could bring a thousand of them: more than anybody takes in one frame."""
    there = snapshots_of(written.project)
    longest = max(len(one.state) for one in there.values())
    most = longest + longest // 2
    monkeypatch.setattr(MOST, most)
    assert sum(len(one.state) for one in there.values()) > 2 * most
    for delta in all_news(written):
        events = sum(len(raw) for _, _, _, raw, _ in delta.records)
        assert events + sum(len(state) for *_, state, _ in delta.snapshots) <= most
    laptop = written.join(tmp_path / "laptop" / "project", tmp_path / "laptop" / "keys", "laptop")
    assert snapshots_of(laptop) == there


def test_a_machine_does_without_a_snapshot_that_no_answer_holds(
    written: KeptLedger, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    shortest = min(len(snapshots_of(written.project)[stream].state) for stream in STREAMS)
    monkeypatch.setattr(MOST, shortest - 1)
    laptop = written.join(tmp_path / "laptop" / "project", tmp_path / "laptop" / "keys", "laptop")
    assert not snapshots_of(laptop).keys() & set(STREAMS)
    with laptop.workspace() as here, written.project.workspace() as there:
        for stream in STREAMS:
            assert here.engine.load(stream, True) == there.engine.load(stream, True)
            assert here.engine.load(stream).seq == SNAPSHOT_EVERY - 1


def test_a_snapshot_is_told_with_its_event_and_not_with_every_later_one(
    written: KeptLedger,
) -> None:
    (before,) = all_news(written)
    assert {stream for stream, *_ in before.snapshots} == snapshots_of(written.project).keys()
    position = len(before.records)
    write(written, STREAMS[0], 2)
    after_one, after_both = all_news(written, position + 1), all_news(written, position)
    assert [len(one.records) for one in (*after_one, *after_both)] == [1, 2]
    assert after_one[0].snapshots == ()
    # It may have been made late, when its event had been told: the next one brings it.
    assert [stream for stream, *_ in after_both[0].snapshots] == [STREAMS[0]]


def test_a_snapshot_of_an_event_that_is_not_told_yet_waits(written: KeptLedger) -> None:
    with written.project.workspace() as workspace, workspace.store.read() as view:
        place = next(
            number
            for number, record in enumerate(view.records_after(0, 1_000))
            if record.stream == STREAMS[-1]
        )
        records = view.records_after(0, place + 1)

        class Shorter:
            """The same view, which ends in the middle of the last stream."""

            def records_after(self, position: int, limit: int) -> list[object]:
                return list(records[position : position + limit])

            def __getattr__(self, name: str) -> object:
                return getattr(view, name)

        delta = read_delta(Shorter(), wire.CopyPosition(0, b"", 0, 0), 0)  # type: ignore[arg-type]
    assert {stream for stream, *_ in delta.snapshots} & set(STREAMS) == set(STREAMS[:-1])


# A copy that nobody has asked for news yet.


def test_a_copy_is_never_fresh_before_it_was_asked_for_whatever_the_clock_says(
    laptop: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The clock that only goes forward begins when the machine is started: at nought."""
    monkeypatch.setattr(time, "monotonic", lambda: 0.01)
    with laptop.workspace() as workspace:
        engine = workspace.engine
        assert isinstance(engine, JoinedEngine)
        assert not engine._copy.is_just_synced
