"""How alive those are who would have to act: nobody waits for the dead by default (XPR-07)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from moot.core.errors import Refused
from moot.core.machine import KeyClass
from moot.protocols.presence import STREAM, views
from moot.protocols.presence.liveness import LivenessVerdict
from moot.protocols.presence.machine import MACHINE as PRESENCE
from moot.protocols.presence.model import Liveness

if TYPE_CHECKING:
    from moot.workspace.workspace import Workspace


def alive(workspace: Workspace, names: Iterable[str]) -> dict[str, LivenessVerdict]:
    """How alive each of these agents is; people, and names that are not registered, are left
    out."""
    agents = workspace.engine.registry().agents
    known = [n for n in dict.fromkeys(names) if n in agents and agents[n].kind is KeyClass.AGENT]
    state = workspace.engine.state(PRESENCE, STREAM)
    since = {name: agents[name].since for name in known}
    moment = views.Observation(
        workspace.engine.clock(), workspace.engine.signs(known), registered=since
    )
    return {name: views.observe_liveness(state, name, moment) for name in known}


def require_present(workspace: Workspace, names: Iterable[str]) -> None:
    """Refused if one of them is long gone: a session would wait for it for ever."""
    for name, verdict in alive(workspace, names).items():
        if verdict.liveness is Liveness.EVICTED:
            raise Refused(
                "agent_gone",
                f"{name} is gone: {verdict.because}",
                hint="name another with --with, or add --even-if-gone",
            )
