"""Notes in the key folder on who answers the hooks of a coding tool: the `moot mcp` beside it.

    beside/NUMBER-STARTED    mode 0600, named after the tool's process: a socket, and a word

Whoever asks there must send the word. So it has read this folder, and could have used each key in
it without asking anybody. What a killed server left is swept by the next one.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

from moot.keys.agent_folder import make_place_for_socket
from moot.keys.folder import KeyFolder

NOTES_FOLDER: Final = "beside"
WORD_BYTES: Final = 16


class ToolNote:
    """Where one server listens for the hooks of one process of a tool."""

    def __init__(self, keys: KeyFolder, process: str) -> None:
        self._area = keys.path / NOTES_FOLDER
        self._file = self._area / process
        self.socket = make_place_for_socket()
        self.word = secrets.token_hex(WORD_BYTES).encode()
        self._text = b"%b\n%b\n" % (os.fsencode(self.socket), self.word)

    def publish(self, is_alive: Callable[[str], bool]) -> None:
        """Say it, once somebody listens. The last server of a process takes the place of others."""
        self._area.mkdir(mode=0o700, exist_ok=True)
        self._sweep(is_alive)
        new = self._area / f".{secrets.token_hex(4)}"
        with open(new, "xb", opener=lambda name, how: os.open(name, how, 0o600)) as file:
            file.write(self._text)
        os.replace(new, self._file)

    def withdraw(self) -> None:
        """Nobody listens any more; a note of another server stays."""
        with suppress(OSError):
            if self._file.read_bytes() == self._text:
                self._file.unlink()
        _remove_socket(self.socket)

    def _sweep(self, is_alive: Callable[[str], bool]) -> None:
        for file in self._area.iterdir():
            if not is_alive(file.name):
                with suppress(OSError):
                    _remove_socket(Path(os.fsdecode(file.read_bytes().partition(b"\n")[0])))
                    file.unlink()


def _remove_socket(socket: Path) -> None:
    with suppress(OSError):
        socket.unlink(missing_ok=True)
        socket.parent.rmdir()
