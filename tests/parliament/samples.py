"""One sound message of every type, in the shape the protocol prints; each call gives a copy."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

Document = dict[str, Any]

SECTIONS: Document = {
    "problem": "Uploads over 2 GB fail.",
    "scope": {
        "in_scope": ["the upload path"],
        "out_of_scope": ["billing"],
        "assumptions": ["storage stays as it is"],
    },
    "solution": "Send parts and join them.",
    "implementation": "First the server, then the clients.",
}
CONTENTS: dict[str, Document] = {
    "BILL_DRAFT": {
        "bill_version": 1,
        "title": "Uploads in parts",
        "summary": "Large files go up in parts.",
        "sections": SECTIONS,
    },
    "OPENING_STATEMENT": {
        "briefing": {
            "facts": ["Four in ten uploads fail."],
            "constraints": ["No new vendor."],
            "precedents": ["Mail does it."],
            "open_questions": ["Who pays for the space?"],
        },
        "direction": {
            "approach": "Cut files. Send the parts. Join them at the end.",
            "principle": "No byte is sent twice.",
            "trade_offs": "More requests.",
        },
    },
    "QUESTION": {
        "topic": "lost parts",
        "question": "What happens to a part that never arrives?",
        "motive_context": "Those I speak for count on every byte.",
    },
    "ANSWER": {
        "answer": "It is asked for again. After a day the whole upload is dropped.",
        "concessions": "The day is a guess.",
        "stance": "maintain",
        "motive_scores": {"speed": 4},
        "amendment_position": {
            "amendment_id": "amend-001",
            "position": "endorse",
            "reason": "A digest for each part settles it.",
        },
    },
    "AMENDMENT": {
        "amendment_id": "amend-001",
        "target_section": "solution",
        "action": "add",
        "description": "A digest for each part",
        "rationale": "Damage must be seen at once.",
        "proposed_text": "Every part carries its digest.",
    },
    "MOTION": {"motion_type": "call_vote", "reason": "All has been said."},
    "VOTE": {
        "vote": "YES",
        "reasoning": "It does what we need.",
        "motive_scores": {"speed": 4},
        "reservations": "The day is short.",
        "conditions": [],
    },
    "SPEAKER_RULING": {
        "ruling_type": "order",
        "ruling": "Please answer the question about lost parts.",
        "target": "rep_2",
        "action": "redirect",
    },
    "VOTE_TALLY": {
        "bill_version": 2,
        "yes_votes": ["rep_1", "rep_3"],
        "no_votes": ["rep_2"],
        "tally": {"yes": 2, "no": 1, "total": 3},
        "passed": True,
        "key_objections": [{"from": "rep_2", "concern": "The cost is not known."}],
        "next_action": "advance_to_pm",
    },
    "PM_DECISION": {
        "decision": "veto",
        "reason": "Old clients are forgotten.",
        "guidance": "Say how old clients go on.",
    },
}
SENDERS = {"SPEAKER_RULING": "speaker", "VOTE_TALLY": "speaker", "PM_DECISION": "prime_minister"}
KINDS = tuple(CONTENTS)


def response(kind: str, sender: str = "", **changes: Any) -> Document:
    """A sound reply of this type; `changes` go into its content."""
    document: Document = {"type": kind, "from": sender or SENDERS.get(kind, "rep_1")}
    if kind in ("QUESTION", "ANSWER"):
        document["to"] = "rep_2" if document["from"] != "rep_2" else "rep_1"
    if kind == "ANSWER":
        document["in_reply_to"] = "msg-003"
    document["content"] = {**deepcopy(CONTENTS[kind]), **changes}
    return document


def message(kind: str, number: int = 7, **changes: Any) -> Document:
    """The same as an entry of the ledger."""
    filled: Document = {"id": f"msg-{number:03d}", "type": kind, "round": 1}
    return {**filled, "timestamp": "2026-02-10T14:30:00Z", **response(kind, **changes)}
