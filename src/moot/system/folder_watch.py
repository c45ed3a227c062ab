"""Being told by the system when something in some folders changes.

Each folder is watched by itself, without those below it: what git ignores below a folder may be
huge. `TooManyWatches` is raised where the system sets a limit: whoever watches must compare then.
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
    """The paths that changed, again and again until `over` is set.

    After `pause_millis` without a change it is an empty set, so that whoever watches can look
    whether other folders matter by now. Folders that are gone, or not ours to read, are left out.
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
