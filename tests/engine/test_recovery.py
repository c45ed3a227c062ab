"""After a failure, and against a forged store on disk: the next decision is the right one.

The store is a real file. Forgeries are written past Moot, by someone who can write the file but
holds no key.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest

from moot.core.errors import MootError, StoreFailed, Tampered
from moot.core.paged_map import encode_state
from moot.engine.engine import Engine
from moot.engine.job import Job, JobOutcome
from moot.engine.replay import SNAPSHOT_EVERY, take_snapshot
from moot.protocols.example.machine import MACHINE as EXAMPLE
from moot.protocols.example.model import Ask, Errand, Finish, State, Withdraw
from moot.store.sqlite import SqliteStore
from moot.testing import FakeClock
from tests.store.faults import Disk
from tests.store.ledgers import (
    CRANE,
    OTTER,
    TRUST,
    acks,
    check_ledger,
    found_ledger,
    history,
    join,
    keys_of_all,
    require_acknowledged,
)

ERRANDS = "example/today"
ASK = Ask(title="water the plants", of=CRANE)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A ledger in which amber-otter has asked teal-crane for one errand, e1."""
    path = tmp_path / "ledger.db"
    found_ledger(path)
    with closing(SqliteStore(path)) as store:
        join(store).execute(ERRANDS, ASK, OTTER)
    return path


@pytest.fixture
def many(path: Path) -> Path:
    """The same with 73 errands: there is a snapshot after the 70th. All of it is filed."""
    with closing(join(SqliteStore(path))) as engine:
        engine.execute_all([Job(ERRANDS, ASK, OTTER)] * 69)
        engine.execute_all([Job(ERRANDS, ASK, OTTER)] * 3)
    return path


@pytest.fixture
def disks() -> Iterator[Callable[[], Disk]]:
    made: list[Disk] = []

    def make() -> Disk:
        made.append(Disk())
        return made[-1]

    yield make
    for disk in made:
        disk.close()


def forge(path: Path, sql: str, *values: Any) -> None:
    """Write into the file as someone who is not Moot, and whom no trigger stops."""
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        for trigger in ("events_stay", "events_remain", "events_once"):
            db.execute(f"DROP TRIGGER IF EXISTS {trigger}")
        done = db.execute(sql, values)
        assert done.rowcount == 1


def refusal(engine: Engine, command: Any, actor: str, **more: Any) -> MootError:
    """`command` is refused, and the events are as before, but for what the refusal records."""
    before = history(engine.store)
    with pytest.raises(MootError) as caught:
        engine.execute(ERRANDS, command, actor, **more)
    after = history(engine.store)
    meddled = after[ERRANDS][len(before[ERRANDS]) :]
    assert [record.body.type for record in meddled] in ([], ["example.meddled"])
    assert {name: chain[: len(before[name])] for name, chain in after.items()} == before
    return caught.value


# Failed commits -----------------------------------------------------------------------------------


@pytest.mark.parametrize("events_before", [0, 5, SNAPSHOT_EVERY - 2])
def test_after_a_failed_commit_the_next_command_continues_from_what_is_durable(
    path: Path, disks: Callable[[], Disk], events_before: int
) -> None:
    disk = disks()
    store = SqliteStore(path, connect=disk.connect)
    warm = join(store)
    warm.execute_all([Job(ERRANDS, ASK, OTTER)] * events_before)
    engine = join(store) if events_before % 2 else warm
    before, state = check_ledger(store), engine.state(EXAMPLE, ERRANDS)
    disk.fail_next("sync")
    with pytest.raises(StoreFailed) as caught:
        engine.execute(ERRANDS, ASK, OTTER)
    assert caught.value.code == "disk_failed"
    assert check_ledger(store) == before
    assert engine.state(EXAMPLE, ERRANDS) == state
    told = acks(engine.execute(ERRANDS, ASK, OTTER).recorded)
    assert [ack.seq for ack in told] == [events_before + 1]
    assert engine.state(EXAMPLE, ERRANDS) == join(store).state(EXAMPLE, ERRANDS)
    store.close()
    with closing(SqliteStore(path)) as again:
        require_acknowledged(check_ledger(again), told)


