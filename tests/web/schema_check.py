"""Holds a JSON value to a schema, as far as our own schemas go."""

from __future__ import annotations

from typing import Any

TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
    "object": (dict,),
    "array": (list,),
}


def find_mistake(
    value: Any, schema: dict[str, Any], components: dict[str, Any], at: str = ""
) -> str:
    """Where the value differs from the schema, in words; empty if nowhere."""
    if "$ref" in schema:
        return find_mistake(value, components[schema["$ref"].rpartition("/")[2]], components, at)
    if "anyOf" in schema:
        found = [find_mistake(value, each, components, at) for each in schema["anyOf"]]
        return "" if "" in found else f"{at}: none of {found}"
    if "const" in schema and value != schema["const"]:
        return f"{at}: {value!r} is not {schema['const']!r}"
    if "enum" in schema and value not in schema["enum"]:
        return f"{at}: {value!r} is not one of {schema['enum']}"
    kind = schema.get("type")
    if kind is not None and not isinstance(value, TYPES[kind]):
        return f"{at}: {value!r} is no {kind}"
    if kind == "object":
        return _find_in_object(value, schema, components, at)
    items = schema.get("items", {})
    inner = enumerate(value) if kind == "array" else ()
    mistakes = (find_mistake(each, items, components, f"{at}[{n}]") for n, each in inner)
    return next((each for each in mistakes if each), "")


def _find_in_object(
    value: dict[str, Any], schema: dict[str, Any], components: dict[str, Any], at: str
) -> str:
    properties = schema.get("properties")
    missing = [name for name in schema.get("required", ()) if name not in value]
    if missing:
        return f"{at}: {missing} missing"
    if properties is not None and not set(value) <= set(properties):
        return f"{at}: {set(value) - set(properties)} unknown"
    other = schema.get("additionalProperties", {})
    for name, inner in value.items():
        mistake = find_mistake(
            inner, (properties or {}).get(name, other), components, f"{at}.{name}"
        )
        if mistake:
            return mistake
    return ""
