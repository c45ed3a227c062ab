"""What the tests run in other processes: `python -m tests.store.child TASK ARGUMENT...`.

Each line a task prints was true before it was written: an acknowledgement follows its commit.
"""

from __future__ import annotations

import os
import random
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import IO

from moot.core.errors import MootError, Refused, StoreFailed
from moot.engine.engine import Engine
from moot.engine.job import Job, JobOutcome
from moot.engine.registry_commands import current_heads, register, revoke
from moot.protocols.example.model import Ask, Finish
from moot.store.artifacts import FileArtifacts
from moot.store.sqlite import SqliteStore
from moot.testing.world import CUSTODIAN
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

ROOT = Path(__file__).resolve().parents[2]


def tell(*words: object) -> None:
    """One line, in one write: whole or absent, whenever we are killed."""
    os.write(1, (" ".join(map(str, words)) + "\n").encode())


def tell_acks(outcome: JobOutcome) -> None:
    for ack in acks(outcome.recorded):
        tell("ack", *ack)


def wait_for_word() -> None:
    sys.stdin.readline()


# Tasks --------------------------------------------------------------------------------------------


def append(path: str, stream: str, count: str) -> None:
    """`count` events on one stream, each in its own commit."""
    engine = join(SqliteStore(Path(path)))
    tell("ready")
    wait_for_word()
    for number in range(int(count)):
        title = f"{os.getpid()} {number}"
        tell_acks(engine.execute(stream, Ask(title=title, of=CRANE), OTTER))
    engine.close()
    tell("done")


def work(path: str, seed: str) -> None:
    """A mixed life without end: single events, groups, refusals, heartbeats, checkpoints."""
    engine = join(SqliteStore(Path(path)))
    chance = random.Random(int(seed))
    tell("ready")
    while True:
        chance.choice(_DEEDS)(engine, chance)


def _ask_once(engine: Engine, chance: random.Random) -> None:
    stream = f"example/{chance.choice('abc')}"
    title = "x" * chance.choice((1, 50, 9_000))
    tell_acks(engine.execute(stream, Ask(title=title, of=CRANE), OTTER))


def _ask_as_group(engine: Engine, chance: random.Random) -> None:
    asked = Ask(title="one of a group", of=CRANE)
    jobs = [Job(f"example/{chance.choice('abcd')}", asked, OTTER) for _ in range(7)]
    for result in engine.execute_all(jobs):
        assert isinstance(result, JobOutcome), result
        tell_acks(result)


def _meddle(engine: Engine, chance: random.Random) -> None:
    """Refused, and on record."""
    try:
        engine.execute(f"example/{chance.choice('abc')}", Finish(id="e1"), OTTER)
    except Refused:
        return


def _beat(engine: Engine, _chance: random.Random) -> None:
    engine.clock.forward(seconds=1)  # type: ignore[attr-defined]
    tell("beat", engine.beat(OTTER))


def _pin(engine: Engine, _chance: random.Random) -> None:
    kept = engine.checkpoint()
    if kept is not None:
        tell("note", kept.checkpoint.number)


_DEEDS: tuple[Callable[[Engine, random.Random], None], ...] = (
    _ask_once,
    _ask_once,
    _ask_as_group,
    _meddle,
    _beat,
    _pin,
)


def cite(path: str, folder: str, pause: str) -> None:
    """Register a key, store the heads of the moment, revoke the key citing them; for ever."""
    artifacts = FileArtifacts(Path(folder))
    engine = join(SqliteStore(Path(path)), artifacts)
    tell("ready")
    while True:
        number = engine.registry().position
        signer = engine.keys.make(f"agent-{number}", str(os.getpid()))  # type: ignore[attr-defined]
        tell_acks(register(engine, f"agent-{number}", signer, custodian=CUSTODIAN))
        ref, data = current_heads(engine)
        assert artifacts.put(data, ref.media_type) == ref
        tell("artifact", ref.sha256)
        if pause == "pause":
            wait_for_word()
        tell_acks(revoke(engine, signer.kid, "lost", ref))


def hold(path: str) -> None:
    """Hold the write lock until a word comes."""
    store = SqliteStore(Path(path))
    with store.write():
        tell("ready")
        wait_for_word()
    store.close()


def create(path: str) -> None:
    """Make the file, or find it made by another."""
    tell("ready")
    wait_for_word()
    SqliteStore(Path(path), create=True).close()
    tell("done")


