"""Join the work in a repository: under a new name, or by continuing an earlier session."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from moot.api.operation import operation
from moot.api.presence import arrival
from moot.api.presence.arrival import (
    JoinDetails,
    make_fresh_name,
    new_key,
    register_agent,
    register_fresh_name,
    require_can_join,
)
from moot.api.presence.exited_agents import explaining_exited_holders, forget_run
from moot.api.presence.observation import observe
from moot.api.presence.scopes import reserve_command
from moot.api.rehearsal import require_allowed
from moot.api.session import read_presence, settings_for
from moot.core.errors import Malformed, MootError, Refused
from moot.core.findings import Finding, Severity
from moot.core.machine import KeyClass, VerifiedActor
from moot.core.names import REGISTRY, SYSTEM
from moot.core.signing import Signer
from moot.engine.job import Job, JobOutcome
from moot.engine.registry_commands import find_agent, rotation_command
from moot.keys.running_names import is_running
from moot.protocols.presence import STREAM, adoption, views
from moot.protocols.presence.adoption import AdoptionCandidate as AdoptionCandidate
from moot.protocols.presence.adoption import (
    Recommendation,
    recommend_adoption,
    recommend_register,
    recommend_start,
)
from moot.protocols.presence.commands import Bead, Evidence, Resume
from moot.protocols.presence.events import AgentResumed
from moot.protocols.presence.machine import MACHINE
from moot.protocols.presence.paths import read_scope
from moot.system import beads, git_status
from moot.workspace.workspace import Workspace

if TYPE_CHECKING:
    from moot.api.session import Session
    from moot.protocols.presence.case import Reserving


# Adoption: continue the work of an earlier session. One commit gives its name a new key and records
# a Resume with the reason.


def collect_evidence(root: Path) -> Evidence:
    """Return what git and beads report as unfinished now."""
    changed, listed = git_status.find_dirty_files(root), beads.read_beads_items(root)
    items = None if listed.items is None else tuple(Bead(*item) for item in listed.items)
    return Evidence(changed.paths, items, changed.why, listed.why)


def find_candidates(
    workspace: Workspace, place: JoinDetails, evidence: Evidence, scopes: tuple[str, ...]
) -> tuple[AdoptionCandidate, ...]:
    """Return the names whose work a session here could continue."""
    state = read_presence(workspace)
    names = [member.name for member in state.members]
    barred = frozenset(name for name in names if _why_not_adoptable(workspace, name) is not None)
    root = str(place.worktree)
    return adoption.find_adoptable(
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
    place: JoinDetails,
    evidence: Evidence,
    scopes: tuple[str, ...],
    endorser: Signer,
    *,
    has_lock: bool = False,
) -> JobOutcome:
    """Continue as `name` under a new key; every check comes first, so a refusal changes nothing.

    `has_lock`: this process already holds the lock of the name, so no other works under it.
    """
    require_adoptable(workspace, name, place, evidence, scopes, has_lock=has_lock)
    resume = _resume_command(workspace, name, place, evidence, scopes)
    next_epoch = find_agent(workspace.engine, name).epoch + 1
    next_holder = VerifiedActor(name, next_epoch, "", KeyClass.AGENT)
    require_allowed(workspace, MACHINE, STREAM, resume, next_holder)
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
    place: JoinDetails,
    evidence: Evidence,
    scopes: tuple[str, ...],
    *,
    has_lock: bool = False,
) -> str:
    """Return what of `name` is unfinished here.

    Raises Refused if nothing is, with each condition that is not met, or if an agent works under
    the name.
    """
    find_agent(workspace.engine, name)
    refused = _why_not_adoptable(workspace, name, has_lock=has_lock)
    if refused is not None:
        raise refused
    root = str(place.worktree)
    verdict = adoption.judge_adoption_of(
        read_presence(workspace),
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
            hint=_other_ways_to_start(name),
            findings=findings,
        )
    return verdict.evidence


def _other_ways_to_start(name: str) -> str:
    return (
        f"`moot run --name {name} -- COMMAND` starts the next of its family,"
        " `moot join --register NAME` a new name"
    )


def _why_not_adoptable(
    workspace: Workspace, name: str, *, has_lock: bool = False
) -> Refused | None:
    """Return why no session may adopt this name, whatever is left of its work."""
    registry = workspace.engine.registry()
    agent = registry.agents.get(name)
    if agent is None:
        return None
    key = registry.keys[agent.kid]
    if agent.kind is not KeyClass.AGENT:
        hint = "start under another name: `moot join --register NAME`"
        return Refused("not_allowed", f"{name} is a person, not a session", hint=hint)
    hint = _other_ways_to_start(name)
    if key.ending is not None:
        return Refused("agent_retired", f"{name} has ended: {key.ending}", hint=hint)
    if not has_lock and is_running(workspace.folder, workspace.trust.origin, name):
        why = f"{name} still runs: a `moot run`, or the program it started, holds its lock"
        return Refused("agent_alive", why, hint=hint)
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
    place: JoinDetails,
    evidence: Evidence,
    scopes: tuple[str, ...],
) -> Resume:
    state = read_presence(workspace)
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


def require_endorser(session: Session, name: str) -> Signer:
    """Return the key that consents to a new key for `name`: its old key, or a person's."""
    workspace = session.workspace
    agent = workspace.engine.registry().agents[name]
    held = workspace.keys.find(name, agent.kid)
    signer = held.signer if held is not None else session.person_signer()
    if signer is None:
        raise Refused(
            "not_endorsed",
            f"neither {name}'s old key nor a person's key is here",
            hint="run this where the old key is, or ask a person to unlock theirs",
        )
    return signer


