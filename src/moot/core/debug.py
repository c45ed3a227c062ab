"""What MOOT_DEBUG=1 is told: one call for each thing opened, locked, decided or committed.

Nothing below the surfaces reads the environment or prints. A surface hands in a function of this
shape (`system/debug.py` makes one that prints); where there is none, nobody is told and nothing is
put into words. The first text is one of a few fixed verbs, the second names files, streams,
positions and types of events: never what somebody wrote, and never a secret.
"""

from __future__ import annotations

from collections.abc import Callable

DebugLog = Callable[[str, str], None]
