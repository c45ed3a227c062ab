"""Key folders that `moot run` lends to its programs: one agent's key and the trust file.

    lent/NAME-XXXXXXXX/          mode 0700, removed when the run ends
        folder.json              the id of the user's own folder, so the custodian is the same
        lent.json                the user's folder, and the socket of the `moot run`
        held                     locked by the run; a folder whose lock is free was abandoned
        LEDGER/trust.json, LEDGER/NAME.KID.key

The socket is in a private folder for runtime files. The folder has neither the ledger's own keys
nor another agent's. The next run removes folders that a killed run left.
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

# Systems limit a socket's path to about 100 bytes.
MAX_PARENT_BYTES: Final = 70
CLEANUP_SECONDS: Final = 30.0


class LentFolder:
    """One loan: the folder, and the socket on which its `moot run` is to listen."""

    def __init__(self, user: KeyFolder, path: Path, origin: str, loan: Loan) -> None:
        self.path = path
        self.socket = Path(loan.socket)
        self._user = user
        self._origin = origin
        self._agent = loan.agent

    def renew_key(self, kid: str) -> None:
        """Copy the agent's current key there, and remove the previous one."""
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
    """Lend a folder to one agent until the block ends."""
    try:
        lent, lock = _create_loan(user, origin, agent)
    except OSError as error:
        raise StoreFailed(
            "key_folder_failed",
            f"the key folder for {agent} could not be created: {error.strerror or error}",
            hint=f"check space and permissions of {user.path}",
        ) from error
    try:
        lent.renew_key(kid)
        yield lent
    finally:
        _remove(lent.path)
        lock.release()


def _create_loan(user: KeyFolder, origin: str, agent: str) -> tuple[LentFolder, FileLock]:
    loans = user.path / LOANS_FOLDER
    loans.mkdir(mode=0o700, exist_ok=True)
    # One process at a time: another could remove a folder whose lock is about to be taken.
    with FileLock(loans / "sweeping", mode=0o600, timeout=CLEANUP_SECONDS):
        _remove_abandoned(loans)
        path = loans / f"{agent}-{secrets.token_hex(4)}"
        path.mkdir(mode=0o700)
        lock = FileLock(path / "held", mode=0o600)
        lock.acquire(blocking=False)
    loan = Loan(str(user.path), agent, str(make_socket_path()))
    _write(path / "folder.json", msgspec.json.encode({"id": user.custodian}))
    _write(path / LOAN_FILE, msgspec.json.encode(loan))
    ledger = KeyFolder(path).ledger_folder(origin)
    ledger.mkdir(mode=0o700)
    pinned = user.ledger_folder(origin) / "trust.json"
    if pinned.is_file():
        _write(ledger / "trust.json", pinned.read_bytes())
    return LentFolder(user, path, origin, loan), lock


def make_socket_path() -> Path:
    """Make a private folder for a socket, and return the socket's path.

    Not in the key folder: a socket that a killed run left there would break copies of the folder.
    """
    for parent in (os.environ.get("XDG_RUNTIME_DIR", ""), tempfile.gettempdir(), "/tmp"):
        if len(os.fsencode(parent)) <= MAX_PARENT_BYTES and os.access(parent, os.W_OK | os.X_OK):
            return Path(tempfile.mkdtemp(prefix="moot-", dir=parent)) / "socket"
    raise OSError("no folder is writable and short enough for a socket")


def _remove_abandoned(loans: Path) -> None:
    for path in loans.iterdir():
        if path.is_dir() and not is_held(path / "held"):
            _remove(path)


def _remove(path: Path) -> None:
    """Remove a loan with its socket."""
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


# Notes that tell hooks which `moot mcp` answers them: beside/NUMBER-STARTED, mode 0600, named after
# the coding tool's process, has a socket and a secret. A hook must send the secret, which proves
# that it can read this folder and could have used each key in it. The next server removes notes
# that a killed one left.

NOTES_FOLDER: Final = "beside"
SECRET_BYTES: Final = 16


class ToolNote:
    """Where one server listens for the hooks of one process of a tool."""

    def __init__(self, keys: KeyFolder, process: str) -> None:
        self._folder = keys.path / NOTES_FOLDER
        self._file = self._folder / process
        self.socket = make_socket_path()
        self.secret = secrets.token_hex(SECRET_BYTES).encode()
        self._text = b"%b\n%b\n" % (os.fsencode(self.socket), self.secret)

    def publish(self, is_alive: Callable[[str], bool]) -> None:
        """Write the note, after the server listens. A later server of the same process replaces
        it."""
        self._folder.mkdir(mode=0o700, exist_ok=True)
        self._remove_abandoned(is_alive)
        new = self._folder / f".{secrets.token_hex(4)}"
        with open(new, "xb", opener=lambda name, how: os.open(name, how, 0o600)) as file:
            file.write(self._text)
        os.replace(new, self._file)

    def withdraw(self) -> None:
        """Remove the note and the socket, unless another server has replaced the note."""
        with suppress(OSError):
            if self._file.read_bytes() == self._text:
                self._file.unlink()
        _remove_socket(self.socket)

    def _remove_abandoned(self, is_alive: Callable[[str], bool]) -> None:
        for file in self._folder.iterdir():
            if not is_alive(file.name):
                with suppress(OSError):
                    _remove_socket(Path(os.fsdecode(file.read_bytes().partition(b"\n")[0])))
                    file.unlink()


def _remove_socket(socket: Path) -> None:
    with suppress(OSError):
        socket.unlink(missing_ok=True)
        socket.parent.rmdir()
