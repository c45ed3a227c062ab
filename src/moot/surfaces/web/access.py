"""Checks of every request: host, origin and secret; and the headers of every answer.

`Host` must be ours on every route: otherwise a page that points its own name at this machine (DNS
rebinding) gets in. `Origin` must be ours if it is sent, and must be sent with every POST. No answer
allows other origins to read it.
"""

from __future__ import annotations

import hmac
import secrets
import time
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, Final

import msgspec

from moot.surfaces.web import answers
from moot.surfaces.web.answers import HttpRefusal, answer_error

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
# An answer may set another policy (a report has its own style), or allow caching.
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
    """Wraps the application; `hosts` are the allowed values of the Host header."""

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
            return answers.wrong_host()
        if scope["method"] not in METHODS:
            return answers.wrong_method()
        if len(scope.get("raw_path") or b"") + len(scope["query_string"]) > MOST_ADDRESS:
            return answers.address_too_long()
        is_ours = [each.decode("latin-1") for each in origin] in ([ours] for ours in self._origins)
        if origin and not is_ours:
            return answers.wrong_origin()
        if scope["method"] not in SAFE_METHODS and not is_ours:
            return answers.origin_required()
        return None


def _headers(scope: Message) -> dict[bytes, list[bytes]]:
    """Return all values of each header: a second Host must not hide behind the first."""
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


# Access control. The secret has two halves, and one alone opens nothing.
#
# The printed address has a token after `#`, which no browser sends and no log keeps. The page posts
# it once and gets a cookie that no script can read, and a second half for the tab's own storage,
# which it sends as a header. Cookies ignore ports: any server on the same address receives the
# first half, and can do nothing with it. Requests that cannot send a header (live events, a report
# in a new tab) use a ticket that is valid once and for a short time.

COOKIE_SECONDS: Final = 12 * 3600
TICKET_SECONDS: Final = 30.0
MOST_VISITS: Final = 100
MOST_TICKETS: Final = 500
MOST_WRONG_TOKENS: Final = 50


class Visit(msgspec.Struct):
    """One browser that sent the token: both halves, and until when they are valid."""

    cookie: str
    half: str
    until: float


class Access:
    """The token of this process, the browsers that sent it, and the valid tickets."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self.token: Final = secrets.token_urlsafe(32)
        self._now = now
        self._visits: dict[str, Visit] = {}
        self._tickets: dict[str, tuple[str, str, float]] = {}
        self._wrong_tokens = 0

    def enter(self, token: str) -> Visit | None:
        """Return both halves to a browser that sends the token; None for a wrong token.

        The token is 256 random bits; after many wrong ones even the right one is refused, so that
        the user notices a program that guesses.
        """
        if self._wrong_tokens >= MOST_WRONG_TOKENS:
            return None
        if not hmac.compare_digest(token.encode(), self.token.encode()):
            self._wrong_tokens += 1
            return None
        self._forget_old()
        while len(self._visits) >= MOST_VISITS:
            del self._visits[next(iter(self._visits))]
        until = self._now() + COOKIE_SECONDS
        visit = Visit(secrets.token_urlsafe(32), secrets.token_urlsafe(32), until)
        self._visits[visit.cookie] = visit
        return visit

    def may_look(self, cookie: str, half: str) -> bool:
        visit = self._find(cookie)
        return visit is not None and hmac.compare_digest(visit.half.encode(), half.encode())

    def leave(self, cookie: str) -> None:
        """Forget this browser: its halves and tickets are no longer valid."""
        self._visits.pop(cookie, None)
        for ticket, (owner, _, _) in list(self._tickets.items()):
            if owner == cookie:
                del self._tickets[ticket]

    def make_ticket(self, cookie: str, target: str) -> str:
        """Make a ticket for one address and one use, for the browser with this cookie."""
        self._forget_old()
        while len(self._tickets) >= MOST_TICKETS:
            del self._tickets[next(iter(self._tickets))]
        ticket = secrets.token_urlsafe(24)
        self._tickets[ticket] = (cookie, target, self._now() + TICKET_SECONDS)
        return ticket

    def take_ticket(self, ticket: str, cookie: str, target: str) -> bool:
        """Use up a ticket; True if it was made for this browser and this address."""
        known = self._tickets.pop(ticket, None)
        if known is None or self._find(cookie) is None:
            return False
        owner, address, until = known
        return owner == cookie and address == target and self._now() < until

    def _find(self, cookie: str) -> Visit | None:
        visit = self._visits.get(cookie)
        return visit if visit is not None and self._now() < visit.until else None

    def _forget_old(self) -> None:
        now = self._now()
        self._visits = {name: each for name, each in self._visits.items() if now < each.until}
        self._tickets = {name: each for name, each in self._tickets.items() if now < each[2]}
