"""Is this session still the holder of its name? `MOOT_EPOCH` says which holder it was started as.

After an adoption the earlier session may live on with `MOOT_AGENT` in its environment and the new
key within reach: it must not go on signing as the one who took over.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from moot.core.errors import Refused

if TYPE_CHECKING:
    from moot.workspace.workspace import Workspace


def require_same_holder(space: Callable[[], Workspace], name: str, env: Mapping[str, str]) -> None:
    """Refused if another session has taken the name over since this one was started.

    The workspace is opened only if there is something to ask it.
    """
    told = env.get("MOOT_EPOCH")
    if not told or name != env.get("MOOT_AGENT"):
        return
    agent = space().engine.registry().agents.get(name)
    if agent is not None and str(agent.epoch) != told:
        raise Refused(
            "session_replaced",
            f"{name} has been adopted by another session since this one started",
            hint="stop here, or start anew: `moot join`",
        )
