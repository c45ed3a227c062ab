"""A message as a file: front matter with the envelope, then the body as it is; or one JSON object.

The document defines no envelope, so this is ours: `id`, `thread_id`, `from`, `to`, `cc`, `subject`,
`ack_required`, `importance`, `created_at`. The reader takes any bytes, JSON values and plain
YAML-like ones, and the field names of Agent Mail too, and raises only `Malformed`.
"""

from __future__ import annotations

import json
import re
from typing import Any

import msgspec

from moot.core.clock import from_text
from moot.core.errors import Malformed
from moot.core.markdown import BYTE_ORDER_MARK
from moot.protocols.mail.deltas import strict_json

_HINT = "front matter between two lines of ---, then the body; or one JSON object"
# Other names under which the same things are known.
_ALIASES = {
    "message_id": "id",
    "thread": "thread_id",
    "sender": "from",
    "sender_name": "from",
    "from_agent": "from",
    "body_md": "body",
    "created_ts": "created_at",
    "requires_ack": "ack_required",
}
_TEXTS = ("id", "thread_id", "from", "subject", "importance", "created_at")
_LISTS = ("to", "cc")
_FRONT = re.compile(
    r"---[ \t]*\r?\n(?P<head>(?:(?!---[ \t]*\r?(?:\n|\Z))[^\n]*\n)*+)---[ \t]*\r?(?:\n|\Z)"
)
_HALF = re.compile(r"[\ud800-\udfff]")
_TRUTH = {"true": True, "yes": True, "false": False, "no": False}
_FLAGS = _TRUTH | {"1": True, "0": False}


class Envelope(msgspec.Struct, frozen=True, kw_only=True):
    """A message with what stands around its body; `ack_required` None: it does not say."""

    subject: str
    body: str
    sender: str = ""
    to: tuple[str, ...] = ()
    cc: tuple[str, ...] = ()
    id: str = ""
    thread_id: str = ""
    ack_required: bool | None = None
    importance: str = ""
    created_at: str = ""


def _json(value: Any) -> str:
    """U+2028 and the like stay escaped: some readers would see a line end there."""
    text = json.dumps(value, ensure_ascii=False)
    return text if text.isprintable() else json.dumps(value)


def head_of(text: str) -> str | None:
    """What stands before the body of a message file; None if it is one JSON object."""
    front = _FRONT.match(text, 1 if text.startswith(BYTE_ORDER_MARK) else 0)
    return text[: front.end()] if front is not None else None


def mended_head(head: str, subject: str, ack_required: bool) -> str:
    """The same lines, but for these two values where they differ; what is not said stays unsaid."""
    return "\n".join(_mended(line, subject, ack_required) for line in head.split("\n"))


def _mended(line: str, subject: str, ack_required: bool) -> str:
    bare = line.rstrip("\r")
    said, colon, value = bare.partition(":")
    name, old = _name(said.strip()), _value(value.strip()) if colon else None
    wanted: str | bool
    if name == "subject" and old != subject:
        wanted = subject
    elif name == "ack_required" and _flag(old) is (not ack_required):
        wanted = ack_required
    else:
        return line
    return f"{said}: {_json(wanted)}{line[len(bare) :]}"


def read_message(data: bytes | str) -> Envelope:
    """The message in this file; Malformed if there is none."""
    text = _decoded(data)
    if text.lstrip()[:1] == "{":
        return _envelope(_named(_json_object(text)))
    return _from_front_matter(text)


def _decoded(data: bytes | str) -> str:
    if isinstance(data, str):
        return data.removeprefix(BYTE_ORDER_MARK)
    try:
        return data.decode().removeprefix(BYTE_ORDER_MARK)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise Malformed("not UTF-8 text", code="not_utf8", line=line) from None


def _json_object(text: str) -> dict[str, Any]:
    """It begins with a brace: whatever else it may be, it is no other JSON value."""
    try:
        value: dict[str, Any] = strict_json(text)
    except json.JSONDecodeError as error:
        raise Malformed(error.msg, code="bad_message", line=error.lineno, hint=_HINT) from None
    except ValueError as error:
        raise Malformed(str(error), code="bad_message", hint=_HINT) from None
    return value


