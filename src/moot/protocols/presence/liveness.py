"""Alive, stale or evicted: derived from the last sign of life each time it is asked (section 4).

    last_seen            + stale_minutes         + 2 x stale_minutes
        |---- active ----|-------- stale --------|------- evicted ...

The boundaries belong to the later state. A sign from the future is active (B-20); no sign at all
is evicted (B-35). Nothing here is stored, so another clock or stale time gives another verdict
without a write, and an evicted agent that beats again is active again (B-33).
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Final

import msgspec

from moot.core.clock import DAY, HOUR, MINUTE, SECOND, Millis, to_text
from moot.core.findings import Finding
from moot.core.machine import Sign, remark
from moot.protocols.presence.model import DEFAULT_STALE, Liveness

STALE_VARIABLE: Final = "BB_AGENT_STALE_MINUTES"
MAX_STALE: Final[Millis] = 366 * DAY
_DECIMAL: Final = re.compile(r"[0-9]{1,9}(\.[0-9]{1,9})?|\.[0-9]{1,9}")
_SPANS: Final = ((DAY, "d"), (HOUR, "h"), (MINUTE, "min"), (SECOND, "s"))


class Verdict(msgspec.Struct, frozen=True):
    """How alive someone is at `now`, with the facts that say so."""

    liveness: Liveness
    now: Millis
    stale_millis: Millis
    last_seen_at: Millis | None = None
    seen_by: str = ""
    ruled: str = ""

    @property
    def stale_at(self) -> Millis | None:
        return None if self.last_seen_at is None else self.last_seen_at + self.stale_millis

    @property
    def because(self) -> str:
        """The facts in one sentence; it reads on after "active, because"."""
        if self.ruled:
            return self.ruled
        if self.last_seen_at is None:
            return "there is no sign of life on record"
        return (
            f"last seen {ago(self.now - self.last_seen_at)}"
            f" ({self.seen_by}, {to_text(self.last_seen_at)});"
            f" stale after {span(self.stale_millis)}, evicted after {span(2 * self.stale_millis)}"
        )


def judge(
    last_seen_at: Millis | None, now: Millis, stale_millis: Millis, seen_by: str = "a signed event"
) -> Verdict:
    if last_seen_at is None:
        return Verdict(Liveness.EVICTED, now, stale_millis)
    if now < last_seen_at + stale_millis:
        liveness = Liveness.ACTIVE
    elif now < last_seen_at + 2 * stale_millis:
        liveness = Liveness.STALE
    else:
        liveness = Liveness.EVICTED
    return Verdict(liveness, now, stale_millis, last_seen_at, seen_by)


def judge_sign(sign: Sign | None, acted_at: Millis | None, now: Millis, stale: Millis) -> Verdict:
    """By the later of the proved sign and the last act in this very history.

    The sign may be older: acts that wait in the same commit are not indexed yet.
    """
    if sign is None or (acted_at is not None and acted_at > sign.at):
        return judge(acted_at, now, stale)
    return judge(sign.at, now, stale, "a signed heartbeat" if sign.heartbeat else "a signed event")


def effective_stale(requester: Millis | None, workspace: Millis) -> Millis:
    """Nobody may call others dead sooner than the workspace does, only later (P-06)."""
    return workspace if requester is None else max(requester, workspace)


def stale_from_text(text: str | None) -> tuple[Millis | None, Finding | None]:
    """The variable's value in milliseconds; a bad one is the default and a warning (B-19).

    None if it is not set: then the workspace's own stale time counts.
    """
    if text is None or not text.strip():
        return None, None
    given = text.strip()
    millis = round(Decimal(given) * MINUTE) if _DECIMAL.fullmatch(given) else 0
    if 0 < millis <= MAX_STALE:
        return millis, None
    return DEFAULT_STALE, remark(
        "B-19",
        "bad_stale_minutes",
        f"{STALE_VARIABLE}={given[:40]!r} is not a number of minutes; {span(DEFAULT_STALE)} it is",
        hint="a positive number such as 15 or 7.5",
    )


def ago(millis: Millis) -> str:
    return f"{span(millis)} ago" if millis >= 0 else f"{span(-millis)} ahead of this clock"


def span(millis: Millis) -> str:
    """`15 min`, `1 h 5 min`, `59.999 s`: the two largest units that say something."""
    parts: list[str] = []
    rest = millis
    for size, unit in _SPANS:
        if unit == "s" and rest % SECOND and not parts:
            return f"{rest / SECOND:.3f} s"
        count, rest = divmod(rest, size)
        if count:
            parts.append(f"{count} {unit}")
    return " ".join(parts[:2]) or "0 s"
