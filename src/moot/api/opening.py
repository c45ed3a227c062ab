"""`moot.open`: a session for a program of one's own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from moot.api.session import Session


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
    from moot.keys.folder import KeyFolder
    from moot.keys.folder_keys import Passphrase

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
