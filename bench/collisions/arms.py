"""The ways to share one repository. The work is the same in all of them."""

from __future__ import annotations

from typing import Final

import msgspec


class Arm(msgspec.Struct, frozen=True):
    """`heeded` is how likely an agent heeds what it was told to do before it reads a file: to take
    a lock, or under Moot to reserve it. None: it is told nothing of the kind. `is_real`: the coding
    tools themselves do the work, and a scripted model says what they are to do."""

    name: str
    label: str
    has_worktrees: bool = False
    has_moot: bool = False
    heeded: float | None = None
    is_real: bool = False


ARMS: Final = (
    Arm("nothing", "One checkout, nothing else"),
    Arm("lock", "A lock asked for in a prompt (heeded 80 %)", heeded=0.8),
    Arm("worktrees", "A worktree each, merged at the end", has_worktrees=True),
    Arm("moot", "Moot in one checkout", has_moot=True),
    Arm("moot-first", "Moot, and told to reserve first (heeded 80 %)", has_moot=True, heeded=0.8),
    Arm("moot-worktrees", "Moot with worktrees", has_moot=True, has_worktrees=True),
)
TOLD_HEEDED: Final = 0.8  # what a model is told with a file that it reads, as often as the lock
HEEDED: Final = (0.0, 0.5, 0.8, 0.95, 1.0)  # the curve of the lock
LOCKS: Final = tuple(
    Arm(f"lock-{heeded:.2f}", f"A lock asked for in a prompt (heeded {heeded:.0%})", heeded=heeded)
    for heeded in HEEDED
    if heeded not in (0.0, 0.8)  # never heeded is nothing at all
)
REAL: Final = (
    Arm("real-nothing", "The four real tools, nothing else", is_real=True),
    Arm("real-moot", "The four real tools, under Moot", has_moot=True, is_real=True),
)
