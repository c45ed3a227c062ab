"""A decision's page, from what its receipt says to HTML: nine participants, two rounds of markdown.

The raw limit is what cannot be left out: the markdown library setting the same texts by itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from markdown_it import MarkdownIt

from bench.figure import Figure, at_most, ratio, value
from bench.ground import Ground
from bench.rounds import millis, rate, take_turns
from moot.api.decisions.receipt_page import build_decision_page
from moot.pages import to_html

_TEXT = """**What we know**

Peak is *200 jobs a second*, and a queue in `SKIP LOCKED` does ten times that:

```sql
SELECT id FROM jobs ORDER BY id FOR UPDATE SKIP LOCKED LIMIT 10;
```

1. one server to run
2. one backup

> What is deleted cannot be replayed, says [the report](https://example.org/report).

"""
_AGENTS = [f"agent-{number}" for number in range(9)]
_COST = {"calls": 3, "tokens_in": 9_000, "tokens_out": 700, "micros": 12_000, "millis": 900}


def _content(text: str) -> dict[str, Any]:
    votes = [
        {
            "round": number,
            "agent": agent,
            "stance": "approve" if place % 3 else "reject",
            "sure": "0.8",
            "summary": "Postgres is enough.",
            "entry": f"entry-{number}-{place}",
        }
        for number in (1, 2)
        for place, agent in enumerate(_AGENTS)
    ]
    voices = [{**vote, "text": text, "evidence": ["bench/queue.md"]} for vote in votes]
    last = {
        "round": 2,
        "in_favour": [agent for place, agent in enumerate(_AGENTS) if place % 3],
        "against": _AGENTS[::3],
        "others": [],
        "absent": [],
    }
    seats = [
        {
            "agent": agent,
            "kind": "cmd",
            "what": "cmd:claude -p",
            "model": None,
            "scripted": False,
            "key": {"class": "agent", "kid": "0" * 32, "custodian": "1" * 32, "epoch": 1},
            "cost": _COST,
        }
        for agent in _AGENTS
    ]
    answers = [
        {"agent": agent, "answer": "Postgres", "why": text, "failure": ""} for agent in _AGENTS
    ]
    return {
        "decision": "q-1",
        "stage": "waiting",
        "question": "Postgres or Kafka?",
        "context": {"sha256": "0" * 64, "text": text},
        "asked": {"at": "2026-02-18T16:00:00.000Z", "by": "operator"},
        "chamber": "debate",
        "rule": "majority",
        "rounds": 2,
        "options": [],
        "participants": seats,
        "first_answers": answers,
        "motion": {"text": "Postgres", "by": _AGENTS},
        "argument": {
            "votes": votes,
            "first": last,
            "last": last,
            "changes": [],
            "dissent": [voice for voice in voices if voice["stance"] == "reject"],
            "support": [voice for voice in voices if voice["stance"] == "approve"],
            "text": "",
            "outcome": "agreed",
            "heard": "",
            "absent": [],
        },
        "result": {"result": "carried", "summary": "agreed", "dissent": _AGENTS[::3]},
        "cautions": [],
        "word": None,
        "sent_back": [],
        "earlier": [],
        "superseded_by": None,
        "cost": _COST,
        "evidence": [],
        "check": "",
    }


def measure(ground: Ground) -> Iterator[Figure]:
    text = _TEXT * 4
    content = _content(text)
    texts = 2 * len(_AGENTS) + len(_AGENTS) + 1
    parser = MarkdownIt("commonmark").enable(["table", "strikethrough"])

    def set_page(_: int) -> None:
        assert "SKIP LOCKED" in to_html(build_decision_page(content))

    def set_texts(_: int) -> None:
        for _text in range(texts):
            parser.render(text)

    rounds = take_turns(rate(set_page, 1), rate(set_texts, 1), ground.pick(9, 3))
    yield ratio(
        "decision page, 9 participants",
        "pages/s",
        rounds.ours,
        rounds.raw,
        against="its markdown alone, by the library",
    )
    took = min(millis(lambda: set_page(1))() for _ in range(ground.pick(9, 3)))
    yield value("decision page, 9 participants", "ms", took, target=at_most(200))
