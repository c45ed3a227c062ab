"""What leads where: one row for each flow, with the only things that it may make."""

from __future__ import annotations

from typing import Final

import msgspec


class FlowSpec(msgspec.Struct, frozen=True):
    """A way from one protocol to another; it may make only what is in `makes`.

    With `needs_agreement`, the source must be a debate that reached consensus.
    """

    name: str
    sources: frozenset[str]
    target: str
    makes: frozenset[str]
    purpose: str
    needs_agreement: bool = False


def _flow(
    name: str, sources: str, target: str, makes: str, purpose: str, needs_agreement: bool = False
) -> FlowSpec:
    from_protocols, things = frozenset(sources.split()), frozenset(makes.split())
    return FlowSpec(name, from_protocols, target, things, purpose, needs_agreement)


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
        _flow("blocked-to-debate", "presence mail", "debate", "session",
              "what blocks an agent is argued in a debate"),
        _flow("question-to-debate", "mail", "debate", "session",
              "a question that blocks work is argued in a debate"),
        _flow("kickoff-to-debate", "mail", "debate", "session",
              "a research question is argued in a debate"),
        _flow("critique-to-debate", "mail", "debate", "session", "a critique is put to a debate"),
        _flow("consensus-to-parliament", "debate", "parliament", "session seed",
              "what a debate agreed on becomes a bill to be drafted", needs_agreement=True),
        _flow("deadlock-to-parliament", "debate", "parliament", "session seed",
              "a debate without a result goes to a parliament, if a person asks"),
        _flow("approval-to-trace", "parliament", "trace", "session proposal",
              "an approved bill becomes a trace with a proposal that waits for the critic"),
        _flow("critique-to-challenge", "mail", "trace", "challenge",
              "a critique of a claim becomes the critic's challenge"),
        _flow("challenge-to-critique", "trace", "mail", "message",
              "the agent that made a claim gets the challenge as a critique"),
        _flow("report-to-info", "trace", "mail", "message",
              "the agents concerned get the result of a verification"),
        _flow("done-to-ack", "trace", "mail", "message",
              "verified work closes the message that asked for it"),
        _flow("timeout-to-operator", "debate", "mail", "message",
              "a debate that waits for its operator says so"),
        _flow("takeover-to-info", "presence", "mail", "message",
              "an agent that lost a scope learns what can no longer run there"),
        _flow("resume-to-work", "presence", "trace", "key recovery",
              "a session that adopts a name gets that name's roles in open traces"),
        _flow("resume-to-seat", "presence", "parliament", "seat",
              "a session that adopts a name gets that name's seats in open sessions"),
    )
}  # fmt: skip
