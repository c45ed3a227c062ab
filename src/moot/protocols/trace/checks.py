"""The checks behind the rules: each yields `(message, where)` for every breach it finds.

An empty message means that the sentence of the row in `rules.py` says it all.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, Final

import msgspec

from moot.core import secrets
from moot.core.findings import Breach, HintWords
from moot.core.machine import Command, Event
from moot.core.names import AGENT, OPERATOR
from moot.core.record import MAX_ARTIFACTS, MAX_TEXT_BYTES
from moot.protocols.trace import commands as ask
from moot.protocols.trace import events as did
from moot.protocols.trace import lifecycle, model, policy
from moot.protocols.trace.lifecycle import CommandCase, EventCase, PermissionCase, accepted_events
from moot.protocols.trace.model import (
    MAX_CLAIMS,
    MAX_PROPOSALS,
    AuditVerdict,
    Consent,
    Profile,
    Proposal,
    Review,
    Role,
    State,
    number_of_id,
    sha256_hex,
)

Breaches = Iterator[Breach]
HASH: Final = re.compile(r"[0-9a-f]{64}\Z")
KID: Final = re.compile(r"[0-9a-f]{32}\Z")
# How a review may change (E-37). Rejected and blocked are final: a revision is a new proposal that
# supersedes the old one, so that a rejected text is never approved later.
NEXT_REVIEWS: Final[dict[Review, frozenset[Review]]] = {
    Review.PENDING: frozenset(Review) - {Review.PENDING},
    Review.APPROVED: frozenset({Review.CONDITIONAL, Review.BLOCKED}),
    Review.CONDITIONAL: frozenset({Review.APPROVED, Review.BLOCKED}),
    Review.REJECTED: frozenset(),
    Review.BLOCKED: frozenset(),
}


def trace_ended(case: PermissionCase) -> Breaches:
    if case.state.ended:
        reason = f": {case.state.because}" if case.state.because else ""
        yield f"this trace is {case.state.stage}{reason}", None


def not_in_charge(case: PermissionCase) -> Breaches:
    """Refuse what no role of this trace may do; the hint then names no agent."""
    if not _name_role_holder(case):
        yield from _explain_role(case)


def wrong_role(case: PermissionCase) -> Breaches:
    if _name_role_holder(case):
        yield from _explain_role(case)


def _explain_role(case: PermissionCase) -> Breaches:
    if case.state.ended:
        return
    problem = lifecycle.explain_wrong_role(case.state, case.kind, case.who)
    if problem is not None:
        yield problem, "actor", None, _name_role_holder(case)


def wrong_key(case: PermissionCase) -> Breaches:
    problem = lifecycle.explain_wrong_key(case.state, case.kind, case.who)
    if problem is not None:
        yield problem, "actor", None, _name_role_holder(case)


def _name_role_holder(case: PermissionCase) -> HintWords:
    """Return, for the hint, the agent whose role may do this."""
    role = lifecycle.ROLE_OF_EVENT[case.kind]
    bound = case.state.binding_of(role) if role is not None else None
    return {} if bound is None else {"ROLE": bound.role, "NAME": bound.agent}


def wrong_state(case: PermissionCase) -> Breaches:
    state = case.state
    if state.ended or case.kind in accepted_events(state):
        return
    after = ", after the final statement" if state.final is not None else ""
    yield f"not while the trace is {state.stage}{after}", None


def missing_role(case: EventCase[did.SessionInitialized]) -> Breaches:
    held = [binding.role for binding in case.event.roles]
    for role in Role:
        if held.count(role) != 1:
            yield f"{held.count(role)} agents are the {role}, not one", "roles"


def bad_binding(case: EventCase[did.SessionInitialized]) -> Breaches:
    for binding in case.event.roles:
        is_named = AGENT.match(binding.agent) or binding.agent == OPERATOR
        if not is_named or not KID.match(binding.kid) or binding.epoch < 1:
            yield (
                f"the {binding.role} is {binding.agent[:60]!r} with the key {binding.kid[:32]!r}",
                "roles",
            )


def one_agent_two_parts(case: EventCase[did.SessionInitialized]) -> Breaches:
    event = case.event
    for first, second in lifecycle.find_clashing_roles(event.roles, event.policy.distinct_roles):
        yield f"{first.agent} cannot be both {first.role} and {second.role}", "roles"


def unusable_policy(case: EventCase[did.SessionInitialized]) -> Breaches:
    for problem in policy.find_problems(case.event.policy):
        yield problem, "policy"


def task_hash_differs(case: EventCase[did.SessionInitialized]) -> Breaches:
    if sha256_hex(case.event.task.encode("utf-8", "replace")) != case.event.task_sha256:
        yield "", "task_sha256"


def policy_hash_differs(case: EventCase[did.SessionInitialized]) -> Breaches:
    if policy.policy_hash(case.event.policy) != case.event.policy_sha256:
        yield "", "policy_sha256"


def require_texts(*names: str) -> Callable[[EventCase[Event]], Breaches]:
    """Return a check that these texts (or lists of texts) are not empty."""

    def check(case: EventCase[Event]) -> Breaches:
        for name in names:
            value = getattr(case.event, name)
            texts = (value,) if isinstance(value, str) else value
            if not texts or not all(text.strip() for text in texts):
                yield f"{name} is required", name

    return check


def proposal_of(case: EventCase[did.ProposalReviewed | did.ToolIntentSigned]) -> Proposal | None:
    return case.state.proposals.get(case.event.proposal_id)


def describe_missing(name: str, count: int, what: str) -> str:
    over = 0 < number_of_id(name) <= count
    return f"{name} has been superseded" if over else f"there is no {what} {name[:40]!r}"


def unknown_proposal(case: EventCase[did.ProposalReviewed | did.ToolIntentSigned]) -> Breaches:
    if proposal_of(case) is None:
        name = case.event.proposal_id
        yield describe_missing(name, case.state.proposal_count, "proposal"), "proposal_id"


def supersedes_unknown_proposal(case: EventCase[did.ProposalCreated]) -> Breaches:
    name = case.event.supersedes
    if name is not None and name not in case.state.proposals:
        yield describe_missing(name, case.state.proposal_count, "proposal"), "supersedes"


def supersedes_running(case: EventCase[did.ProposalCreated]) -> Breaches:
    """Refuse to replace a proposal with a running run: its end would belong to no proposal."""
    name = case.event.supersedes
    for run in case.state.running.values():
        if run.proposal == name:
            yield f"{run.id} runs under {name}", "supersedes"


def fallback_not_allowed(case: EventCase[did.ProposalCreated]) -> Breaches:
    """TRC-055: after a failed run every further proposal is a fallback."""
    if case.state.failures and not case.state.policy.allow_fallback:
        yield "", "fallback_for"


def fallback_for_no_failure(case: EventCase[did.ProposalCreated]) -> Breaches:
    """T-08: refuse a fallback that does not name the last failed intent of a step."""
    name = case.event.fallback_for
    if name is not None and all(name != step.intent for step in case.state.failing.values()):
        yield f"{name[:40]!r} is no intent whose step has failed last", "fallback_for"


def too_many_proposals(case: EventCase[did.ProposalCreated]) -> Breaches:
    if len(case.state.proposals) >= MAX_PROPOSALS and case.event.supersedes is None:
        yield f"{MAX_PROPOSALS} proposals stand", None


def review_not_open(case: EventCase[did.ProposalReviewed]) -> Breaches:
    proposal = proposal_of(case)
    if proposal is not None and case.event.status not in NEXT_REVIEWS[proposal.review]:
        message = f"{proposal.id} is {proposal.review}, not to become {case.event.status}"
        yield message, "status", None, {"ID": proposal.id}


def proposal_not_approved(case: EventCase[did.ToolIntentSigned]) -> Breaches:
    """TRC-029, TRC-030, TRC-056: rejected, not reviewed, or blocked."""
    proposal = proposal_of(case)
    if proposal is not None and proposal.review not in (Review.APPROVED, Review.CONDITIONAL):
        yield f"{proposal.id} is {proposal.review}", "proposal_id"


def rotation_forbidden(case: EventCase[did.KeyRotated]) -> Breaches:
    """E-20: let the old key name its successor; if it is lost, a person or the workspace."""
    if case.who.in_charge or case.who.kid == case.event.old_kid:
        return
    yield "", "actor"


def old_key_differs(case: EventCase[did.KeyRotated]) -> Breaches:
    bound = case.state.binding_of(case.event.role)
    if bound is None or (bound.agent, bound.kid) != (case.event.agent, case.event.old_kid):
        yield f"that is not the key of the {case.event.role}", "old_kid"


def key_in_use(case: EventCase[did.KeyRotated]) -> Breaches:
    event = case.event
    for binding in case.state.roles:
        shared = binding.agent == event.agent and binding.role is not event.role
        if binding.kid == event.new_kid and not shared:
            yield f"{binding.agent}, the {binding.role}, has this key", "new_kid"


def require_next_number(name: str, count: str) -> Callable[[EventCase[Event]], Breaches]:
    """E-19: ids count upwards without gaps, so that an id below the counter was given before."""

    def check(case: EventCase[Event]) -> Breaches:
        expected = getattr(case.state, count) + 1
        actual = getattr(case.event, name)
        if actual[1:] != str(expected):
            yield f"{actual[:40]!r} is not number {expected}", name

    return check


# Checks on claims, the final statement and verifications.

CONFIDENCE: Final = re.compile(r"(0(\.[0-9]{1,6})?|1(\.0{1,6})?)\Z")


def bad_confidence(case: EventCase[did.ClaimIssued]) -> Breaches:
    if not CONFIDENCE.match(case.event.confidence):
        yield f"{case.event.confidence[:40]!r} is not within 0 and 1", "confidence"


def too_little_evidence(case: EventCase[did.ClaimIssued]) -> Breaches:
    """TRC-064: at least one; a repeated reference counts once."""
    least = case.state.policy.min_evidence
    if len(set(case.event.evidence)) < least:
        yield f"{len(set(case.event.evidence))} given, {least} needed", "evidence"


def unknown_evidence(case: EventCase[did.ClaimIssued]) -> Breaches:
    """T-05: refuse evidence that no run of this trace has left."""
    state = case.state
    early = {run.input_artifact: run.id for run in state.running.values()}
    for sha256 in dict.fromkeys(case.event.evidence):
        if HASH.match(sha256) and model.holds_artifact(state.shelf, sha256):
            continue
        if sha256 not in early:
            yield f"no run of this trace left {sha256[:12]!r}", "evidence"


def running_evidence(case: EventCase[did.ClaimIssued]) -> Breaches:
    """TRC-022: a run that has not ended proves nothing yet."""
    state, event = case.state, case.event
    for run in state.running.values():
        cited, left = run.input_artifact in event.evidence, state.shelf
        early = cited and not model.holds_artifact(left, run.input_artifact)
        if run.id in event.execution_ids or early:
            yield f"{run.id} is still running", "evidence"
    for name in event.execution_ids:
        if not 0 < number_of_id(name) <= state.execution_count:
            yield f"no run {name[:40]!r} was started", "execution_ids"


def missing_artifact(case: EventCase[did.ClaimIssued]) -> Breaches:
    """TRC-054, E-05: only warn, so that work can continue; the verification fails."""
    for sha256 in case.event.artifact_missing:
        yield f"the bytes of {sha256[:12]} are gone; the verification will fail", "evidence"


def unknown_claim(case: EventCase[did.ClaimChallenged | did.ClaimWithdrawn]) -> Breaches:
    name, state = case.event.claim_id, case.state
    if name not in state.claims:
        yield describe_missing_claim(state, name), "claim_id"


def supersedes_unknown_claim(case: EventCase[did.ClaimIssued]) -> Breaches:
    name = case.event.supersedes
    if name is not None and name not in case.state.claims:
        yield describe_missing_claim(case.state, name), "supersedes"


def describe_missing_claim(state: State, name: str) -> str:
    over = 0 < number_of_id(name) <= state.claim_count
    return f"{name} stands no more" if over else f"there is no claim {name[:40]!r}"


def too_many_claims(case: EventCase[did.ClaimIssued]) -> Breaches:
    if len(case.state.claims) >= MAX_CLAIMS and case.event.supersedes is None:
        yield f"{MAX_CLAIMS} claims stand", None


def open_challenge(case: EventCase[did.FinalStatementSigned]) -> Breaches:
    """TRC-065, E-27: no work is finished while a claim is challenged."""
    for claim in case.state.challenged_claims():
        yield f"{claim.id} is challenged", claim.id


def still_running(case: EventCase[did.FinalStatementSigned]) -> Breaches:
    for name in sorted(case.state.running, key=number_of_id):
        yield f"{name} is running", name


def nothing_claimed(case: EventCase[did.FinalStatementSigned]) -> Breaches:
    if not case.state.claims:
        yield "", "claims"


def bundle_differs(case: EventCase[did.FinalStatementSigned]) -> Breaches:
    """TRC-042: the bundle is every claim that stands, by its event, and no other."""
    standing = {claim.id: claim.event for claim in case.state.claims.values()}
    bundled = {claim.claim_id: claim.event for claim in case.event.claims}
    if bundled != standing or len(case.event.claims) != len(standing):
        yield "", "claims"


def already_verifying(case: EventCase[did.VerificationRunStarted]) -> Breaches:
    if case.state.run is not None:
        yield f"{case.state.run.id} has not ended", "run_id"


def subject_differs(case: EventCase[did.VerificationRunStarted]) -> Breaches:
    """TRC-068: refuse a run that is not about exactly the events when it began."""
    if (case.event.head, case.event.events) != (case.state.head, case.state.events):
        yield "", "head"


def not_verifying(case: EventCase[did.VerificationRunCompleted]) -> Breaches:
    """TRC-043: only a verification that was started is completed."""
    run = case.state.run
    if run is None or run.id != case.event.run_id:
        yield f"no verification {case.event.run_id[:40]!r} is under way", "run_id"


def report_subject_differs(case: EventCase[did.VerificationRunCompleted]) -> Breaches:
    run = case.state.run
    if run is not None and (case.event.head, case.event.events) != (run.head, run.events):
        yield f"{run.id} is about {run.events} events", "head"


def no_report(case: EventCase[did.VerificationRunCompleted]) -> Breaches:
    """TRC-047: a verdict without its stored report could not be checked."""
    if not HASH.match(case.event.report_artifact):
        yield "", "report_artifact"


# Checks on a command before it becomes an event: its texts, and facts from outside.
#
# The fields of an event are typed, those of a command may have any text. An audit does not repeat
# these checks: a command that fails them never becomes an event.

MAX_BYTES: Final = 40_000
MAX_ITEMS: Final = 500
# An event has at most so many citations; fields that the state keeps have tighter bounds.
MAX_ITEMS_BY_FIELD: Final = {
    "outputs": MAX_ARTIFACTS,
    "evidence": MAX_ARTIFACTS,
    "required_tools": 64,
    "writes": 128,
    "env": 64,
}


def list_texts(value: Any) -> Iterator[str]:
    """Yield every text in a command, however deep."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, tuple | list):
        for item in value:
            yield from list_texts(item)
    elif isinstance(value, msgspec.Struct):
        for name in value.__struct_fields__:
            yield from list_texts(getattr(value, name))


