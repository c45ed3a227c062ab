"""When those who have ended did so: the registry knows the position, and its record the time."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import TYPE_CHECKING

from moot.core.clock import to_text
from moot.core.names import REGISTRY

if TYPE_CHECKING:
    from moot.workspace.workspace import Workspace


def find_end_times(workspace: Workspace, names: Iterable[str]) -> dict[str, str]:
    """For those of `names` whose key signs no more: since when. Nobody else stands in it."""
    registry = workspace.engine.registry()
    keys = ((name, registry.keys[registry.agents[name].kid]) for name in names)
    ended = {name: key.ended for name, key in keys if key.ended is not None}
    if not ended:
        return {}
    from moot.core.registry.machine import MACHINE
    from moot.engine.replay import read_record

    times: dict[str, str] = {}
    with workspace.store.read() as view:
        for name, position in ended.items():
            for record in islice(view.records(REGISTRY, after=position - 1), 1):
                times[name] = to_text(read_record(MACHINE, record).at)
    return times
