"""A bar on the terminal while something takes long; elsewhere nothing, not even an import."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

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