# Takes the candidates and returns which one the session continues; None: a new name.
ChooseName = Callable[[Sequence[AdoptionCandidate]], str | None]
# Takes why an adoption was rejected and returns one more scope or work item of it; empty: none.
NameUnfinishedWork = Callable[[Sequence[Finding]], str]


class Joined(msgspec.Struct, frozen=True, kw_only=True):
    """The name under which the session works now, and as which holder of that name.

    A new name has `reserved`. An `adopted` one has `prior_liveness`, how alive its earlier holder
    was, and `event`, the recorded RESUME document.
    """

    agent: str
    session_agent_id: str
    logical_agent_id: str
    epoch: int
    adopted: bool
    reserved: list[str] | msgspec.UnsetType = msgspec.UNSET
    prior_liveness: str | msgspec.UnsetType | None = msgspec.UNSET
    recommendation: Recommendation
    event: dict[str, Any] | None
    findings: list[Finding]


class _JoinRequest(NamedTuple):
    """What the session wants to work on; `work` as the caller named it, without the branch."""

    session: Session
    scopes: tuple[str, ...]
    work: str | None

    def place(self, work: str | None) -> JoinDetails:
        here = self.session.place
        return JoinDetails(here.worktree, here.branch, work)

    @property
    def join_details(self) -> JoinDetails:
        return self.place(self.work or self.session.place.branch)

    def reserve_commands(self) -> list[Reserving]:
        if not self.scopes:
            return []
        return [reserve_command(self.session, self.scopes, self.work)]


@operation("join", writes=True, as_ledger=True)
def join(
    session: Session,
    *,
    register: str | None = None,
    adopt: str | None = None,
    scopes: Sequence[str] = (),
    work: str | None = None,
    choose: ChooseName | None = None,
    name_unfinished_work: NameUnfinishedWork | None = None,
) -> Joined:
    """Join the work in this repository, and reserve `scopes`.

    With `register` under that new name; with `adopt` as that earlier agent, if files in its scope
    are uncommitted or it owns a work item in progress. Without either: as the acting agent; else
    under a made-up name if there is no unfinished work to continue; else as `choose` returns, and
    without it the call is refused as `decision_required`.

    If an adoption is rejected, `name_unfinished_work` may return one more scope or work item, and
    it is judged again. git and beads say what is unfinished. Registering, joining and reserving
    are separate commits: a refused reservation leaves the new name joined, and the hint says so.
    Joining again as the same name is allowed, so a repeat needs no idempotency key.
    """
    if register is not None and adopt is not None:
        raise Malformed("a session registers a name or adopts one, not both", code="bad_join")
    request = _JoinRequest(session, tuple(scopes), work)
    if register is not None:
        if session.acting not in (None, register):
            session.actor(register)
        return _join_as(request, register)
    if adopt is not None:
        session.require_self_or_person(adopt)
        return _adopt_name(request, adopt, name_unfinished_work)
    if session.acting:
        return _join_as(request, session.acting)
    return _choose(request, choose, name_unfinished_work)


def _choose(
    request: _JoinRequest,
    choose: ChooseName | None,
    name_unfinished_work: NameUnfinishedWork | None,
) -> Joined:
    """Decide by B-22, or let the caller choose: no name was given."""
    workspace, place = request.session.workspace, request.place(request.work)
    evidence = collect_evidence(place.worktree)
    candidates = find_candidates(workspace, place, evidence, request.scopes)
    if not candidates:
        return _join_under_new_name(request, lambda name: recommend_start((), name))
    advice = recommend_start(candidates, "")
    if choose is None:
        raise _decision_required(advice)
    name = choose(advice.candidates)
    if name is None:
        return _join_under_new_name(request, recommend_register)
    return _adopt_name(request, name, name_unfinished_work)


