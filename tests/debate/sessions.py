"""Our own sessions: the six shapes that are valid, the seven that are not, and how to build more.

`session(...)` gives the text of a file, `entry(...)` one entry; both take what a test cares about
and fill in the rest.
"""

from __future__ import annotations

from moot.protocols.debate.checker import CheckedSession, check_session

SESSION_ID = "3f0c6f2e-9d1b-4c55-8a37-5b1f0c9d2e11"
CREATED = "2026-03-01T09:00:00Z"
TWO_AGENTS = ("red-fox", "blue-hen")
RULES = {
    "turn-order": "round-robin",
    "max-turns-per-round": "1",
    "turn-timeout": "300",
    "consensus-threshold": "0.7",
    "consensus-mode": "majority",
    "escalation": "human",
    "max-rounds": "5",
    "output-format": "structured",
}


def entry_id(number: int) -> str:
    return f"{number:08x}-1111-4222-8333-444455556666"


def entry(
    number: int,
    author: str,
    round_: int = 1,
    turn: int = 1,
    *,
    stance: str = "approve",
    confidence: str = "0.8",
    summary: str = "A point was made.",
    asks: str = "n/a",
    evidence: str = "n/a",
    status: str = "yield",
    at: str = "",
    body: str = "Words about it.",
    marker: str = "<!-- yield -->\n",
    fields: str | None = None,
    id_: str | None = None,
) -> str:
    at = at or f"2026-03-01T09:{number:02d}:00Z"
    said = (
        f"stance: {stance}\nconfidence: {confidence}\nsummary: {summary}\n"
        f"action_requested: {asks}\nevidence: {evidence}\n"
    )
    return (
        f"\n<!-- entry: {id_ or entry_id(number)} -->\n<!-- turn: {turn} round: {round_} -->\n"
        f"{at} [author: {author}] [status: {status}]\n"
        f"{said if fields is None else fields}\n{body}\n\n{marker}"
    )


def rules_block(agents: tuple[str, ...], **changes: str | None) -> str:
    values: dict[str, str | None] = dict(RULES)
    values.update({key.replace("_", "-"): value for key, value in changes.items()})
    listed = "".join(f"  - {agent}\n" for agent in agents)
    rest = "".join(f"{key}: {value}\n" for key, value in values.items() if value is not None)
    return f"```yaml\nagents:\n{listed}{rest}```\n"


def session(
    *entries: str,
    agents: tuple[str, ...] = TWO_AGENTS,
    header: str | None = None,
    title: str = "# Bounce Session: Which queue shall we use?",
    block: str | None = None,
    context: str = "The old queue loses messages under load.",
    **changes: str | None,
) -> str:
    head = (
        f"<!-- bounce-protocol: 0.1 -->\n<!-- created: {CREATED} -->\n"
        f"<!-- session-id: {SESSION_ID} -->\n"
    )
    rules = block if block is not None else rules_block(agents, **changes)
    return (
        f"{head if header is None else header}\n{title}\n\n## Protocol Rules\n\n{rules}\n"
        f"## Context\n\n{context}\n\n## Dialogue\n{''.join(entries)}"
    )


def codes(
    text: str | bytes,
    severity: str = "error",
    *,
    strict_uuid: bool = False,
    lenient: bool = False,
) -> list[str]:
    checked = check_session(text, strict_uuid=strict_uuid, lenient=lenient)
    return [one.code for one in checked.findings if one.severity == severity]


def found(checked: CheckedSession) -> list[tuple[str, str, str]]:
    return [(one.severity.value, one.rule, one.code) for one in checked.findings]


# The six valid shapes ----------------------------------------------------------------------------

