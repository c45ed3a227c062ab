"""The model wants to stop: if something unread waits, it goes on once to read it.

At most once: a tool says when a hook has already made the model go on, and one that did not say
so could be kept going for ever.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from moot.flows.guard.guarded_paths import session_spot
from moot.surfaces.hooks import answers
from moot.surfaces.hooks.call import Call


def stop(call: Call, env: Mapping[str, str], home: Path | None) -> str:
    from moot.flows.guard.hook_workspace import beat, opened
    from moot.flows.guard.session_agent import who_acts
    from moot.surfaces.hooks.waiting import waiting_line

    spot = session_spot(call.cwd, home)
    if spot is None:
        return answers.ALLOW
    with opened(spot.workspace, env, pin=True) as space:
        who = who_acts(space, call.session_key, env)
        beat(space, who.name, 0)
        line = None if call.going_on or not call.tool.go_on else waiting_line(space, who)
    return answers.go_on(call.tool, line) if line else answers.ALLOW