def test_a_failed_commit_fails_every_job_of_its_group_and_the_group_can_be_repeated(
    path: Path, disks: Callable[[], Disk]
) -> None:
    disk = disks()
    with closing(SqliteStore(path, connect=disk.connect)) as store:
        engine = join(store)
        jobs = [Job(f"example/{name}", ASK, OTTER, key=f"k{name}") for name in "abca"]
        before = check_ledger(store)
        disk.fail_next("sync")
        with pytest.raises(StoreFailed):
            engine.execute_all(jobs)
        assert check_ledger(store) == before
        results = engine.execute_all(jobs)
        assert [result.replayed for result in results if isinstance(result, JobOutcome)] == [
            False,
            False,
            False,
            True,
        ]
        after = check_ledger(store)
        assert {name: len(after[f"example/{name}"]) for name in "abc"} == dict.fromkeys("abc", 1)


@pytest.mark.parametrize("events_before", [1, SNAPSHOT_EVERY - 2])
def test_after_a_failed_commit_what_another_process_wrote_meanwhile_is_seen(
    path: Path, disks: Callable[[], Disk], events_before: int
) -> None:
    """Both on the same disk: two libraries in one process must not share a file's locks."""
    disk = disks()
    mine, theirs = (SqliteStore(path, connect=disk.connect) for _ in range(2))
    engine, other = join(mine), join(theirs)
    engine.execute_all([Job(ERRANDS, ASK, OTTER)] * events_before)
    disk.fail_next("sync")
    with pytest.raises(StoreFailed):
        engine.execute(ERRANDS, ASK, OTTER)
    other.execute(ERRANDS, Finish(id="e1"), CRANE)
    assert refusal(engine, Finish(id="e1"), CRANE).code == "errand_not_open"
    assert engine.state(EXAMPLE, ERRANDS) == other.state(EXAMPLE, ERRANDS)
    for store in (mine, theirs):
        store.close()
    with closing(SqliteStore(path)) as again:
        assert len(check_ledger(again)[ERRANDS]) == events_before + 2


def test_a_checkpoint_that_could_not_be_committed_is_made_by_the_next_try(
    path: Path, disks: Callable[[], Disk]
) -> None:
    disk = disks()
    with closing(SqliteStore(path, connect=disk.connect)) as store:
        engine = join(store)
        with store.read() as view:
            before = view.newest_note()
        disk.fail_next("sync")
        with pytest.raises(StoreFailed):
            engine.checkpoint()
        with store.read() as view:
            assert view.newest_note() == before
        made = engine.checkpoint()
        assert made is not None
        assert made.note != before


def test_an_error_in_the_middle_of_a_read_is_told_as_it_is_and_the_next_read_works(
    many: Path, disks: Callable[[], Disk]
) -> None:
    disk = disks()
    with closing(SqliteStore(many, connect=disk.connect)) as store:
        disk.fail_next("read")
        with pytest.raises(StoreFailed) as caught:
            join(store).state(EXAMPLE, ERRANDS)
        assert caught.value.code == "disk_failed"
        assert join(store).state(EXAMPLE, ERRANDS).asked == 73


# Forged snapshots ---------------------------------------------------------------------------------


def false_state() -> State:
    """In which e1 was asked by teal-crane, who could then withdraw it."""
    errand = Errand("e1", "water the plants", CRANE, OTTER, 0, None)
    return State(open=State().open.set("e1", errand), asked=1)


def snapshot_row(path: Path) -> dict[str, Any]:
    with closing(sqlite3.connect(path)) as db:
        db.row_factory = sqlite3.Row
        return dict(db.execute("SELECT * FROM snapshots WHERE stream = ?", (ERRANDS,)).fetchone())


def put_snapshot_row(path: Path, row: dict[str, Any]) -> None:
    names = ", ".join(row)
    marks = ", ".join("?" * len(row))
    forge(path, f"INSERT OR REPLACE INTO snapshots ({names}) VALUES ({marks})", *row.values())


