"""What a reply says, in short, for whoever looks on: where it stands, and one line of its words."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

MOST_WORDS: Final = 300
# Fields that say where a participant stands, and those that say it in words; the first counts.
_STANCES: Final = ("stance", "vote", "position", "verdict", "decision", "action")
_WORDS: Final = (
    *("summary", "answer", "reasoning", "statement", "question", "description", "objective"),
    *("text", "title", "reason", "rationale", "body"),
)


class ReplyInShort(NamedTuple):
    stance: str
    words: str


def shorten_reply(reply: dict[str, Any]) -> ReplyInShort:
    """Never raises: a reply is anybody's data."""
    stance, confidence = _first_text(reply, _STANCES), reply.get("confidence")
    if stance and isinstance(confidence, int | float) and not isinstance(confidence, bool):
        stance = f"{stance} {confidence:g}"
    return ReplyInShort(stance, _first_text(reply, _WORDS))


def _first_text(reply: dict[str, Any], names: tuple[str, ...]) -> str:
    texts = (reply[name] for name in names if isinstance(reply.get(name), str))
    lines = (" ".join(text[: 4 * MOST_WORDS].split()) for text in texts)
    found = next(filter(None, lines), "")
    return found if len(found) <= MOST_WORDS else f"{found[: MOST_WORDS - 1]}…"