ALONE = session(
    entry(
        1,
        "lock-smith",
        stance="reject",
        confidence="0.85",
        evidence="src/door.py, a talk of 2025",
        body="Two holes.\n\n### The key\n\nIt lies under the mat.\n\n### The lock\n\n- it is open",
    ),
    agents=("lock-smith",),
    consensus_threshold="0.0",
    max_rounds="1",
)
TWO_ROUNDS = session(
    entry(1, "red-fox", 1, 1, confidence="0.7"),
    entry(2, "blue-hen", 1, 2, stance="neutral", confidence="0.5"),
    entry(3, "red-fox", 2, 1, confidence="0.85"),
    entry(4, "blue-hen", 2, 2, confidence="0.8"),
)
FREE = session(
    entry(1, "ant", 1, 1, confidence="0.6"),
    entry(2, "cow", 1, 2, confidence="0.55"),
    entry(3, "bee", 1, 3, confidence="0.65"),
    agents=("ant", "bee", "cow"),
    turn_order="free-form",
    max_turns_per_round="2",
    consensus_threshold="0.6",
    consensus_mode="weighted",
    escalation="default-action",
    max_rounds="3",
)
EARLY = session(
    entry(1, "red-fox", 1, 1, confidence="0.8"),
    entry(2, "blue-hen", 1, 2, confidence="0.78"),
    entry(3, "red-fox", 2, 1, confidence="0.9"),
    entry(4, "blue-hen", 2, 2, confidence="0.9"),
    consensus_threshold="0.75",
    escalation="timeout-skip",
    max_rounds="4",
)
SKIPPED = session(
    entry(1, "ant", 1, 1, confidence="0.7", at="2026-03-01T09:01:00Z"),
    entry(2, "bee", 1, 2, stance="neutral", confidence="0.5", at="2026-03-01T09:04:30Z"),
    entry(
        3,
        "cow",
        1,
        3,
        stance="defer",
        confidence="0.3",
        summary="Timed out on the reading. The others decide.",
        at="2026-03-01T09:06:01Z",
    ),
    entry(4, "ant", 2, 1, confidence="0.8", at="2026-03-01T09:08:00Z"),
    entry(5, "bee", 2, 2, confidence="0.75", at="2026-03-01T09:10:00Z"),
    entry(
        6,
        "cow",
        2,
        3,
        stance="defer",
        confidence="0.3",
        status="closed",
        summary="Turn timed out. Policy applied: turn skipped.",
        at="2026-03-01T09:12:02Z",
        body="*[Written in its place, generated by the orchestrator.]*",
    ),
    agents=("ant", "bee", "cow"),
    turn_timeout="120",
    consensus_threshold="0.65",
    consensus_mode="weighted",
    escalation="timeout-skip",
    max_rounds="3",
)
SUPERVISED = session(
    entry(1, "lead", 1, 1, stance="neutral", asks="on-call to tell what happened."),
    entry(2, "on-call", 1, 2, stance="neutral", asks="lead to say what is next."),
    entry(3, "lead", 1, 3, stance="neutral", asks="platform to look at the routing."),
    agents=("lead", "on-call", "platform"),
    turn_order="supervised",
    consensus_mode="unanimous",
    max_rounds="4",
)
VALID = {
    "alone": ALONE,
    "two rounds": TWO_ROUNDS,
    "free": FREE,
    "early": EARLY,
    "skipped": SKIPPED,
    "supervised": SUPERVISED,
}

# The seven invalid shapes, each with the one rule and code it breaks ------------------------------

_TWO_LINES = f"<!-- bounce-protocol: 0.1 -->\n<!-- created: {CREATED} -->\n"
INVALID: dict[str, tuple[str, str, str]] = {
    "no session id": (session(header=_TWO_LINES), "3.1", "MISSING_SESSION_ID"),
    "no marker": (session(entry(1, "red-fox", marker="")), "R4", "MISSING_YIELD_MARKER"),
    "fifth stance": (
        session(entry(1, "red-fox", stance="strongly-agree")),
        "R10",
        "INVALID_STANCE",
    ),
    "too sure": (
        session(entry(1, "red-fox", confidence="1.5")),
        "R11",
        "CONFIDENCE_OUT_OF_RANGE",
    ),
    "empty session id": (
        session(header=_TWO_LINES + "<!-- session-id: -->\n"),
        "3.1",
        "MISSING_SESSION_ID",
    ),
    "stranger": (session(entry(1, "grey-owl")), "R12", "UNKNOWN_AGENT"),
    "round goes back": (
        session(entry(1, "red-fox", 2, 1), entry(2, "blue-hen", 1, 1)),
        "R8",
        "ROUND_NOT_MONOTONIC",
    ),
}
