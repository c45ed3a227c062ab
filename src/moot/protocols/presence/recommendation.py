"""What a session that starts should do: register a new name, adopt one, or choose (B-22).

The same facts give the same reason and the same command, byte for byte (OPR-086). A name is never
adopted only because it could be: then a choice is owed.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

import msgspec

from moot.core.findings import Finding
from moot.protocols.presence.model import ResumeReason


class RecommendationReason(StrEnum):
    """Fixed codes; scripts compare them."""

    REGISTER_REQUESTED = "register_requested"
    ADOPTION_REQUESTED = "adoption_requested"
    NO_ADOPTABLE_IDENTITY = "no_adoptable_identity"
    ONE_ADOPTABLE_IDENTITY = "one_adoptable_identity"
    SEVERAL_ADOPTABLE_IDENTITIES = "several_adoptable_identities"


class AdoptionCandidate(msgspec.Struct, frozen=True):
    """A name that could be adopted, and why."""

    agent: str
    reason: ResumeReason
    evidence: str
    bead_ids: tuple[str, ...] = ()


class Recommendation(msgspec.Struct, frozen=True):
    """`reason` is a code, `command` what to run next, `candidates` what there is to choose."""

    reason: RecommendationReason
    command: str
    agent: str | None = None
    candidates: tuple[AdoptionCandidate, ...] = ()

    @property
    def finding(self) -> Finding | None:
        """Why nothing was started, if a choice is owed (OPR-085); else None."""
        if not self.candidates:
            return None
        names = ", ".join(candidate.agent for candidate in self.candidates)
        return Finding(
            rule="B-22",
            code="decision_required",
            message=f"this could continue an earlier session ({names}) or start a new one",
            hint=f"`{self.command}`, or --register NAME for a new one",
        )


def recommend_register(name: str) -> Recommendation:
    return Recommendation(RecommendationReason.REGISTER_REQUESTED, _register_command(name), name)


def recommend_adoption(name: str) -> Recommendation:
    return Recommendation(RecommendationReason.ADOPTION_REQUESTED, _adopt_command(name), name)


def recommend_start(candidates: Iterable[AdoptionCandidate], fresh_name: str) -> Recommendation:
    """For a start without options: a fresh name if nothing could be adopted, else a choice."""
    choices = tuple(sorted(candidates, key=lambda candidate: candidate.agent))
    if not choices:
        command = _register_command(fresh_name)
        return Recommendation(RecommendationReason.NO_ADOPTABLE_IDENTITY, command, fresh_name)
    single = len(choices) == 1
    reason = (
        RecommendationReason.ONE_ADOPTABLE_IDENTITY
        if single
        else RecommendationReason.SEVERAL_ADOPTABLE_IDENTITIES
    )
    best = min(choices, key=_uncommitted_first).agent
    return Recommendation(reason, _adopt_command(best), best, choices)


def _uncommitted_first(candidate: AdoptionCandidate) -> tuple[bool, str]:
    return candidate.reason is not ResumeReason.UNCOMMITTED_SCOPE, candidate.agent


def _register_command(name: str) -> str:
    return f"moot join --register {name}"


def _adopt_command(name: str) -> str:
    return f"moot join --adopt {name}"
