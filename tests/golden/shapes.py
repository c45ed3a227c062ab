"""What a Struct looks like once it is encoded: each field's path, with its type in plain words."""

from __future__ import annotations

import enum
import json
import types
import typing
from collections.abc import Iterator
from decimal import Decimal
from typing import Any, Literal, get_args, get_origin

import msgspec
from immutables import Map

from moot.core.paged_map import PagedMap

WHOLE = "(whole)"
_PLAIN: dict[Any, str] = {
    str: "text",
    int: "integer",
    bool: "boolean",
    bytes: "bytes",
    Decimal: "decimal",
    Any: "anything",
    msgspec.UnsetType: "nothing",
    type(None): "null",
}
_Row = tuple[str, str]


def fields_of(struct: type) -> dict[str, str]:
    """Path to type, `(whole)` first: how the struct itself is written."""
    return dict(_rows_of_struct(struct, "", ()))


def _rows_of_struct(struct: Any, path: str, above: tuple[Any, ...]) -> Iterator[_Row]:
    config = struct.__struct_config__
    yield (f"{path}.{WHOLE}" if path else WHOLE), _form_of(config)
    for place, field in enumerate(msgspec.structs.fields(struct)):
        name = f"{place}:{field.encode_name}" if config.array_like else field.encode_name
        inner = f"{path}.{name}" if path else name
        yield inner, _text_of(field.type) + _default_of(field)
        yield from _rows_below(field.type, inner, (*above, struct))


def _form_of(config: Any) -> str:
    marks = {
        f"tag {config.tag_field}={config.tag}": config.tag is not None,
        "defaults left out": config.omit_defaults,
        "no other fields": config.forbid_unknown_fields,
    }
    form = "array" if config.array_like else "object"
    return ", ".join([form, *(text for text, holds in marks.items() if holds)])


def _default_of(field: msgspec.structs.FieldInfo) -> str:
    if field.required:
        return ""
    made: Any = field.default
    if made is msgspec.NODEFAULT:
        factory: Any = field.default_factory
        made = factory()
    if made is msgspec.UNSET:
        return " = (left out)"
    return f" = {json.dumps(msgspec.to_builtins(made, enc_hook=dict), sort_keys=True)}"


def _text_of(kind: Any) -> str:
    kind = getattr(kind, "__supertype__", kind)  # a NewType is recorded as what it is made of
    origin, inner = get_origin(kind), get_args(kind)
    if kind in _PLAIN:
        return _PLAIN[kind]
    if origin is Literal:
        return _choice(inner)
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return _choice([one.value for one in kind])
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        return "struct"
    if origin in (typing.Union, types.UnionType):
        return " or ".join(sorted(map(_text_of, inner)))
    if origin is tuple and inner[-1:] != (...,):
        return f"exactly [{', '.join(map(_text_of, inner))}]"
    if origin in (list, tuple, frozenset, set):
        return f"[{_text_of(inner[0])}]"
    if origin in (dict, Map):
        return f"{{{_text_of(inner[0])}: {_text_of(inner[1])}}}"
    if origin is PagedMap:
        return f"pages of {{text: {_text_of(inner[0])}}}"
    raise TypeError(f"no words for {kind}")


def _choice(values: Any) -> str:
    return f"one of {json.dumps(sorted(values))}"


def _rows_below(kind: Any, path: str, above: tuple[Any, ...]) -> Iterator[_Row]:
    """The fields of structs that `kind` holds; one that holds itself is told once."""
    origin, inner = get_origin(kind), get_args(kind)
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        if kind not in above:
            yield from _rows_of_struct(kind, path, above)
    elif origin in (dict, Map):
        yield from _rows_below(inner[1], f"{path}{{}}", above)
    elif origin in (list, tuple, frozenset, set):
        for one in inner:
            yield from _rows_below(one, f"{path}[]", above)
    elif origin is not Literal:
        for one in inner:
            yield from _rows_below(one, path, above)
