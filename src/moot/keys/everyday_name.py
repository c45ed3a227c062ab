"""The name that the owner of a key folder works under at a terminal, one for each ledger.

    LEDGER/everyday      the name; its key, of class agent and without a passphrase, is beside it

It is no person's key: nothing is decided with it. A folder that was lent has none.
"""

from __future__ import annotations

from typing import Final

from moot.core.names import AGENT
from moot.keys.folder import KeyFolder
from moot.store.files import write_new_file

_FILE: Final = "everyday"


def read_everyday_name(folder: KeyFolder, origin: str) -> str | None:
    """The name, if one was made here."""
    try:
        text = (folder.ledger_folder(origin) / _FILE).read_text("ascii").strip()
    except (OSError, UnicodeDecodeError):
        return None
    return text if AGENT.match(text) else None


def write_everyday_name(folder: KeyFolder, origin: str, name: str) -> None:
    """From now on this is the name."""
    write_new_file(folder.ledger_folder(origin) / _FILE, f"{name}\n".encode(), 0o600)


def forget_everyday_name(folder: KeyFolder, origin: str) -> None:
    """The name cannot sign any more: another may take its place."""
    (folder.ledger_folder(origin) / _FILE).unlink(missing_ok=True)