def as_nobody(path: str) -> None:
    """Open, read and write as someone whom permissions bind; say how each went."""
    target = Path(path)
    if os.geteuid() == 0:
        os.setgroups([])
        os.setgid(65534)
        os.setuid(65534)
    _report("read", lambda: _read_all(target))
    _report("write", lambda: _write_once(target))
    _report("backup", lambda: _back_up(target, target.with_name("copy.db")))


def _report(what: str, attempt: Callable[[], object]) -> None:
    try:
        tell(what, "ok", attempt() or "")
    except MootError as error:
        tell(what, type(error).__name__, error.code)


def _read_all(path: Path) -> int:
    with closing(SqliteStore(path)) as store:
        return sum(map(len, check_ledger(store).values()))


def _write_once(path: Path) -> None:
    with closing(SqliteStore(path)) as store:
        join(store).execute("example/a", Ask(title="x", of=CRANE), OTTER)


def _back_up(path: Path, target: Path) -> None:
    with closing(SqliteStore(path)) as store:
        store.backup(target)


def fill(folder: str) -> None:
    """Append until the disk is full, make room, go on; then check everything."""
    path, ballast = Path(folder, "ledger.db"), Path(folder, "ballast")
    ballast.write_bytes(bytes(100_000))
    found_ledger(path)
    _fill_and_go_on(path, ballast.unlink)


def fill_limited(folder: str) -> None:
    """The same where no file may grow beyond a limit, until the limit is lifted."""
    path = Path(folder, "ledger.db")
    found_ledger(path)
    hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, hard))
    _fill_and_go_on(path, lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard)))


def _fill_and_go_on(path: Path, make_room: Callable[[], object]) -> None:
    engine = join(SqliteStore(path))
    told: list[Ack] = []
    failures: list[StoreFailed] = []
    while len(failures) < 3:  # it stays full, however often it is tried
        try:
            asked = engine.execute("example/a", Ask(title="x" * 3_000, of=CRANE), OTTER)
            told += acks(asked.recorded)
        except StoreFailed as error:
            failures.append(error)
    tell("failed", *(error.code for error in failures))
    require_acknowledged(check_ledger(engine.store), told)
    assert len(check_ledger(engine.store)["example/a"]) == len(told)
    make_room()
    told += acks(engine.execute("example/a", Ask(title="room", of=CRANE), OTTER).recorded)
    engine.close()
    with closing(SqliteStore(path)) as store:
        chains = check_ledger(store)
    require_acknowledged(chains, told)
    assert len(chains["example/a"]) == len(told)
    tell("checked", len(told))


_TASKS: dict[str, Callable[..., None]] = {
    task.__name__: task
    for task in (append, work, cite, hold, create, as_nobody, fill, fill_limited)
}


# For the parent -----------------------------------------------------------------------------------


class Child:
    """A task in another process, and what it has said so far."""

    def __init__(self, *command: object, within: Sequence[str] = ()) -> None:
        """`within`: a command that runs this one, such as `unshare`."""
        self.process = subprocess.Popen(
            [*within, sys.executable, "-m", "tests.store.child", *map(str, command)],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self.said: list[list[str]] = []

    @property
    def _stdout(self) -> IO[bytes]:
        assert self.process.stdout is not None
        return self.process.stdout

    def hear(self) -> list[str]:
        """The next line, waiting for it; fails if the task has ended."""
        line = self._stdout.readline()
        assert line, f"the task ended with {self.process.wait(timeout=120)} after {self.said[-3:]}"
        self.said.append(line.decode().split())
        return self.said[-1]

    def hear_until(self, word: str) -> None:
        while self.hear()[0] != word:
            pass

    def say(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(b"go\n")
        self.process.stdin.flush()

    def kill(self) -> None:
        """SIGKILL, then everything it had said before."""
        self.process.kill()
        self._finish()

    def end(self) -> int:
        """Let it finish by itself."""
        self._finish()
        return self.process.returncode

    def _finish(self) -> None:
        self.said += [line.decode().split() for line in self._stdout]
        self.process.wait(timeout=120)
        self._stdout.close()
        assert self.process.stdin is not None
        self.process.stdin.close()

    def acks(self) -> list[Ack]:
        told = [words[1:] for words in self.said if words[0] == "ack"]
        return [Ack(stream, int(seq), digest) for stream, seq, digest in told]


@contextmanager
def children(*commands: tuple[object, ...]) -> Iterator[list[Child]]:
    """Several tasks at once; whatever is left of them is killed at the end."""
    started = [Child(*command) for command in commands]
    try:
        yield started
    finally:
        for child in started:
            if child.process.returncode is None:
                child.kill()


if __name__ == "__main__":
    _TASKS[sys.argv[1]](*sys.argv[2:])
