"""How long something took or will take, as one says it: `8 s`, `2 min 5 s`, `3 h 20 min`."""

from __future__ import annotations


def short_duration(seconds: float) -> str:
    whole = max(0, int(seconds))
    minutes, rest = divmod(whole, 60)
    if not minutes:
        return f"{whole} s"
    hours, left = divmod(minutes, 60)
    return f"{minutes} min {rest} s" if not hours else f"{hours} h {left} min"
