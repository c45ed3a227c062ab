"""Coming and going: a name with its key, and the agent that works under it.

To arrive is two facts, a key in the registry and a Join in presence. To go on under the name of an
earlier session is in joining.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from moot.api.presence.exited_agents import remove_ended_keys
from moot.api.rehearsal import require_allowed
from moot.core.errors import MootError, Refused
from moot.core.machine import Command, KeyClass, VerifiedActor
from moot.core.names import REGISTRY, SYSTEM, require_agent_name
from moot.core.registry.model import RetireAgent
from moot.engine.job import Job, JobOutcome
from moot.engine.registry_commands import register
from moot.protocols.presence import STREAM, agent_names
from moot.protocols.presence.commands import Join, Leave
from moot.protocols.presence.machine import MACHINE, OVERLAP_CODES
from moot.workspace.workspace import Workspace

if TYPE_CHECKING:
    from moot.core.signing import Signer
    from moot.keys.folder import KeyFolder


# A new key for a name: kept before anyone relies on it, forgotten if the registry refuses it.


@contextmanager
def new_key(
    workspace: Workspace,
    name: str,
    folder: KeyFolder,
    kind: KeyClass = KeyClass.AGENT,
    passphrase: str | None = None,
) -> Iterator[Signer]:
    """Make a key in `folder` and register it in the block; if that raises, the key is removed.

    A key on record whose file was never written could sign nothing for ever; a file without its
    record does no harm.
    """
    origin = workspace.trust.origin
    signer = folder.add_key(origin, name, kind, passphrase=passphrase)
    try:
        yield signer
    except BaseException:
        folder.remove_key(origin, name, signer.kid)
        raise
    workspace.pin_trust(folder)


MOST_ATTEMPTS: Final = 1_000


class JoinDetails(NamedTuple):
    """Where an agent works, and on what."""

    worktree: Path
    branch: str | None = None
    work: str | None = None
    session_key: str | None = None
    process_key: str | None = None


def register_agent(workspace: Workspace, name: str) -> None:
    """Register a new agent, with its key in the workspace's own key folder."""
    folder = workspace.folder
    with new_key(workspace, name, folder) as signer:
        register(workspace.engine, name, signer, custodian=folder.custodian)


def register_fresh_name(workspace: Workspace) -> str:
    """Register a made-up name; another session may take one between the look and the act.

    Each try that fails is another's that succeeded, so a crowd gets through.
    """
    for attempt in range(MOST_ATTEMPTS):
        name = make_fresh_name(workspace)
        try:
            register_agent(workspace, name)
        except Refused as refused:
            if refused.code != "name_taken" or attempt == MOST_ATTEMPTS - 1:
                raise
        else:
            return name
    raise AssertionError("unreachable")


def make_fresh_name(workspace: Workspace) -> str:
    """A name that nobody here ever had."""
    agents = workspace.engine.registry().agents
    return agent_names.make_fresh_name(str(workspace.root), agents)


def join(workspace: Workspace, name: str, place: JoinDetails) -> JobOutcome:
    """Say that `name` works here; its key folder remembers where that is."""
    from moot.workspace.known_workspaces import remember_place

    remember_place(workspace.folder.path, workspace.root, workspace.trust.origin)
    return workspace.engine.execute(STREAM, _join_command(workspace, place), name)


def _join_command(workspace: Workspace, place: JoinDetails) -> Join:
    return Join(
        project_root=str(workspace.root),
        worktree=str(place.worktree),
        branch=place.branch,
        work=place.work,
        session_key=place.session_key,
        process_key=place.process_key,
    )


def require_can_join(
    workspace: Workspace, name: str, place: JoinDetails, *then: Command, epoch: int = 1
) -> None:
    """Would `name` be let in, and may it ask for what it wants to do `then`?

    A name is never given twice, so bad input must be found before one is. An overlap is no bad
    input: it is refused to the agent that asks, and left on record.
    """
    require_agent_name(name)
    acting = VerifiedActor(name, epoch, "", KeyClass.AGENT)
    for command in (_join_command(workspace, place), *then):
        require_allowed(workspace, MACHINE, STREAM, command, acting, ignored_codes=OVERLAP_CODES)


def leave(workspace: Workspace, name: str, reason: str) -> JobOutcome:
    """Release everything; the name may come back."""
    return workspace.engine.execute(STREAM, Leave(reason=reason), name)


def release_and_retire(workspace: Workspace, name: str, reason: str) -> None:
    """Release every reservation and end the name, as when `moot run` ends, and remove its private
    key; without the root key the name just leaves."""
    jobs = [Job(STREAM, Leave(reason=reason), name)]
    jobs.append(Job(REGISTRY, RetireAgent(name=name, reason=reason), SYSTEM))
    left, retired = workspace.engine.execute_all(jobs)
    if isinstance(left, MootError):
        raise left
    if not isinstance(retired, MootError):
        remove_ended_keys(workspace)
    elif retired.code != "key_missing":
        raise retired
