"""`moot.open`: a session for a Python program, and workspaces that stay open between calls."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from moot.api.session import Session

if TYPE_CHECKING:
    from moot.workspace.workspace import Workspace


def open(  # noqa: A001 - moot.open, like gzip.open
    folder: str | Path = ".",
    *,
    agent: str | None = None,
    epoch: int | None = None,
    home: str | Path | None = None,
    keys: str | Path | None = None,
    passphrase: Callable[[str], str | None] | None = None,
    env: Mapping[str, str] | None = None,
) -> Session:
    """Return a session on the workspace of the repository around `folder`.

    `agent` is who acts; its key must be in `keys` (default: the user's own key folder). `epoch` is
    which holder of that name this program was started as: `moot run` sets MOOT_EPOCH to it, and
    Moot then refuses a name that another session adopted meanwhile. `home` names the workspace
    directly. `passphrase` takes a person's name and returns their passphrase, which does not count
    as typed by that person. `env` is the environment of programs that operations start. This
    function reads no environment variables.
    """
    from moot.keys.folder import KeyFolder, Passphrase

    def ask(name: str) -> Passphrase | None:
        text = passphrase(name) if passphrase is not None else None
        return None if text is None else Passphrase(text, attended=False)

    return Session(
        Path(folder).absolute(),
        acting=agent,
        epoch=epoch,
        home=None if home is None else Path(home),
        keys=None if keys is None else KeyFolder(Path(keys).absolute()),
        ask_passphrase=None if passphrase is None else ask,
        env=env,
    )


_LedgerAndClock = tuple[str, str]
_DeviceAndInode = tuple[int, int]


class OpenWorkspaces:
    """One open workspace for each ledger, shared by the threads of this process.

    For a process that answers many calls: opening a workspace costs more than most calls. The
    process that made this closes it.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open: dict[_LedgerAndClock, tuple[_DeviceAndInode, Workspace]] = {}

    def find(self, ledger: Path, clock: str, open_it: Callable[[], Workspace]) -> Workspace:
        """Return the open workspace of this ledger; open it again if its file was replaced.

        What is written to a replaced file would be lost.
        """
        with self._lock:
            stat = ledger.stat()
            file = (stat.st_dev, stat.st_ino)
            known = self._open.get((str(ledger), clock))
            if known is not None and known[0] == file:
                return known[1]
            workspace = open_it()
            self._open[str(ledger), clock] = (file, workspace)
            if known is not None:
                known[1].close(checkpoint=False)
            return workspace

    def drop(self) -> None:
        """Close all without a checkpoint, as after a read error; the next use opens again."""
        self.close(checkpoint=False)

    def close(self, *, checkpoint: bool = True) -> None:
        """Close all of them, each after a checkpoint over what was written."""
        with self._lock:
            for _, workspace in self._open.values():
                workspace.close(checkpoint=checkpoint)
            self._open.clear()
