"""Which address calls which operation. Only parsing: the library's operations do the work.

Every route only reads. A name in braces in `path` is an argument; `query` lists the arguments that
may follow the question mark, by their names there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple
from urllib.parse import unquote

from moot.core.errors import Malformed

MOST_ROWS: Final = 200
MOST_TEXT: Final = 400


class Argument(NamedTuple):
    """The operation's name for an argument, and how its text is read."""

    name: str
    read: Callable[[str], Any] = str
    least: int = 0
    most: int = 0


class Route(NamedTuple):
    """`fixed` are arguments with a fixed value; `prefix` is put before the id."""

    path: str
    operation: str
    path_argument: str = ""
    query: Mapping[str, Argument] = {}
    fixed: Mapping[str, Any] = {}
    prefix: str = ""

    @property
    def pattern(self) -> re.Pattern[str]:
        return re.compile(re.sub(r"\\\{[a-z]+\\\}", "([^?#]{1,400})", re.escape(self.path)) + r"\Z")


_LIMIT: Final = Argument("limit", int, 1, MOST_ROWS)

ROUTES: Final[tuple[Route, ...]] = (
    Route("/api/sessions", "sessions"),  # OPR-089
    Route(
        "/api/sessions/{work}/conversation",  # OPR-089, OPR-019, OPR-094
        "conversation",
        "work",
        {"limit": _LIMIT},
    ),
    Route("/api/v1/status", "status"),
    Route("/api/v1/agenda", "agenda", query={"agent": Argument("agent")}),
    Route("/api/v1/agents", "agent.list"),
    Route("/api/v1/agents/{name}", "agent.show", "name"),
    Route("/api/v1/scopes", "scope.list", query={"agent": Argument("agent")}),
    Route(
        "/api/v1/mail",
        "mail.list",
        query={
            "agent": Argument("agent"),
            "thread": Argument("thread"),
            "q": Argument("words"),
            "after": Argument("after"),
            "limit": _LIMIT,
        },
    ),
    Route("/api/v1/mail/{id}", "mail.show", "message_id"),
    Route("/api/v1/decisions", "decision.list", query={"limit": _LIMIT}),
    Route("/api/v1/decisions/{id}", "decision.show", "name"),
    Route("/api/v1/debates/{id}", "decision.show", "name", prefix="debate/"),
    Route("/api/v1/parliaments/{id}", "decision.show", "name", prefix="parliament/"),
    Route("/api/v1/traces/{id}", "trace.status", "trace"),
    Route("/api/v1/story/{id}", "story", "name"),
    Route("/api/v1/track", "track"),
    Route("/api/v1/observed", "trace.observed", query={"agent": Argument("agent")}),
    Route("/api/v1/keys", "trust.show"),
    Route(
        "/api/v1/log",
        "ledger.log",
        query={
            "stream": Argument("name"),
            "before": Argument("before", int, 0, 2**53),
            "limit": _LIMIT,
        },
        fixed={"limit": 100},
    ),
    Route(
        "/api/v1/search",
        "search",
        query={"q": Argument("words"), "limit": Argument("limit", int, 1, 100)},
        fixed={"words": ""},
    ),
)
_PATTERNS: Final = tuple((route.pattern, route) for route in ROUTES)


def find_route(raw_path: str) -> tuple[Route, str] | None:
    """Return the route of a raw address, and the text for its braces, decoded once.

    The address is matched before it is decoded: `%2F` in an id is not a separator.
    """
    for pattern, route in _PATTERNS:
        match = pattern.match(raw_path)
        if match is not None:
            inside = match.group(1) if route.path_argument else ""
            if "/" in inside:
                continue
            return route, _decode(inside)
    return None


def read_arguments(route: Route, inside: str, query: Mapping[str, str]) -> dict[str, Any]:
    """Return the arguments of the operation; raises Malformed for an unknown one."""
    arguments: dict[str, Any] = dict(route.fixed)
    if route.path_argument:
        arguments[route.path_argument] = route.prefix + inside.removeprefix(route.prefix)
    for name, text in query.items():
        argument = route.query.get(name)
        if argument is None:
            raise Malformed(
                f"{route.path} does not take {name[:40]!r}", code="bad_query", hint=_hint(route)
            )
        arguments[argument.name] = _read(argument, name, text)
    return arguments


def _read(argument: Argument, name: str, text: str) -> Any:
    if len(text) > MOST_TEXT:
        raise Malformed(
            f"{name} is too long", code="bad_query", hint=f"at most {MOST_TEXT} characters"
        )
    try:
        value = argument.read(text)
    except ValueError:
        raise Malformed(f"{name} is not a number", code="bad_query", hint=f"{name}=50") from None
    if argument.most and not argument.least <= value <= argument.most:
        raise Malformed(
            f"{name} must be {argument.least} to {argument.most}",
            code="bad_query",
            hint=f"{name}=50",
        )
    return value


def _hint(route: Route) -> str:
    names = ", ".join(route.query)
    return f"it takes {names}" if names else "it takes no query"


def _decode(text: str) -> str:
    try:
        return unquote(text, errors="strict")
    except UnicodeDecodeError:
        raise Malformed("the address is not UTF-8", code="bad_address") from None
