"""kill -9 at any moment, and many processes on one ledger: what was acknowledged stays."""

from __future__ import annotations

import random
import time
from pathlib import Path

import pytest

from moot.core.names import REGISTRY
from moot.protocols.example.model import Ask
from moot.store.artifacts import FileArtifacts
from moot.store.sqlite import SqliteStore
from tests.store.child import children
from tests.store.ledgers import (
    CRANE,
    OTTER,
    Ack,
    acks,
    check_ledger,
    found_ledger,
    join,
    require_acknowledged,
)

CYCLES = 32


@pytest.fixture
def path(tmp_path: Path) -> Path:
    found_ledger(tmp_path / "ledger.db")
    return tmp_path / "ledger.db"


def spin(microseconds: int) -> None:
    """Let a random moment pass without giving up the processor: the kill falls anywhere."""
    end = time.perf_counter_ns() + microseconds * 1_000
    while time.perf_counter_ns() < end:
        pass


def check_after_kill(path: Path, told: list[Ack]) -> None:
    """Reopen as the next process would, check everything, and append again."""
    store = SqliteStore(path)
    require_acknowledged(check_ledger(store), told)
    engine = join(store)
    told += acks(engine.execute("example/a", Ask(title="after", of=CRANE), OTTER).recorded)
    store.close()


@pytest.mark.requirement("LDG-076")
@pytest.mark.parametrize("half", [0, 1])
def test_killing_a_writer_at_any_moment_loses_nothing_it_acknowledged(
    path: Path, half: int
) -> None:
    seed = 20_260_218 + half
    chance = random.Random(seed)
    told: list[Ack] = []
    for cycle in range(CYCLES // 2):
        with children(("work", path, seed * 1_000 + cycle)) as (child,):
            for _ in range(chance.randrange(1, 60)):
                child.hear()
            spin(chance.randrange(3_000))
            child.kill()
            told += child.acks()
            print(f"seed {seed} cycle {cycle}: {len(told)} acknowledged")  # noqa: T201
            check_after_kill(path, told)
            notes = [int(words[1]) for words in child.said if words[0] == "note"]
            beats = [int(words[1]) for words in child.said if words[0] == "beat"]
            check_side_tables(path, max(notes, default=0), max(beats, default=0))
    assert len(told) > CYCLES


def check_side_tables(path: Path, note: int, at: int) -> None:
    """An acknowledged checkpoint and heartbeat are there too, or newer ones."""
    store = SqliteStore(path)
    with store.read() as view:
        found = view.heartbeat(OTTER)
        text = view.newest_note()
    store.close()
    assert (found.at if found else 0) >= at
    number = int(text.split("\nmoot ")[1].split()[0]) if text else 0
    assert number >= note


def test_killing_writers_in_the_middle_does_not_disturb_those_beside_them(path: Path) -> None:
    seed = 20_260_219
    chance = random.Random(seed)
    steady = ("append", path, "example/a", 60)
    with children(steady, steady, ("work", path, 1), ("work", path, 2)) as started:
        calm, doomed = started[:2], started[2:]
        for child in started:
            child.hear_until("ready")
        for child in calm:
            child.say()
        for child in doomed:
            for _ in range(chance.randrange(1, 40)):
                child.hear()
            spin(chance.randrange(3_000))
            child.kill()
        assert [child.end() for child in calm] == [0, 0], f"seed {seed}"
        told = [ack for child in started for ack in child.acks()]
    assert len(calm[0].acks()) == len(calm[1].acks()) == 60
    check_after_kill(path, told)


def test_killing_between_an_artifact_and_its_event_leaves_a_blob_and_no_event(
    path: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "artifacts"
    with children(("cite", path, folder, "pause")) as (child,):
        child.hear_until("artifact")
        child.kill()
        sha256 = child.said[-1][1]
    store = SqliteStore(path)
    chains = check_ledger(store)
    store.close()
    require_acknowledged(chains, child.acks())
    assert b"".join(FileArtifacts(folder).chunks(sha256))
    cited = [ref.sha256 for record in chains[REGISTRY] for ref in record.body.artifacts]
    assert sha256 not in cited


@pytest.mark.requirement("LDG-050")
def test_no_event_cites_an_artifact_that_a_kill_has_lost(path: Path, tmp_path: Path) -> None:
    seed = 20_260_220
    chance = random.Random(seed)
    folder = tmp_path / "artifacts"
    told: list[Ack] = []
    for cycle in range(6):
        with children(("cite", path, folder, "go")) as (child,):
            for _ in range(chance.randrange(2, 40)):
                child.hear()
            spin(chance.randrange(3_000))
            child.kill()
            told += child.acks()
        print(f"seed {seed} cycle {cycle}")  # noqa: T201
        store = SqliteStore(path)
        chains = check_ledger(store)
        store.close()
        require_acknowledged(chains, told)
        artifacts = FileArtifacts(folder)
        refs = [ref for record in chains[REGISTRY] for ref in record.body.artifacts]
        for ref in refs:
            assert sum(map(len, artifacts.chunks(ref.sha256))) == ref.size
        assert {ref.sha256 for ref in refs} <= set(artifacts.all_hashes())


@pytest.mark.requirement("LDG-066")
@pytest.mark.parametrize("processes", [8, 16])
def test_many_processes_append_to_one_stream_without_an_error(path: Path, processes: int) -> None:
    each = 240 // processes
    with children(*[("append", path, "example/shared", each)] * processes) as started:
        for child in started:
            child.hear_until("ready")
        for child in started:
            child.say()
        assert [child.end() for child in started] == [0] * processes
        told = [ack for child in started for ack in child.acks()]
    store = SqliteStore(path)
    chain = check_ledger(store)["example/shared"]
    store.close()
    assert sorted(ack.seq for ack in told) == list(range(240))
    assert [record.hash.hex() for record in chain] == [ack.hash for ack in sorted(told, key=by_seq)]
    titles = [record.body.data["title"] for record in chain]
    assert len(set(titles)) == 240


def by_seq(ack: Ack) -> int:
    return ack.seq


def test_many_processes_may_make_the_same_new_file_at_once(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    with children(*[("create", path)] * 8) as started:
        for child in started:
            child.hear_until("ready")
        for child in started:
            child.say()
        assert [child.end() for child in started] == [0] * 8
    store = SqliteStore(path)
    with store.read() as view:
        assert view.count_streams_and_events() == (0, 0)
    store.close()
