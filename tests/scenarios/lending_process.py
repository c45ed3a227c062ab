"""A process that lends an agent its key folder and listens, as `moot run` does beside its program.

Each is a fork of one process that has loaded what they need: to start cost more than what they do.
"""

from __future__ import annotations

import multiprocessing
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Final

import moot.runner.lending
import moot.workspace.workspace
from moot.api.operation import all_operations
from moot.api.session import Session
from moot.keys.folder import KeyFolder
from moot.runner.lending import lent_settings
from moot.surfaces.hooks.hook_server import answer_hook

assert all_operations()  # this loads them, and so do the first two: here, and not in each fork
assert moot.runner.lending
assert moot.workspace.workspace

LIMIT_SECONDS: Final = 60
_FORKS: Final = multiprocessing.get_context("forkserver")
_FORKS.set_forkserver_preload([__name__])


class LendingProcess:
    """It has lent the agent its folder when this returns; `settings` are the variables for that."""

    def __init__(self, root: Path, keys: Path, agent: str, clock: str = "") -> None:
        self._line, theirs = _FORKS.Pipe()
        self._process = _FORKS.Process(target=_lend, args=(theirs, root, keys, agent, clock))
        self._process.start()
        theirs.close()
        assert self._line.poll(LIMIT_SECONDS)
        self.settings: dict[str, str] = self._line.recv()

    @property
    def pid(self) -> int:
        assert self._process.pid is not None
        return self._process.pid

    def end(self) -> None:
        """As a run ends with its program; nothing, if it was killed."""
        self._line.close()
        self._process.join(LIMIT_SECONDS)
        assert self._process.exitcode is not None

    def kill(self) -> None:
        self._process.kill()
        self._process.join(LIMIT_SECONDS)
        self._line.close()  # not before: it would end by itself, and take its folder back


def _lend(line: Connection, root: Path, keys: Path, agent: str, clock: str) -> None:
    session = Session(root, acting=agent, epoch=1, keys=KeyFolder(keys), clock=clock)
    with session, lent_settings(session, answer_hook) as lent:
        line.send(lent)
        with suppress(EOFError):
            line.recv()
