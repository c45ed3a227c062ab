"""Programs that tests start have the usual signals, however the suite itself was started.

A shell's `&` has Ctrl-C ignored, and `nohup` has the hang-up ignored; an ignored signal stays
ignored in every program that is started, and a test that ends one by it would wait for ever. A
handler, unlike an ignored signal, is not passed on: so the suite gets one that does what the
ignoring did for itself, and what it starts has the default.
"""

from __future__ import annotations

import signal
from types import FrameType
from typing import Any, Final

_OFTEN_IGNORED: Final = (
    signal.SIGHUP,
    signal.SIGTERM,
    signal.SIGQUIT,
    signal.SIGUSR1,
    signal.SIGUSR2,
)


def _carry_on(_number: int, _frame: FrameType | None) -> Any:
    """Keep a signal that the parent process ignored: the suite must survive it."""


def restore_default_signals() -> None:
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in _OFTEN_IGNORED:
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, _carry_on)
