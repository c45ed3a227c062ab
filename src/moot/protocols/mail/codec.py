"""A message as a file: front matter with the envelope, then the body as it is; or one JSON object.

The document defines no envelope, so this one is ours: `id`, `thread_id`, `from`, `to`, `cc`,
`subject`, `ack_required`, `importance`, `created_at`. The reader accepts any bytes, values as JSON
or as plain YAML-like text, and the field names of Agent Mail; it raises only `Malformed`.
"""

from __future__ import annotations

import json
import re
from typing import Any

import msgspec

from moot.core.clock import parse_time
from moot.core.errors import Malformed
from moot.core.markdown import BYTE_ORDER_MARK
from moot.protocols.mail.deltas import parse_strict_json

_HINT = "front matter between two lines of ---, then the body; or one JSON object"
# Names that other mail programs have for our fields.
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


class MessageFile(msgspec.Struct, frozen=True, kw_only=True):
    """A message: its envelope and its body; `ack_required` is None if the file has no flag."""

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


def _to_json(value: Any) -> str:
    """Return the value as JSON on one line; U+2028 and the like are escaped, as some readers end a
    line there."""
    text = json.dumps(value, ensure_ascii=False)
    return text if text.isprintable() else json.dumps(value)


def find_front_matter(text: str) -> str | None:
    """Return the part of a message file before the body; None if it is one JSON object."""
    front = _FRONT.match(text, 1 if text.startswith(BYTE_ORDER_MARK) else 0)
    return text[: front.end()] if front is not None else None


def fix_front_matter(head: str, subject: str, ack_required: bool) -> str:
    """Return the same lines, with these two values where they differ; no line is added."""
    return "\n".join(_fix_line(line, subject, ack_required) for line in head.split("\n"))


def _fix_line(line: str, subject: str, ack_required: bool) -> str:
    bare = line.rstrip("\r")
    key, colon, value = bare.partition(":")
    name, old = _canonical_name(key.strip()), _read_value(value.strip()) if colon else None
    wanted: str | bool
    if name == "subject" and old != subject:
        wanted = subject
    elif name == "ack_required" and _read_flag(old) is (not ack_required):
        wanted = ack_required
    else:
        return line
    return f"{key}: {_to_json(wanted)}{line[len(bare) :]}"


def read_message_file(data: bytes | str) -> MessageFile:
    """Return the message in this file; Malformed if there is none."""
    text = _decode(data)
    if text.lstrip()[:1] == "{":
        return _build_envelope(_rename_fields(_read_json_object(text)))
    return _read_front_matter(text)


def _decode(data: bytes | str) -> str:
    if isinstance(data, str):
        return data.removeprefix(BYTE_ORDER_MARK)
    try:
        return data.decode().removeprefix(BYTE_ORDER_MARK)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise Malformed("not UTF-8 text", code="not_utf8", line=line) from None


def _read_json_object(text: str) -> dict[str, Any]:
    """Return the object of a text that begins with a brace, so that it is no other JSON value."""
    try:
        value: dict[str, Any] = parse_strict_json(text)
    except json.JSONDecodeError as error:
        raise Malformed(error.msg, code="bad_message", line=error.lineno, hint=_HINT) from None
    except ValueError as error:
        raise Malformed(str(error), code="bad_message", hint=_HINT) from None
    return value


def _read_front_matter(text: str) -> MessageFile:
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
                fields[name] = _read_names(fields[name], name)
            fields[name].append(content[2:].strip(" '\""))
        elif content and not content.startswith("#"):
            name = _read_header(content, number, fields)
    return _build_envelope(fields)


def _read_header(content: str, number: int, fields: dict[str, Any]) -> str:
    """Put one line `name: value` into the fields, and return its name."""
    key, colon, value = content.partition(":")
    name = _canonical_name(key.strip())
    if not colon:
        raise Malformed("not a line `name: value`", code="bad_message", line=number, hint=_HINT)
    if name in fields:
        raise Malformed(f"`{name[:40]}` is there twice", code="bad_message", line=number)
    fields[name] = _read_value(value.strip())
    return name


def _read_value(text: str) -> Any:
    """Return the JSON value of a text; if it is no JSON, the text itself."""
    if text[:1] in ('"', "["):
        try:
            return parse_strict_json(text)
        except ValueError:
            return text.strip("[]'\" ")
    return _TRUTH.get(text.casefold(), text.strip("'"))


def _canonical_name(key: str) -> str:
    return _ALIASES.get(key, key)


def _rename_fields(fields: dict[str, Any]) -> dict[str, Any]:
    """Return the fields by our own names; the same thing under two names is refused."""
    renamed: dict[str, Any] = {}
    for key, value in fields.items():
        name = _canonical_name(key)
        if name in renamed:
            raise Malformed(f"`{name}` is there twice", code="bad_message")
        renamed[name] = value
    return renamed


def _build_envelope(fields: dict[str, Any]) -> MessageFile:
    """Return the message of these fields; fields that are not ours are ignored."""
    texts = {name: _read_text(fields.get(name), name) for name in (*_TEXTS, "body")}
    if not texts["subject"]:
        raise Malformed("there is no subject", code="bad_message", where="subject", hint=_HINT)
    if texts["created_at"]:
        _check_time(texts["created_at"])
    return MessageFile(
        subject=texts["subject"],
        body=texts["body"],
        sender=texts["from"],
        to=tuple(_read_names(fields.get("to"), "to")),
        cc=tuple(_read_names(fields.get("cc"), "cc")),
        id=texts["id"],
        thread_id=texts["thread_id"],
        ack_required=_read_flag(fields.get("ack_required")),
        importance=texts["importance"],
        created_at=texts["created_at"],
    )


def _check_time(text: str) -> None:
    try:
        parse_time(text)
    except Malformed as error:
        hint = "fix the line `created_at`, or leave it out"
        raise Malformed(str(error), code=error.code, where="created_at", hint=hint) from None


def _read_flag(value: Any) -> bool | None:
    """Return true or false, however it was written; None if the message has no flag."""
    if value is None or value in ("", "null"):
        return None
    flag = _FLAGS.get(str(value).casefold())
    if flag is None:
        hint = "write true or false, or leave it out"
        raise Malformed("is true or false", code="bad_message", where="ack_required", hint=hint)
    return flag


def _read_text(value: Any, where: str) -> str:
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise Malformed("is a text", code="bad_message", where=where)
    text = str(value)
    if _HALF.search(text):
        raise Malformed("has a lone surrogate", code="bad_message", where=where)
    return text


def _read_names(value: Any, where: str) -> list[str]:
    """Return the names in a list, or in a text with commas between them."""
    if isinstance(value, list) and all(isinstance(entry, str) for entry in value):
        return [name for entry in value if (name := _read_text(entry, where).strip())]
    if value is None or isinstance(value, str):
        entries = _read_text(value, where).split(",")
        return [name for entry in entries if (name := entry.strip(" '\""))]
    raise Malformed("is a list of names", code="bad_message", where=where)
