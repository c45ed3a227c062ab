"""A process that holds a person's key leaves no image of its memory behind.

On Linux it is marked as not dumpable before the key is unlocked: no core file is written, and other
programs of the same user can neither trace it nor read its memory; a program that it starts is not
concerned. Elsewhere no core file is written, which its children inherit. What the mark does not do:
keep the system from swapping memory to disk, or its administrator from reading it.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import Final

_PR_SET_DUMPABLE: Final = 4


def forbid_core_dumps() -> None:
    """As far as the system lets us: a key is used all the same where it does not."""
    if sys.platform == "linux":
        import ctypes

        with suppress(OSError, AttributeError):
            ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
    elif sys.platform != "win32":
        import resource

        with suppress(OSError, ValueError):
            resource.setrlimit(
                resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1])
            )
