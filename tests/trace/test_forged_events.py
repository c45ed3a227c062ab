"""Events that no command of ours makes: whoever reads a trace judges them by the same rules."""

from __future__ import annotations

import pytest

from moot.core.findings import check_all
from moot.core.machine import Event
from moot.protocols.trace import events as did
from moot.protocols.trace.case import case_of
from moot.protocols.trace.claim_rules import CLAIM_RULES
from moot.protocols.trace.lifecycle import TRANSITIONS
from moot.protocols.trace.machine import MACHINE
from moot.protocols.trace.model import BundledClaim, Profile, Stage
from moot.protocols.trace.roles import TraceActor

from .scene import AUDITOR, Trace

WHO = TraceActor(AUDITOR, 1, "k", in_charge=False)


def judge(trace: Trace, event: Event) -> list[str]:
    found = check_all(CLAIM_RULES[type(event)], case_of(trace.state, event, WHO))
    return [finding.code for finding in found]


@pytest.mark.requirement("TRC-042")
def test_a_bundle_is_every_claim_that_stands_and_no_other() -> None:
    trace = Trace().to("auditing")
    standing = tuple(BundledClaim(one.id, one.event) for one in trace.state.claims.values())
    stranger = BundledClaim("c9", "a" * 64)
    assert standing

    def sign(*claims: BundledClaim) -> did.FinalStatementSigned:
        return did.FinalStatementSigned(statement="it is so", claims=claims)

    assert judge(trace, sign(*standing)) == []
    for claims in ((), (*standing, stranger), (*standing, standing[0]), (stranger,)):
        assert judge(trace, sign(*claims)) == ["bundle_differs"]


@pytest.mark.requirement("TRC-068")
@pytest.mark.parametrize(("more", "code"), [(0, []), (1, ["subject_differs"])])
def test_a_verification_is_about_all_that_stands(more: int, code: list[str]) -> None:
    trace = Trace().to("auditing")
    state = trace.state
    number = f"v{state.run_count + 1}"
    started = did.VerificationRunStarted(number, Profile.DEFAULT, state.head, state.events + more)
    assert judge(trace, started) == code


@pytest.mark.parametrize("ending", [did.SessionFailed, did.SessionAborted])
def test_a_trace_may_fail_or_be_given_up_until_it_ends(ending: type[Event]) -> None:
    final = {Stage.COMPLETED, Stage.FAILED, Stage.ABORTED}
    assert {stage for stage in Stage if ending in TRANSITIONS[stage]} == set(Stage) - final
    assert MACHINE.version == 1, "snapshots of another version are not read"
