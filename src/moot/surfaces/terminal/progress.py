"""A progress bar and a status line on a terminal; elsewhere nothing, not even an import."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from moot.surfaces.terminal.answer import visible

if TYPE_CHECKING:
    from rich.progress import Progress


Report = Callable[[int, int], None]
QUIET_SECONDS = 0.5
REPORT_EVERY = 1_024


@contextmanager
def progress(label: str) -> Iterator[Report | None]:
    """Yield a function to call with (done, total), or None if there is no terminal."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield None
        return
    bar = _Bar(label)
    try:
        yield bar.report
    finally:
        bar.close()


def counted(
    lines: Iterable[bytes], report: Report | None, total: Callable[[bytes], int]
) -> Iterator[bytes]:
    """Yield the same lines and report how many there were; `total` reads the first one."""
    due = 0
    for number, line in enumerate(lines):
        due = total(line) if number == 0 else due
        if report is not None and number % REPORT_EVERY == 0:
            report(number, due)
        yield line


class _Bar:
    """Shown only after half a second: short work needs none."""

    def __init__(self, label: str) -> None:
        self._label = label
        self._began = time.monotonic()
        self._shown: Progress | None = None

    def report(self, done: int, total: int) -> None:
        if self._shown is None and time.monotonic() - self._began > QUIET_SECONDS:
            self._shown = self._show(total)
        if self._shown is not None:
            self._shown.update(self._shown.task_ids[0], completed=done, total=total)

    def _show(self, total: int) -> Progress:
        from rich.console import Console
        from rich.progress import Progress

        shown = Progress(console=Console(stderr=True), transient=True)
        shown.add_task(self._label, total=total)
        shown.start()
        return shown

    def close(self) -> None:
        if self._shown is not None:
            self._shown.stop()


_ERASE: Final = "\r\x1b[2K"


class StatusLine:
    """One line on standard error that says what is being done, on a terminal that can erase it.

    `show` replaces the line, `clear` removes it.
    """

    def __init__(self) -> None:
        self._can_erase = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
        self._is_shown = False

    def show(self, text: str) -> None:
        if self._can_erase:
            import shutil  # slow to load, and most commands show no status line

            room = max(20, shutil.get_terminal_size().columns - 4)
            line = visible(text)
            line = line if len(line) <= room else f"{line[: room - 1]}…"
            self._write(f"{_ERASE}\x1b[2m… {line}\x1b[0m")
            self._is_shown = True

    def clear(self) -> None:
        if self._is_shown:
            self._write(_ERASE)
            self._is_shown = False

    def _write(self, text: str) -> None:
        try:
            sys.stderr.write(text)
            sys.stderr.flush()
        except OSError:  # the terminal is closed; the work continues
            self._can_erase = False
