"""The lines a driver speaks, and the loops that most of them need. Standard library only."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, NamedTuple

Measure = Callable[[], float]
Prepare = Callable[[Path], AbstractContextManager[Measure]]
A_RECORD = "The queue must keep what it was given, and say so when it cannot. " * 4  # 264 bytes


class Offered(NamedTuple):
    """How one question is answered; `caveat` is what must be known when comparing it."""

    prepare: Prepare
    how: str
    caveat: str = ""
    way: str = "program"


def serve(offered: Mapping[str, Offered]) -> None:
    """The whole of a driver: it prepares in the folder it was started in."""
    question = sys.argv[1]
    lines = _take_standard_output()
    if question == "offers":
        offers = [
            {"question": name, "way": each.way, "how": each.how, "caveat": each.caveat}
            for name, each in offered.items()
        ]
        lines({"type": "offers", "offers": offers})
        return
    try:
        with offered[question].prepare(Path.cwd()) as measure:
            lines({"type": "ready"})
            for _ in sys.stdin:
                lines({"type": "value", "value": measure()})
    except Exception as error:
        lines({"type": "failed", "reason": _hide_folder(f"{type(error).__name__}: {error}")})
        raise


def _hide_folder(text: str) -> str:
    """Where this was measured is nobody's business, in whatever form a peer repeats it."""
    folder = str(Path.cwd())
    joined = folder.strip("/").replace("/", "-").replace("_", "-").lower()
    return text.replace(folder, ".").replace(joined, "...")


def _take_standard_output() -> Callable[[Mapping[str, Any]], None]:
    """What a peer prints goes to standard error, and cannot be mistaken for a line of ours."""
    ours = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)

    def print_line(line: Mapping[str, Any]) -> None:
        ours.write(json.dumps(line) + "\n")
        ours.flush()

    return print_line


def millis_each(act: Callable[[], object], times: int) -> float:
    """How long each takes, over `times` of them."""
    start = time.perf_counter()
    for _ in range(times):
        act()
    return (time.perf_counter() - start) * 1_000 / times


def millis_together(acts: Sequence[Callable[[], object]], times: int) -> float:
    """Everyone acts at once, so often; the time that went by, divided by all that was done."""
    errors: list[BaseException] = []
    barrier = threading.Barrier(len(acts) + 1)

    def run(act: Callable[[], object]) -> None:
        barrier.wait()
        try:
            for _ in range(times):
                act()
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(act,), daemon=True) for act in acts]
    for thread in threads:
        thread.start()
    barrier.wait()
    start = time.perf_counter()
    for thread in threads:
        thread.join()
    spent = time.perf_counter() - start
    if errors:
        raise errors[0]
    return spent * 1_000 / (times * len(acts))


def millis_of_process(command: Sequence[str], folder: Path, env: Mapping[str, str]) -> float:
    """A whole process, which must succeed."""
    start = time.perf_counter()
    done = subprocess.run(
        command, cwd=folder, env={**os.environ, **env}, capture_output=True, timeout=50, check=False
    )
    spent = (time.perf_counter() - start) * 1_000
    if done.returncode:
        raise RuntimeError(f"code {done.returncode}: {done.stderr.decode()[-200:]}")
    return spent


def resident_megabytes(process: int | str = "self") -> float:
    status = Path(f"/proc/{process}/status").read_text("utf-8")
    (line,) = [line for line in status.splitlines() if line.startswith("VmRSS:")]
    return int(line.split()[1]) / 1_000


def installed_command(name: str) -> str:
    """A console script of the environment that runs this driver."""
    return str(Path(sys.executable).parent / name)


def number_words(numbers: Iterable[int]) -> str:
    """Something different each time: who repeats himself may be stopped."""
    return " ".join(str(number) for number in numbers)
