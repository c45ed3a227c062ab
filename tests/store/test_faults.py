"""Power loss at every step of a ledger's life, and every step failing in turn.

What was acknowledged is found again, whole commits only, and the chain holds.
"""

from __future__ import annotations

import hashlib
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from moot.core.errors import MootError, StoreFailed
from moot.core.names import CHECKPOINT, SYSTEM
from moot.engine.job import Job
from moot.engine.registry_commands import found_ledger, register
from moot.protocols.example.model import Ask, Finish
from moot.store.sqlite import SqliteStore
from moot.testing.world import CUSTODIAN
from tests.sampling import QUARTERS
from tests.store.faults import (
    Disk,
    Dump,
    Fault,
    Image,
    Platter,
    dump,
    images_after_power_loss,
    keep_all,
    keep_none,
    put_image,
)
from tests.store.ledgers import AGENTS, CRANE, OTTER, check_ledger, join, keys_of_all

LEDGER = "ledger.db"


class Life:
    """A short life of a ledger, one command after the other, on a disk that writes it all down."""

    def __init__(self, disk: Disk, folder: Path) -> None:
        self.disk = disk
        self.path = folder / LEDGER
        self.keys = keys_of_all()

    def commands(self) -> list[Callable[[], object]]:
        return [
            self.open,
            self.found,
            *(self.registering(name) for name in AGENTS),
            *(self.asking(f"example/{letter}", 30) for letter in "aba"),
            self.asking("example/long", 9_000),
            self.asking("example/a", 1, 30),
            self.asking("example/b", 300, 70),  # a snapshot is due at the 64th
            self.pin,
            self.beat,
            self.move_cursor,
            self.finish,
            self.close,
            self.open,
            self.asking("example/a", 30),
            self.asking("example/new", 30),
            self.close,
        ]

    def few_commands(self) -> list[Callable[[], object]]:
        """The same in short, to be lived through hundreds of times."""
        return [
            self.open,
            self.found,
            *(self.registering(name) for name in AGENTS),
            self.asking("example/a", 30),
            self.asking("example/b", 3_000, 3),
            self.pin,
            self.close,
            self.open,
            self.asking("example/a", 30),
            self.close,
        ]

    def open(self) -> None:
        self.store = SqliteStore(self.path, create=True, connect=self.disk.connect)
        self.engine = join(self.store)
        self.engine.keys = self.keys

    def found(self) -> None:
        (root,), (pin,) = self.keys.signers[SYSTEM], self.keys.signers[CHECKPOINT]
        found_ledger(
            self.store, root, pin, self.engine.clock, custodian=CUSTODIAN, fixed_clock=True
        )

    def registering(self, name: str) -> Callable[[], object]:
        (signer,) = self.keys.signers[name]
        return lambda: register(self.engine, name, signer, custodian=CUSTODIAN)

    def asking(self, stream: str, length: int, times: int = 1) -> Callable[[], object]:
        job = Job(stream, Ask(title="x" * length, of=CRANE), OTTER)

        def ask() -> None:
            for result in self.engine.execute_all([job] * times):
                assert not isinstance(result, MootError), result

        return ask

    def pin(self) -> None:
        self.engine.checkpoint()

    def beat(self) -> None:
        self.engine.beat(OTTER)

    def finish(self) -> None:
        self.engine.execute("example/a", Finish(id="e1"), CRANE)

    def move_cursor(self) -> None:
        with self.store.write() as change:
            change.put_cursor(OTTER, "inbox", 5)

    def close(self) -> None:
        self.engine.close()


@pytest.fixture
def lives(quick_folder: Path) -> Iterator[Callable[[Fault | None], Life]]:
    """Each life in a folder of its own, on a disk of its own."""
    disks: list[Disk] = []

    def begin(fault: Fault | None = None) -> Life:
        disks.append(Disk(fault))
        folder = quick_folder / f"life{len(disks)}"
        folder.mkdir()
        return Life(disks[-1], folder)

    yield begin
    for disk in disks:
        disk.close()


def read_back(folder: Path) -> Dump | None:
    """What the ordinary store finds; None if there is no ledger yet."""
    try:
        SqliteStore(folder / LEDGER).close()
    except MootError as error:
        if error.code not in ("no_ledger", "store_damaged"):
            raise
        return None
    with closing(sqlite3.connect(folder / LEDGER)) as db:
        return dump(db)


def may_be_found(disk: Disk, steps: int) -> list[Dump | None]:
    """After `steps` steps: all that was acknowledged, or one commit more."""
    contents: list[Dump | None] = [None, *(content for _, content in disk.acknowledged)]
    told = sum(when <= steps for when, _ in disk.acknowledged)
    return contents[told : told + 2]


# Power loss ---------------------------------------------------------------------------------------


def test_the_disk_writes_down_what_really_happens(lives: Callable[..., Life]) -> None:
    """The model against the real files, so that the tests below stand on something."""
    life = lives()
    platter, played = Platter(), 0
    for command in life.commands():
        command()
        for step in life.disk.steps[played:]:
            platter.play(step)
        played = len(life.disk.steps)
        real = {
            file.name: file.read_bytes()
            for file in life.path.parent.iterdir()
            if not file.name.endswith("-shm")
        }
        assert platter.found(keep_all, folder=True) == real
    assert read_back(life.path.parent) == life.disk.acknowledged[-1][1]
    kinds = {step.kind for step in life.disk.steps}
    assert kinds == {
        "open",
        "create",
        "read",
        "write",
        "truncate",
        "sync",
        "sync_folder",
        "delete",
    }
    with closing(SqliteStore(life.path)) as store:
        assert len(check_ledger(store)) == 5


