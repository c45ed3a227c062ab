"""A key folder as the engine sees it: keys of one ledger, by name and kid."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from moot.core.errors import Refused
from moot.engine.keys import PrivateKey
from moot.keys.folder import KeyFolder


class Passphrase(msgspec.Struct, frozen=True):
    """A passphrase, and whether a person typed it just now."""

    text: str
    attended: bool


AskPassphrase = Callable[[str], Passphrase | None]


def never_ask(_name: str) -> Passphrase | None:
    return None


class FolderKeys:
    """Opens keys on first use and keeps them in memory for the life of the process."""

    def __init__(self, folder: KeyFolder, origin: str, ask: AskPassphrase = never_ask) -> None:
        self.folder = folder
        self.origin = origin
        self._ask = ask
        self._open: dict[tuple[str, str], PrivateKey] = {}  # (name, kid) -> the private key

    def find(self, name: str, kid: str) -> PrivateKey | None:
        held = self._open.get((name, kid))
        if held is None:
            held = self._load(name, kid)
            if held is not None:
                self._open[name, kid] = held
        return held

    def _load(self, name: str, kid: str) -> PrivateKey | None:
        file = self.folder.read_key(self.origin, name, kid)
        if file is None:
            return None
        if file.locked is None:
            return PrivateKey(file.open(None))
        passphrase = self._ask(name)
        if passphrase is None:
            raise Refused(
                # LDG-015
                "human_key_required",
                f"the key of {name} is locked, and nobody is here to unlock it",
                hint="run this at a terminal; for automation set MOOT_PASSPHRASE_FILE",
            )
        return PrivateKey(file.open(passphrase.text), passphrase.attended)
