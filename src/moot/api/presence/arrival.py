"""Register a name with its key, join the work under it, and leave.

Joining takes two records: a key in the registry and a Join in presence. joining.py continues the
work of an earlier session.
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


@contextmanager
def new_key(
    workspace: Workspace,
    name: str,
    folder: KeyFolder,
    kind: KeyClass = KeyClass.AGENT,
    passphrase: str | None = None,
) -> Iterator[Signer]:
    """Make a key in `folder` for the block to register; remove it if the block raises.

    The file is written first: a registered key without a file could never sign, and a file without
    a registration is harmless.
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
    """Register a made-up name and return it.

    Another session may register the same name first; then this tries another one.
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
    """Return a name that was never registered here."""
    agents = workspace.engine.registry().agents
    return agent_names.make_fresh_name(str(workspace.root), agents)


def join(workspace: Workspace, name: str, place: JoinDetails) -> JobOutcome:
    """Record that `name` works here, and note this workspace in its key folder."""
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
    """Raise Refused if `name` could not join, or could not run the commands `then` afterwards.

    A name is never given twice, so bad input must be found before one is registered. Overlaps pass:
    they are refused later, when the agent asks, and recorded.
    """
    require_agent_name(name)
    acting = VerifiedActor(name, epoch, "", KeyClass.AGENT)
    for command in (_join_command(workspace, place), *then):
        require_allowed(workspace, MACHINE, STREAM, command, acting, ignored_codes=OVERLAP_CODES)


def leave(workspace: Workspace, name: str, reason: str) -> JobOutcome:
    """Release everything; the name may come back."""
    return workspace.engine.execute(STREAM, Leave(reason=reason), name)


def release_and_retire(workspace: Workspace, name: str, reason: str) -> None:
    """Release every reservation, end the name and remove its private key, as when `moot run` ends.

    Without the root key the name only leaves.
    """
    jobs = [Job(STREAM, Leave(reason=reason), name)]
    jobs.append(Job(REGISTRY, RetireAgent(name=name, reason=reason), SYSTEM))
    left, retired = workspace.engine.execute_all(jobs)
    if isinstance(left, MootError):
        raise left
    if not isinstance(retired, MootError):
        remove_ended_keys(workspace)
    elif retired.code != "key_missing":
        raise retired
