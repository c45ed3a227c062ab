"""The API as an OpenAPI document, made from the types of the operations and from the table of
routes: there is nothing to keep up by hand, and a test holds answers to it."""

from __future__ import annotations

import re
from functools import cache
from typing import Any, Final

from moot.api.operation import OPERATIONS, all_operations
from moot.core.version import VERSION
from moot.surfaces.terminal.answer import Problem
from moot.surfaces.web.json_schema import SchemaMaker
from moot.surfaces.web.routes import ROUTES, Route

_ERRORS: Final = {
    "400": "It cannot be read.",
    "401": "Both halves of the secret are needed.",
    "403": "It is refused.",
    "404": "There is none of that name.",
    "421": "It was asked for under another name.",
    "503": "It cannot be read now, or too many ask.",
}


@cache
def describe_api() -> dict[str, Any]:
    """The whole document."""
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
    """What an operation gives back, as its signature says."""
    function = OPERATIONS[operation].function
    return eval(function.__annotations__["return"], function.__globals__)


def _describe(route: Route, data: dict[str, Any], problem: dict[str, Any]) -> dict[str, Any]:
    function = OPERATIONS[route.operation].function
    return {
        "operationId": re.sub(r"\W+", "_", route.path.strip("/")),
        "summary": (function.__doc__ or "").strip().partition("\n")[0],
        "parameters": [*_path_parameters(route), *_query_parameters(route)],
        "responses": {
            "200": {"description": "What it is now.", "content": _content(data, {"type": "null"})},
            "304": {"description": "The same as If-None-Match says."},
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
