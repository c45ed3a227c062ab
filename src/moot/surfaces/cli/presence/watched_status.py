"""`moot status --watch`: the same screen again, whenever somebody writes and every few seconds."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Final

from moot.surfaces.terminal.answer import print_line
from moot.surfaces.terminal.local_time import in_local_time

if TYPE_CHECKING:
    from moot.api.session import Session

AGAIN_SECONDS: Final = 5.0  # so that how long ago something was stays true
LOOK_SECONDS: Final = 0.25
_TOP: Final = "\x1b[H\x1b[2J"


def show_again(session: Session, lines: Callable[[], Iterable[str]]) -> None:
    """Until Ctrl-C; a screen that can be cleared is, else each look stands below the last."""
    from moot.api.status import count_changes

    can_clear = sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
    try:
        while True:
            changes = count_changes(session)
            shown = [in_local_time(line) for line in lines()]
            print_line((_TOP if can_clear else "") + "\n".join(shown), at_once=True)
            until = time.monotonic() + AGAIN_SECONDS
            while time.monotonic() < until and count_changes(session) == changes:
                time.sleep(LOOK_SECONDS)
    except KeyboardInterrupt:
        return
