"""Waiting for a program's end, and hearing signals meanwhile."""

from __future__ import annotations

import os
import subprocess
import threading
from contextlib import suppress
from typing import Final

# Python acts on a signal in its main thread alone. One that the system gave to another thread, as
# it may after a stop, does not wake the main one.
LOOK_EVERY_SECONDS: Final = 1.0


def wait_for_end(program: subprocess.Popen[bytes]) -> None:
    """Wait until it has ended but do not reap it, where the system can do that: until then no other
    process can get its number, and a signal to it or its group cannot hit another's."""
    ended = threading.Event()

    def wait() -> None:
        with suppress(ChildProcessError):  # whoever was interrupted has ended and reaped it
            if hasattr(os, "waitid"):
                os.waitid(os.P_PID, program.pid, os.WEXITED | os.WNOWAIT)
            else:
                program.wait()
        ended.set()

    threading.Thread(target=wait, name="moot-program-end", daemon=True).start()
    while not ended.wait(LOOK_EVERY_SECONDS):
        pass