def _from_front_matter(text: str) -> Envelope:
    front = _FRONT.match(text)
    if front is None:
        raise Malformed(
            "there is no front matter with an end", code="bad_message", line=1, hint=_HINT
        )
    fields: dict[str, Any] = {"body": text[front.end() :]}
    name = ""
    for number, line in enumerate(front["head"].split("\n"), 2):
        content = line.strip()
        if content.startswith("- ") and name in _LISTS:
            if not isinstance(fields[name], list):
                fields[name] = _names(fields[name], name)
            fields[name].append(content[2:].strip(" '\""))
        elif content and not content.startswith("#"):
            name = _header(content, number, fields)
    return _envelope(fields)


def _header(content: str, number: int, fields: dict[str, Any]) -> str:
    """Take one line `name: value`, and give its name."""
    said, colon, value = content.partition(":")
    name = _name(said.strip())
    if not colon:
        raise Malformed("not a line `name: value`", code="bad_message", line=number, hint=_HINT)
    if name in fields:
        raise Malformed(f"`{name[:40]}` stands there twice", code="bad_message", line=number)
    fields[name] = _value(value.strip())
    return name


def _value(text: str) -> Any:
    """JSON if it is; else the text itself."""
    if text[:1] in ('"', "["):
        try:
            return strict_json(text)
        except ValueError:
            return text.strip("[]'\" ")
    return _TRUTH.get(text.casefold(), text.strip("'"))


def _name(said: str) -> str:
    return _ALIASES.get(said, said)


def _named(fields: dict[str, Any]) -> dict[str, Any]:
    """By our own names; the same thing under two names is refused."""
    made: dict[str, Any] = {}
    for said, value in fields.items():
        name = _name(said)
        if name in made:
            raise Malformed(f"`{name}` stands there twice", code="bad_message")
        made[name] = value
    return made


def _envelope(fields: dict[str, Any]) -> Envelope:
    """What is not one of our fields is passed over."""
    texts = {name: _text(fields.get(name), name) for name in (*_TEXTS, "body")}
    if not texts["subject"]:
        raise Malformed("there is no subject", code="bad_message", where="subject", hint=_HINT)
    if texts["created_at"]:
        _check_time(texts["created_at"])
    return Envelope(
        subject=texts["subject"],
        body=texts["body"],
        sender=texts["from"],
        to=tuple(_names(fields.get("to"), "to")),
        cc=tuple(_names(fields.get("cc"), "cc")),
        id=texts["id"],
        thread_id=texts["thread_id"],
        ack_required=_flag(fields.get("ack_required")),
        importance=texts["importance"],
        created_at=texts["created_at"],
    )


def _check_time(text: str) -> None:
    try:
        from_text(text)
    except Malformed as error:
        hint = "mend the line `created_at`, or leave it away"
        raise Malformed(str(error), code=error.code, where="created_at", hint=hint) from None


def _flag(value: Any) -> bool | None:
    """True or false in whatever way it was written; None if it is not said."""
    if value is None or value in ("", "null"):
        return None
    flag = _FLAGS.get(str(value).casefold())
    if flag is None:
        hint = "write true or false, or leave it away"
        raise Malformed("is true or false", code="bad_message", where="ack_required", hint=hint)
    return flag


def _text(value: Any, where: str) -> str:
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise Malformed("is a text", code="bad_message", where=where)
    text = str(value)
    if _HALF.search(text):
        raise Malformed("holds half a character", code="bad_message", where=where)
    return text


def _names(value: Any, where: str) -> list[str]:
    """A list, or names with commas between them."""
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return [name for one in value if (name := _text(one, where).strip())]
    if value is None or isinstance(value, str):
        return [name for one in _text(value, where).split(",") if (name := one.strip(" '\""))]
    raise Malformed("is a list of names", code="bad_message", where=where)