@pytest.mark.requirement("LDG-077")
@pytest.mark.parametrize("shard", QUARTERS)
def test_power_loss_at_any_step_loses_no_acknowledged_commit_and_shows_no_half_one(
    lives: Callable[..., Life], quick_folder: Path, shard: int
) -> None:
    life = lives()
    for command in life.commands():
        command()
    disk = life.disk
    checked: dict[bytes, Dump | None] = {}
    platter = Platter()
    for steps, step in enumerate(disk.steps):
        # Before each step, of which the syncs are where most can be lost.
        if step.kind in ("write", "sync", "truncate", "delete") and steps % 4 == shard:
            expected = may_be_found(disk, steps)
            for what, image in images_after_power_loss(platter, step.kind == "sync"):
                key = fingerprint(image)
                if key not in checked:
                    checked[key] = recovered(quick_folder / "image", image)
                assert checked[key] in expected, f"before step {steps} {step[:3]}: {what}"
        platter.play(step)
    assert len(checked) > 100


def fingerprint(image: Image) -> bytes:
    digest = hashlib.sha256()
    for name in sorted(image):
        digest.update(name.encode() + b"\0%d\0" % len(image[name]) + image[name])
    return digest.digest()


def recovered(folder: Path, image: Image) -> Dump | None:
    put_image(folder, image)
    try:
        return read_back(folder)
    finally:
        shutil.rmtree(folder)


def test_power_loss_right_after_an_acknowledgement_keeps_it(
    lives: Callable[..., Life], quick_folder: Path
) -> None:
    """The plainest case, with the whole chain checked and written on."""
    life = lives()
    for command in life.commands():
        command()
    platter, played = Platter(), 0
    for number, (steps, content) in enumerate(life.disk.acknowledged):
        for step in life.disk.steps[played:steps]:
            platter.play(step)
        played = steps
        folder = quick_folder / f"image{number}"
        put_image(folder, platter.found(keep_none, folder=False))
        assert read_back(folder) == content
        if number >= 4:  # founded, with both agents
            with closing(SqliteStore(folder / LEDGER)) as store:
                before = check_ledger(store)
                join(store).execute("example/a", Ask(title="after", of=CRANE), OTTER)
                after = check_ledger(store)
            count = len(before.get("example/a", []))
            assert after["example/a"][:count] == before.get("example/a", [])
            assert len(after["example/a"]) == count + 1


# Failing steps ------------------------------------------------------------------------------------


def live_through(life: Life) -> list[MootError]:
    """Every command, each tried again if the disk failed under it; what was raised meanwhile."""
    failures: list[MootError] = []
    for command in life.few_commands():
        try:
            command()
        except StoreFailed as error:
            failures.append(error)
            if command != life.close:  # which has closed the file all the same
                command()
    assert not failures or life.disk.hit
    return failures


CODES = {"io": {"disk_failed", "store_unreachable"}, "full": {"disk_full"}, "torn": {"disk_failed"}}
# apsw also reports failures that SQLite takes in its stride, such as those while closing.
ignoring_reports = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


@ignoring_reports
@pytest.mark.parametrize("shard", QUARTERS)
@pytest.mark.parametrize("how", ["io", "full", "torn"])
def test_a_step_that_fails_is_a_clear_error_and_the_next_try_succeeds(
    lives: Callable[..., Life], how: str, shard: int
) -> None:
    plan = lives()
    live_through(plan)
    for at in plan.disk.kinds(how)[shard::4]:
        life = lives(Fault(at, how))
        failures = live_through(life)
        where = f"step {at} {plan.disk.steps[at][:3]}"
        assert life.disk.hit, where
        assert {failure.code for failure in failures} <= CODES[how], where
        assert read_back(life.path.parent) == life.disk.acknowledged[-1][1], where
        assert events(life.disk) == events(plan.disk), where
        shutil.rmtree(life.path.parent)


def events(disk: Disk) -> list[tuple[Any, ...]]:
    return disk.acknowledged[-1][1]["events"]


@ignoring_reports
def test_power_loss_after_a_failed_sync_keeps_what_was_acknowledged_before_and_after_it(
    lives: Callable[..., Life], quick_folder: Path
) -> None:
    plan = lives()
    live_through(plan)
    syncs = [at for at, step in enumerate(plan.disk.steps) if step.kind == "sync"]
    for at in syncs:
        life = lives(Fault(at))
        live_through(life)
        platter, played = Platter(), 0
        for steps, expected in moments(life.disk, at, may_be_found(plan.disk, at)):
            for step in life.disk.steps[played:steps]:
                platter.play(step)
            played = steps
            image = platter.found(keep_none, folder=False)
            where = f"sync {at} failed, power lost at step {steps}"
            assert recovered(quick_folder / "image", image) in expected, where
        shutil.rmtree(life.path.parent)


def moments(
    disk: Disk, failed: int, found: list[Dump | None]
) -> list[tuple[int, list[Dump | None]]]:
    """Right after the failure, and right after each acknowledgement."""
    told: list[tuple[int, list[Dump | None]]] = [
        (steps, [content]) for steps, content in disk.acknowledged
    ]
    return sorted([*told, (failed + 1, found)], key=lambda moment: moment[0])
