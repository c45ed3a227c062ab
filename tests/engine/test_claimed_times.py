"""Whom to look at first, as rows claim: the later of a heartbeat and an act; damage hides one."""

from __future__ import annotations

from typing import cast

import pytest

from moot.core.ledger import View
from moot.engine.claimed_times import read_claimed_times


class Rows:
    """The two things that are read of a view."""

    def __init__(self, seen: dict[str, bytes], beats: dict[str, int]) -> None:
        self._seen, self._beats = seen, beats

    def values(self, _space: str) -> dict[str, bytes]:
        return self._seen

    def heartbeat_times(self) -> dict[str, int]:
        return self._beats


def read(seen: dict[str, bytes], beats: dict[str, int]) -> dict[str, int]:
    return read_claimed_times(cast("View", Rows(seen, beats)))


def test_the_later_of_act_and_heartbeat_counts() -> None:
    seen = {"amber-otter": b'{"at":7}', "teal-crane": b'{"at":9}'}
    beats = {"teal-crane": 8, "amber-otter": 12, "coral-finch": 3}
    assert read(seen, beats) == {"amber-otter": 12, "teal-crane": 9, "coral-finch": 3}


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b'{"at":"soon"}', b'{"at":1}{"at":2}'])
def test_a_damaged_row_says_nothing_and_the_others_still_do(damage: bytes) -> None:
    seen = {"amber-otter": b'{"at":7}', "teal-crane": damage, "coral-finch": b'{"at":9}'}
    assert read(seen, {}) == {"amber-otter": 7, "coral-finch": 9}
    assert read(seen, {"teal-crane": 4})["teal-crane"] == 4
