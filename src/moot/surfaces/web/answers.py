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
from moot.surfaces.web.refusals import HttpRefusal

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
