"""One envelope for every answer, as the command line prints it, with an ETag and a status.

The ETag is the hash of the content without the time at which it was read. The ledger's change
number would not do: it differs between two readers, and liveness changes without a write.
"""

from __future__ import annotations

import hashlib
from typing import Any, Final

import msgspec

from moot.core.clock import system_clock, to_text
from moot.core.errors import (
    Conflict,
    Malformed,
    MootError,
    NotFound,
    Refused,
    StoreFailed,
    Unavailable,
)
from moot.surfaces.terminal.answer import Problem, encode_json

# Refusals of the server itself, each with its HTTP status. STATUSES has those of library errors.

_USE_ADDRESS: Final = "open the address that `moot serve` printed"


class HttpRefusal(MootError):
    """An error with its HTTP status."""

    def __init__(self, status: int, code: str, message: str, *, hint: str) -> None:
        super().__init__(code, message, hint=hint)
        self.status = status


def wrong_host() -> HttpRefusal:
    return HttpRefusal(421, "wrong_host", "this address is not served here", hint=_USE_ADDRESS)


def wrong_method() -> HttpRefusal:
    return HttpRefusal(
        405, "wrong_method", "this server answers only GET and POST", hint=_USE_ADDRESS
    )


def address_too_long() -> HttpRefusal:
    return HttpRefusal(414, "address_too_long", "the address is too long", hint="ask for less")


def wrong_origin() -> HttpRefusal:
    return HttpRefusal(
        403, "wrong_origin", "the request comes from another page", hint=_USE_ADDRESS
    )


def origin_required() -> HttpRefusal:
    return HttpRefusal(403, "origin_required", "a POST must send its Origin", hint=_USE_ADDRESS)


def not_let_in() -> HttpRefusal:
    return HttpRefusal(401, "not_let_in", "this needs both halves of the secret", hint=_USE_ADDRESS)


def nothing_here() -> HttpRefusal:
    hint = "/api/v1/openapi.json lists all addresses"
    return HttpRefusal(404, "no_such_address", "this address does not exist", hint=hint)


def too_busy() -> HttpRefusal:
    return HttpRefusal(503, "too_busy", "too many requests at once", hint="try again soon")


def too_many_listen() -> HttpRefusal:
    return HttpRefusal(503, "too_many_listen", "too many pages are open", hint="close some")


def body_too_large(most: int) -> HttpRefusal:
    return HttpRefusal(413, "too_large", f"a body has at most {most} bytes", hint="send less")


def not_json(why: str) -> HttpRefusal:
    return HttpRefusal(400, "not_json", why, hint="send a JSON object as application/json")


def decide_is_off() -> HttpRefusal:
    return HttpRefusal(
        403,
        "decide_off",
        "this server accepts no rulings",
        hint="copy the command, or start it with `moot serve --decide`",
    )


def ruling_in_progress() -> HttpRefusal:
    hint = "answer in the terminal first"
    return HttpRefusal(409, "busy", "another ruling waits in the terminal", hint=hint)


def decision_changed() -> HttpRefusal:
    hint = "read it again, then decide"
    return HttpRefusal(409, "busy", "the decision changed since it was shown", hint=hint)


def folder_unknown(command: str) -> HttpRefusal:
    message = "the folder of this session's files is unknown"
    return HttpRefusal(409, "folder_unknown", message, hint=f"type the command: {command}")


def bug(error: Exception) -> HttpRefusal:
    hint = "this is a bug in moot; the terminal of `moot serve` shows where with MOOT_DEBUG=1"
    return HttpRefusal(500, "internal_error", type(error).__name__, hint=hint)


# The first match counts; 500 for all other errors.
STATUSES: Final[tuple[tuple[type[MootError], int], ...]] = (
    (Malformed, 400),
    (Refused, 403),
    (Unavailable, 503),
    (StoreFailed, 503),
    (NotFound, 404),
    (Conflict, 409),
)


class HttpEnvelope(msgspec.Struct, frozen=True):
    """The form of every answer. `at` is when it was read, and not part of the ETag."""

    ok: bool
    command: str
    data: Any
    error: Problem | None
    at: str


class HttpAnswer(msgspec.Struct, frozen=True):
    """An answer, ready to be sent."""

    status: int
    body: bytes
    etag: str


def answer_with(command: str, data: Any) -> HttpAnswer:
    return _make(200, True, command, data, None)


def answer_error(command: str, error: MootError) -> HttpAnswer:
    problem = Problem(error.code, str(error), error.hint, error.findings)
    return _make(status_of(error), False, command, None, problem)


def status_of(error: MootError) -> int:
    if isinstance(error, HttpRefusal):
        return error.status
    return next((status for kind, status in STATUSES if isinstance(error, kind)), 500)


def _make(status: int, ok: bool, command: str, data: Any, problem: Problem | None) -> HttpAnswer:
    content = encode_json((ok, command, data, problem))
    etag = f'"{hashlib.sha256(content).hexdigest()[:32]}"'
    at = to_text(system_clock())
    return HttpAnswer(status, encode_json(HttpEnvelope(ok, command, data, problem, at)), etag)
