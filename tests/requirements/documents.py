"""The headings of the five public documents, so that a test can check what a requirement row cites.

A section has a key (its number, or its heading where the document has no numbers) and the parts
that a row may name in it: `rule 13`, `step 2`, `field stance`.
Only headings and counts are kept here.
"""

from __future__ import annotations

from collections.abc import Iterable

Parts = dict[str, set[str]]


def numbered(first: int, last: int) -> set[str]:
    return {str(number) for number in range(first, last + 1)}


def plain(headings: Iterable[str]) -> dict[str, Parts]:
    """Sections of which a row names no part."""
    return {heading: {} for heading in headings}


RULE_KEYS = {
    "agents",
    "turn-order",
    "max-turns-per-round",
    "turn-timeout",
    "consensus-threshold",
    "consensus-mode",
    "escalation",
    "max-rounds",
    "output-format",
}

BOUNCE: dict[str, Parts] = {
    **plain(
        [
            "1",
            "1.1",
            "1.2",
            "2",
            "3",
            "3.2",
            "3.4",
            "3.5",
            "4",
            "4.1",
            "4.2",
            "4.5",
            "4.6",
            "6",
            "7",
            "7.1",
            "7.2",
            "7.3",
            "7.4",
        ]
    ),
    **plain(["Appendix", "Stance Mapping", "Future Evolution"]),
    "3.1": {"field": {"bounce-protocol", "created", "session-id"}},
    "3.3": {"key": RULE_KEYS},
    "4.3": {"status": {"open", "in_progress", "closed", "yield"}},
    "4.4": {"field": {"stance", "confidence", "summary", "action_requested", "evidence"}},
    "5": {"key": RULE_KEYS},
    "6.1": {"rule": numbered(1, 3), "rules": {"1 to 3"}},
    "6.2": {"rule": numbered(4, 6)},
    "6.3": {"rule": numbered(7, 8)},
    "6.4": {"rule": numbered(9, 9)},
    "6.5": {"rule": numbered(10, 12)},
    "6.6": {"rule": numbered(13, 15)},
    "6.7": {"rule": numbered(16, 18)},
    "6.8": {"rule": numbered(19, 20)},
    "8": {"example": numbered(1, 6)},
    "9": {"example": numbered(1, 7)},
}

BRENNER: dict[str, Parts] = {
    **plain(["Message Types and Body Schemas", "INFO Messages", "ACK Semantics Summary"]),
    **plain(["Validation Implementation", "Error Responses", "Version History"]),
    "Overview": {"item": numbered(1, 3)},
    "KICKOFF Messages": {"field": {"Research Question", "Context", "Excerpt"}},
    "DELTA Messages": {"field": {"Delta blocks", "Valid JSON", "Operation type"}},
    "COMPILED Messages": {"field": {"Version", "Contributors", "Statistics"}},
    "CRITIQUE Messages": {"field": {"Target", "Attack", "Severity"}},
    "ACK Messages": {"field": {"Message ID", "Status"}},
    "CLAIM Messages": {"field": {"Item", "Agent"}},
    "HANDOFF Messages": {"field": {"Item", "From", "To", "State"}},
    "BLOCKED Messages": {"field": {"Item", "Blocker", "Type"}},
    "QUESTION Messages": {"field": {"Question", "Urgency"}},
    "ACK Workflow": {"step": numbered(1, 4)},
    "Pre-send Validation": {"item": numbered(1, 4)},
    "Post-receive Validation": {"item": numbered(1, 3)},
    "Machine-Checkable Rules": {"rule": {f"MB-{number:03}" for number in range(1, 13)}},
}

OPERATIVE: dict[str, Parts] = {
    **plain(["2", "3", "3.1", "3.4", "4", "5", "6", "8", "8.1", "8.2", "8.3", "8.4"]),
    "1": {"item": numbered(1, 4)},
    "3.2": {"condition": numbered(1, 2)},
    "3.3": {"item": numbered(1, 3)},
    "4.1": {"item": numbered(1, 3)},
    "4.2": {"item": numbered(1, 3)},
    "4.3": {"state": numbered(1, 3)},
    "4.4": {"item": numbered(1, 3)},
    "5.1": {"step": numbered(1, 4)},
    "5.2": {"class": numbered(1, 3), "wildcard": numbered(1, 2)},
    "5.3": {"example": numbered(1, 4)},
    "6.1": {"field": numbered(1, 10)},
    "6.2": {"payload": {"HANDOFF", "BLOCKED", "INCURSION", "RESUME"}},
    "6.3": {"label": numbered(1, 4)},
    "7": {"command": numbered(1, 4), "requirement": numbered(1, 3)},
    "9": {"checklist": {f"bb-u6f.6.{number}" for number in range(2, 6)}},
    "10": {"alternative": numbered(1, 3)},
}

PARLIAMENT: dict[str, Parts] = plain(
    [
        "Communication Protocol",
        "Ledger Structure",
        "Message Types",
        "BILL_DRAFT",
        "OPENING_STATEMENT",
        "QUESTION",
        "ANSWER",
        "AMENDMENT",
        "MOTION",
        "VOTE",
        "SPEAKER_RULING",
        "VOTE_TALLY",
        "PM_DECISION",
        "Agent Response Format",
        "Session State Structure",
        "Debate Clock",
        "Bill Structure",
        "Amendment Incorporation Threshold",
        "Round Summaries",
    ]
)

AGENT_PROTOCOL: dict[str, Parts] = {
    **plain(["Summary", "Mandatory Signed Event Types"]),
    "Protocol Roles": {"role": {"Planner", "Executor", "Critic", "Auditor"}},
    "Session Lifecycle": {"transition": numbered(1, 8)},
    "Protocol Event Ordering Rules": {"rule": numbered(1, 2), "constraint": numbered(1, 3)},
    "Proposal Workflow": {"step": numbered(1, 4)},
    "Tool Intent and Execution Workflow": {"step": numbered(1, 5)},
    "Claim Workflow": {"step": numbered(1, 4)},
    "Auditor Workflow": {"step": numbered(1, 4)},
    "Concurrency Model": {"rule": numbered(1, 4)},
    "Failure Semantics": {"rule": numbered(1, 4)},
    "Retry and Recovery Rules": {"rule": numbered(1, 1), "step": numbered(1, 3)},
    "Policy Guards": {"guard": {"role", "action", "evidence", "finalization"}},
    "Protocol Invariants": {"rule": numbered(1, 4)},
}

# How a row names the document (with the version if the document states one) -> its sections.
DOCUMENTS: dict[str, dict[str, Parts]] = {
    "Bounce 0.1": BOUNCE,
    "Brenner 0.1": BRENNER,
    "Operative 1": OPERATIVE,
    "Parliament": PARLIAMENT,
    "Agent Protocol": AGENT_PROTOCOL,
}

# What the rows of our own features come from: `source = "Moot, guard"`.
OWN_SUBJECTS = {
    "MCP",
    "architecture",
    "bridges between protocols",
    "decision",
    "guard",
    "launch",
    "page",
    "participants",
    "path over protocols",
    "readings P-30 and P-31",
    "record format, published vectors",
    "security",
    "several machines",
    "shared plan",
}
