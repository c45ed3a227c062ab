"""Hooks answered by the `moot run` beside the tool: the same answers, without starting anything.

`thin.py` is the other end. Its file knows nothing of ours, so that it starts in no time.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from moot.api.guard.person_waiting import own_settings_file
from moot.surfaces.hooks import entry

if TYPE_CHECKING:
    from moot.api.open_workspaces import OpenWorkspaces
    from moot.api.session import Session


def answer_hook(
    session: Session, stays_open: OpenWorkspaces, fields: Sequence[bytes]
) -> Sequence[bytes] | None:
    """What the hook prints, says aside and ends with; None if another agent asks, or the question
    is none of ours: then the hook answers itself."""
    try:
        tool, agent, epoch, here, seconds, settings, data = fields
        words = (word.partition("=") for word in os.fsdecode(settings).split("\0"))
        allowed = float(seconds)
    except ValueError:
        return None
    env = {name: value for name, _, value in words}
    is_ours = (os.fsdecode(agent), os.fsdecode(epoch)) == (session.acting, str(session.epoch))
    if (
        not is_ours
        or env.get("MOOT_AGENT") != session.acting
        or not entry.knows_tool(tool.decode())
    ):
        return None
    env["MOOT_KEYS"] = str(session.keys.path)
    # Whatever the asking process says: here only the settings of whoever started the run count.
    env["MOOT_CONFIG"] = own_settings_file(session)
    reply = entry.answer_within(allowed, tool.decode(), data, env, os.fsdecode(here), stays_open)
    return entry.to_bytes(reply.out), entry.to_bytes(reply.err), b"%d" % reply.code
