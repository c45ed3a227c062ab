"""Coming and going: a name with its key, and the agent that works under it.

To arrive is two facts, a key in the registry and a Join in presence; to adopt is a new key for an
old name, and a Resume that says why. Both are decided in one commit.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final, NamedTuple

from moot.core.errors import MootError, Refused
from moot.core.findings import Finding, errors
from moot.core.machine import Acting, Command, Context, KeyClass
from moot.core.names import REGISTRY, SYSTEM, agent_name
from moot.core.registry.commands import RetireAgent
from moot.core.signing import Signer
from moot.engine.agents import agent_named, register, rotation
from moot.engine.job import Job, Outcome
from moot.keys.folder import KeyFolder
from moot.keys.running import is_running
from moot.protocols.presence import STREAM, agent_names, views
from moot.protocols.presence.commands import Bead, Evidence, Join, Leave, Resume
from moot.protocols.presence.machine import MACHINE, OVERLAP_CODES
from moot.protocols.presence.model import State
from moot.protocols.presence.paths import read_scope
from moot.protocols.presence.recommendation import AdoptionCandidate
from moot.system import beads, git
from moot.workspace.workspace import Workspace

TRIES = 1_000


class Place(NamedTuple):
    """Where an agent works, and on what."""

    worktree: Path
    branch: str | None = None
    work: str | None = None
    session_key: str | None = None


def enter(space: Workspace, name: str, folder: KeyFolder | None = None) -> Signer:
    """Register a new name; its key is kept before, and forgotten again if it was refused."""
    folder, origin = folder or space.folder, space.trust.origin
    signer = folder.add(origin, name, KeyClass.AGENT)
    try:
        register(space.engine, name, signer, custodian=folder.custodian)
    except BaseException:
        folder.forget(origin, name, signer.kid)
        raise
    space.pin_trust(folder)
    return signer


def enter_fresh(space: Workspace) -> str:
    """Register a made-up name; another session may take one between the look and the act.

    Each try that fails is another's that succeeded, so a crowd gets through.
    """
    for attempt in range(TRIES):
        name = agent_names.make_fresh_name(str(space.root), space.engine.registry().agents)
        try:
            enter(space, name)
        except Refused as refused:
            if refused.code != "name_taken" or attempt == TRIES - 1:
                raise
        else:
            return name
    raise AssertionError("unreachable")


def join(space: Workspace, name: str, place: Place) -> Outcome:
    """Say that `name` works here."""
    return space.engine.execute(STREAM, _joining(space, place), name)


def _joining(space: Workspace, place: Place) -> Join:
    return Join(
        project_root=str(space.root),
        worktree=str(place.worktree),
        branch=place.branch,
        work=place.work,
        session_key=place.session_key,
    )


def require_welcome(space: Workspace, name: str, place: Place, *then: Command) -> None:
    """Would a newcomer be let in, and may it ask for what it wants to do `then`?

    A name is never given twice, so bad input must be found before one is. An overlap is no bad
    input: it is refused to the agent that asks, and left on record.
    """
    agent_name(name)
    for command in (_joining(space, place), *then):
        _rehearse(space, Acting(name, 1, "", KeyClass.AGENT), command, forgiven=OVERLAP_CODES)


def _rehearse(
    space: Workspace, acting: Acting, command: Command, forgiven: frozenset[str] = frozenset()
) -> None:
    """Let presence decide as if the key were registered already; Refused if it would refuse."""
    state: State = space.engine.state(STREAM)
    seen = space.engine.signs(MACHINE.asks(state, command))
    context = Context(space.engine.clock(), acting, STREAM, space.trust.origin, seen)
    decision = MACHINE.decide(state, command, context)
    wrong = {finding.code for finding in errors(decision.findings)}
    if decision.refused and not wrong <= forgiven:
        raise Refused.of(decision.findings)


def evidence(root: Path) -> Evidence:
    """What git and beads say at this moment."""
    changed, found = git.dirty(root), beads.items(root)
    listed = None if found.items is None else tuple(Bead(*item) for item in found.items)
    return Evidence(changed.paths, listed, changed.why, found.why)


def candidates(
    space: Workspace, place: Place, seen: Evidence, scopes: tuple[str, ...]
) -> tuple[AdoptionCandidate, ...]:
    """Names that a session here could go on under."""
    state: State = space.engine.state(STREAM)
    names = [one.name for one in state.members]
    busy = frozenset(name for name in names if _denied(space, name) is not None)
    root = str(place.worktree)
    return views.find_adoptable(
        state,
        seen,
        root,
        space.engine.clock(),
        scopes=tuple(read_scope(text, root) for text in scopes),
        work=place.work,
        running=busy,
    )


def adopt(
    space: Workspace,
    name: str,
    place: Place,
    seen: Evidence,
    scopes: tuple[str, ...],
    endorser: Signer,
) -> Outcome:
    """Go on as `name` under a new key: judged first, so that a refusal changes nothing."""
    require_adoptable(space, name, place, seen, scopes)
    resume = _resume(space, name, place, seen, scopes)
    later = agent_named(space.engine, name).epoch + 1
    _rehearse(space, Acting(name, later, "", KeyClass.AGENT), resume)
    signer = space.folder.add(space.trust.origin, name, KeyClass.AGENT)
    rotated = False
    try:
        jobs = [_new_key(space, name, signer, endorser), Job(STREAM, resume, name)]
        results = space.engine.execute_all(jobs)
        rotated = isinstance(results[0], Outcome)
    finally:
        if not rotated:
            space.folder.forget(space.trust.origin, name, signer.kid)
    for result in results:
        if isinstance(result, MootError):
            raise result
    outcome = results[1]
    assert isinstance(outcome, Outcome)
    return outcome


def require_adoptable(
    space: Workspace, name: str, place: Place, seen: Evidence, scopes: tuple[str, ...]
) -> None:
    agent_named(space.engine, name)
    denied = _denied(space, name)
    if denied is not None:
        raise denied
    root = str(place.worktree)
    verdict = views.judge_adoption_of(
        space.engine.state(STREAM),
        name,
        seen,
        root,
        space.engine.clock(),
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
            hint="`moot join --register NAME` starts under a new name",
            findings=findings,
        )


def leave(space: Workspace, name: str, reason: str) -> Outcome:
    """Release everything; the name may come back."""
    return space.engine.execute(STREAM, Leave(reason=reason), name)


def depart(space: Workspace, name: str, reason: str) -> None:
    """Release everything and end the name; without the root key the name just leaves."""
    jobs = [Job(STREAM, Leave(reason=reason), name)]
    jobs.append(Job(REGISTRY, RetireAgent(name=name, reason=reason), SYSTEM))
    left, retired = space.engine.execute_all(jobs)
    if isinstance(left, MootError):
        raise left
    if isinstance(retired, MootError) and retired.code != "key_missing":
        raise retired


def _denied(space: Workspace, name: str) -> Refused | None:
    """Why nobody may go on under this name, whatever is left of its work."""
    registry = space.engine.registry()
    agent = registry.agents.get(name)
    if agent is None:
        return None
    key = registry.keys[agent.kid]
    if agent.kind is not KeyClass.AGENT:
        return Refused("not_allowed", f"{name} is a person, no session", hint=_ANEW)
    if key.ending is not None:
        return Refused("agent_retired", f"{name} has ended: {key.ending}", hint=_ANEW)
    if is_running(space.folder, space.trust.origin, name):
        return Refused("agent_alive", f"a live `moot run` works as {name}", hint=_ANEW)
    return None


_ANEW: Final = "start under a new name: `moot join --register NAME`"


def _new_key(space: Workspace, name: str, signer: Signer, endorser: Signer) -> Job:
    command = rotation(
        space.engine,
        name,
        signer,
        endorser=endorser,
        custodian=space.folder.custodian,
        reason="adopted",
        new_holder=True,
    )
    return Job(REGISTRY, command, SYSTEM)


def _resume(
    space: Workspace, name: str, place: Place, seen: Evidence, scopes: tuple[str, ...]
) -> Resume:
    state: State = space.engine.state(STREAM)
    signs = space.engine.signs([name])
    moment = views.Observation(space.engine.clock(), signs)
    return Resume(
        evidence=seen,
        project_root=str(space.root),
        worktree=str(place.worktree),
        branch=place.branch,
        work=place.work,
        scopes=scopes,
        session_key=place.session_key,
        prior_liveness=views.observe_liveness(state, name, moment).liveness,
    )
