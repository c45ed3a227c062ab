"""Sixteen processes in one free-form session, and in the next one when it has ended.

Every entry that was acknowledged must stand in a file exactly once, every file must be valid, and
the ledger must agree with each of them to the byte.
"""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

from bench.figure import Figure, at_most, value
from bench.ground import Ground, opened
from moot.api.debates.check import compare_with_record
from moot.api.debates.record import stream_of
from moot.protocols.debate.checker import check_session
from moot.workspace.workspace import Workspace

PROCESSES = 16


def measure(ground: Ground) -> Iterator[Figure]:
    agents = [f"writer-{number:02d}" for number in range(PROCESSES)]
    place = ground.new("debates", agents)
    seconds = ground.pick(20, 2)
    acknowledged, failed = _crowd(place, agents, seconds)
    files = sorted(place.glob("debate-*.md"))
    rate = len(acknowledged) / seconds
    counts = {"files": float(len(files)), "entries": float(len(acknowledged))}
    yield value(f"{PROCESSES} processes in one debate", "entries/s", rate, more=counts)
    yield value(f"{PROCESSES} debaters, failed", "processes", failed, target=at_most(0))
    yield value("debate entries lost or doubled", "", _lost(files, acknowledged), target=at_most(0))
    with opened(place) as space:
        wrong = sum(not _agrees(space, file) for file in files)
    yield value("debate files invalid or unlike their record", "", wrong, target=at_most(0))


def _lost(files: list[Path], acknowledged: list[str]) -> int:
    written = Counter(
        one.id for file in files for one in check_session(file.read_bytes()).document.entries
    )
    return sum(written[one] != 1 for one in acknowledged)


def _agrees(space: Workspace, file: Path) -> bool:
    checked = check_session(file.read_bytes())
    stream = stream_of(checked.document.session_id)
    with space.store.read() as view:
        held = compare_with_record(view, stream, space.artifacts, file.read_bytes())
    return checked.valid and held.verdict == "valid"


def _crowd(place: Path, agents: list[str], seconds: int) -> tuple[list[str], int]:
    with ExitStack() as stack:
        crowd = [stack.enter_context(_start(place, agent, seconds)) for agent in agents]
        for one in crowd:
            assert one.stdout is not None
            one.stdout.readline()
        for one in crowd:
            assert one.stdin is not None
            one.stdin.write("go\n")
            one.stdin.flush()
        said = [one.communicate()[0].split() for one in crowd]
        return [entry for ids in said for entry in ids], sum(one.returncode != 0 for one in crowd)


def _start(place: Path, agent: str, seconds: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "bench.debates", place, agent, str(PROCESSES), str(seconds)],
        cwd=Path(__file__).parents[2],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
