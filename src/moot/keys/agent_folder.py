"""Key folders that `moot run` lends to its programs: one agent's key and the trust file.

    lent/NAME-XXXXXXXX/          mode 0700, removed when the run ends
        folder.json              the user's own folder id: on record the custodian stays the same
        lent.json                whose folder it is part of, and where its `moot run` listens
        held                     locked by the run; a folder whose lock is free was left behind
        LEDGER/trust.json, LEDGER/NAME.KID.key

The socket is in a private folder where the system keeps such things. Neither the ledger's own keys
nor anybody else's are here. What a killed run left is swept by the next one.
"""

from __future__ import annotations

import os
import secrets
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import msgspec
from filelock import FileLock

from moot.core.errors import Malformed, StoreFailed
from moot.keys.folder import LOAN_FILE, LOANS_FOLDER, KeyFolder, Loan
from moot.keys.running_names import is_held

# Sockets have short names on every system; a folder deep in a tree cannot hold one.
LONGEST_PARENT: Final = 70
SWEEPING_SECONDS: Final = 30.0


class LentFolder:
    """One loan: the folder, and the socket on which its `moot run` is to listen."""

    def __init__(self, user: KeyFolder, path: Path, origin: str, loan: Loan) -> None:
        self.path = path
        self.socket = Path(loan.socket)
        self._user = user
        self._origin = origin
        self._agent = loan.agent

    def renew_key(self, kid: str) -> None:
        """Put the agent's current key there, and take away the one it had before."""
        source = self._user.ledger_folder(self._origin) / f"{self._agent}.{kid}.key"
        target = KeyFolder(self.path).ledger_folder(self._origin)
        if not source.is_file() or (target / source.name).exists():
            return
        _write(target / source.name, source.read_bytes())
        for old in target.glob("*.key"):
            if old.name != source.name:
                old.unlink()


@contextmanager
def lend_folder(user: KeyFolder, origin: str, agent: str, kid: str) -> Iterator[LentFolder]:
    """A folder for one agent, for as long as the block lasts."""
    try:
        lent, lock = _make(user, origin, agent)
    except OSError as error:
        raise StoreFailed(
            "key_folder_failed",
            f"no key folder could be made for {agent}: {error.strerror or error}",
            hint=f"check space and permissions of {user.path}",
        ) from error
    try:
        lent.renew_key(kid)
        yield lent
    finally:
        _remove(lent.path)
        lock.release()


def _make(user: KeyFolder, origin: str, agent: str) -> tuple[LentFolder, FileLock]:
    area = user.path / LOANS_FOLDER
    area.mkdir(mode=0o700, exist_ok=True)
    # One at a time, so that nobody sweeps a folder whose lock is about to be taken.
    with FileLock(area / "sweeping", mode=0o600, timeout=SWEEPING_SECONDS):
        _sweep(area)
        path = area / f"{agent}-{secrets.token_hex(4)}"
        path.mkdir(mode=0o700)
        lock = FileLock(path / "held", mode=0o600)
        lock.acquire(blocking=False)
    loan = Loan(str(user.path), agent, str(make_place_for_socket()))
    _write(path / "folder.json", msgspec.json.encode({"id": user.custodian}))
    _write(path / LOAN_FILE, msgspec.json.encode(loan))
    ledger = KeyFolder(path).ledger_folder(origin)
    ledger.mkdir(mode=0o700)
    pinned = user.ledger_folder(origin) / "trust.json"
    if pinned.is_file():
        _write(ledger / "trust.json", pinned.read_bytes())
    return LentFolder(user, path, origin, loan), lock


def make_place_for_socket() -> Path:
    """A private folder of its own, where sockets belong: one that a killed run left in the key
    folder would be in the way of whoever copies that."""
    for parent in (os.environ.get("XDG_RUNTIME_DIR", ""), tempfile.gettempdir(), "/tmp"):
        if len(os.fsencode(parent)) <= LONGEST_PARENT and os.access(parent, os.W_OK | os.X_OK):
            return Path(tempfile.mkdtemp(prefix="moot-", dir=parent)) / "socket"
    raise OSError("there is no folder for a socket")


def _sweep(area: Path) -> None:
    for path in area.iterdir():
        if path.is_dir() and not is_held(path / "held"):
            _remove(path)


def _remove(path: Path) -> None:
    """Remove a loan, with its socket wherever that is."""
    with suppress(Malformed, OSError):
        loan = KeyFolder(path).loan
        if loan is not None:
            socket = Path(loan.socket)
            socket.unlink(missing_ok=True)
            socket.parent.rmdir()
    shutil.rmtree(path, ignore_errors=True)


def _write(path: Path, data: bytes) -> None:
    with open(path, "xb", opener=lambda name, how: os.open(name, how, 0o600)) as file:
        file.write(data)


# Notes on which `moot mcp` answers the hooks of a coding tool: beside/NUMBER-STARTED, mode 0600,
# named after the tool's process, holds a socket and a secret word. A hook must send the word: so it
# has read this folder, and could have used each key in it. The next server removes what a killed
# one left.

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
