"""A place that a machine's copy was compared at is not read again, while nobody else writes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from moot.core.errors import Tampered
from moot.core.ledger import View
from moot.core.record import Record
from moot.hosts import messages as wire
from moot.hosts.sync_delta import MAX_VERIFIED, VerifiedPrefixes
from tests.hosts.kept_ledger import KeptLedger
from tests.project import Project


class Looked:
    """A view that counts how often records are read, and says that others have written."""

    def __init__(self, view: View) -> None:
        self._view = view
        self.times = 0
        self.version = 1

    def records_after(self, position: int, limit: int) -> list[Record]:
        self.times += 1
        return self._view.records_after(position, limit)

    def version_of_others(self) -> int:
        return self.version


@pytest.fixture
def looked(kept: KeptLedger, laptop: Project) -> Iterator[Looked]:  # noqa: ARG001
    with kept.project.workspace() as workspace, workspace.store.read() as view:
        yield Looked(view)


def place_of(looked: Looked, position: int) -> wire.CopyPosition:
    last = looked._view.records_after(position - 1, 1)[0]
    return wire.CopyPosition(position, last.hash, 0, 0)


def test_a_place_is_read_once_until_others_have_written(looked: Looked) -> None:
    beginnings, asked = VerifiedPrefixes(), place_of(looked, 2)
    for _ in range(3):
        beginnings.require(looked, asked)  # type: ignore[arg-type]
    assert looked.times == 1
    looked.version += 1
    beginnings.require(looked, asked)  # type: ignore[arg-type]
    assert looked.times == 2


def test_what_does_not_fit_is_found_out_each_time(looked: Looked) -> None:
    beginnings, asked = VerifiedPrefixes(), place_of(looked, 2)
    beginnings.require(looked, asked)  # type: ignore[arg-type]
    for other in (
        wire.CopyPosition(2, bytes(32), 0, 0),
        wire.CopyPosition(99, asked.last, 0, 0),
    ) * 2:
        with pytest.raises(Tampered) as found:
            beginnings.require(looked, other)  # type: ignore[arg-type]
        assert found.value.code == "another_history"


def test_only_so_many_places_are_kept(looked: Looked) -> None:
    beginnings, asked = VerifiedPrefixes(), place_of(looked, 1)
    for note in range(MAX_VERIFIED + 1):
        beginnings._verified.add((note, b""))
    beginnings.require(looked, asked)  # type: ignore[arg-type]
    assert len(beginnings._verified) == 1
