"""bernstein: the file locks and the audit log that its orchestrator uses, and its MCP server."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from itertools import count
from pathlib import Path

from bernstein.core.persistence.file_locks import FileLockManager
from bernstein.core.security.audit import AuditLog

from bench.peers.drivers.mcp_client import PipeClient, count_tokens
from bench.peers.drivers.protocol import (
    A_RECORD,
    Measure,
    Offered,
    millis_each,
    millis_of_process,
    resident_megabytes,
    serve,
)

RECORDS = 1_000
HELD_AT_ONCE = 100
_ONCE = """
import sys
from pathlib import Path
from bernstein.core.persistence.file_locks import FileLockManager
FileLockManager(Path.cwd()).acquire([sys.argv[1]], agent_id="otter", task_id="t1")
"""


@contextmanager
def start(folder: Path) -> Iterator[Measure]:
    numbers = count()

    def measure() -> float:
        command = [sys.executable, "-c", _ONCE, f"src/f{next(numbers)}.py"]
        return millis_of_process(command, folder, {})

    yield measure


@contextmanager
def reserve(folder: Path, held: int) -> Iterator[Measure]:
    locks, numbers = FileLockManager(folder), count()
    for begin in range(0, held, HELD_AT_ONCE):
        files = [f"src/held/f{n}.py" for n in range(begin, min(begin + HELD_AT_ONCE, held))]
        locks.acquire(files, agent_id=f"holder-{begin}", task_id="t1")

    def take() -> None:
        file = f"src/mine/f{next(numbers)}.py"
        if locks.acquire([file], agent_id="otter", task_id="t2"):
            raise RuntimeError("taken by another")

    def measure() -> float:
        spent = millis_each(take, 20)
        locks.release("otter")
        return spent

    yield measure


def note(log: AuditLog) -> None:
    log.log("note", "otter", "record", "r1", {"text": A_RECORD})


@contextmanager
def append(folder: Path) -> Iterator[Measure]:
    log = AuditLog(folder / "audit")
    yield lambda: millis_each(lambda: note(log), 50)


@contextmanager
def verify(folder: Path) -> Iterator[Measure]:
    log = AuditLog(folder / "audit")
    for _ in range(RECORDS):
        note(log)

    def check() -> None:
        is_valid, errors = log.force_full_verify()
        if not is_valid:
            raise RuntimeError(f"not accepted: {errors[:1]}")

    yield lambda: millis_each(check, 1) * 1_000 / RECORDS


def start_server(folder: Path) -> PipeClient:
    return PipeClient([sys.executable, "-m", "bernstein.mcp"], folder, dict(os.environ))


@contextmanager
def tools(folder: Path) -> Iterator[Measure]:
    with start_server(folder) as server:
        yield lambda: count_tokens(server.ask("tools/list"))


@contextmanager
def memory(folder: Path) -> Iterator[Measure]:
    with start_server(folder) as server:
        server.ask("tools/list")
        yield lambda: resident_megabytes(server.pid)


_LOCKS = (
    "The class that its orchestrator uses before it starts an agent; no command or tool offers it"
    " to agents. All locks are written to one file and synced; not signed."
)
OFFERED = {
    "start": Offered(start, "python -c: import the lock manager, lock one file, end", _LOCKS),
    "reserve-10": Offered(partial(reserve, held=10), "FileLockManager.acquire", _LOCKS),
    "reserve-10000": Offered(partial(reserve, held=10_000), "FileLockManager.acquire", _LOCKS),
    "append": Offered(
        append,
        "AuditLog.log",
        "Chained by HMAC with one secret key, so that only its holder can check it, and could have"
        " made it; it does not wait for the disk (no fsync).",
    ),
    "verify": Offered(
        verify,
        "AuditLog.force_full_verify",
        "The chain of HMACs; no signatures, which are the dear part of checking.",
    ),
    "tools": Offered(tools, "python -m bernstein.mcp, tools/list", "", "mcp"),
    "memory": Offered(memory, "python -m bernstein.mcp after tools/list", "", "mcp"),
}

if __name__ == "__main__":
    serve(OFFERED)
