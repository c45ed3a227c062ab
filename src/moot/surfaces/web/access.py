"""Who may look. The secret has two halves, and one alone opens nothing.

The printed address carries a token behind `#`, which no browser sends and no log keeps. A module
of the page posts it once and gets a cookie that no script can read, and a second half for the
tab's own storage, sent as a header. Cookies ignore ports: any server on the same address receives
the first half, and can do nothing with it. What cannot send a header (live events, a report in a
new tab) opens with a ticket that is good once and for a short time.
"""

from __future__ import annotations

import hmac
import secrets
import time
from collections.abc import Callable
from typing import Final

import msgspec

COOKIE_SECONDS: Final = 12 * 3600
TICKET_SECONDS: Final = 30.0
MOST_VISITS: Final = 100
MOST_TICKETS: Final = 500
MOST_WRONG_TOKENS: Final = 50


class Visit(msgspec.Struct):
    """One browser that showed the token: both halves, and until when they count."""

    cookie: str
    half: str
    until: float


class Access:
    """The token of this process, who has shown it, and the tickets that are out."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self.token: Final = secrets.token_urlsafe(32)
        self._now = now
        self._visits: dict[str, Visit] = {}
        self._tickets: dict[str, tuple[str, str, float]] = {}
        self._wrong_tokens = 0

    def enter(self, token: str) -> Visit | None:
        """Both halves for whoever shows the token; None if it is another.

        The token is 256 random bits; after many wrong ones none is taken any more, so that a
        program that tries is noticed.
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
        """Forget this browser: neither half nor any ticket of it opens anything again."""
        self._visits.pop(cookie, None)
        for ticket, (owner, _, _) in list(self._tickets.items()):
            if owner == cookie:
                del self._tickets[ticket]

    def make_ticket(self, cookie: str, target: str) -> str:
        """A ticket for one address and one use, for the browser with this cookie."""
        self._forget_old()
        while len(self._tickets) >= MOST_TICKETS:
            del self._tickets[next(iter(self._tickets))]
        ticket = secrets.token_urlsafe(24)
        self._tickets[ticket] = (cookie, target, self._now() + TICKET_SECONDS)
        return ticket

    def take_ticket(self, ticket: str, cookie: str, target: str) -> bool:
        """True once, for the browser and the address that it was made for."""
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
