"""One record as a moment of a story: who, when, its native id, its sense in a few words."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from moot.core.names import SYSTEM
from moot.core.quoted import Quoted
from moot.core.record import Record

MOST_SAID: Final = 100
_WORDS: Final = ("decision", "vote", "action", "title", "topic", "description", "stance")
_SENSE: Final = (
    *("question", "answer"),
    *("subject", "summary", "status", "objective", "tool", "title", "text", "statement"),
    *("task", "reason", "why", "problem_statement", "flow"),
)
_IDS: Final = (
    *("execution_id", "intent_id", "claim_id", "proposal_id", "run_id"),
    *("id", "session_id", "parliament_id", "seat", "decision", "session"),
)
RESULT: Final = "decision.result_recorded"
# Kept for the cost of a run; a person who reads what happened is not told of each call.
RUN_COSTS: Final = frozenset({"decision.call_noted", "decision.run_ended"})


class StoryMoment(msgspec.Struct, frozen=True):
    """One record of the path. `flow`: the step that wrote it; `cause`: what it comes from.

    `says` is the sense of it in a few words, as its author put it.
    """

    at: str
    who: str
    what: str
    id: str
    says: Quoted
    stream: str
    seq: int
    hash: str
    cause: str | None
    flow: str | None

    @property
    def in_words(self) -> str:
        """`entry yielded` of `debate.entry_yielded`."""
        return self.what.partition(".")[2].replace("_", " ") or self.what


def moment_of(record: Record, flows: dict[tuple[str, int], str], path: str) -> StoryMoment:
    body = record.body
    flow = flows.get((record.stream, record.seq))
    if flow is None and path and body.corr == path and body.actor.id == SYSTEM:
        flow = str(body.data.get("flow", "")) or None
    return StoryMoment(
        at=body.at,
        who=body.actor.id,
        what=body.type,
        id=_native(body.data) or (record.stream.partition("/")[2] if record.seq == 0 else ""),
        says=Quoted(_sense(body.data)),
        stream=record.stream,
        seq=record.seq,
        hash=record.hash.hex(),
        cause=body.cause,
        flow=flow,
    )


def _sense(data: dict[str, Any]) -> str:
    """A message's type and word; an entry's stance and summary; else the first text that tells."""
    inner = data.get("message")
    if isinstance(inner, dict):
        content = inner.get("content")
        texts = [inner.get("type"), *_some(content if isinstance(content, dict) else {}, _WORDS)]
    else:
        texts = [data.get("stance"), *_some(data, _SENSE)]
    phrases = [text for text in texts if isinstance(text, str) and text.strip()][:2]
    return shortened(": ".join(phrases))


def shortened(text: str) -> str:
    """Another's words in one line of bearable length."""
    line = " ".join(text.split())
    return line if len(line) <= MOST_SAID else f"{line[: MOST_SAID - 1]}…"


def _some(data: dict[str, Any], names: tuple[str, ...]) -> list[Any]:
    return [data[name] for name in names if data.get(name)][:1]


def _native(data: dict[str, Any]) -> str:
    """The id by which its own protocol knows what happened."""
    inner = data.get("message")
    if isinstance(inner, dict) and isinstance(inner.get("id"), str):
        return str(inner["id"])
    source = data.get("source")
    if isinstance(source, dict) and isinstance(source.get("id"), str):
        target = data.get("target")
        into = f" -> {target['id']}" if isinstance(target, dict) else ""
        return f"{source['id']}{into}"
    ids = (data[name] for name in _IDS if isinstance(data.get(name), str))
    return next(ids, "")
