"""A session starts: it joins, and is told the rules and who is here. It ends: it leaves.

Leaving is best effort, tools do not always say that they end; what a silent session holds goes
stale by itself. An agent under `moot run` is released by that.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from moot.flows.guard.guarded_paths import Spot, branch_of, session_spot
from moot.flows.tools.coding_tools import Moment
from moot.surfaces.hooks import answers
from moot.surfaces.hooks.call import Call

if TYPE_CHECKING:
    from moot.flows.guard.session_agent import Who
    from moot.protocols.presence.views import AgentView
    from moot.workspace.workspace import Workspace

SHOWN: Final = 20
SCOPES_SHOWN: Final = 6

RULES: Final = """\
You are {me} here; other agents work in this repository too, and moot keeps you off each other's \
files.
- Before each edit the file is checked and, if it is free, reserved for you. Nothing to do.
- If another agent holds it, the edit is refused with the reason. Do not write it by another way \
(shell, copy, git): work elsewhere, ask the holder, or wait.
- Reserve more than single files at once: `{moot} reserve SCOPE` (a folder: `src/auth/*`); give \
back early: `{moot} release SCOPE`.
- Who is here and what waits for you: `{moot} status`. Accept what was passed to you: \
`{moot} event accept ID --agent {me}`."""


def start(call: Call, env: Mapping[str, str], home: Path | None) -> str:
    from moot.flows.guard.hook_workspace import opened
    from moot.flows.observed.sessions import begin_session
    from moot.surfaces.hooks import stamps
    from moot.surfaces.hooks.observing import never_in_the_way, session_of
    from moot.surfaces.hooks.waiting import waiting_line

    spot = session_spot(call.cwd, home)
    if spot is None:
        return answers.ALLOW
    stamps.sweep(spot.workspace)
    with opened(spot.workspace, env, pin=True) as space:
        who, alive_at = _join(space, spot, call, env)
        with never_in_the_way():
            begin_session(space, who.name, session_of(call), alive_at)
        said = [RULES.format(me=who.name, moot=who.moot), *_others(space, who, env)]
        waiting = waiting_line(space, who)
    text = "\n".join([*said, *([waiting] if waiting else [])])
    return answers.context(call.tool, Moment.START, text)


def end(call: Call, env: Mapping[str, str], home: Path | None) -> str:
    """Only a session that this hook registered itself is ended by it."""
    from moot.flows.guard.hook_workspace import opened
    from moot.flows.guard.session_agent import agent_of_session
    from moot.flows.observed.sessions import end_session as finish
    from moot.protocols.presence import STREAM
    from moot.protocols.presence.commands import Leave
    from moot.surfaces.hooks.observing import never_in_the_way, session_of

    spot = session_spot(call.cwd, home)
    if spot is None or env.get("MOOT_AGENT"):
        return answers.ALLOW
    with opened(spot.workspace, env, pin=True) as space:
        name = agent_of_session(space, call.session_key)
        if name is not None:
            with never_in_the_way():
                finish(space, name, session_of(call), "its session ended")
            space.engine.execute(STREAM, Leave(reason=f"{call.tool.name} session ended"), name)
    return answers.ALLOW


def _join(
    space: Workspace, spot: Spot, call: Call, env: Mapping[str, str]
) -> tuple[Who, int | None]:
    """As MOOT_AGENT; else as before if the session goes on; else under a new name.

    With the agent's last sign of life before this one.
    """
    from moot.flows.guard.holder import require_same_holder
    from moot.flows.guard.session_agent import Who, agent_of_session
    from moot.flows.presence import arrival

    named = env.get("MOOT_AGENT")
    if named:
        require_same_holder(lambda: space, named, env)
    name = named or agent_of_session(space, call.session_key) or arrival.enter_fresh(space)
    sign = space.engine.signs((name,)).get(name)
    work = _work_so_far(space, name)
    place = arrival.Place(spot.root, branch_of(spot.root), work, call.session_key)
    arrival.join(space, name, place)
    who = Who(name, "moot" if named else f"moot --as {name}")
    return who, sign.at if sign is not None else None


def _work_so_far(space: Workspace, name: str) -> str | None:
    """Joining again does not forget what the agent works on."""
    from moot.protocols.presence import STREAM, sorted_index

    member = sorted_index.find_member(space.engine.state(STREAM), name)
    return member.work if member is not None else None


def _others(space: Workspace, who: Who, env: Mapping[str, str]) -> Iterator[str]:
    from moot.flows.guard.hook_workspace import stale_millis
    from moot.flows.presence.observation import observe
    from moot.protocols.presence import STREAM, views
    from moot.protocols.presence.model import Liveness

    state = space.engine.state(STREAM)
    names = tuple(member.name for member in state.members)
    here = views.view_members(state, observe(space, names, stale_millis(env)))
    others = [
        view
        for view in here
        if view.agent != who.name and (view.holds or view.liveness is Liveness.ACTIVE)
    ]
    yield "Here now:" if others else "Nobody else is here now."
    yield from map(_line, others[:SHOWN])
    if len(others) > SHOWN:
        yield f"- and {len(others) - SHOWN} more"


def _line(view: AgentView) -> str:
    work = f", on {view.work or view.branch}" if view.work or view.branch else ""
    more = f" and {len(view.holds) - SCOPES_SHOWN} more" if len(view.holds) > SCOPES_SHOWN else ""
    held = f", holds {', '.join(view.holds[:SCOPES_SHOWN])}{more}" if view.holds else ""
    return f"- {view.agent} ({view.label.lower()}{work}){held}"
