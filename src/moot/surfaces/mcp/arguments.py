"""The arguments of each tool. Unknown names and wrong types are refused before the library runs.

One Struct for each tool: `msgspec` checks a call against it, and `schema_of` makes its JSON schema.
An argument that was not given is UNSET, so that the library's own default applies.
"""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from msgspec import UNSET, Meta, Struct, UnsetType
from msgspec.json import schema_components

Text = str | UnsetType
Texts = tuple[str, ...] | UnsetType
Number = int | UnsetType
Flag = bool | UnsetType
# A repeat with the same key is harmless.
Key = Annotated[str, Meta(min_length=1, max_length=100)] | UnsetType


class Arguments(Struct, frozen=True, forbid_unknown_fields=True):
    """The base of all; refuses unknown arguments."""


class NowArguments(Arguments, frozen=True):
    wait: Annotated[float, Meta(ge=0, le=50, description="seconds")] = 0.0


class ScopeArguments(Arguments, frozen=True):
    action: Literal["reserve", "release", "check", "list"]
    paths: Texts = UNSET
    work: Text = UNSET
    ttl_minutes: Number = UNSET
    take_stale: Flag = UNSET
    key: Key = UNSET


class MailArguments(Arguments, frozen=True):
    action: Literal["send", "inbox", "show", "thread", "search", "ack", "template"]
    to: Texts = UNSET
    subject: Text = UNSET
    text: Text = UNSET
    id: Text = UNSET
    status: Text = UNSET
    ack_required: Flag = UNSET
    key: Key = UNSET


class EventArguments(Arguments, frozen=True):
    action: Literal["handoff", "blocked", "seen", "accept", "withdraw", "list"]
    to: Text = UNSET
    subject: Text = UNSET
    summary: Text = UNSET
    ask: Text = UNSET
    scope: Text = UNSET
    work: Text = UNSET
    urgency: Literal["low", "medium", "high"] | UnsetType = UNSET
    id: Text = UNSET
    key: Key = UNSET


class SessionArguments(Arguments, frozen=True):
    action: Literal["status", "read", "speak", "start", "list"]
    id: Text = UNSET
    stance: Text = UNSET
    confidence: float | UnsetType = UNSET
    summary: Text = UNSET
    text: Text = UNSET
    evidence: Text = UNSET
    next: Text = UNSET
    round: Number = UNSET
    message: Text = UNSET
    agents: Texts = UNSET
    title: Text = UNSET
    key: Key = UNSET


class TraceArguments(Arguments, frozen=True):
    action: Literal[
        "list",
        "status",
        "new",
        "propose",
        "review",
        "intend",
        "review_intent",
        "claim",
        "challenge",
        "withdraw",
        "finalize",
        "abort",
    ]
    trace: Text = UNSET
    id: Text = UNSET
    text: Text = UNSET
    verdict: Text = UNSET
    parts: dict[str, str] | UnsetType = UNSET
    tools: Texts = UNSET
    command: Texts = UNSET
    risk: Text = UNSET
    writes: Texts = UNSET
    expect: Texts = UNSET
    evidence: Texts = UNSET
    confidence: float | UnsetType = UNSET
    key: Key = UNSET


class AskArguments(Arguments, frozen=True):
    action: Literal["ask", "result"]
    question: Text = UNSET
    context: Text = UNSET
    options: Texts = UNSET
    agents: Texts = UNSET
    rule: Literal["majority", "weighted", "unanimous"] | UnsetType = UNSET
    id: Text = UNSET
    key: Key = UNSET


class RecordArguments(Arguments, frozen=True):
    action: Literal["verify", "log", "story", "more"]
    id: Text = UNSET
    limit: Annotated[int, Meta(ge=1, le=1000)] | UnsetType = UNSET


# Models do not need titles and defaults, and the schema costs tokens in every session.
_NOISE: Final = ("title", "default")


def schema_of(arguments: type[Struct]) -> dict[str, Any]:
    """Return the JSON schema that a client gets; it allows no unknown arguments."""
    (_,), components = schema_components((arguments,))
    whole = components[arguments.__name__]
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {name: _shorten(part) for name, part in whole["properties"].items()},
        "additionalProperties": False,
    }
    if whole["required"]:
        schema["required"] = whole["required"]
    return schema


def _shorten(part: dict[str, Any]) -> dict[str, Any]:
    short = {name: value for name, value in part.items() if name not in _NOISE}
    if "enum" in short:  # some clients need the type of an enum, too
        short["type"] = "string"
    return short
