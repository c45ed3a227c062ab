"""The checks behind the rules: each yields `(message, where)` for every breach it finds.

An empty message means that the sentence of the row in `rules.py` says it all.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

from moot.core.findings import Breach, HintWords
from moot.core.machine import Event
from moot.core.names import AGENT, OPERATOR
from moot.protocols.trace import events as did
from moot.protocols.trace import policy, roles
from moot.protocols.trace.case import EventCase, PermissionCase
from moot.protocols.trace.lifecycle import accepted_events
from moot.protocols.trace.model import MAX_PROPOSALS, Proposal, Review, Role, number_of_id
from moot.protocols.trace.tool_input import sha256_hex

Breaches = Iterator[Breach]
HASH: Final = re.compile(r"[0-9a-f]{64}\Z")
KID: Final = re.compile(r"[0-9a-f]{32}\Z")
# How a review may change (E-37). Rejected and blocked are final: a revision is a new proposal that
# supersedes the old one, so that nobody approves a text which has already been turned down.
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
    """What no part of this trace may do: its hint has no agent to name."""
    if not _name_role_holder(case):
        yield from _explain_role(case)


def wrong_role(case: PermissionCase) -> Breaches:
    if _name_role_holder(case):
        yield from _explain_role(case)


def _explain_role(case: PermissionCase) -> Breaches:
    if case.state.ended:
        return
    problem = roles.explain_wrong_role(case.state, case.kind, case.who)
    if problem is not None:
        yield problem, "actor", None, _name_role_holder(case)


def wrong_key(case: PermissionCase) -> Breaches:
    problem = roles.explain_wrong_key(case.state, case.kind, case.who)
    if problem is not None:
        yield problem, "actor", None, _name_role_holder(case)


def _name_role_holder(case: PermissionCase) -> HintWords:
    """For the hint: who plays the part that may do this."""
    role = roles.ROLE_OF_EVENT[case.kind]
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
    for first, second in roles.find_clashing_roles(event.roles, event.policy.distinct_roles):
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
    """A check that these texts (or lists of texts) are not empty."""

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
    """A run ends before its proposal is replaced; else its end would belong to no proposal."""
    name = case.event.supersedes
    for run in case.state.running.values():
        if run.proposal == name:
            yield f"{run.id} runs under {name}", "supersedes"


def fallback_not_allowed(case: EventCase[did.ProposalCreated]) -> Breaches:
    """TRC-055: after a failed run every further proposal is a fallback."""
    if case.state.failures and not case.state.policy.allow_fallback:
        yield "", "fallback_for"


def fallback_for_no_failure(case: EventCase[did.ProposalCreated]) -> Breaches:
    """T-08: it names, as a retry does, the last failed intent of a step."""
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
    """E-20: the old key names its successor; if it is lost, a person or the workspace does."""
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
