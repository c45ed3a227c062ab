"""What a debate came to, in one line: who stood where, and the share that decides it.

By heads a majority is more than half of those who count, however sure they are; their mean
confidence is a second condition. So both are shown, and what is needed beside what was missing.
"""

from __future__ import annotations

from typing import Any, Final

_COUNTS: Final = (
    ("approvers", "approve"),
    ("rejecters", "reject"),
    ("neutral", "neutral"),
    ("deferred", "defer"),
    ("missing", "silent"),
)


def in_words(found: dict[str, Any]) -> str:
    """`1 approve, 1 reject: not agreed (majority, 1 of 2 votes, more than half needed; ...)`."""
    return f"{_counted(found)} ({decided_by(found)}{_absent(found)})"


def _absent(found: dict[str, Any]) -> str:
    """Those who deferred or were silent: what the others agreed on is not everybody's."""
    listed = sum(len(found[name]) for name, _ in _COUNTS)
    spoke = listed - len(found["deferred"]) - len(found["missing"])
    if not spoke:
        return "; nobody took a position"
    return f"; only {spoke} of {listed} took a position" if spoke < listed else ""


def _counted(found: dict[str, Any]) -> str:
    counts = [f"{len(found[name])} {word}" for name, word in _COUNTS if found[name]]
    said = "agreed" if found["reached"] else "not agreed"
    return f"{', '.join(counts) or 'nobody spoke'}: {said}"


def decided_by(found: dict[str, Any]) -> str:
    """`majority, 2 of 3 votes, more than half needed; confidence 0.775`: what the rule looks at."""
    if found["outcome"] == "disabled":
        return f"{found['mode']}, switched off by a threshold of 0"
    if found["outcome"] == "deadlock":
        return f"{found['mode']}, everyone deferred"
    if found["mode"] == "weighted":
        return f"weighted, balance {found['score']:.4g}, {found['threshold']:g} needed"
    votes, counted = len(found["approvers"]), _those_who_count(found)
    every = found["mode"] == "unanimous" or found["threshold"] == 1
    needed = "all needed" if every else "more than half needed"
    said = f"{found['mode']}, {votes} of {counted} votes, {needed}"
    return f"{said}{_sure(found)}" if votes and (votes == counted or not every) else said


def _those_who_count(found: dict[str, Any]) -> int:
    """Those who defer are left out, unless the session counts them."""
    listed = sum(len(found[name]) for name, _ in _COUNTS)
    return listed if found["defer_in_denominator"] else listed - len(found["deferred"])


def _sure(found: dict[str, Any]) -> str:
    """How sure the approvers are; what is needed only where that is missing."""
    least = "lowest confidence" if found["mode"] == "unanimous" else "confidence"
    low = found["score"] < found["threshold"]
    needed = f", {found['threshold']:g} needed" if low else ""
    return f"; {least} {found['score']:.4g}{needed}"
