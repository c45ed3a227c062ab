"""One observed session: who is watched, how often which tool was used, and when nobody watched."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

import msgspec
from immutables import Map

from moot.core.clock import Millis

# The state is kept small: it is read before every observation. The events have everything.
MAX_TOOLS, MAX_GAPS = 200, 64
# Tools beyond the first `MAX_TOOLS` names are counted together under this one.
OTHER_TOOLS: Final = "(others)"
# Why nobody watched: it was started so, as somebody wanted it.
UNGUARDED: Final = "unguarded"


class Stage(StrEnum):
    """Where a session stands. It is read off the state, not stored in it."""

    NEW = "new"
    WATCHED = "watched"
    BLIND = "blind"
    ENDED = "ended"


class SeenTests(StrEnum):
    """How tests ended that were run after the last edit, as far as hooks saw it.

    `ran`: they did, and how they ended is not known. `never`: none ran.
    """

    PASSED = "passed"
    FAILED = "failed"
    RAN = "ran"
    NEVER = "never"


class Gap(msgspec.Struct, frozen=True):
    """Nobody watched from `since` to `until`."""

    since: Millis
    until: Millis
    why: str


class State(msgspec.Struct, frozen=True):
    """One session. `blind_since` is set while nobody watches; `gaps` are the newest only.

    `last_edit` and `last_tests` are the numbers of the newest uses that changed files, and that
    ran tests; `tests` is how those ended.
    """

    agent: str = ""
    epoch: int = 0
    session: str = ""
    since: Millis = 0
    last_at: Millis = 0
    tools: Map[str, int] = Map()
    count: int = 0
    files: int = 0
    gaps: tuple[Gap, ...] = ()
    gap_count: int = 0
    blind_since: Millis | None = None
    blind_why: str = ""
    ended: bool = False
    last_edit: int = 0
    last_tests: int = 0
    tests: str = ""

    @property
    def tests_after_edit(self) -> SeenTests | None:
        """None if nothing was edited, so that nobody had to test it."""
        if not self.last_edit:
            return None
        return SeenTests(self.tests) if self.last_tests > self.last_edit else SeenTests.NEVER

    @property
    def stage(self) -> Stage:
        if self.ended:
            return Stage.ENDED
        if not self.agent:
            return Stage.NEW
        return Stage.WATCHED if self.blind_since is None else Stage.BLIND
