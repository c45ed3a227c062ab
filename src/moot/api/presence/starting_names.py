"""Which name a `moot run` starts under if somebody was called that before.

    nobody was           the name is registered
    registered, not run  it starts under that name, with the key it has
    ran before           its work is continued (adopted), if that is allowed and wished for
    else                 the next of the family: alice-2, with a key of its own

The lock of a name is taken before its past is looked at, so two runs cannot both find it free.
"""

from __future__ import annotations

import getpass
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, NamedTuple

from moot.api.presence import arrival
from moot.api.session import read_presence
from moot.core.errors import Refused
from moot.core.machine import KeyClass
from moot.core.names import AGENT, RESERVED
from moot.engine.registry_commands import find_agent
from moot.keys.folder import forget_everyday_name, read_everyday_name, write_everyday_name
from moot.keys.running_names import NameLock, hold_name, try_to_hold
from moot.protocols.presence import agent_names, model

if TYPE_CHECKING:
    from moot.core.registry.model import Agent
    from moot.workspace.workspace import Workspace


class StartName(NamedTuple):
    """A name that is ours to start under; `adopts`: by continuing its unfinished work."""

    name: str
    lock: NameLock
    adopts: bool = False


# Says why the work of a name may be continued here, for a person to read; Refused if it may not.
RequireAdoptable = Callable[[str], str]
# Is told a name and why its work may be continued; True: do that.
ConfirmAdoption = Callable[[str, str], bool]


def take_name(
    workspace: Workspace, name: str, judge: RequireAdoptable, wants: ConfirmAdoption
) -> StartName:
    """Take `name` for a new session, or the next of its family; a key is registered if need be."""
    if name not in workspace.engine.registry().agents:
        start = _try_to_register(workspace, name)
        if start is not None:
            return start
    _require_session_name(workspace, name)
    start = _try_name_itself(workspace, _latest_of(workspace, name), judge, wants)
    return start or _take_next_in_family(workspace, name)


def take_for_adoption(workspace: Workspace, name: str, judge: RequireAdoptable) -> StartName:
    """Take `name` to continue its work; Refused, with the reason, if that is not allowed."""
    find_agent(workspace.engine, name)
    target = _latest_of(workspace, name)
    lock = hold_name(workspace.folder, workspace.trust.origin, target)
    try:
        judge(target)
    except BaseException:
        lock.release()
        raise
    return StartName(target, lock, adopts=True)


def register_in_family(workspace: Workspace, name: str) -> str:
    """Register `name`, or the next of its family, for a process that takes the lock itself."""
    _require_session_name(workspace, name)
    is_new = name not in workspace.engine.registry().agents
    start = _try_to_register(workspace, name) if is_new else None
    start = start or _take_next_in_family(workspace, name)
    start.lock.release()
    return start.name


def _take_next_in_family(workspace: Workspace, name: str) -> StartName:
    """Register the first free name of the family; others may take one at the same time."""
    taken = set(workspace.engine.registry().agents)
    for _ in range(arrival.MOST_ATTEMPTS):
        wanted = agent_names.next_in_family(name, taken)
        start = _try_to_register(workspace, wanted)
        if start is not None:
            return start
        taken.add(wanted)
    raise Refused("name_taken", f"no name like {name} is free", hint="choose another name")


def _try_to_register(workspace: Workspace, name: str) -> StartName | None:
    """None if another session takes it at this moment."""
    lock = try_to_hold(workspace.folder, workspace.trust.origin, name)
    if lock is None:
        return None
    try:
        arrival.register_agent(workspace, name)
    except BaseException as problem:
        lock.release()
        if isinstance(problem, Refused) and problem.code == "name_taken":
            return None
        raise
    return StartName(name, lock)


