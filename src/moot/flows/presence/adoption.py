"""Going on under the name of an earlier session, whose work is not finished.

To adopt is a new key for an old name and a Resume that says why, decided in one commit. What is
unfinished is seen outside: files that git calls uncommitted, work items that beads calls open.
"""

from __future__ import annotations

from pathlib import Path

from moot.core.errors import MootError, Refused
from moot.core.findings import Finding
from moot.core.machine import KeyClass, VerifiedActor
from moot.core.names import REGISTRY, SYSTEM
from moot.core.signing import Signer
from moot.engine.agents import find_agent, rotation_command
from moot.engine.job import Job, JobOutcome
from moot.flows.presence.arrival import ArrivalPlace, rehearse
from moot.flows.presence.new_key import new_key
from moot.flows.presence.observation import observe
from moot.keys.running_names import is_running
from moot.protocols.presence import STREAM, adoptable_names, views
from moot.protocols.presence.commands import Bead, Evidence, Resume
from moot.protocols.presence.machine import MACHINE
from moot.protocols.presence.paths import read_scope
from moot.protocols.presence.recommendation import AdoptionCandidate
from moot.system import beads, git
from moot.workspace.workspace import Workspace


def collect_evidence(root: Path) -> Evidence:
    """What git and beads say at this moment."""
    changed, listed = git.find_dirty_files(root), beads.read_beads_items(root)
    items = None if listed.items is None else tuple(Bead(*item) for item in listed.items)
    return Evidence(changed.paths, items, changed.why, listed.why)


def find_candidates(
    workspace: Workspace, place: ArrivalPlace, evidence: Evidence, scopes: tuple[str, ...]
) -> tuple[AdoptionCandidate, ...]:
    """Names that a session here could go on under."""
    state = workspace.engine.state(MACHINE, STREAM)
    names = [member.name for member in state.members]
    barred = frozenset(name for name in names if _why_barred(workspace, name) is not None)
    root = str(place.worktree)
    return adoptable_names.find_adoptable(
        state,
        evidence,
        root,
        workspace.engine.clock(),
        scopes=tuple(read_scope(text, root) for text in scopes),
        work=place.work,
        running=barred,
    )


def adopt(
    workspace: Workspace,
    name: str,
    place: ArrivalPlace,
    evidence: Evidence,
    scopes: tuple[str, ...],
    endorser: Signer,
    *,
    has_lock: bool = False,
) -> JobOutcome:
    """Go on as `name` under a new key: judged first, so that a refusal changes nothing.

    `has_lock`: this process holds the name already, so nobody else works under it.
    """
    require_adoptable(workspace, name, place, evidence, scopes, has_lock=has_lock)
    resume = _resume_command(workspace, name, place, evidence, scopes)
    later = find_agent(workspace.engine, name).epoch + 1
    rehearse(workspace, VerifiedActor(name, later, "", KeyClass.AGENT), resume)
    with new_key(workspace, name, workspace.folder) as signer:
        rotate = _rotate_job(workspace, name, signer, endorser)
        rotated, resumed = workspace.engine.execute_all([rotate, Job(STREAM, resume, name)])
        if isinstance(rotated, MootError):
            raise rotated
    if isinstance(resumed, MootError):
        raise resumed
    return resumed


def require_adoptable(
    workspace: Workspace,
    name: str,
    place: ArrivalPlace,
    evidence: Evidence,
    scopes: tuple[str, ...],
    *,
    has_lock: bool = False,
) -> str:
    """What of `name` is unfinished here; Refused, with each condition that is not met, if nothing
    is, or if somebody works under the name."""
    find_agent(workspace.engine, name)
    barred = _why_barred(workspace, name, has_lock=has_lock)
    if barred is not None:
        raise barred
    root = str(place.worktree)
    verdict = adoptable_names.judge_adoption_of(
        workspace.engine.state(MACHINE, STREAM),
        name,
        evidence,
        root,
        workspace.engine.clock(),
        scopes=tuple(read_scope(text, root) for text in scopes),
        work=place.work,
    )
    if not verdict:
        findings = [
            Finding(rule="OPR-011", code="adoption_rejected", message=why)
            for why in verdict.missing
        ]
        raise Refused(
            "adoption_rejected",
            f"nothing of {name} is unfinished here",
            hint=_start_anew(name),
            findings=findings,
        )
    return verdict.evidence


def _start_anew(name: str) -> str:
    """For whoever wanted to go on under this name."""
    return (
        f"`moot run --name {name} -- COMMAND` starts the next of its family,"
        " `moot join --register NAME` a new name"
    )


def _why_barred(workspace: Workspace, name: str, *, has_lock: bool = False) -> Refused | None:
    """Why nobody may go on under this name, whatever is left of its work."""
    registry = workspace.engine.registry()
    agent = registry.agents.get(name)
    if agent is None:
        return None
    key = registry.keys[agent.kid]
    if agent.kind is not KeyClass.AGENT:
        other = "start under a name of your own: `moot join --register NAME`"
        return Refused("not_allowed", f"{name} is a person, no session", hint=other)
    if key.ending is not None:
        return Refused("agent_retired", f"{name} has ended: {key.ending}", hint=_start_anew(name))
    if not has_lock and is_running(workspace.folder, workspace.trust.origin, name):
        why = f"a live `moot run` works as {name}, or its program still does"
        return Refused("agent_alive", why, hint=_start_anew(name))
    return None


def _rotate_job(workspace: Workspace, name: str, signer: Signer, endorser: Signer) -> Job:
    command = rotation_command(
        workspace.engine,
        name,
        signer,
        endorser=endorser,
        custodian=workspace.folder.custodian,
        reason="adopted",
        new_holder=True,
    )
    return Job(REGISTRY, command, SYSTEM)


def _resume_command(
    workspace: Workspace,
    name: str,
    place: ArrivalPlace,
    evidence: Evidence,
    scopes: tuple[str, ...],
) -> Resume:
    state = workspace.engine.state(MACHINE, STREAM)
    observation = observe(workspace, [name])
    return Resume(
        evidence=evidence,
        project_root=str(workspace.root),
        worktree=str(place.worktree),
        branch=place.branch,
        work=place.work,
        scopes=scopes,
        session_key=place.session_key,
        prior_liveness=views.observe_liveness(state, name, observation).liveness,
    )
