"""Several processes say of every bundle what one says."""

from __future__ import annotations

import multiprocessing
import threading
from collections.abc import Iterator

import pytest
from damage import damaged
from forge import Ledger, small
from judge import judge, judge_pinned, named

from moot.verify import Workers
from moot.verify.parallel import BATCH_LINES


@pytest.fixture(scope="module")
def workers() -> Iterator[Workers]:
    """One worker beside this process, with batches small enough that both take part."""
    with Workers(2, batch_lines=2) as started:
        started.start()
        yield started


def _kinds() -> list[str]:
    return sorted({name.partition(" line ")[0] for name in damaged()})


@pytest.mark.parametrize("kind", _kinds())
def test_every_damaged_bundle_is_judged_alike(kind: str, workers: Workers) -> None:
    for name, (data, trust) in damaged().items():
        if name.partition(" line ")[0] == kind:
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
def test_the_first_of_two_failures_is_named_whoever_finds_it(at: float, workers: Workers) -> None:
    ledger = _long(60)
    bundle = ledger.bundle()
    line = 4 + int(at * 50)
    broken = bundle.replace(line, b'{"payload":""}').replace(line + 3, b"x")
    overlong = bundle.replace(line, b'{"payload":""}').replace(line + 2, b"x" * 3_000_000)
    for damage in (broken, overlong, broken.replace(line + 1, b"\xff")):
        assert named(judge(damage, ledger, workers=workers)) == ("tampered", line)


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


def test_a_worker_that_dies_is_an_error_and_never_a_verdict() -> None:
    ledger = _long(60)
    with Workers(2, batch_lines=2) as started:
        started.start()
        for process in multiprocessing.active_children():
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
