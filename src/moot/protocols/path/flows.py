"""What leads where: one row for each flow, with the only things that it may make."""

from __future__ import annotations

from typing import Final

import msgspec


class FlowSpec(msgspec.Struct, frozen=True):
    """One way from one protocol to another: `makes` are the only things it may make."""

    name: str
    sources: frozenset[str]
    target: str
    makes: frozenset[str]
    purpose: str
    needs_agreement: bool = False


def _flow(
    name: str, sources: str, target: str, makes: str, says: str, settled: bool = False
) -> FlowSpec:
    return FlowSpec(
        name, frozenset(sources.split()), target, frozenset(makes.split()), says, settled
    )


# No flow makes an approval, a reservation or a verification: X-03.
GUARD_EVENTS: Final = frozenset(
    {
        "proposal_reviewed",
        "tool_intent_reviewed",
        "scope_reserved",
        "verification_run_started",
        "verification_run_completed",
        "vote",
        "pm_decision",
    }
)
FLOWS: Final[dict[str, FlowSpec]] = {
    flow.name: flow
    for flow in (
        _flow(
            "blocked-to-debate",
            "presence mail",
            "debate",
            "session",
            "what keeps an agent from going on is argued in a debate",
        ),
        _flow(
            "question-to-debate",
            "mail",
            "debate",
            "session",
            "a question that blocks work is argued in a debate",
        ),
        _flow(
            "kickoff-to-debate",
            "mail",
            "debate",
            "session",
            "a research question is argued in a debate",
        ),
        _flow("critique-to-debate", "mail", "debate", "session", "a critique is put to a debate"),
        _flow(
            "consensus-to-parliament",
            "debate",
            "parliament",
            "session seed",
            "what a debate agreed on becomes a bill to be drafted",
            settled=True,
        ),
        _flow(
            "deadlock-to-parliament",
            "debate",
            "parliament",
            "session seed",
            "a debate that came to nothing is taken up by a parliament, if a person asks",
        ),
        _flow(
            "approval-to-trace",
            "parliament",
            "trace",
            "session proposal",
            "an approved bill becomes a trace with a proposal that waits for the critic",
        ),
        _flow(
            "critique-to-challenge",
            "mail",
            "trace",
            "challenge",
            "a critique of a claim becomes the critic's challenge",
        ),
        _flow(
            "challenge-to-critique",
            "trace",
            "mail",
            "message",
            "a challenge is told as a critique to whoever claimed",
        ),
        _flow(
            "report-to-info",
            "trace",
            "mail",
            "message",
            "what a verification found is told to those concerned",
        ),
        _flow(
            "done-to-ack",
            "trace",
            "mail",
            "message",
            "verified work closes the message that asked for it",
        ),
        _flow(
            "timeout-to-operator",
            "debate",
            "mail",
            "message",
            "a debate that waits for its operator says so",
        ),
        _flow(
            "takeover-to-info",
            "presence",
            "mail",
            "message",
            "who lost a scope is told what can no longer run there",
        ),
        _flow(
            "resume-to-work",
            "presence",
            "trace",
            "key recovery",
            "who goes on under an old name gets its parts in open traces back",
        ),
        _flow(
            "resume-to-seat",
            "presence",
            "parliament",
            "seat",
            "who goes on under an old name gets its seats in open sessions back",
        ),
    )
}