def unreadable_text(case: CommandCase[Command]) -> Breaches:
    for text in list_texts(case.command):
        if not text.isascii() and not text.isprintable() and _is_broken(text):
            yield "a text has a lone surrogate", None
            return


def _is_broken(text: str) -> bool:
    return any("\ud800" <= letter <= "\udfff" for letter in text)


def too_long(case: CommandCase[Command]) -> Breaches:
    """Refuse texts that do not fit into an event: it has at most 64 KiB in all."""
    sizes = [len(text.encode("utf-8", "replace")) for text in list_texts(case.command)]
    if sizes and (max(sizes) > MAX_TEXT_BYTES or sum(sizes) + 4 * len(sizes) > MAX_BYTES):
        yield f"{sum(sizes)} bytes of text", None


def too_many_items(case: CommandCase[Command]) -> Breaches:
    for name in case.command.__struct_fields__:
        value = getattr(case.command, name)
        most = MAX_ITEMS_BY_FIELD.get(name, MAX_ITEMS)
        if isinstance(value, tuple) and len(value) > most:
            yield f"{len(value)} given, {most} allowed", name


def require_fields(*names: str) -> Callable[[CommandCase[Any]], Breaches]:
    def check(case: CommandCase[Any]) -> Breaches:
        for name in names:
            if getattr(case.command, name) is None:
                yield f"{name} is required", name

    return check


