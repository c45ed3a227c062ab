"""The API as an OpenAPI document, made from the types of the operations and the table of routes.

A test checks answers against it, so it cannot become outdated.
"""

from __future__ import annotations

import enum
import re
import types
import typing
from collections.abc import Mapping
from decimal import Decimal
from functools import cache
from typing import Any, Final

import msgspec
from msgspec import UNSET, UnsetType

from moot.api.operation import OPERATIONS, all_operations
from moot.core.version import VERSION
from moot.surfaces.terminal.answer import Problem
from moot.surfaces.web.routes import ROUTES, Route

# JSON Schema of result types. The schema function of msgspec supports no union of two Structs,
# and results have such unions (a sent message or an imported one).

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
    """Return the type behind a NewType (such as Quoted) or an Annotated type."""
    while hasattr(kind, "__supertype__"):
        kind = kind.__supertype__
    if typing.get_origin(kind) is typing.Annotated:
        return typing.get_args(kind)[0]
    return kind


_ERRORS: Final = {
    "400": "The request is malformed.",
    "401": "Both halves of the secret are needed.",
    "403": "Moot refuses the request.",
    "404": "There is nothing of that name.",
    "421": "The Host header is wrong.",
    "503": "The record cannot be read now, or there are too many requests.",
}


@cache
def describe_api() -> dict[str, Any]:
    """Return the whole document."""
    all_operations()
    maker = SchemaMaker()
    results = {route.operation: maker.schema_of(result_type(route.operation)) for route in ROUTES}
    problem = maker.schema_of(Problem)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Moot",
            "version": VERSION,
            "description": "What `moot serve` answers. Reading only: agents write by the command "
            "line, hooks and the library.",
        },
        "paths": {
            route.path: {"get": _describe(route, results[route.operation], problem)}
            for route in ROUTES
        },
        "components": {
            "schemas": maker.components,
            "securitySchemes": {
                "half": {"type": "apiKey", "in": "header", "name": "X-Moot-Half"},
            },
        },
        "security": [{"half": []}],
    }


def result_type(operation: str) -> Any:
    """Return the result type of an operation, from its signature."""
    function = OPERATIONS[operation].function
    return eval(function.__annotations__["return"], function.__globals__)


def _describe(route: Route, data: dict[str, Any], problem: dict[str, Any]) -> dict[str, Any]:
    function = OPERATIONS[route.operation].function
    return {
        "operationId": re.sub(r"\W+", "_", route.path.strip("/")),
        "summary": (function.__doc__ or "").strip().partition("\n")[0],
        "parameters": [*_path_parameters(route), *_query_parameters(route)],
        "responses": {
            "200": {
                "description": "The current state.",
                "content": _content(data, {"type": "null"}),
            },
            "304": {"description": "Unchanged since the ETag in If-None-Match."},
            **{
                status: {"description": why, "content": _content({"type": "null"}, problem)}
                for status, why in _ERRORS.items()
            },
        },
    }


def _content(data: dict[str, Any], error: dict[str, Any]) -> dict[str, Any]:
    fields = {
        "ok": {"type": "boolean"},
        "command": {"type": "string"},
        "data": data,
        "error": error,
        "at": {"type": "string"},
    }
    schema = {"type": "object", "properties": fields, "required": list(fields)}
    return {"application/json": {"schema": schema}}


def _path_parameters(route: Route) -> list[dict[str, Any]]:
    return [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
        for name in re.findall(r"\{([a-z]+)\}", route.path)
    ]


def _query_parameters(route: Route) -> list[dict[str, Any]]:
    return [
        {
            "name": name,
            "in": "query",
            "schema": {"type": "integer", "minimum": argument.least, "maximum": argument.most}
            if argument.read is int
            else {"type": "string", "maxLength": 400},
        }
        for name, argument in route.query.items()
    ]