def stranger_signs(path: Path) -> dict[str, Any]:
    """A false state at the true position, signed by a key of the forger's own."""
    with closing(SqliteStore(path)) as store:
        loaded = join(store).load(ERRANDS)
    signer = keys_of_all().make("mallory")
    false = msgspec.structs.replace(loaded, state=false_state())
    made = take_snapshot(TRUST.origin, ERRANDS, false, signer)
    return dict(zip(("stream", "seq", "hash", "machine", "state", "sig"), made, strict=True))


def other_streams(path: Path) -> dict[str, Any]:
    """A true snapshot, of a stream where teal-crane asks."""
    with closing(SqliteStore(path)) as store:
        turned = Ask(title="x", of=OTTER)
        join(store).execute_all([Job("example/other", turned, CRANE)] * 70)
    with closing(sqlite3.connect(path)) as db:
        db.row_factory = sqlite3.Row
        sql = "SELECT * FROM snapshots WHERE stream = 'example/other'"
        return dict(db.execute(sql).fetchone())


def false_bytes() -> bytes:
    return msgspec.msgpack.encode((1, msgspec.Raw(encode_state(false_state()))))


FORGERIES: dict[str, Callable[[Path, dict[str, Any]], dict[str, Any]]] = {
    "another state, the signature kept": lambda _, row: row | {"state": false_bytes()},
    "another state, no signature": lambda _, row: row | {"state": false_bytes(), "sig": b""},
    "signed by a stranger": lambda path, _: stranger_signs(path),
    "another stream's": lambda path, row: other_streams(path) | {"stream": row["stream"]},
    "an earlier position": lambda _, row: row | {"seq": 3},
    "the head's position": lambda _, row: row | {"seq": 72},
    "a later position": lambda _, row: row | {"seq": 7_000},
    "before the first event": lambda _, row: row | {"seq": -1},
    "another hash": lambda _, row: row | {"hash": bytes(32)},
    "another version": lambda _, row: row | {"machine": "example/2"},
    "another machine": lambda _, row: row | {"machine": "registry/1"},
    "not a state": lambda _, row: row | {"state": b"\xff\x00"},
    "empty": lambda _, row: row | {"state": b"", "hash": b"", "sig": b"", "machine": ""},
}


@pytest.mark.parametrize("how", FORGERIES)
def test_a_forged_snapshot_changes_no_decision(many: Path, how: str) -> None:
    with closing(SqliteStore(many)) as store:
        truth = join(store).state(EXAMPLE, ERRANDS)
    put_snapshot_row(many, FORGERIES[how](many, snapshot_row(many)))
    for proved in (False, True):
        with closing(SqliteStore(many)) as store:
            assert join(store).load(ERRANDS, proved).state == truth
    with closing(SqliteStore(many)) as store:
        engine = join(store)
        assert refusal(engine, Withdraw(id="e1"), CRANE).code == "not_yours"
        assert refusal(join(store), Finish(id="e1"), OTTER).code == "not_yours"
        engine.execute(ERRANDS, Withdraw(id="e1"), OTTER)
        assert join(store).state(EXAMPLE, ERRANDS).closed == 1


def test_an_older_true_snapshot_put_back_only_costs_time(many: Path) -> None:
    old = snapshot_row(many)
    with closing(SqliteStore(many)) as store:
        join(store).execute_all([Job(ERRANDS, ASK, OTTER)] * 70)
        truth = join(store).state(EXAMPLE, ERRANDS)
    assert snapshot_row(many)["seq"] > old["seq"]
    put_snapshot_row(many, old)
    with closing(SqliteStore(many)) as store:
        assert join(store).load(ERRANDS, proved=True).state == truth


