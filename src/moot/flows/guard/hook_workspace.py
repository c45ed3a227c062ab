"""A workspace opened for the blink of a hook.

Closing makes no checkpoint where one write is all the time there is: the next command of a person
or agent makes it. A session's start and end do.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from moot.core.clock import MINUTE, Millis
from moot.protocols.presence import liveness
from moot.workspace.workspace import Workspace, key_folder

if TYPE_CHECKING:
    from pathlib import Path

    from moot.core.debug import DebugLog

BEAT_EVERY: Millis = MINUTE


@contextmanager
def opened(place: Path, env: Mapping[str, str], pin: bool = False) -> Iterator[Workspace]:
    debug: DebugLog | None = None
    if env.get("MOOT_DEBUG"):  # else not even loaded: a hook runs before every edit
        from moot.system.debug import DebugLines

        debug = DebugLines()
    clock_text = env.get("MOOT_CLOCK", "")
    space = Workspace(place, key_folder(env), clock_text=clock_text, debug=debug)
    try:
        yield space
    finally:
        if pin:
            space.close()
        else:
            space.store.close()


def stale_millis(env: Mapping[str, str]) -> Millis | None:
    """How patient this session is; None: as the workspace."""
    millis, _warning = liveness.read_stale_minutes(env.get(liveness.STALE_VARIABLE))
    return millis


def beat(space: Workspace, name: str, acted_at: Millis) -> None:
    """A sign of life, if the last one is a while ago."""
    now = space.engine.clock()
    with space.store.read() as view:
        last = view.heartbeat(name)
    if now - max(acted_at, last.at if last is not None else 0) >= BEAT_EVERY:
        space.engine.beat(name)
