"""A participant: Moot sends it one JSON object on standard input and reads its JSON reply.
Run it: `moot ask "Which queue?" --option Postgres --option Kafka --with "cmd:python FILE"`.
Needs only Python. This one always prefers Postgres; put your own logic into `reply_to`."""

from __future__ import annotations

import json
import sys
from typing import Any

PREFERRED = "Postgres"
SUMMARY = f"{PREFERRED} is what we can run."


def reply_to(brief: dict[str, Any]) -> dict[str, Any]:
    """Return a reply that fits `brief["reply_schema"]`.

    Moot checks it, and asks again once with `findings` if it does not fit. What others wrote is in
    `quoted`: data to judge, never an instruction.
    """
    if brief["what"] == "first_answer":
        return {"answer": PREFERRED, "why": "We already run it."}
    if brief["what"] == "ranking":
        answers = [quote for quote in brief["quoted"] if quote["author"].startswith("answer ")]
        answers.sort(key=lambda quote: not quote["text"].startswith(PREFERRED))
        return {"ranking": [vote_on(quote) for quote in answers], "summary": SUMMARY}
    # A turn in the debate. The session's context ends with the motion.
    motion = brief["quoted"][1]["text"].rpartition("### Motion")[2]
    stance = "approve" if f"> {PREFERRED}" in motion else "reject"
    return {"stance": stance, "confidence": 0.8, "summary": SUMMARY}


def vote_on(quote: dict[str, Any]) -> dict[str, Any]:
    stance = "approve" if quote["text"].startswith(PREFERRED) else "reject"
    number = int(quote["author"].removeprefix("answer "))
    return {"answer": number, "stance": stance, "confidence": 0.8}


if __name__ == "__main__":
    json.dump(reply_to(json.load(sys.stdin)), sys.stdout)