# Forged index rows and columns --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("space", "key", "value"),
    [
        ("example.errands", f"{ERRANDS}#e9", {"of": CRANE, "title": "x"}),
        ("example.errands", f"{ERRANDS}#e1", {"of": OTTER, "title": "x"}),
        ("open", "example/never", {}),
        ("seen", CRANE, {"at": 2**52}),
        ("seen", "mallory", {"at": 2**52}),
        ("registry.erased", "0" * 64, {"reason": "forged"}),
    ],
)
def test_a_forged_index_row_grants_nothing(
    path: Path, space: str, key: str, value: dict[str, Any]
) -> None:
    with closing(SqliteStore(path)) as store:
        truth = join(store).state(EXAMPLE, ERRANDS)
        signs = join(store).signs([OTTER, CRANE, "mallory"])
    sql = "INSERT OR REPLACE INTO index_rows VALUES (?, ?, ?, ?, ?)"
    forge(path, sql, space, key, msgspec.json.encode(value), ERRANDS, 0)
    with closing(SqliteStore(path)) as store:
        engine = join(store)
        assert engine.state(EXAMPLE, ERRANDS) == truth
        assert engine.signs([OTTER, CRANE, "mallory"]) == signs
        assert refusal(engine, Finish(id="e9"), CRANE).code == "errand_not_open"
        assert refusal(engine, Finish(id="e1"), OTTER).code == "not_yours"
        assert refusal(engine, Withdraw(id="e1"), CRANE).code == "not_yours"
        assert refusal(engine, ASK, "mallory").code == "agent_not_found"
        assert list(engine.agenda(["example/never"])) == []


def test_a_forged_heartbeat_is_no_sign_of_life(path: Path) -> None:
    with closing(SqliteStore(path)) as store:
        join(store).beat(OTTER)
        (known,) = [join(store).signs([OTTER])[OTTER]]
    forge(path, "UPDATE heartbeats SET at = at + 1000000 WHERE agent = ?", OTTER)
    with closing(SqliteStore(path)) as store:
        sign = join(store).signs([OTTER])[OTTER]
        assert (sign.at, sign.heartbeat) == (known.at, None)


def test_an_idempotency_key_moved_to_another_event_is_not_believed(path: Path) -> None:
    """The column is only an index; the key that counts stands in the signed body."""
    with closing(SqliteStore(path)) as store:
        engine = join(store)
        engine.execute(ERRANDS, Ask(title="one", of=CRANE), OTTER, key="k1")
        engine.execute(ERRANDS, Ask(title="two", of=CRANE), OTTER)
    with closing(sqlite3.connect(path)) as db:
        (key,) = db.execute("SELECT key FROM events WHERE key IS NOT NULL").fetchone()
    forge(path, "UPDATE events SET key = NULL WHERE key = ?", key)
    forge(path, "UPDATE events SET key = ? WHERE seq = 2 AND stream = 1", key)
    with closing(SqliteStore(path)) as store:
        error = refusal(join(store), Ask(title="one", of=CRANE), OTTER, key="k1")
    assert isinstance(error, Tampered)


SAME = "stream, seq, kid, body, sig, key FROM events"
OF_STREAM = "stream = (SELECT number FROM streams WHERE name = ?)"
CHANGED = "CAST(replace(CAST(body AS TEXT), 'plants', 'planks') AS BLOB)"


@pytest.mark.parametrize(
    ("what", "sql"),
    [
        ("a shorter head", "UPDATE streams SET seq = 60 WHERE name = ?"),
        ("a longer head", "UPDATE streams SET seq = 90 WHERE name = ?"),
        ("another hash", "UPDATE streams SET hash = zeroblob(32) WHERE name = ?"),
        ("a missing event", f"DELETE FROM events WHERE seq = 71 AND {OF_STREAM}"),
        ("a missing end", f"DELETE FROM events WHERE seq = 72 AND {OF_STREAM}"),
        ("a changed body", f"UPDATE events SET body = {CHANGED} WHERE seq = 71 AND {OF_STREAM}"),
        ("a changed end", f"UPDATE events SET body = {CHANGED} WHERE seq = 72 AND {OF_STREAM}"),
        ("no body", f"UPDATE events SET body = x'' WHERE seq = 72 AND {OF_STREAM}"),
        ("no signature", f"UPDATE events SET sig = x'' WHERE seq = 72 AND {OF_STREAM}"),
        ("another key", f"UPDATE events SET kid = 'x' WHERE seq = 72 AND {OF_STREAM}"),
    ],
)
def test_a_damaged_stream_is_refused_and_nothing_is_written_on_top_of_it(
    many: Path, what: str, sql: str
) -> None:
    forge(many, sql, ERRANDS)
    with closing(SqliteStore(many)) as store:
        before = history(store)
        for engine in (join(store), join(store)):
            with pytest.raises(Tampered) as caught:
                engine.execute(ERRANDS, ASK, OTTER)
            assert caught.value.stream == ERRANDS, what
        assert history(store) == before
        join(store).execute("example/other", ASK, OTTER)


