"""The memory outside the ledger only ever moves forward."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from moot.core.ledger import Head
from moot.keys.seen_checkpoints import SeenCheckpoint, SeenCheckpoints

ORIGIN = "moot.ledger/" + "a" * 32


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[SeenCheckpoints]:
    with closing(SeenCheckpoints(tmp_path / "kept.db")) as kept:
        yield kept


def head(seq: int) -> Head:
    return Head(0, seq, bytes([seq % 256]) * 32)


def test_nothing_is_known_and_nothing_created_at_first(tmp_path: Path) -> None:
    kept = SeenCheckpoints(tmp_path / "kept.db")
    assert kept.newest(ORIGIN) is None
    assert kept.heads(ORIGIN) == {}
    assert list(tmp_path.iterdir()) == []


def test_the_newest_note_and_its_heads_are_kept(kept: SeenCheckpoints) -> None:
    kept.remember(ORIGIN, 1, "one", [("registry", head(0)), ("example/a", head(4))])
    kept.remember(ORIGIN, 2, "two", [("example/a", head(9))])
    assert kept.newest(ORIGIN) == SeenCheckpoint(2, "two")
    assert kept.heads(ORIGIN) == {
        "registry": (0, head(0).hash),
        "example/a": (9, head(9).hash),
    }


@pytest.mark.requirement("LDG-038")
def test_an_older_note_never_replaces_a_newer_one(kept: SeenCheckpoints) -> None:
    kept.remember(ORIGIN, 7, "seven", [("example/a", head(9))])
    kept.remember(ORIGIN, 6, "six", [("example/a", head(3)), ("example/b", head(2))])
    assert kept.newest(ORIGIN) == SeenCheckpoint(7, "seven")
    # A late process may know heads that the newer note's process never moved: those count.
    assert kept.heads(ORIGIN) == {"example/a": (9, head(9).hash), "example/b": (2, head(2).hash)}


def test_ledgers_do_not_disturb_each_other(kept: SeenCheckpoints) -> None:
    other = "moot.ledger/" + "b" * 32
    kept.remember(ORIGIN, 3, "three", [("registry", head(3))])
    kept.remember(other, 1, "one", [("registry", head(1))])
    assert kept.newest(ORIGIN) == SeenCheckpoint(3, "three")
    assert kept.heads(other) == {"registry": (1, head(1).hash)}


def test_an_accepted_loss_starts_over_for_that_ledger_only(kept: SeenCheckpoints) -> None:
    other = "moot.ledger/" + "b" * 32
    kept.remember(ORIGIN, 9, "nine", [("registry", head(9)), ("example/lost", head(1))])
    kept.remember(other, 1, "one", [("registry", head(1))])
    kept.replace_all(ORIGIN, 10, "ten", [("registry", head(2))])
    assert kept.newest(ORIGIN) == SeenCheckpoint(10, "ten")
    assert kept.heads(ORIGIN) == {"registry": (2, head(2).hash)}
    assert kept.newest(other) == SeenCheckpoint(1, "one")
