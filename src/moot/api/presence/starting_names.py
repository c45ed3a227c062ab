"""Choose the name that `moot run --name NAME` starts under.

    NAME is new                   register it
    NAME is registered, never ran start under it, with its key
    NAME ran before               continue (adopt) its work, if that is allowed and wanted
    else                          register the next of its family, such as alice-2

Each function locks a name before it reads the name's past, so two runs cannot both find it free.
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
    """A name to start under, with its lock; `adopts`: the session continues unfinished work."""

    name: str
    lock: NameLock
    adopts: bool = False


# Takes a name and returns why its work may be continued here; raises Refused if it may not.
RequireAdoptable = Callable[[str], str]
# Takes a name and why its work may be continued; returns True to continue it.
ConfirmAdoption = Callable[[str, str], bool]


def take_name(
    workspace: Workspace,
    name: str,
    require_adoptable: RequireAdoptable,
    confirm: ConfirmAdoption,
) -> StartName:
    """Take `name` for a new session, or the next of its family; register a key if needed."""
    if name not in workspace.engine.registry().agents:
        start = _try_to_register(workspace, name)
        if start is not None:
            return start
    _require_session_name(workspace, name)
    newest = _newest_in_family(workspace, name)
    start = _try_registered_name(workspace, newest, require_adoptable, confirm)
    return start or _take_next_in_family(workspace, name)


def take_for_adoption(
    workspace: Workspace, name: str, require_adoptable: RequireAdoptable
) -> StartName:
    """Take `name` to continue its work; raise Refused if that is not allowed."""
    find_agent(workspace.engine, name)
    target = _newest_in_family(workspace, name)
    lock = hold_name(workspace.folder, workspace.trust.origin, target)
    try:
        require_adoptable(target)
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
    """Register the first free name of the family; other sessions may take one meanwhile."""
    taken = set(workspace.engine.registry().agents)
    for _ in range(arrival.MOST_ATTEMPTS):
        wanted = agent_names.next_in_family(name, taken)
        start = _try_to_register(workspace, wanted)
        if start is not None:
            return start
        taken.add(wanted)
    raise Refused("name_taken", f"no name like {name} is free", hint="choose another name")


def _try_to_register(workspace: Workspace, name: str) -> StartName | None:
    """Register `name`; None if another session takes it at this moment."""
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
    """Refuse the name of a person, registered or everyday: a program must not sign as one."""
    agent = workspace.engine.registry().agents.get(name)
    if agent is not None and agent.kind is not KeyClass.AGENT:
        raise Refused(
            "name_taken",
            f"{name} is a person's name",
            hint="choose another name, or leave it out: Moot makes one up",
        )
    if name == read_everyday_name(workspace.folder.user_folder, workspace.trust.origin):
        raise Refused(
            "name_taken",
            f"{name} is your own everyday name here",
            hint="choose another name, or leave it out: Moot makes one up",
        )


def _newest_in_family(workspace: Workspace, name: str) -> str:
    """Return the name itself, or, if it has ended, the newest of its family that has not."""
    registry = workspace.engine.registry()
    family = (name, *reversed(agent_names.list_family(name, registry.agents)))
    current = (each for each in family if not _has_ended(workspace, registry.agents.get(each)))
    return next(current, name)


def _has_ended(workspace: Workspace, agent: Agent | None) -> bool:
    return agent is None or workspace.engine.registry().keys[agent.kid].ending is not None


def _try_registered_name(
    workspace: Workspace,
    name: str,
    require_adoptable: RequireAdoptable,
    confirm: ConfirmAdoption,
) -> StartName | None:
    """Take `name`; None if it has ended, is at work, or its work is not to be continued."""
    registry = workspace.engine.registry()
    agent = registry.agents.get(name)
    if agent is None or _has_ended(workspace, agent):
        return None
    lock = try_to_hold(workspace.folder, workspace.trust.origin, name)
    if lock is None:
        return None
    try:
        has_run = _has_run(workspace, name)
        if has_run:
            is_ours = _is_confirmed(name, require_adoptable, confirm)
        else:
            is_ours = workspace.keys.find(name, agent.kid) is not None
    except BaseException:
        lock.release()
        raise
    if is_ours:
        return StartName(name, lock, adopts=has_run)
    lock.release()
    return None


def _is_confirmed(name: str, require_adoptable: RequireAdoptable, confirm: ConfirmAdoption) -> bool:
    try:
        why = require_adoptable(name)
    except Refused:
        return False
    return confirm(name, why)


def _has_run(workspace: Workspace, name: str) -> bool:
    """Return True if an agent ever worked under this name; being registered is not enough."""
    is_member = model.find_member(read_presence(workspace), name) is not None
    return is_member or name in workspace.engine.signs((name,))


# A person at the terminal has an everyday name, made once for each user and ledger. Its key is an
# agent's key: it cannot sign what only a person may decide.

MAX_NAME_LENGTH: Final = 40


def find_everyday_name(workspace: Workspace) -> str | None:
    """Return the user's everyday name here, if it has one that can sign."""
    if workspace.folder.loan is not None:
        return None
    registry = workspace.engine.registry()
    name = read_everyday_name(workspace.folder, workspace.trust.origin)
    agent = registry.agents.get(name or "")
    if agent is None or registry.keys[agent.kid].ending is not None:
        return None
    return name if workspace.keys.find(agent.name, agent.kid) is not None else None


def take_everyday_name(workspace: Workspace) -> str | None:
    """Return the user's everyday name; make it now if there is none.

    None without the ledger's own key, which registers names.
    """
    known = find_everyday_name(workspace)
    if known is not None or workspace.folder.loan is not None:
        return known
    if not workspace.engine.signs_as_ledger:
        return None
    forget_everyday_name(workspace.folder, workspace.trust.origin)
    try:
        name = register_in_family(workspace, name_of_user())
    except Refused:  # it is the name of a registered person
        name = register_in_family(workspace, f"{name_of_user()}-here")
    write_everyday_name(workspace.folder, workspace.trust.origin, name)
    return name


def name_of_user() -> str:
    """Return the user's login name, spelled as the name of an agent."""
    try:
        login = getpass.getuser()
    except (OSError, KeyError, ImportError):  # the system has no name for this user
        login = ""
    name = re.sub(r"[^a-z0-9]+", "-", login.lower()).strip("-")[:MAX_NAME_LENGTH].strip("-")
    is_usable = AGENT.match(name) is not None and name not in RESERVED
    return name if is_usable else f"{name}-person".lstrip("-")
