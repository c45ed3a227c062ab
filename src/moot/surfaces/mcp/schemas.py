"""The JSON schema of a tool's arguments, made from their types and no longer than it must be."""

from __future__ import annotations

from typing import Any, Final

import msgspec

# Titles and defaults say nothing that a model needs, and every word here is read by every model.
_NOISE: Final = ("title", "default")


def schema_of(arguments: type[msgspec.Struct]) -> dict[str, Any]:
    """What a client is told about the arguments; unknown ones are refused."""
    (_,), components = msgspec.json.schema_components((arguments,))
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
    if "enum" in short:  # some clients want the type of a choice, too
        short["type"] = "string"
    return short
