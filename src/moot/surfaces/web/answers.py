"""One envelope for every answer, as the command line prints it, with an ETag and a status.

The ETag is the hash of what the answer says, without the time at which it was read: the ledger's
change number would differ between two readers, and liveness changes without a write.
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

# What the server itself refuses, each with its HTTP status; the library's errors have theirs in
# `answers.py`.

_USE_ADDRESS: Final = "open the address that `moot serve` printed"


class HttpRefusal(MootError):
    """An error that knows its status."""

    def __init__(self, status: int, code: str, message: str, *, hint: str) -> None:
        super().__init__(code, message, hint=hint)
        self.status = status


def wrong_host() -> HttpRefusal:
    return HttpRefusal(421, "wrong_host", "this address is not served here", hint=_USE_ADDRESS)


def wrong_method() -> HttpRefusal:
    return HttpRefusal(405, "wrong_method", "only GET and POST are answered", hint=_USE_ADDRESS)


def address_too_long() -> HttpRefusal:
    return HttpRefusal(414, "address_too_long", "the address is too long", hint="ask for less")


def wrong_origin() -> HttpRefusal:
    return HttpRefusal(403, "wrong_origin", "another page asked for this", hint=_USE_ADDRESS)


def origin_required() -> HttpRefusal:
    return HttpRefusal(403, "origin_required", "a POST must say its origin", hint=_USE_ADDRESS)


def not_let_in() -> HttpRefusal:
    return HttpRefusal(401, "not_let_in", "this needs both halves of the secret", hint=_USE_ADDRESS)


def nothing_here() -> HttpRefusal:
    hint = "/api/v1/openapi.json lists what there is"
    return HttpRefusal(404, "no_such_address", "nothing is here", hint=hint)


def too_busy() -> HttpRefusal:
    return HttpRefusal(503, "too_busy", "too many are asking at once", hint="try again soon")


def too_many_listen() -> HttpRefusal:
    return HttpRefusal(503, "too_many_listen", "too many pages are open", hint="close some")


def body_too_large(most: int) -> HttpRefusal:
    return HttpRefusal(413, "too_large", f"at most {most} bytes are read", hint="send less")


def not_json(why: str) -> HttpRefusal:
    return HttpRefusal(400, "not_json", why, hint="send a JSON object as application/json")


def decide_is_off() -> HttpRefusal:
    return HttpRefusal(
        403,
        "decide_off",
        "this server takes no person's word",
        hint="copy the command, or start it with `moot serve --decide`",
    )


def word_in_progress() -> HttpRefusal:
    hint = "answer in the terminal first"
    return HttpRefusal(409, "busy", "another word is waited for in the terminal", hint=hint)


def moved_on() -> HttpRefusal:
    hint = "look at it again, then decide"
    return HttpRefusal(409, "busy", "something happened since this was shown", hint=hint)


def folder_unknown(command: str) -> HttpRefusal:
    message = "it is not known where the files of this session are"
    return HttpRefusal(409, "folder_unknown", message, hint=f"type the command: {command}")


def bug(error: Exception) -> HttpRefusal:
    hint = "this is a bug in moot; the terminal of `moot serve` shows where with MOOT_DEBUG=1"
    return HttpRefusal(500, "internal_error", type(error).__name__, hint=hint)


# The first that fits; 500 for what nobody has named.
STATUSES: Final[tuple[tuple[type[MootError], int], ...]] = (
    (Malformed, 400),
    (Refused, 403),
    (Unavailable, 503),
    (StoreFailed, 503),
    (NotFound, 404),
    (Conflict, 409),
)


class HttpEnvelope(msgspec.Struct, frozen=True):
    """What every answer is. `at` is when it was read; it is no part of the ETag."""

    ok: bool
    command: str
    data: Any
    error: Problem | None
    at: str


class HttpAnswer(msgspec.Struct, frozen=True):
    """An answer as it is sent."""

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
    said = encode_json((ok, command, data, problem))
    etag = f'"{hashlib.sha256(said).hexdigest()[:32]}"'
    at = to_text(system_clock())
    return HttpAnswer(status, encode_json(HttpEnvelope(ok, command, data, problem, at)), etag)
