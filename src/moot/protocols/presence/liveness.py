"""Active, stale or evicted: derived from the last sign of life whenever it is asked (OPR-029).

    last_seen            + stale_minutes         + 2 x stale_minutes
        |---- active ----|-------- stale --------|------- evicted ...

Each boundary belongs to the later state. A sign from the future counts as active (B-20), no sign at
all as evicted (B-35). Nothing is stored: a longer stale time changes the answer without a write,
and an evicted agent is active again after its next heartbeat (B-33).
"""

from __future__ import annotations

import re
from typing import Final

import msgspec

from moot.core.clock import DAY, HOUR, MINUTE, SECOND, Millis, to_text
from moot.core.findings import Finding
from moot.core.machine import SignOfLife, make_remark
from moot.protocols.presence.model import DEFAULT_STALE_MILLIS, Liveness

STALE_VARIABLE: Final = "BB_AGENT_STALE_MINUTES"
MAX_STALE_MILLIS: Final[Millis] = 366 * DAY
_DECIMAL: Final = r"[0-9]{1,9}(\.[0-9]{1,9})?|\.[0-9]{1,9}"
_SPANS: Final = ((DAY, "d"), (HOUR, "h"), (MINUTE, "min"), (SECOND, "s"))


class LivenessVerdict(msgspec.Struct, frozen=True):
    """How alive an agent is at `now`, with the facts that decide it.

    `seen_by` names the last sign of life; `reason` is set if no sign decided.
    """

    liveness: Liveness
    now: Millis
    stale_millis: Millis
    last_seen_at: Millis | None = None
    seen_by: str = ""
    reason: str = ""

    @property
    def stale_at(self) -> Millis | None:
        return None if self.last_seen_at is None else self.last_seen_at + self.stale_millis

    @property
    def because(self) -> str:
        """The facts in one clause, to follow "active, because"."""
        if self.reason:
            return self.reason
        if self.last_seen_at is None:
            return "there is no sign of life on record"
        return (
            f"last seen {format_ago(self.now - self.last_seen_at)}"
            f" ({self.seen_by}, {to_text(self.last_seen_at)});"
            f" stale after {format_span(self.stale_millis)},"
            f" evicted after {format_span(2 * self.stale_millis)}"
        )


def judge_liveness(
    last_seen_at: Millis | None, now: Millis, stale_millis: Millis, seen_by: str = "a signed event"
) -> LivenessVerdict:
    if last_seen_at is None:
        return LivenessVerdict(Liveness.EVICTED, now, stale_millis)
    if now < last_seen_at + stale_millis:
        liveness = Liveness.ACTIVE  # OPR-026
    elif now < last_seen_at + 2 * stale_millis:
        liveness = Liveness.STALE  # OPR-021, OPR-027
    else:
        liveness = Liveness.EVICTED  # OPR-022, OPR-028
    return LivenessVerdict(liveness, now, stale_millis, last_seen_at, seen_by)


def judge_sign(
    sign: SignOfLife | None, acted_at: Millis | None, now: Millis, stale_millis: Millis
) -> LivenessVerdict:
    """Judge by the later of the proved sign and the last act in this history.

    The sign may be the older one: acts in the same commit are not indexed yet.
    """
    if sign is None or (acted_at is not None and acted_at > sign.at):
        return judge_liveness(acted_at, now, stale_millis)
    return judge_liveness(
        sign.at, now, stale_millis, "a signed heartbeat" if sign.heartbeat else "a signed event"
    )


def shown_stale_time(reader: Millis | None, workspace: Millis) -> Millis:
    """Return the stale time for display: the reader's setting (OPR-020), else the workspace's.
    It decides nothing."""
    return workspace if reader is None else reader


def longer_stale_time(requester: Millis | None, workspace: Millis) -> Millis:
    """Return the stale time for decisions: the longer of the requester's and the workspace's.

    Otherwise an agent with a short stale time could take from active owners (OPR-001).
    """
    return workspace if requester is None else max(requester, workspace)


def read_stale_minutes(text: str | None) -> tuple[Millis | None, Finding | None]:
    """Return the value of BB_AGENT_STALE_MINUTES in milliseconds (OPR-020).

    A bad value gives the default and a warning (B-19). None if it is not set: then the workspace's
    own stale time counts, which is 15 minutes unless a person changed it.
    """
    if text is None or not text.strip():
        return None, None
    from decimal import Decimal  # imported here: the variable is rarely set, and hooks come by

    value = text.strip()
    millis = round(Decimal(value) * MINUTE) if re.fullmatch(_DECIMAL, value) else 0
    if 0 < millis <= MAX_STALE_MILLIS:
        return millis, None
    return DEFAULT_STALE_MILLIS, make_remark(
        "B-19",
        "bad_stale_minutes",
        f"{STALE_VARIABLE}={value[:40]!r} is not a number of minutes;"
        f" Moot uses {format_span(DEFAULT_STALE_MILLIS)}",
        hint="a positive number such as 15 or 7.5",
    )


def format_ago(millis: Millis) -> str:
    return (
        f"{format_span(millis)} ago"
        if millis >= 0
        else f"{format_span(-millis)} ahead of this clock"
    )


def format_span(millis: Millis) -> str:
    """Return `15 min`, `1 h 5 min` or `59.999 s`: the two largest units."""
    parts: list[str] = []
    rest = millis
    for size, unit in _SPANS:
        if unit == "s" and rest % SECOND and not parts:
            return f"{rest / SECOND:.3f} s"
        count, rest = divmod(rest, size)
        if count:
            parts.append(f"{count} {unit}")
    return " ".join(parts[:2]) or "0 s"
