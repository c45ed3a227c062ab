"""`moot.open`: a session for a program of one's own."""

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
    """A session on the workspace of the repository around `folder`.

    `agent` is who acts, and its key must be in `keys` (default: the user's own key folder).
    `epoch` is which holder of that name this program was started as: `moot run` puts it into
    MOOT_EPOCH, and with it a name that was adopted meanwhile is refused. `home` names the
    workspace outright. `passphrase` is asked for a person's passphrase by that person's name; what
    it gives counts as typed by nobody. `env` is what programs find that operations start. No
    environment variable is read here.
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


# Workspaces that stay open from one call to the next, for a process that answers many: opening one
# costs more than most calls. The process that made this closes them.

# Which ledger file, and under which clock.
_Which = tuple[str, str]
_File = tuple[int, int]


class OpenWorkspaces:
    """One open workspace for each ledger, shared by the threads of this process."""

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._open: dict[_Which, tuple[_File, Workspace]] = {}

    def find(self, ledger: Path, clock: str, open_it: Callable[[], Workspace]) -> Workspace:
        """Return the open workspace of this ledger; open it again if its file was replaced.

        What is written to a replaced file would be lost.
        """
        with self._turn:
            there = ledger.stat()
            file = (there.st_dev, there.st_ino)
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
        with self._turn:
            for _, workspace in self._open.values():
                workspace.close(checkpoint=False)
            self._open.clear()

    def close(self) -> None:
        """Close all of them, each after a signature over what was written."""
        with self._turn:
            for _, workspace in self._open.values():
                workspace.close()
            self._open.clear()
