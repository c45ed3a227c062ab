"""A bar on the terminal while something takes long; elsewhere nothing, not even an import."""

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


Tell = Callable[[int, int], None]
QUIET_SECONDS = 0.5
TELL_EVERY = 1_024


@contextmanager
def progress(label: str) -> Iterator[Tell | None]:
    """Gives a function to be told (done, total), or None if nobody would see it."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield None
        return
    bar = _Bar(label)
    try:
        yield bar.tell
    finally:
        bar.close()


def counted(
    lines: Iterable[bytes], tell: Tell | None, total: Callable[[bytes], int]
) -> Iterator[bytes]:
    """The same lines, telling how far they are; `total` reads the first one."""
    due = 0
    for number, line in enumerate(lines):
        due = total(line) if number == 0 else due
        if tell is not None and number % TELL_EVERY == 0:
            tell(number, due)
        yield line


class _Bar:
    """Shown only after half a second: short work needs none."""

    def __init__(self, label: str) -> None:
        self._label = label
        self._began = time.monotonic()
        self._shown: Progress | None = None

    def tell(self, done: int, total: int) -> None:
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


# One line on standard error that says what is being done, and goes when something is shown.
#
# Only at a terminal that can take a line back; elsewhere nothing is written.

_ERASE: Final = "\r\x1b[2K"


class StatusLine:
    """`show` replaces what stood there, `clear` takes it away."""

    def __init__(self) -> None:
        self._can_erase = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
        self._stands = False

    def show(self, text: str) -> None:
        if self._can_erase:
            import shutil  # slow to load, for every command that shows no line

            room = max(20, shutil.get_terminal_size().columns - 4)
            line = visible(text)
            line = line if len(line) <= room else f"{line[: room - 1]}…"
            self._write(f"{_ERASE}\x1b[2m… {line}\x1b[0m")
            self._stands = True

    def clear(self) -> None:
        if self._stands:
            self._write(_ERASE)
            self._stands = False

    def _write(self, text: str) -> None:
        try:
            sys.stderr.write(text)
            sys.stderr.flush()
        except OSError:  # nobody reads it any more; the work goes on
            self._can_erase = False
