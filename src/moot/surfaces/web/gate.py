"""What every request passes first, and what every answer carries.

`Host` must be ours on every route: a page that points its own name at this machine would else be
let in by the browser. `Origin` must be ours wherever it is sent, and must be there on every POST.
No answer ever says that other origins may read it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, Final

from moot.surfaces.web import refusals
from moot.surfaces.web.answers import answer_error
from moot.surfaces.web.refusals import HttpRefusal

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, Receive, Send], Awaitable[None]]

POLICY: Final = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "connect-src 'self'",
        "manifest-src 'self'",
        "base-uri 'none'",
        "form-action 'self'",
        "frame-ancestors 'none'",
    )
)
# Answers may say another policy (a report has its own style), or that they may be kept.
ALWAYS: Final = {
    b"content-security-policy": POLICY.encode(),
    b"x-content-type-options": b"nosniff",
    b"referrer-policy": b"no-referrer",
    b"cache-control": b"no-store",
    b"cross-origin-opener-policy": b"same-origin",
    b"cross-origin-resource-policy": b"same-origin",
    b"permissions-policy": b"camera=(), microphone=(), geolocation=()",
}
MOST_ADDRESS: Final = 4096
SAFE_METHODS: Final = frozenset({"GET", "HEAD"})
METHODS: Final = SAFE_METHODS | {"POST"}


class Gate:
    """Wraps the application; `hosts` are the names under which it may be asked for."""

    def __init__(self, app: App, hosts: frozenset[str], scheme: str = "http") -> None:
        self._app = app
        self._hosts = hosts
        self._origins = frozenset(f"{scheme}://{host}" for host in hosts)

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return
        refusal = self._refuse(scope)
        sending = _with_headers(send)
        if refusal is None:
            await self._app(scope, receive, sending)
        else:
            await _send_refusal(sending, refusal)

    def _refuse(self, scope: Message) -> HttpRefusal | None:
        headers = _headers(scope)
        origin = headers.get(b"origin", [])
        if [host.decode("latin-1") for host in headers.get(b"host", [])] not in (
            [host] for host in self._hosts
        ):
            return refusals.wrong_host()
        if scope["method"] not in METHODS:
            return refusals.wrong_method()
        if len(scope.get("raw_path") or b"") + len(scope["query_string"]) > MOST_ADDRESS:
            return refusals.address_too_long()
        is_ours = [each.decode("latin-1") for each in origin] in ([ours] for ours in self._origins)
        if origin and not is_ours:
            return refusals.wrong_origin()
        if scope["method"] not in SAFE_METHODS and not is_ours:
            return refusals.origin_required()
        return None


def _headers(scope: Message) -> dict[bytes, list[bytes]]:
    """All values of each header: a second Host must not hide behind the first."""
    found: dict[bytes, list[bytes]] = {}
    for name, value in scope["headers"]:
        found.setdefault(name.lower(), []).append(value)
    return found


def _with_headers(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            own = {name.lower() for name, _ in message["headers"]}
            extra = [(name, value) for name, value in ALWAYS.items() if name not in own]
            message["headers"] = [*message["headers"], *extra]
        await send(message)

    return sending


async def _send_refusal(send: Send, refusal: HttpRefusal) -> None:
    answer = answer_error("", refusal)
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(answer.body)).encode()),
        (b"connection", b"close"),
    ]
    await send({"type": "http.response.start", "status": answer.status, "headers": headers})
    await send({"type": "http.response.body", "body": answer.body})