def dropping(path: Path) -> Path:
    """Three more errands that are not filed yet, as a killed process leaves them."""
    with closing(SqliteStore(path)) as store:
        for _ in range(3):
            join(store).execute(ERRANDS, ASK, OTTER)
    return path


@pytest.mark.parametrize(
    ("what", "sql"),
    [
        ("nothing said", "DELETE FROM unfiled WHERE event = (SELECT max(event) FROM unfiled)"),
        ("said to be filed", "UPDATE filed SET event = (SELECT max(id) FROM events)"),
        ("a missing end", f"DELETE FROM events WHERE seq = 75 AND {OF_STREAM}"),
        ("a missing event", f"DELETE FROM events WHERE seq = 74 AND {OF_STREAM}"),
        ("a changed end", f"UPDATE events SET body = {CHANGED} WHERE seq = 75 AND {OF_STREAM}"),
        (
            "a second end",
            f"INSERT INTO events SELECT id + 1, {SAME} WHERE seq = 75 AND {OF_STREAM}",
        ),
    ],
)
def test_damage_to_what_is_not_filed_yet_is_noticed_and_nothing_is_written_on_top_of_it(
    many: Path, what: str, sql: str
) -> None:
    forge(dropping(many), sql, *[ERRANDS] * sql.count("?"))
    with closing(SqliteStore(many)) as store:
        before = history(store)
        for engine in (join(store), join(store)):
            with pytest.raises(Tampered) as caught:
                engine.execute(ERRANDS, ASK, OTTER)
            assert caught.value.stream == ERRANDS, what
        assert history(store) == before


# Time ---------------------------------------------------------------------------------------------


@pytest.mark.requirement("LDG-097")
def test_a_clock_that_goes_backwards_keeps_the_order_and_loses_nothing(path: Path) -> None:
    with closing(SqliteStore(path)) as store:
        engine = join(store)
        clock = engine.clock
        assert isinstance(clock, FakeClock)
        beats, numbers = [], []
        for minutes in (10, -60, 5, -100_000, 0):
            clock.forward(minutes=minutes)
            engine.execute(ERRANDS, ASK, OTTER)
            beats.append(engine.beat(OTTER))
            made = engine.checkpoint()
            numbers.append(made.checkpoint.number if made else 0)
        assert beats == [beats[0]] * 5
        assert numbers == list(range(numbers[0], numbers[0] + 5))
        chain = check_ledger(store)[ERRANDS]
        at = [record.body.at for record in chain]
        assert at != sorted(at)
        loaded = join(store).load(ERRANDS, proved=True)
        assert EXAMPLE.require_state(loaded.state).asked == 6


def test_what_lapsed_stays_lapsed_when_the_clock_goes_back(path: Path) -> None:
    with closing(SqliteStore(path)) as store:
        engine = join(store)
        clock = engine.clock
        assert isinstance(clock, FakeClock)
        due = clock() + 60_000
        engine.execute(ERRANDS, Ask(title="soon", of=CRANE, due_at=due), OTTER)
        clock.forward(minutes=2)
        assert engine.tick(ERRANDS) is not None
        clock.forward(minutes=-10)
        assert engine.tick(ERRANDS) is None
        assert refusal(engine, Finish(id="e2"), CRANE).code == "errand_not_open"
        assert join(store).state(EXAMPLE, ERRANDS) == engine.state(EXAMPLE, ERRANDS)


def test_the_founding_keys_alone_decide_who_may_register(path: Path) -> None:
    """A forged registry row cannot make an agent's key the root's."""
    forge(
        path,
        "UPDATE events SET kid = ? WHERE seq = 1 AND stream = 0",
        keys_of_all().signers[OTTER][0].kid,
    )
    with closing(SqliteStore(path)) as store:
        with pytest.raises(Tampered):
            join(store).registry()
        with pytest.raises(Tampered):
            join(store).execute(ERRANDS, ASK, OTTER)
