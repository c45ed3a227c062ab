"""Time as data: whole milliseconds since 1970 UTC inside, `2026-02-18T16:00:00.000Z` outside.

State machines never ask for the time: the engine passes it in. Each engine is made with a `Clock`.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from datetime import UTC, datetime

from moot.core.errors import Malformed

Millis = int
Clock = Callable[[], Millis]

SECOND: Millis = 1_000
MINUTE: Millis = 60 * SECOND
HOUR: Millis = 60 * MINUTE
DAY: Millis = 24 * HOUR
# Not from `strftime`, which depends on the locale.
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")

# Not compiled here: only times in another form than ours need it, and no hook reads those.
_TEXT = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?(Z|[+-]\d\d:\d\d)"
# Years 1 to 9999: the range of the text form.
_FIRST: Millis = -62_135_596_800_000
_LAST: Millis = 253_402_300_799_999
_last: tuple[int | None, str] = (None, "")
# The text of the last second that was parsed, up to the point, and its milliseconds.
_last_read: tuple[str, Millis] = ("", 0)
_OUR_FORM = "0000-00-00T00:00:00.000Z"  # what `to_text` writes, with every digit replaced by 0
_DIGITS_TO_ZERO = str.maketrans("123456789", "000000000")


def system_clock() -> Millis:
    return time.time_ns() // 1_000_000


def fixed_clock(text: str) -> Clock:
    """Return a clock that always shows the same time, for tests (`MOOT_CLOCK`)."""
    now = parse_time(text)
    return lambda: now


def to_text(millis: Millis) -> str:
    """Format a time as `2026-02-18T16:00:00.000Z`. The last second is cached for the next call."""
    global _last  # noqa: PLW0603 - a one-entry cache; a race only costs a second formatting
    second, rest = divmod(millis, 1_000)
    known, prefix = _last
    if second != known:
        _check_range(millis)
        prefix = datetime.fromtimestamp(second, UTC).strftime("%Y-%m-%dT%H:%M:%S")
        prefix = prefix.rjust(19, "0")
        _last = (second, prefix)
    return f"{prefix}.{rest:03d}Z"


def parse_time(text: str) -> Millis:
    """Parse an ISO-8601 date-time with a zone; anything else is Malformed.

    The last second in the form of `to_text` is cached: neighbouring events share it.
    """
    global _last_read  # noqa: PLW0603 - a one-entry cache; a race only costs a second reading
    second, began = _last_read
    rest = text[20:23]
    is_ours = len(text) == len(_OUR_FORM) and text[19] == "." and text[23] == "Z"
    is_ours = is_ours and rest.isascii() and rest.isdecimal()
    if is_ours and text[:20] == second:
        return began + int(rest)
    has_our_form = is_ours and text.translate(_DIGITS_TO_ZERO) == _OUR_FORM
    if not has_our_form and not re.fullmatch(_TEXT, text):
        raise Malformed(f"{text!r} is not a time such as 2026-02-18T16:00:00Z", code="bad_time")
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise Malformed(f"{text!r}: {error}", code="bad_time") from None
    millis = round(moment.timestamp() * 1_000)
    _check_range(millis)
    if is_ours:
        _last_read = text[:20], millis - int(rest)
    return millis


def _check_range(millis: Millis) -> None:
    if not _FIRST <= millis <= _LAST:
        raise Malformed("this time is outside the years 1 to 9999", code="bad_time")
