"""Settings that every test shares: property tests without deadlines, Ctrl-C as at a terminal."""

from __future__ import annotations

import signal

from hypothesis import settings

pytest_plugins = ("tests.golden.plugin",)

settings.register_profile("moot", deadline=None, print_blob=True)
settings.load_profile("moot")

# A suite started in the background ignores Ctrl-C, and so would every process that it starts.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
