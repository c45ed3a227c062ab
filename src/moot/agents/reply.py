"""Find the reply in any bytes: JSON alone, JSON in a fence, or JSON in prose.

Raises only Malformed. The reply is the whole text if that is a JSON object, otherwise the only
object in it; two objects would be ambiguous (G-04).
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
    """Return the reply as an object; raise Malformed if there is none, or if the text is too long
    (AGT-003)."""
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
        raise _malformed("no_json", "the reply contains no JSON object")
    return _require_storable(found)


def _malformed(code: str, message: str) -> Malformed:
    return Malformed(message, code=code, hint=_HINT)


def _find_object(text: str) -> dict[str, Any] | None:
    """Return the whole text if it is an object, else the only object in it.

    `{}` counts only if there is no other object, because prose and code often contain it.
    """
    whole = _object(text)
    if whole is not None:
        return whole
    # Prose with more braces than are searched may still have its answer in a fence.
    texts = list(_objects_in_prose(text)) or list(_fenced_blocks(text))
    found = [each for each in map(_object, texts) if each is not None]
    filled = [each for each in found if each]
    if len(filled) > 1:
        raise _malformed("two_objects", f"the reply contains {len(filled)} JSON objects")
    return next(iter(filled or found), None)


def _fenced_blocks(text: str) -> Iterator[str]:
    """Yield the fenced blocks, in one pass; an unclosed fence extends to the end."""
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
    """Yield the texts of objects in prose or in a fence, without objects inside another."""
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
    """Raise Malformed for a repeated name: such an object could be read in two ways."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise _malformed("duplicate_name", "the reply contains a name twice")
    return found


def _finite_number(text: str) -> float:
    """Raise Malformed for numbers such as 1e309, which would be read as infinite."""
    number = float(text)
    return number if math.isfinite(number) else _no_number(text)


def _no_number(text: str) -> NoReturn:
    raise _malformed("bad_number", f"{text} is not a JSON number")


def _require_storable(found: dict[str, Any]) -> dict[str, Any]:
    """Return the object; raise Malformed if it is nested too deeply or contains lone surrogates."""
    if _depth(found) > _MOST_DEPTH:
        raise _malformed("too_deep", "the reply is nested too deeply")
    try:
        json.dumps(found, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise _malformed("lone_surrogate", "the reply contains a lone surrogate") from None
    return found


def _depth(value: Any) -> int:
    deepest, level = 0, [value]
    while level:
        deepest += 1
        inner = (each.values() if isinstance(each, dict) else each for each in level)
        level = [value for values in inner for value in values if isinstance(value, dict | list)]
    return deepest


_AUTHOR_FIELDS: Final = ("author", "agent", "from", "by", "speaker", "as", "you")


def without_author(reply: dict[str, Any], agent: str) -> dict[str, Any]:
    """Return the reply without its author's name; raise Malformed if it names another author
    (AGT-020)."""
    for name in _AUTHOR_FIELDS:
        if name in reply and reply[name] != agent:
            raise Malformed(
                f"this reply claims to be by {str(reply[name])[:60]!r}",
                code="forged_author",
                where=name,
                hint=f"you are {agent}; leave {name} out",
            )
    return {name: value for name, value in reply.items() if name not in _AUTHOR_FIELDS}


MOST_WORDS: Final = 300
# Fields with the stance of a participant, and fields with its text; the first one present counts.
_STANCES: Final = ("stance", "vote", "position", "verdict", "decision", "action")
_WORDS: Final = (
    *("summary", "answer", "reasoning", "statement", "question", "description", "objective"),
    *("text", "title", "reason", "rationale", "body"),
)


class ShortReply(NamedTuple):
    """The stance of a reply and one line of its text, for a person who watches."""

    stance: str
    words: str


def shorten_reply(reply: dict[str, Any]) -> ShortReply:
    """Return the reply in short; never raises, whatever the reply contains."""
    stance, confidence = _first_text(reply, _STANCES), reply.get("confidence")
    if stance and isinstance(confidence, int | float) and not isinstance(confidence, bool):
        stance = f"{stance} {confidence:g}"
    return ShortReply(stance, _first_text(reply, _WORDS))


def _first_text(reply: dict[str, Any], names: tuple[str, ...]) -> str:
    texts = (reply[name] for name in names if isinstance(reply.get(name), str))
    lines = (" ".join(text[: 4 * MOST_WORDS].split()) for text in texts)
    found = next(filter(None, lines), "")
    return found if len(found) <= MOST_WORDS else f"{found[: MOST_WORDS - 1]}…"
