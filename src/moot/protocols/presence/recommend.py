"""What a session that starts should do: register afresh, adopt, or be told to choose (B-22).

The same facts give the same reason and the same command, byte for byte. Nothing is ever adopted
because it merely could be.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

import msgspec

from moot.core.findings import Finding
from moot.protocols.presence.model import ResumeReason


class Reason(StrEnum):
    """Fixed codes; scripts compare them."""

    REGISTER_REQUESTED = "register_requested"
    ADOPTION_REQUESTED = "adoption_requested"
    NO_ADOPTABLE_IDENTITY = "no_adoptable_identity"
    ONE_ADOPTABLE_IDENTITY = "one_adoptable_identity"
    SEVERAL_ADOPTABLE_IDENTITIES = "several_adoptable_identities"


class Candidate(msgspec.Struct, frozen=True):
    """A name that could be adopted, and why."""

    agent: str
    reason: ResumeReason
    evidence: str
    bead_ids: tuple[str, ...] = ()


class Recommendation(msgspec.Struct, frozen=True):
    """`reason` is a code, `command` what to run next, `candidates` what there is to choose."""

    reason: Reason
    command: str
    agent: str | None = None
    candidates: tuple[Candidate, ...] = ()

    @property
    def finding(self) -> Finding | None:
        """Why nothing was done by itself, if a choice is owed."""
        if not self.candidates:
            return None
        names = ", ".join(candidate.agent for candidate in self.candidates)
        return Finding(
            rule="B-22",
            code="decision_required",
            message=f"this could continue an earlier session ({names}) or start a new one",
            hint=f"`{self.command}`, or --register NAME for a new one",
        )


def for_register(name: str) -> Recommendation:
    return Recommendation(Reason.REGISTER_REQUESTED, _register(name), name)


def for_adoption(name: str) -> Recommendation:
    return Recommendation(Reason.ADOPTION_REQUESTED, _adopt(name), name)


def for_bare_start(candidates: Iterable[Candidate], fresh_name: str) -> Recommendation:
    """Nobody said what to do: a fresh name if nothing could be adopted, else a choice is owed."""
    found = tuple(sorted(candidates, key=lambda candidate: candidate.agent))
    if not found:
        return Recommendation(Reason.NO_ADOPTABLE_IDENTITY, _register(fresh_name), fresh_name)
    one = len(found) == 1
    reason = Reason.ONE_ADOPTABLE_IDENTITY if one else Reason.SEVERAL_ADOPTABLE_IDENTITIES
    best = min(found, key=_unsaved_first).agent
    return Recommendation(reason, _adopt(best), best, found)


def _unsaved_first(candidate: Candidate) -> tuple[bool, str]:
    return candidate.reason is not ResumeReason.UNCOMMITTED_SCOPE, candidate.agent


def _register(name: str) -> str:
    return f"moot join --register {name}"


def _adopt(name: str) -> str:
    return f"moot join --adopt {name}"
