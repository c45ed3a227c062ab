"""Several processes say of every bundle what one says."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from moot.verify import Workers
from moot.verify.parallel import BATCH_LINES
from tests.verify.bundle_builder import Ledger, small
from tests.verify.damaged_bundles import in_quarters, quarter_of
from tests.verify.verdicts import judge, judge_pinned, named


@pytest.fixture(scope="module")
def workers() -> Iterator[Workers]:
    """One worker beside this process, with batches small enough that both take part."""
    with Workers(2, batch_lines=2) as started:
        started.start()
        yield started


@pytest.mark.parametrize(("kind", "shard"), in_quarters())
def test_every_damaged_bundle_is_judged_alike(kind: str, shard: int, workers: Workers) -> None:
    for name, (data, trust) in quarter_of(kind, shard):
        alone = judge_pinned(data, trust, jobs=1)
        assert judge_pinned(data, trust, workers=workers) == alone, name


def _long(events: int) -> Ledger:
    ledger = Ledger("long")
    ada = ledger.add("ada")
    for number in range(events):
        ledger.event(f"errand/{number % 3}", ada, {"number": number})
    return ledger


def test_a_long_bundle_starts_workers_of_its_own_and_ends_them() -> None:
    ledger = _long(4 * BATCH_LINES)
    bundle = ledger.bundle()
    before = set(multiprocessing.active_children())
    assert judge(bundle, ledger, jobs=3) == judge(bundle, ledger)
    assert set(multiprocessing.active_children()) <= before


@pytest.mark.parametrize("at", [0.1, 0.5, 0.9])
def test_the_first_of_two_failures_is_named_anyone_who_finds_it(
    at: float, workers: Workers
) -> None:
    ledger = _long(60)
    bundle = ledger.bundle()
    line = 4 + int(at * 50)
    broken = bundle.replace(line, b'{"payload":""}').replace(line + 3, b"x")
    overlong = bundle.replace(line, b'{"payload":""}').replace(line + 2, b"x" * 3_000_000)
    for damage in (broken, overlong, broken.replace(line + 1, b"\xff")):
        assert named(judge(damage, ledger, workers=workers)) == ("tampered", line)


@pytest.mark.parametrize("raw", [b"x" * 3_000_000, b'{"payload":"' + b"A" * 3_000_000 + b'"}'])
def test_a_line_that_cannot_be_read_has_its_turn(raw: bytes, workers: Workers) -> None:
    ledger = _long(60)
    damage = ledger.bundle().replace(40, raw)
    assert named(judge(damage, ledger, workers=workers)) == ("tampered", 40)


def test_a_batch_that_is_under_way_when_a_check_stops_does_not_reach_the_next() -> None:
    ledger = Ledger("slow")
    ada = ledger.add("ada")
    for number in range(40):
        ledger.event("errand/tea", ada, {"text": "x" * (60_000 if number > 4 else 1)})
    bundle = ledger.bundle()
    with Workers(3, batch_lines=4) as started:
        started.start()
        for _ in range(3):
            assert named(judge(bundle.drop(6), ledger, workers=started)) == ("tampered", 6)
        assert judge(bundle, ledger, workers=started)


def test_workers_serve_one_check_after_another_even_if_one_stopped_early(workers: Workers) -> None:
    ledger, other = _long(60), small()
    for _ in range(3):
        assert judge(ledger.bundle().duplicate(5), ledger, workers=workers).verdict == "tampered"
        assert judge(ledger.bundle(), ledger, workers=workers)
        assert judge(other.bundle(), other, workers=workers)


def test_workers_can_be_started_outside_the_main_thread() -> None:
    ledger = _long(10)
    verdicts: list[str] = []

    def check() -> None:
        with Workers(2, batch_lines=2) as started:
            started.start()
            verdicts.append(judge(ledger.bundle(), ledger, workers=started).verdict)

    thread = threading.Thread(target=check)
    thread.start()
    thread.join()
    assert verdicts == ["valid"]


_INTERRUPTED = """
import sys
from moot.verify import verify_bundle

def wait(done, total):
    print(done, flush=True)
    sys.stdin.read()

verify_bundle(sys.argv[1], None, jobs=2, progress=wait)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="a terminal's Ctrl-C is a POSIX group signal")
def test_ctrl_c_ends_all_processes_with_one_traceback(tmp_path: Path) -> None:
    file = tmp_path / "long.bundle"
    file.write_bytes(_long(5 * BATCH_LINES).bundle().data())
    running = subprocess.Popen(
        [sys.executable, "-c", _INTERRUPTED, str(file)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        start_new_session=True,
    )
    assert running.stdout is not None
    assert running.stdout.readline() == b"1024\n"
    os.killpg(running.pid, signal.SIGINT)
    _, errors = running.communicate(timeout=60)
    assert running.returncode == -signal.SIGINT
    assert errors.count(b"Traceback") == 1


def test_a_worker_that_dies_is_an_error_and_never_a_verdict() -> None:
    ledger, others = _long(60), set(multiprocessing.active_children())
    with Workers(2, batch_lines=2) as started:
        started.start()
        for process in set(multiprocessing.active_children()) - others:
            process.kill()
            process.join()
        with pytest.raises((RuntimeError, OSError)):
            judge(ledger.bundle(), ledger, workers=started)


def test_a_short_bundle_starts_no_process() -> None:
    ledger = small()
    before = set(multiprocessing.active_children())
    with Workers(8) as workers:
        assert judge(ledger.bundle(), ledger, workers=workers)
        assert set(multiprocessing.active_children()) <= before
