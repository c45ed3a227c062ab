"""Finds the reply in any bytes: JSON alone, JSON in a fence, or JSON somewhere in prose.

Raises only Malformed. The whole text is taken if it is a JSON object, otherwise the one object
that stands in it: of two nobody could say which was meant (G-04).
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from typing import Any, Final, NamedTuple, NoReturn

from moot.core.errors import Malformed

MOST_BYTES: Final = 1024 * 1024
_FENCE: Final = re.compile(r"[ \t]*(`{3,}|~{3,})")
_HINT: Final = "reply with one JSON object and nothing else"
_MOST_STARTS: Final = 200
_MOST_DEPTH: Final = 32


def read_reply(raw: bytes) -> dict[str, Any]:
    """The reply as an object; Malformed if there is none, or the text is too long to be
    searched (AGT-003)."""
    if len(raw) > MOST_BYTES:
        raise _malformed("reply_too_long", f"the reply is longer than {MOST_BYTES} bytes")
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise _malformed("not_utf8", "the reply is not UTF-8") from None
    if not text.strip():
        raise _malformed("empty_reply", "the reply is empty")
    found = _find_object(text.replace("\r\n", "\n"))
    if found is None:
        raise _malformed("no_json", "the reply holds no JSON object")
    return _require_storable(found)


def _malformed(code: str, message: str) -> Malformed:
    return Malformed(message, code=code, hint=_HINT)


def _find_object(text: str) -> dict[str, Any] | None:
    """The whole text if it is one, else the only object in it; an empty pair of braces counts if
    there is no other, for prose and code are full of them."""
    whole = _object(text)
    if whole is not None:
        return whole
    # Prose with more braces than are searched may still have its answer in a fence.
    texts = list(_objects_in_prose(text)) or list(_fenced_blocks(text))
    found = [each for each in map(_object, texts) if each is not None]
    filled = [each for each in found if each]
    if len(filled) > 1:
        raise _malformed("two_objects", f"the reply holds {len(filled)} JSON objects")
    return next(iter(filled or found), None)


def _fenced_blocks(text: str) -> Iterator[str]:
    """The blocks in fences, in one pass; a fence that is never closed holds the rest."""
    mark, block = "", list[str]()
    for line in text.split("\n"):
        fence = _FENCE.match(line)
        if not mark:
            mark = fence.group(1) if fence else ""
        elif fence and fence.group(1).startswith(mark) and line.strip() == fence.group(1):
            yield "\n".join(block)
            mark, block = "", []
        else:
            block.append(line)
    if mark:
        yield "\n".join(block)


def _objects_in_prose(text: str) -> Iterator[str]:
    """Objects that stand in prose or in a fence; an object inside another is not one."""
    decoder, place, spans = json.JSONDecoder(), 0, list[tuple[int, int]]()
    for _ in range(_MOST_STARTS):
        place = text.find("{", place)
        if place < 0:
            break
        try:
            end = decoder.raw_decode(text, place)[1]
        except (ValueError, RecursionError):
            place += 1
        else:
            spans.append((place, end))
            place = end
    yield from (text[start:end] for start, end in spans)


def _object(text: str) -> dict[str, Any] | None:
    try:
        found = json.loads(
            text,
            object_pairs_hook=_unique_names,
            parse_constant=_no_number,
            parse_float=_finite_number,
        )
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _unique_names(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Malformed if a name stands twice: such an object could be read in two ways."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise _malformed("duplicate_name", "a name stands twice in the reply")
    return found


def _finite_number(text: str) -> float:
    """Malformed for 1e309 and the like, which would be read as infinite."""
    number = float(text)
    return number if math.isfinite(number) else _no_number(text)


def _no_number(text: str) -> NoReturn:
    raise _malformed("bad_number", f"{text} is no number of JSON")


def _require_storable(found: dict[str, Any]) -> dict[str, Any]:
    """The same object; Malformed if it is nested too deeply or holds text that UTF-8 cannot
    write."""
    if _depth(found) > _MOST_DEPTH:
        raise _malformed("too_deep", "the reply is nested too deeply")
    try:
        json.dumps(found, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise _malformed("lone_surrogate", "the reply holds half a character") from None
    return found


def _depth(value: Any) -> int:
    deepest, level = 0, [value]
    while level:
        deepest += 1
        inner = (one.values() if isinstance(one, dict) else one for one in level)
        level = [value for values in inner for value in values if isinstance(value, dict | list)]
    return deepest


# Who speaks ---------------------------------------------------------------------------------------

_WHO: Final = ("author", "agent", "from", "by", "speaker", "as", "you")


def without_author(reply: dict[str, Any], agent: str) -> dict[str, Any]:
    """The reply without its author's name; Malformed if it names somebody else as its author
    (AGT-020)."""
    for name in _WHO:
        if name in reply and reply[name] != agent:
            raise Malformed(
                f"this reply claims to be by {str(reply[name])[:60]!r}",
                code="forged_author",
                where=name,
                hint=f"you are {agent}; leave {name} away",
            )
    return {name: value for name, value in reply.items() if name not in _WHO}


# What a reply says, in short, for a person who watches: its stance, and one line of its words.

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
