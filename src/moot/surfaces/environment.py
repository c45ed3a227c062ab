"""Environment variables that say who acts; read once, passed on as values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from moot.core.clock import Millis
    from moot.core.findings import Finding

STALE_VARIABLE: Final = "BB_AGENT_STALE_MINUTES"


def read_epoch(env: Mapping[str, str], acting: str | None) -> int | None:
    """Read MOOT_EPOCH: which holder of the name MOOT_AGENT this process was started as.

    None for any other name. A value that is not a number matches no holder, so it is refused later.
    """
    epoch = env.get("MOOT_EPOCH")
    if not epoch or acting != env.get("MOOT_AGENT"):
        return None
    if epoch.isascii() and epoch.isdigit():
        return int(epoch)
    from moot.api.session import NO_EPOCH

    return NO_EPOCH


def read_stale_time(env: Mapping[str, str]) -> tuple[Millis | None, tuple[Finding, ...]]:
    """Read after how long an agent counts as stale; with a warning if that is not a number."""
    if not env.get(STALE_VARIABLE):
        return None, ()
    from moot.protocols.presence.liveness import read_stale_minutes

    millis, warning = read_stale_minutes(env[STALE_VARIABLE])
    return millis, () if warning is None else (warning,)
