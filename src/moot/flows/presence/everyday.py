"""A person at the terminal is somebody: an everyday name, with a key that asks for no passphrase.

It is made once for each user and ledger, after the user's name on this machine. Its key is an
agent's: it reserves, sends and hands over, and is never good for what is a person's to decide.
"""

from __future__ import annotations

import getpass
import re
from typing import TYPE_CHECKING, Final

from moot.core.errors import Refused
from moot.core.names import AGENT, RESERVED
from moot.flows.presence.starting_names import register_in_family
from moot.keys.everyday_name import (
    forget_everyday_name,
    read_everyday_name,
    write_everyday_name,
)

if TYPE_CHECKING:
    from moot.workspace.workspace import Workspace

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