def _join_as(request: _JoinRequest, name: str) -> Joined:
    """Register (unless this very name acts already) and join."""
    session = request.session
    known = session.workspace.engine.registry().agents.get(name)
    _require_can_join(request, name, 1 if known is None else known.epoch)
    if known is None or name != session.acting:
        register_agent(session.workspace, name)
    return _join(request, name, recommend_register(name))


def _join_under_new_name(request: _JoinRequest, advise: Callable[[str], Recommendation]) -> Joined:
    """Join under a made-up name: not the one that was checked, which may be taken by now."""
    workspace = request.session.workspace
    _require_can_join(request, make_fresh_name(workspace), 1)
    name = register_fresh_name(workspace)
    return _join(request, name, advise(name))


def _require_can_join(request: _JoinRequest, name: str, epoch: int) -> None:
    workspace, commands = request.session.workspace, request.reserve_commands()
    require_can_join(workspace, name, request.join_details, *commands, epoch=epoch)


def _join(request: _JoinRequest, name: str, advice: Recommendation) -> Joined:
    session, workspace = request.session, request.session.workspace
    outcome = arrival.join(workspace, name, request.join_details)
    forget_run(workspace, name)
    epoch = workspace.engine.registry().agents[name].epoch
    _reserve(request, name, epoch)
    return Joined(
        agent=name,
        session_agent_id=name,
        logical_agent_id=name,
        epoch=epoch,
        adopted=False,
        reserved=list(request.scopes),
        recommendation=advice,
        event=None,
        findings=[*outcome.findings, *session.remarks],
    )


def _reserve(request: _JoinRequest, name: str, epoch: int) -> None:
    """Reserve the scopes; if that is refused, say in the hint that the name has joined."""
    try:
        for command in request.reserve_commands():
            with explaining_exited_holders(request.session, command, name):
                request.session.workspace.engine.execute(STREAM, command, name)
    except Refused as refused:
        joined = f"you have joined (`{export_line(name, epoch)}`) and hold nothing yet"
        refused.hint = f"{joined}: {refused.hint}"
        raise


def export_line(name: str, epoch: int) -> str:
    """Return the shell command after which further commands act as `name`."""
    settings = " ".join(f"{key}={value}" for key, value in settings_for(name, epoch).items())
    return f"export {settings}"


def _adopt_name(
    request: _JoinRequest, name: str, name_unfinished_work: NameUnfinishedWork | None
) -> Joined:
    """Adopt; after a rejection the caller may add one more scope or work item (B-32)."""
    from moot.protocols.presence import codec

    workspace = request.session.workspace
    evidence = collect_evidence(request.session.place.worktree)
    try:
        place = request.place(request.work)
        require_adoptable(workspace, name, place, evidence, request.scopes)
    except Refused as refused:
        if refused.code != "adoption_rejected" or name_unfinished_work is None:
            raise
        text = name_unfinished_work(refused.findings).strip()
        if not text:
            raise
        request = _with_unfinished(request, text, evidence)
    endorser = require_endorser(request.session, name)
    place = request.place(request.work)
    outcome = adopt(workspace, name, place, evidence, request.scopes, endorser)
    resumed = outcome.newest(AgentResumed)
    return Joined(
        agent=name,
        session_agent_id=name,
        logical_agent_id=name,
        epoch=resumed.actor.epoch,
        adopted=True,
        prior_liveness=resumed.event.prior_liveness,
        recommendation=recommend_adoption(name),
        event=codec.make_document(codec.make_envelope(resumed)),
        findings=list(outcome.findings),
    )


def _with_unfinished(request: _JoinRequest, text: str, evidence: Evidence) -> _JoinRequest:
    if text in {bead.id for bead in evidence.beads or ()}:
        return request._replace(work=text)
    return request._replace(scopes=(*request.scopes, text))


def _decision_required(advice: Recommendation) -> Refused:
    finding = advice.finding
    assert finding is not None
    candidates = [
        Finding(
            rule="B-22",
            code="candidate",
            severity=Severity.INFO,
            message=candidate.evidence,
            where=candidate.agent,
            hint=f"moot join --adopt {candidate.agent}",
        )
        for candidate in advice.candidates
    ]
    message = f"{finding.message} [{advice.reason}]"
    return Refused(finding.code, message, hint=finding.hint, findings=[finding, *candidates])
