"""One line on standard error that says what is being done, and goes when something is shown.

Only at a terminal that can take a line back; elsewhere nothing is written.
"""

from __future__ import annotations

import os
import shutil
import sys
from typing import Final

from moot.surfaces.terminal.answer import visible

_ERASE: Final = "\r\x1b[2K"


class StatusLine:
    """`show` replaces what stood there, `clear` takes it away."""

    def __init__(self) -> None:
        self._can_erase = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
        self._stands = False

    def show(self, text: str) -> None:
        if self._can_erase:
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
