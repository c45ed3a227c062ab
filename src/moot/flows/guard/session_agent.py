"""Who acts: MOOT_AGENT; else the agent that this session's start registered."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from moot.core.errors import Refused
from moot.flows.guard.holder import require_same_holder

if TYPE_CHECKING:
    from moot.workspace.workspace import Workspace

SESSIONS = "presence.sessions"


class Who(NamedTuple):
    """An agent, and how it calls `moot`: with `--as` where its environment does not name it."""

    name: str
    moot: str


class Joined(msgspec.Struct, frozen=True):
    """A row of the index: which holder of which name joined with a session."""

    agent: str
    epoch: int


def who_acts(space: Workspace, session_key: str | None, env: Mapping[str, str]) -> Who:
    """Refused with a hint if nobody is known; whether the key is here is the engine's question."""
    named = env.get("MOOT_AGENT")
    if named:
        require_same_holder(lambda: space, named, env)
        return Who(named, "moot")
    found = agent_of_session(space, session_key)
    if found is None:
        raise Refused(
            "actor_required",
            "this session has not joined: nobody knows which agent it is",
            hint="start the tool with `moot run -- TOOL`, or start a new session",
        )
    return Who(found, f"moot --as {found}")


def agent_of_session(space: Workspace, session_key: str | None) -> str | None:
    """The agent that joined with this session, unless its name has a new holder by now."""
    if session_key is None:
        return None
    with space.store.read() as view:
        row = view.row(SESSIONS, session_key)
    if row is None:
        return None
    joined = msgspec.json.decode(row.value, type=Joined)
    agent = space.engine.registry().agents.get(joined.agent)
    if agent is None or agent.epoch != joined.epoch:
        raise Refused(
            "session_replaced",
            f"{joined.agent} has been adopted by another session",
            hint="start a new session",
        )
    return joined.agent
