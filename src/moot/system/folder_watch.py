"""Watch folders for changes, with the system's notifications.

Each folder is watched without its subfolders: those that git ignores may be huge. Raises
`TooManyWatches` at the system's limit: the caller must then compare the files itself.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from threading import Event
from typing import Final

# Changes that come closer together than this (milliseconds) are told together ...
STEP: Final = 50
# ... but none is kept back for longer than this.
LONGEST: Final = 400

WatchFolders = Callable[[Sequence[Path], Event, int], Iterator[frozenset[str]]]


class TooManyWatches(Exception):
    """The system watches no more folders for us; the message is its own."""


def watch_folders(
    folders: Sequence[Path], over: Event, pause_millis: int
) -> Iterator[frozenset[str]]:
    """Yield the paths that changed, again and again until `over` is set.

    Yields an empty set after `pause_millis` without a change, so that the caller can check for new
    folders. Skips folders that are missing or unreadable.
    """
    from watchfiles import watch

    try:
        for changes in watch(
            *(folder for folder in folders if os.access(folder, os.R_OK | os.X_OK)),
            watch_filter=None,
            debounce=LONGEST,
            step=STEP,
            stop_event=over,
            rust_timeout=pause_millis,
            yield_on_timeout=True,
            raise_interrupt=False,
            recursive=False,
            ignore_permission_denied=False,  # else it would not say either that it is at its limit
        ):
            yield frozenset(path for _, path in changes)
    except FileNotFoundError:  # a folder that went between our look and the watch
        yield frozenset()
    except (OSError, RuntimeError) as error:
        raise TooManyWatches(str(error)) from error
