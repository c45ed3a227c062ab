"""Commands of several machines in one commit: each gets its own answer, and one disturbs nobody."""

from __future__ import annotations

from typing import Any

import pytest

from moot.core.errors import StoreFailed, Tampered
from moot.core.ledger import View
from moot.core.names import REGISTRY
from moot.core.signing import EVENT, Signer
from moot.engine.batch import Batch
from moot.engine.job import Job
from moot.engine.remote_signatures import DecidedDifferently, RemoteSigner
from moot.engine.signed_commits import SignedCommit, split_into_groups
from moot.hosts.request_handler import commit_group
from moot.protocols.example.model import Ask
from moot.testing import World


def ask_on(world: World, stream: str, **more: Any) -> SignedCommit[int]:
    """A command on a stream, which reads how many events there are once it is committed."""

    def decide(batch: Batch) -> None:
        job = Job(stream, Ask(title="x", of="amber-otter"), "amber-otter")
        batch.run_all([job], ())

    def read(view: View) -> int:
        return view.newest_position()

    words: dict[str, Any] = {"decide": decide, "read": read, **more}
    return SignedCommit([stream], keys=world.engine.keys, now=world.engine.clock(), **words)


def commit_all(world: World, waiting: list[SignedCommit[int]]) -> list[Any]:
    """What each was told: how much there is, or its error."""
    for group in split_into_groups(waiting):
        commit_group(world.engine, group)
    return [one.answer if one.error is None else one.error for one in waiting]


@pytest.fixture
def world() -> World:
    made = World()
    made.agent("amber-otter")
    return made


def seq_of(world: World, stream: str) -> int:
    return world.another_engine().load(stream).seq


def test_what_has_arrived_is_committed_together(world: World) -> None:
    waiting = [ask_on(world, f"example/{name}") for name in "abcde"]
    before = world.engine.store.version()
    told = commit_all(world, waiting)
    assert told == [7] * 5, "they see each other"
    assert world.engine.store.version() - before == 1
    assert [seq_of(world, f"example/{name}") for name in "abcde"] == [0] * 5


def test_commands_on_one_stream_are_never_in_one_group(world: World) -> None:
    told = commit_all(world, [ask_on(world, "example/a") for _ in range(4)])
    assert told == [3, 4, 5, 6]
    assert seq_of(world, "example/a") == 3


def test_one_on_the_registry_goes_alone(world: World) -> None:
    waiting = [ask_on(world, stream) for stream in ("example/a", REGISTRY, "example/b")]
    groups = [
        [name for one in group for name in one.streams] for group in split_into_groups(waiting)
    ]
    assert groups == [["example/a"], [REGISTRY], ["example/b"]]


def test_one_that_comes_out_different_disturbs_nobody(world: World) -> None:
    def differ(_batch: Batch) -> None:
        raise DecidedDifferently({})

    waiting = [ask_on(world, f"example/{name}") for name in "abc"]
    waiting.insert(2, ask_on(world, "example/odd", decide=differ))
    told = commit_all(world, waiting)
    assert [type(one) for one in told] == [int, int, DecidedDifferently, int]
    assert [seq_of(world, f"example/{name}") for name in ("a", "b", "c", "odd")] == [0, 0, 0, -1]


def test_one_whose_copy_is_another_history_records_nothing_and_disturbs_nobody(
    world: World,
) -> None:
    def find_another_history(_view: View) -> int:
        raise Tampered("another one", code="another_history")

    waiting = [ask_on(world, f"example/{name}") for name in "abc"]
    waiting.insert(2, ask_on(world, "example/odd", read=find_another_history))
    told = commit_all(world, waiting)
    assert [type(one) for one in told] == [int, int, Tampered, int]
    assert [seq_of(world, f"example/{name}") for name in ("a", "b", "c", "odd")] == [0, 0, 0, -1]


def test_if_the_disk_fails_each_is_told_and_the_next_goes_on(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail() -> Any:
        raise StoreFailed("disk_full", "no room")

    with monkeypatch.context() as full:
        full.setattr(world.engine.store, "write", fail)
        told = commit_all(world, [ask_on(world, f"example/{name}") for name in "abc"])
    assert [getattr(one, "code", None) for one in told] == ["disk_full"] * 3
    assert [seq_of(world, f"example/{name}") for name in "abc"] == [-1] * 3
    assert commit_all(world, [ask_on(world, "example/a")]) == [3]


def test_what_nobody_thought_of_disturbs_nobody(world: World) -> None:
    def fail(_batch: Batch) -> None:
        raise RuntimeError("nobody thought of this")

    waiting = [ask_on(world, f"example/{name}") for name in "abc"]
    waiting.insert(2, ask_on(world, "example/odd", decide=fail))
    told = commit_all(world, waiting)
    assert [type(one) for one in told] == [int, int, RuntimeError, int]
    assert [seq_of(world, f"example/{name}") for name in ("a", "b", "c", "odd")] == [0, 0, 0, -1]


@pytest.mark.requirement("HST-008")
def test_a_signature_counts_only_if_the_agents_key_made_it_for_these_bytes() -> None:
    """Whatever else refuses a forged commit: the keeper's signer gives out no such signature."""
    own, other = Signer(Signer.new_seed()), Signer(Signer.new_seed())
    raw = b'{"body":1}'
    genuine = own.sign(EVENT, raw)

    def sign_with(given: dict[bytes, bytes]) -> bytes:
        return RemoteSigner(own.kid, own.public, given, lambda: DecidedDifferently({})).sign(
            EVENT, raw
        )

    assert sign_with({raw: genuine}) == genuine
    for given in (
        {},
        {raw: bytes(64)},
        {raw: other.sign(EVENT, raw)},
        {raw: own.sign(EVENT, b"{}")},
    ):
        with pytest.raises(DecidedDifferently):
            sign_with(given)
