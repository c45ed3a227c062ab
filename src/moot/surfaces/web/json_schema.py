"""JSON Schema of result types. msgspec has one of its own, which takes no union of two Structs;
results have such unions (a sent message or an imported one), and are only ever written."""

from __future__ import annotations

import enum
import types
import typing
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final

import msgspec
from msgspec import UNSET, UnsetType

_PLAIN: Final[dict[Any, dict[str, Any]]] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    Decimal: {"type": "number"},
    type(None): {"type": "null"},
    bytes: {"type": "string"},
    Any: {},
    object: {},
    dict: {"type": "object"},
    list: {"type": "array"},
}
_ARRAYS: Final = (list, tuple, set, frozenset)


class SchemaMaker:
    """Makes schemas that refer to `components`, which it fills."""

    def __init__(self) -> None:
        self.components: dict[str, Any] = {}

    def schema_of(self, kind: Any) -> dict[str, Any]:
        kind = _without_wrapping(kind)
        if kind in _PLAIN:
            return dict(_PLAIN[kind])
        origin, inner = typing.get_origin(kind), typing.get_args(kind)
        if origin in (typing.Union, types.UnionType):
            return self._union(inner)
        if origin is typing.Literal:
            return {"enum": list(inner)}
        if origin in _ARRAYS:
            items = [each for each in inner if each is not Ellipsis]
            return {"type": "array", "items": self._union(items)}
        if origin is not None and issubclass(origin, Mapping):
            return {"type": "object", "additionalProperties": self.schema_of(inner[1])}
        if isinstance(kind, type) and issubclass(kind, enum.Enum):
            return {"enum": [each.value for each in kind]}
        assert isinstance(kind, type), kind
        assert issubclass(kind, msgspec.Struct), kind
        return self._reference(kind)

    def _union(self, members: typing.Sequence[Any]) -> dict[str, Any]:
        shapes = [self.schema_of(each) for each in members if each is not UnsetType]
        return shapes[0] if len(shapes) == 1 else {"anyOf": shapes}

    def _reference(self, kind: type[msgspec.Struct]) -> dict[str, Any]:
        name = f"{kind.__module__.removeprefix('moot.')}.{kind.__qualname__}"
        if name not in self.components:
            self.components[name] = {}  # a type may hold itself
            self.components[name] = self._describe(kind)
        return {"$ref": f"#/components/schemas/{name}"}

    def _describe(self, kind: type[msgspec.Struct]) -> dict[str, Any]:
        fields = msgspec.structs.fields(kind)
        properties = {each.encode_name: self.schema_of(each.type) for each in fields}
        required = [each.encode_name for each in fields if each.default is not UNSET]
        tag = kind.__struct_config__
        if tag.tag_field is not None:
            properties = {tag.tag_field: {"const": tag.tag}, **properties}
            required = [tag.tag_field, *required]
        return {"type": "object", "properties": properties, "required": required}


def _without_wrapping(kind: Any) -> Any:
    """A NewType (such as a quoted text) is what it is made of; so is an annotated type."""
    while hasattr(kind, "__supertype__"):
        kind = kind.__supertype__
    if typing.get_origin(kind) is typing.Annotated:
        return typing.get_args(kind)[0]
    return kind
