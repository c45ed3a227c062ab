"""The checks behind the rules: each yields `(message, where)` for every breach it sees.

They look at an event about to be recorded, or recorded by someone long ago: a decision and an
audit ask the same questions. An empty message means the sentence of the row in `rules.py`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

from moot.core.findings import Breach, Known
from moot.core.machine import Event
from moot.core.names import AGENT, OPERATOR
from moot.protocols.trace import events as did
from moot.protocols.trace import policy, roles
from moot.protocols.trace.inputs import hash_of
from moot.protocols.trace.lifecycle import accepted
from moot.protocols.trace.model import MAX_PROPOSALS, Proposal, Review, Role, State, number

Breaches = Iterator[Breach]
HASH: Final = re.compile(r"[0-9a-f]{64}\Z")
KID: Final = re.compile(r"[0-9a-f]{32}\Z")
# What a critic may say next, by what stands (E-37). Rejected and blocked are final; a revision
# is a new proposal, or a new intent, that supersedes the old one.
REVIEWS: Final[dict[Review, frozenset[Review]]] = {
    Review.PENDING: frozenset(Review) - {Review.PENDING},
    Review.APPROVED: frozenset({Review.CONDITIONAL, Review.BLOCKED}),
    Review.CONDITIONAL: frozenset({Review.APPROVED, Review.BLOCKED}),
    Review.REJECTED: frozenset(),
    Review.BLOCKED: frozenset(),
}


class Told(NamedTuple):
    """An event in its moment: the state before it, and who records it.

    The guards ask only of which `kind` it is; then `event` may not be made yet.
    """

    state: State
    event: Any
    who: roles.Who
    kind: type[Event]


def trace_ended(told: Told) -> Breaches:
    if told.state.ended:
        because = f": {told.state.because}" if told.state.because else ""
        yield f"this trace is {told.state.stage}{because}", None


def wrong_role(told: Told) -> Breaches:
    if told.state.ended:
        return
    problem = roles.wrong_role(told.state, told.kind, told.who)
    if problem is not None:
        yield problem, "actor", None, _part(told)


def wrong_key(told: Told) -> Breaches:
    problem = roles.wrong_key(told.state, told.kind, told.who)
    if problem is not None:
        yield problem, "actor", None, _part(told)


def _part(told: Told) -> Known:
    """Whose part it is."""
    role = roles.EMITS[told.kind]
    bound = told.state.holder(role) if role is not None else None
    return {} if bound is None else {"ROLE": bound.role, "NAME": bound.agent}


def wrong_state(told: Told) -> Breaches:
    state = told.state
    if state.ended or told.kind in accepted(state):
        return
    after = ", after the final statement" if state.final is not None else ""
    yield f"not while the trace is {state.stage}{after}", None


def missing_role(told: Told) -> Breaches:
    held = [one.role for one in told.event.roles]
    for role in Role:
        if held.count(role) != 1:
            yield f"{held.count(role)} agents are the {role}, not one", "roles"


def bad_binding(told: Told) -> Breaches:
    for one in told.event.roles:
        named = AGENT.match(one.agent) or one.agent == OPERATOR
        if not named or not KID.match(one.kid) or one.epoch < 1:
            yield f"the {one.role} is {one.agent[:60]!r} with the key {one.kid[:32]!r}", "roles"


def one_agent_two_parts(told: Told) -> Breaches:
    event: did.SessionInitialized = told.event
    for one, other in roles.clashes(event.roles, event.policy.distinct_roles):
        yield f"{one.agent} cannot be both {one.role} and {other.role}", "roles"


def unusable_policy(told: Told) -> Breaches:
    for problem in policy.problems(told.event.policy):
        yield problem, "policy"


def other_task(told: Told) -> Breaches:
    if hash_of(told.event.task.encode("utf-8", "replace")) != told.event.task_sha256:
        yield "", "task_sha256"


def other_policy(told: Told) -> Breaches:
    if policy.hash_of(told.event.policy) != told.event.policy_sha256:
        yield "", "policy_sha256"


def empty(*names: str) -> Callable[[Told], Breaches]:
    """Texts that must say something."""

    def check(told: Told) -> Breaches:
        for name in names:
            value = getattr(told.event, name)
            texts = (value,) if isinstance(value, str) else value
            if not texts or not all(text.strip() for text in texts):
                yield f"{name} is required", name

    return check


def proposal_of(told: Told) -> Proposal | None:
    return told.state.proposals.get(told.event.proposal_id)


def gone(name: str, count: int, what: str) -> str:
    over = 0 < number(name) <= count
    return f"{name} has been superseded" if over else f"there is no {what} {name[:40]!r}"


def unknown_proposal(told: Told) -> Breaches:
    if proposal_of(told) is None:
        name = told.event.proposal_id
        yield gone(name, told.state.proposal_count, "proposal"), "proposal_id"


def supersedes_unknown_proposal(told: Told) -> Breaches:
    name = told.event.supersedes
    if name is not None and name not in told.state.proposals:
        yield gone(name, told.state.proposal_count, "proposal"), "supersedes"


def supersedes_running(told: Told) -> Breaches:
    """What is in flight ends before its ground is taken away."""
    name = told.event.supersedes
    for one in told.state.running.values():
        if one.proposal == name:
            yield f"{one.id} runs under {name}", "supersedes"


def no_fallback(told: Told) -> Breaches:
    """TRC-055: after a failed run every further proposal is a fallback."""
    if told.state.failures and not told.state.policy.allow_fallback:
        yield "", "fallback_for"


def fallback_for_nothing(told: Told) -> Breaches:
    """As a retry does: the last failed intent of a step that has not gone well since."""
    name = told.event.fallback_for
    if name is not None and all(name != one.intent for one in told.state.failing.values()):
        yield f"{name[:40]!r} is no intent whose step has failed last", "fallback_for"


def too_many_proposals(told: Told) -> Breaches:
    if len(told.state.proposals) >= MAX_PROPOSALS and told.event.supersedes is None:
        yield f"{MAX_PROPOSALS} proposals stand", None


def review_not_open(told: Told) -> Breaches:
    proposal = proposal_of(told)
    if proposal is not None and told.event.status not in REVIEWS[proposal.review]:
        said = f"{proposal.id} is {proposal.review}, not to become {told.event.status}"
        yield said, "status", None, {"ID": proposal.id}


def proposal_not_approved(told: Told) -> Breaches:
    """TRC-029, TRC-030, TRC-056."""
    proposal = proposal_of(told)
    if proposal is not None and proposal.review not in (Review.APPROVED, Review.CONDITIONAL):
        yield f"{proposal.id} is {proposal.review}", "proposal_id"


def rotation_forbidden(told: Told) -> Breaches:
    """E-20: the old key itself, or a person or the workspace if it is lost."""
    if told.who.in_charge or told.who.kid == told.event.old_kid:
        return
    yield "", "actor"


def other_old_key(told: Told) -> Breaches:
    bound = told.state.holder(told.event.role)
    if bound is None or (bound.agent, bound.kid) != (told.event.agent, told.event.old_kid):
        yield f"that is not the key of the {told.event.role}", "old_kid"


def key_in_use(told: Told) -> Breaches:
    event: did.KeyRotated = told.event
    for one in told.state.roles:
        shared = one.agent == event.agent and one.role is not event.role
        if one.kid == event.new_kid and not shared:
            yield f"{one.agent}, the {one.role}, has this key", "new_kid"


def wrong_number(name: str, count: str) -> Callable[[Told], Breaches]:
    """E-19: ids are counted by the trace; none is given twice, none is left out."""

    def check(told: Told) -> Breaches:
        due = getattr(told.state, count) + 1
        said = getattr(told.event, name)
        if said[1:] != str(due):
            yield f"{said[:40]!r} is not number {due}", name

    return check
