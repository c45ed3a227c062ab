"""Commands of several machines in one commit: each gets its own answer, and one disturbs nobody."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from moot.core.errors import StoreFailed, Tampered
from moot.core.ledger import View
from moot.core.names import REGISTRY
from moot.engine.batch import Batch
from moot.engine.given_signatures import DecidedOtherwise
from moot.engine.job import Job
from moot.engine.signed_commits import SignedCommit, SignedCommits
from moot.protocols.example.commands import Ask
from moot.testing import World

LIMIT = 30


def ask_on(world: World, stream: str, **more: Any) -> SignedCommit[int]:
    """A command on a stream, which reads how many events there are once it is committed."""

    def decide(batch: Batch) -> None:
        job = Job(stream, Ask(title="x", of="amber-otter"), "amber-otter")
        batch.run_all([job], ())

    def read(view: View) -> int:
        return view.newest_position()

    words: dict[str, Any] = {"decide": decide, "read": read, **more}
    return SignedCommit([stream], keys=world.engine.keys, now=world.engine.clock(), **words)


def commit_all(commits: SignedCommits, waiting: list[SignedCommit[int]]) -> list[Any]:
    """What each was told, when all of them wait while somebody else holds the engine."""
    told: list[Any] = [None] * len(waiting)

    def commit(place: int) -> None:
        try:
            told[place] = commits.commit(waiting[place])
        except Exception as error:  # noqa: BLE001 - it is looked at below
            told[place] = error

    threads = [threading.Thread(target=commit, args=(place,)) for place in range(len(waiting))]
    with commits._engine._turn:  # so that all but the first arrive while the first waits
        for thread in threads:
            thread.start()
        until = threading.Event()
        while len(commits._waiting) < len(waiting) - 1:
            until.wait(0.001)
    for thread in threads:
        thread.join(LIMIT)
    assert not any(thread.is_alive() for thread in threads)
    return told


@pytest.fixture
def world() -> World:
    made = World()
    made.agent("amber-otter")
    return made


def seq_of(world: World, stream: str) -> int:
    return world.another_engine().load(stream).seq


def test_what_arrives_while_another_is_committed_is_committed_together(world: World) -> None:
    waiting = [ask_on(world, f"example/{name}") for name in "abcde"]
    before = world.engine.store.version()
    told = commit_all(SignedCommits(world.engine), waiting)
    assert sorted(told) == [3, 7, 7, 7, 7], "one alone, then four who see each other"
    assert world.engine.store.version() - before == 2
    assert [seq_of(world, f"example/{name}") for name in "abcde"] == [0] * 5


def test_commands_on_one_stream_are_never_in_one_group(world: World) -> None:
    told = commit_all(SignedCommits(world.engine), [ask_on(world, "example/a") for _ in range(4)])
    assert sorted(told) == [3, 4, 5, 6]
    assert seq_of(world, "example/a") == 3


def test_one_on_the_registry_goes_alone() -> None:
    commits = SignedCommits(World().engine)
    for stream in ("example/a", REGISTRY, "example/b"):
        one: SignedCommit[int] = SignedCommit([stream], print, World().keys, 0, lambda _: 0)
        commits._waiting.append(one)
    groups = []
    while commits._waiting:
        groups.append([name for one in commits._take_group() for name in one.streams])
    assert groups == [["example/a"], [REGISTRY], ["example/b"]]


def test_one_that_comes_out_different_disturbs_nobody(world: World) -> None:
    def differ(_batch: Batch) -> None:
        raise DecidedOtherwise({})

    waiting = [ask_on(world, f"example/{name}") for name in "abc"]
    waiting.insert(2, ask_on(world, "example/odd", decide=differ))
    told = commit_all(SignedCommits(world.engine), waiting)
    assert [type(one) for one in told] == [int, int, DecidedOtherwise, int]
    assert [seq_of(world, f"example/{name}") for name in ("a", "b", "c", "odd")] == [0, 0, 0, -1]


def test_one_whose_copy_is_another_history_records_nothing_and_disturbs_nobody(
    world: World,
) -> None:
    def find_another_history(_view: View) -> int:
        raise Tampered("another one", code="another_history")

    waiting = [ask_on(world, f"example/{name}") for name in "abc"]
    waiting.insert(2, ask_on(world, "example/odd", read=find_another_history))
    told = commit_all(SignedCommits(world.engine), waiting)
    assert [type(one) for one in told] == [int, int, Tampered, int]
    assert [seq_of(world, f"example/{name}") for name in ("a", "b", "c", "odd")] == [0, 0, 0, -1]


def test_if_the_disk_fails_each_is_told_and_the_next_goes_on(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail() -> Any:
        raise StoreFailed("disk_full", "no room")

    commits = SignedCommits(world.engine)
    with monkeypatch.context() as full:
        full.setattr(world.engine.store, "write", fail)
        told = commit_all(commits, [ask_on(world, f"example/{name}") for name in "abc"])
    assert [getattr(one, "code", None) for one in told] == ["disk_full"] * 3
    assert [seq_of(world, f"example/{name}") for name in "abc"] == [-1] * 3
    assert commits.commit(ask_on(world, "example/a")) == 3