def _require_session_name(workspace: Workspace, name: str) -> None:
    """A person's name is not for a program, and neither are numbers behind it."""
    agent = workspace.engine.registry().agents.get(name)
    if agent is not None and agent.kind is not KeyClass.AGENT:
        raise Refused(
            "name_taken",
            f"{name} is a person's name",
            hint="choose another name, or none: one is made up for you",
        )
    if name == read_everyday_name(workspace.folder.user_folder, workspace.trust.origin):
        raise Refused(
            "name_taken",
            f"{name} is your own everyday name here",
            hint="choose another name, or none: one is made up for you",
        )


def _latest_of(workspace: Workspace, name: str) -> str:
    """The name itself, or, if it has ended, the newest of its family that has not."""
    registry = workspace.engine.registry()
    family = (name, *reversed(agent_names.list_family(name, registry.agents)))
    current = (each for each in family if not _has_ended(workspace, registry.agents.get(each)))
    return next(current, name)


def _has_ended(workspace: Workspace, agent: Agent | None) -> bool:
    return agent is None or workspace.engine.registry().keys[agent.kid].ending is not None


def _try_name_itself(
    workspace: Workspace, name: str, judge: RequireAdoptable, wants: ConfirmAdoption
) -> StartName | None:
    """None if it has ended, is at work, or nothing of it is to be continued."""
    registry = workspace.engine.registry()
    agent = registry.agents.get(name)
    if agent is None or _has_ended(workspace, agent):
        return None
    lock = try_to_hold(workspace.folder, workspace.trust.origin, name)
    if lock is None:
        return None
    try:
        start = _continue(workspace, agent, lock, judge, wants)
    except BaseException:
        lock.release()
        raise
    if start is None:
        lock.release()
    return start


def _continue(
    workspace: Workspace,
    agent: Agent,
    lock: NameLock,
    judge: RequireAdoptable,
    wants: ConfirmAdoption,
) -> StartName | None:
    name = agent.name
    if not _has_run(workspace, name):
        is_here = workspace.keys.find(name, agent.kid) is not None
        return StartName(name, lock) if is_here else None
    try:
        why = judge(name)
    except Refused:
        return None
    return StartName(name, lock, adopts=True) if wants(name, why) else None


def _has_run(workspace: Workspace, name: str) -> bool:
    """Has anybody ever worked under this name? Its registration is the workspace's own act."""
    state = read_presence(workspace)
    known = model.find_member(state, name)
    return known is not None or name in workspace.engine.signs((name,))


# A person at the terminal has an everyday name, made once for each user and ledger; its key is an
# agent's, and never good for what is a person's to decide.

LONGEST: Final = 40


def find_everyday_name(workspace: Workspace) -> str | None:
    """The user's everyday name here, if it has one that can sign."""
    if workspace.folder.loan is not None:
        return None
    registry = workspace.engine.registry()
    name = read_everyday_name(workspace.folder, workspace.trust.origin)
    agent = registry.agents.get(name or "")
    if agent is None or registry.keys[agent.kid].ending is not None:
        return None
    return name if workspace.keys.find(agent.name, agent.kid) is not None else None


def take_everyday_name(workspace: Workspace) -> str | None:
    """The user's everyday name; made now if there is none. None where names cannot be given: only
    whoever has the ledger's own key registers one."""
    known = find_everyday_name(workspace)
    if known is not None or workspace.folder.loan is not None:
        return known
    if not workspace.engine.signs_as_ledger:
        return None
    forget_everyday_name(workspace.folder, workspace.trust.origin)
    try:
        name = register_in_family(workspace, name_of_user())
    except Refused:  # a person is called so
        name = register_in_family(workspace, f"{name_of_user()}-here")
    write_everyday_name(workspace.folder, workspace.trust.origin, name)
    return name


def name_of_user() -> str:
    """The user's name on this machine, as a name of an agent."""
    try:
        login = getpass.getuser()
    except (OSError, KeyError, ImportError):  # nobody in the system's list is called so
        login = ""
    name = re.sub(r"[^a-z0-9]+", "-", login.lower()).strip("-")[:LONGEST].strip("-")
    usable = AGENT.match(name) is not None and name not in RESERVED
    return name if usable else f"{name}-person".lstrip("-")
