"""The answers and entries of the scripted participants; the screen and the record label them so."""

from __future__ import annotations

import json
from typing import Any, Final

# The parts of a script: the first answer to a question, the ranking of all answers with the first
# vote, and the entries in a debate.
ANSWER, RANKING, ENTRY = "first_answer", "ranking", "entry"
FINCH, HERON, WREN = "coral-finch", "jade-heron", "slate-wren"
QUESTION: Final = "Where do login sessions live: in Redis, or in Postgres?"
NOTES: Final = """We run one Postgres server and nothing else.
A login session is about 300 bytes; 40,000 are open at noon.
In March a restart of the cache logged everybody out.
Redis with an append-only file loses at most one second of writes.
"""
VETO: Final = "No second server to run this year: nobody is on call for it."
APPROVAL: Final = "One server, and the loss we accept is written down."


def _entry(stance: str, sure: float, summary: str, body: str, evidence: str = "n/a") -> Any:
    return {
        "stance": stance,
        "confidence": sure,
        "summary": summary,
        "body": f"{body}\n\n(A scripted voice.)",
        "evidence": evidence,
    }


def _ranking(first_entry: Any, *ranked: str, motion: str) -> Any:
    """Rank all answers, best first; the first entry is the vote on the motion."""
    vote = {name: first_entry[name] for name in ("stance", "confidence")}
    other = {"stance": "neutral", "confidence": 0.5}
    return {
        "ranking": [{"answer": text, **(vote if text == motion else other)} for text in ranked],
        "summary": first_entry["summary"],
        "body": first_entry["body"],
    }


def with_rankings(
    voices: dict[str, Any], motion: str, rankings: dict[str, tuple[str, ...]]
) -> dict[str, Any]:
    """Add to each voice its ranking; its first entry is the vote in it."""
    return {
        name: {**script, RANKING: [_ranking(script[ENTRY][0], *rankings[name], motion=motion)]}
        for name, script in voices.items()
    }


_FIRST: Final[dict[str, Any]] = {
    FINCH: {
        ANSWER: [{"answer": "Redis", "why": "It is made for short-lived keys."}],
        ENTRY: [
            _entry(
                "approve",
                0.8,
                "Redis expires sessions by itself.",
                "Expiry is a property of the key; in a table we would have to write the sweeper.",
            ),
            _entry(
                "approve",
                0.8,
                "With an append-only file a restart loses one second at most.",
                "What happened in March cannot happen with an append-only file.",
                "notes.md",
            ),
        ],
    },
    HERON: {
        ANSWER: [{"answer": "Postgres", "why": "It is there."}],
        ENTRY: [
            _entry(
                "reject",
                0.7,
                "A second server is a second thing that fails at night.",
                "40,000 rows of 300 bytes are 12 MB: the server we have does not notice them.",
                "notes.md",
            ),
            _entry(
                "reject",
                0.7,
                "Losing a second is not the point, running a second server is.",
                "Backups, upgrades and alarms double. Nobody has said who does that.",
            ),
        ],
    },
    WREN: {
        ANSWER: [{"answer": "Redis", "why": "It is the usual choice."}],
        ENTRY: [
            _entry(
                "reject",
                0.5,
                "A restart would log everybody out, as in March.",
                "I would take Redis, but not if a restart empties it.",
                "notes.md",
            ),
            _entry(
                "approve",
                0.75,
                "The append-only file answers my objection.",
                "One second of sessions is a loss that I can explain to a user.",
            ),
        ],
    },
}
FIRST: Final = with_rankings(
    _FIRST,
    "Redis",
    {
        FINCH: ("Redis", "Postgres"),
        HERON: ("Postgres", "Redis"),
        WREN: ("Redis", "Postgres"),
    },
)
_TABLE: Final = "Postgres, in an unlogged table"
_ORDINARY: Final = "Postgres, in an ordinary table"
_SECOND: Final[dict[str, Any]] = {
    FINCH: {
        ANSWER: [{"answer": _TABLE, "why": "If it must be one server, then without the log."}],
        ENTRY: [
            _entry(
                "approve",
                0.7,
                "An unlogged table is fast enough.",
                "No write-ahead log for data that may be lost. A sweeper is ten lines.",
            ),
            _entry(
                "approve",
                0.7,
                "A crash costs a login, and we had none this year.",
                "Users who are logged out log in again; nothing else is lost.",
            ),
        ],
    },
    HERON: {
        ANSWER: [{"answer": _TABLE, "why": "One server, one backup, one alarm."}],
        ENTRY: [
            _entry(
                "approve",
                0.9,
                "It is the server we have.",
                "Sessions survive a clean restart, which is what happened in March.",
                "notes.md",
            ),
            _entry(
                "approve",
                0.9,
                "The objection is right, and the price of it is small.",
                "If crashes become usual, one command makes the table an ordinary one.",
            ),
        ],
    },
    WREN: {
        ANSWER: [{"answer": _ORDINARY, "why": "Crashes happen."}],
        ENTRY: [
            _entry(
                "reject",
                0.65,
                "A crash empties an unlogged table: everybody is logged out.",
                "An ordinary table costs a little more writing and survives a crash. I would "
                "measure before giving that up.",
            ),
            _entry(
                "reject",
                0.65,
                "Nobody has measured what an ordinary table would cost.",
                "A login is a minute for each of 40,000 people. Measure first.",
            ),
        ],
    },
}

SECOND: Final = with_rankings(
    _SECOND,
    _TABLE,
    {
        FINCH: (_TABLE, _ORDINARY),
        HERON: (_TABLE, _ORDINARY),
        WREN: (_ORDINARY, _TABLE),
    },
)


def as_script(script: Any) -> str:
    return json.dumps(script, indent=1) + "\n"
