"""A message of each type, to be filled in: every field, and in words what belongs there."""

from __future__ import annotations

from typing import Any, Final

from moot.protocols.parliament.messages.words import PRIME_MINISTER, SPEAKER, Kind

_BRIEFING: Final = {
    "facts": ["<what is known>"],
    "constraints": [],
    "precedents": [],
    "open_questions": [],
}
_DIRECTION: Final = {
    "approach": "<what you would do, in 3 to 5 sentences>",
    "principle": "<in one sentence>",
    "trade_offs": "<what it costs>",
}
_SECTIONS: Final = {
    "problem": "<what is wrong>",
    "scope": {"in_scope": ["<what>"], "out_of_scope": [], "assumptions": [], "definitions": []},
    "solution": "<what is done>",
    "implementation": "<how and when>",
}
BLANK_CONTENTS: Final[dict[Kind, dict[str, Any]]] = {
    Kind.OPENING_STATEMENT: {"briefing": _BRIEFING, "direction": _DIRECTION},
    Kind.BILL_DRAFT: {
        "bill_version": 1,
        "title": "<title>",
        "summary": "<in a sentence or two>",
        "sections": _SECTIONS,
    },
    Kind.QUESTION: {
        "topic": "<what it is about>",
        "question": "<the question>",
        "motive_context": "<why your motives make you ask>",
    },
    Kind.ANSWER: {
        "answer": "<the answer>",
        "concessions": "",
        "stance": "maintain",
        "motive_scores": {"<a motive of yours>": 3},
    },
    Kind.AMENDMENT: {
        "amendment_id": "amend-001",
        "target_section": "solution",
        "action": "add",
        "description": "<what changes>",
        "rationale": "<why>",
        "proposed_text": "<the exact text>",
    },
    Kind.MOTION: {"motion_type": "call_vote", "reason": "<why>"},
    Kind.VOTE: {
        "vote": "YES",
        "reasoning": "<why>",
        "motive_scores": {"<a motive of yours>": 3},
        "reservations": "",
        "conditions": ["<what would change a NO>"],
    },
    Kind.SPEAKER_RULING: {
        "ruling_type": "procedure",
        "action": "round_start",
        "target": None,
        "ruling": "<what is ruled>",
    },
    Kind.VOTE_TALLY: {
        "bill_version": 1,
        "yes_votes": ["rep_1", "rep_2"],
        "no_votes": [],
        "tally": {"yes": 2, "no": 0, "total": 2},
        "passed": True,
        "key_objections": [],
        "next_action": "advance_to_pm",
    },
    Kind.PM_DECISION: {"decision": "approve", "reason": "<why>", "guidance": ""},
}
_SENDERS: Final = {
    Kind.SPEAKER_RULING: SPEAKER,
    Kind.VOTE_TALLY: SPEAKER,
    Kind.PM_DECISION: PRIME_MINISTER,
}
_ADDRESSES: Final[dict[Kind, dict[str, str]]] = {
    Kind.QUESTION: {"to": "rep_2"},
    Kind.ANSWER: {"to": "rep_2", "in_reply_to": "msg-007"},
}


def make_template(kind: Kind) -> dict[str, Any]:
    """A response of this type; what is not in angle brackets is an example."""
    head = {"type": str(kind), "from": _SENDERS.get(kind, "rep_1")}
    return {**head, **_ADDRESSES.get(kind, {}), "content": BLANK_CONTENTS[kind]}