def _must_be_one_of(
    kinds: type[Any], name: str, *but: str
) -> Callable[[CommandCase[Any]], Breaches]:
    allowed = [str(word) for word in kinds if str(word) not in but]

    def check(case: CommandCase[Any]) -> Breaches:
        word = getattr(case.command, name)
        if word not in allowed:
            yield f"{word[:40]!r} is none of {', '.join(allowed)}", name

    return check


bad_review: Final = _must_be_one_of(Review, "status", Review.PENDING)
bad_consent: Final = _must_be_one_of(Consent, "status", Consent.PENDING)
bad_verdict: Final = _must_be_one_of(AuditVerdict, "status")
bad_profile: Final = _must_be_one_of(Profile, "profile")
bad_role: Final = _must_be_one_of(Role, "role")


def no_command(case: CommandCase[ask.SignIntent]) -> Breaches:
    command = case.command.command
    if not command or not command[0].strip() or any("\x00" in word for word in command):
        yield "", "command"


def no_risk(case: CommandCase[ask.SignIntent]) -> Breaches:
    if not case.command.risk.strip():
        yield "", "risk"


def secret_in_input(case: CommandCase[ask.SignIntent]) -> Breaches:
    command = case.command
    texts = (" ".join(command.command), *list_texts(command))
    for name in secrets.find_secrets(case.state.policy.secrets, texts):
        yield f"it looks like a secret: {name}", "command"


def bad_variable_name(case: CommandCase[ask.SignIntent]) -> Breaches:
    for name in case.command.env:
        if not name or "=" in name or "\x00" in name:
            yield f"{name[:40]!r} is no name of a variable", "env"


def evidence_differs(case: CommandCase[ask.IssueClaim | ask.ChallengeClaim]) -> Breaches:
    for cited in case.command.evidence:
        if cited.differs or (cited.ref is not None and cited.ref.sha256 != cited.sha256):
            yield f"the bytes stored as {cited.sha256[:12]} have another hash", "evidence"


def evidence_absent(case: CommandCase[ask.ChallengeClaim]) -> Breaches:
    for cited in case.command.evidence:
        if cited.ref is None and not cited.differs:
            yield f"no bytes are stored as {cited.sha256[:12]}", "evidence"


def bad_kid(case: CommandCase[ask.RotateKey]) -> Breaches:
    if not KID.match(case.command.kid):
        yield f"{case.command.kid[:40]!r} is no key", "kid"


def no_evidence_of_death(case: CommandCase[ask.RecoverExecution]) -> Breaches:
    """TRC-061: refuse a recovery that does not say what shows that the process has exited."""
    if not any(text.strip() for text in case.command.evidence):
        yield "", "evidence"
