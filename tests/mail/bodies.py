"""Good messages to start from, one of each type; they are the good examples of the rules."""

from __future__ import annotations

from tests.mail.test_rules import example

_OF = {
    "KICKOFF": "MB-003",
    "DELTA": "MB-005",
    "COMPILED": "MBX-042",
    "CRITIQUE": "MB-006",
    "ACK": "MB-009",
    "CLAIM": "MBX-071",
    "HANDOFF": "MB-008",
    "BLOCKED": "MB-012",
    "QUESTION": "MB-011",
    "INFO": "MBX-007",
}


def subject_of(kind: str) -> str:
    return example(f"{_OF[kind]}-pass.txt")[0].subject


def body_of(kind: str) -> str:
    return example(f"{_OF[kind]}-pass.txt")[1].decode()


def delta(**fields: object) -> dict[str, object]:
    """A whole ADD of a hypothesis, with these fields instead."""
    return {
        "operation": "ADD",
        "section": "hypothesis_slate",
        "target_id": None,
        "payload": {"name": "n", "claim": "c", "mechanism": "m", "anchors": ["§1"]},
        "rationale": "because",
        **fields,
    }
