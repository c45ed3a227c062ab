"""The key folder: `MOOT_KEYS`, or the user's data folder. Never inside a project.

    folder.json              the folder's id: the custodian named by every key made here
    kept.db                  newest checkpoints (seen_checkpoints.py)
    LEDGER/trust.json        the ledger's public keys, pinned when it was made or joined
    LEDGER/made-in           the folder in which the ledger was made; only where it was made
    LEDGER/NAME.KID.key      one private key, mode 0600; a person's is locked by a passphrase
    LEDGER/NAME.running      locked while a `moot run` works under that name (running_names.py)
    LEDGER/everyday          the name that its owner uses at a terminal (folder.py)
    lent/                    folders that `moot run` has lent to its programs (agent_folder.py)
    beside/                  which `moot mcp` answers the hooks of which tool (agent_folder.py)

LEDGER is the kid of the ledger's root key. A lent folder has a `lent.json` that names this one:
what Moot remembers of ledgers, and which names run, stays here.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Final, TypeVar

import msgspec

from moot.core.errors import Malformed, Refused
from moot.core.machine import KeyClass
from moot.core.names import AGENT, require_agent_name
from moot.core.registry.model import ORIGIN_PREFIX
from moot.core.signing import Signer
from moot.engine.signers import PrivateKey
from moot.keys.passphrase_lock import (
    USUAL_COST,
    HashingCost,
    LockedSeed,
    lock_seed,
    require_long_passphrase,
    unlock_seed,
)
from moot.store.files import write_new_file

T = TypeVar("T")
_MADE_IN_FILE = "made-in"
LOAN_FILE = "lent.json"
LOANS_FOLDER = "lent"  # in the user's own folder


class KeyFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The content of a key file: the plain seed (`secret`) or the locked one, never both."""

    kind: KeyClass
    kid: str
    name: str
    origin: str
    public: str
    secret: str | None = None
    locked: LockedSeed | None = None
    v: int = 1

    def open(self, passphrase: str | None) -> Signer:
        """Return the signer; only a locked key needs the passphrase."""
        try:
            signer = Signer(self._seed(passphrase))
        except ValueError:
            raise Malformed("the key file's secret is damaged", code="bad_key_file") from None
        if signer.kid != self.kid:
            raise Malformed("the key file has another key", code="bad_key_file")
        return signer

    def _seed(self, passphrase: str | None) -> bytes:
        if self.locked is not None:
            return unlock_seed(self.locked, passphrase or "")
        return bytes.fromhex(self.secret or "")


class Loan(msgspec.Struct, frozen=True):
    """A folder that was lent: the user's own folder, the agent, and the socket of the `moot run`
    that lent it."""

    user_folder: str
    agent: str
    socket: str


class _FolderId(msgspec.Struct, frozen=True):
    id: str


class KeyFolder:
    """One user's private keys, by ledger and name; or those that were lent to one agent."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @cached_property
    def loan(self) -> Loan | None:
        """Return the loan that `moot run` wrote; None for a user's own folder."""
        file = self.path / LOAN_FILE
        return _read_json(file, Loan) if file.exists() else None

    @property
    def user_folder(self) -> KeyFolder:
        """Return the user's own folder: this one, or the one that lent it."""
        return self if self.loan is None else KeyFolder(Path(self.loan.user_folder))

    def require_own(self, what: str) -> None:
        """Raise Refused in a lent folder, since `moot run` removes it when it ends."""
        if self.loan is not None:
            raise Refused(
                "key_folder_lent",
                f"{what} would be lost: this key folder is lent to {self.loan.agent} by `moot run`",
                hint="run this outside of `moot run`",
            )

    @property
    def custodian(self) -> str:
        """Return the folder's id; make it with the first key."""
        file = self.path / "folder.json"
        if not file.exists():
            self.path.mkdir(parents=True, exist_ok=True, mode=0o700)
            made = msgspec.json.encode(_FolderId(os.urandom(16).hex()))
            with suppress(FileExistsError):  # another process has just made it: use that one
                write_new_file(file, made, 0o600)
        return _read_json(file, _FolderId).id

    def ledger_folder(self, origin: str) -> Path:
        """Return this ledger's part of the folder."""
        return self.path / origin.rpartition("/")[2]

    def add_key(
        self,
        origin: str,
        name: str,
        kind: KeyClass,
        *,
        passphrase: str | None = None,
        cost: HashingCost = USUAL_COST,
        seed: bytes | None = None,
    ) -> Signer:
        """Make a key and store it durably, before anything is signed or registered with it."""
        require_agent_name(name)  # it becomes part of a file's name
        self.require_own("a new key")
        if passphrase is not None:
            require_long_passphrase(passphrase)
        self.custodian  # noqa: B018 - makes the folder and its id before the first key
        seed = seed or Signer.new_seed()
        signer = Signer(seed)
        locked = lock_seed(seed, passphrase, cost) if passphrase is not None else None
        file = KeyFile(
            kind=kind,
            kid=signer.kid,
            name=name,
            origin=origin,
            public=signer.public.hex(),
            # LDG-014
            secret=None if locked else seed.hex(),
            locked=locked,
        )
        folder = self.ledger_folder(origin)
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        data = msgspec.json.format(msgspec.json.encode(file))
        write_new_file(self._path(origin, name, signer.kid), data, 0o600)
        return signer

    def remove_key(self, origin: str, name: str, kid: str) -> None:
        """Remove a key that was never registered, or has ended."""
        self._path(origin, name, kid).unlink(missing_ok=True)

    def read_key(self, origin: str, name: str, kid: str) -> KeyFile | None:
        path = self._path(origin, name, kid)
        if not path.is_file():
            return None
        _require_private(path)
        file = _read_json(path, KeyFile)
        if (file.origin, file.name, file.kid) != (origin, name, kid):
            raise Malformed(f"{path.name} has another key", code="bad_key_file")
        return file

    def remember_place(self, origin: str, place: Path) -> None:
        """Note that the ledger was made in the folder `place`."""
        write_new_file(self.ledger_folder(origin) / _MADE_IN_FILE, _encode_path(place), 0o600)

    def ledgers_made_in(self, place: Path) -> list[str]:
        """Return the origins of all ledgers that were ever made in the folder `place`."""
        wanted = _encode_path(place)
        files = sorted(self.path.glob(f"*/{_MADE_IN_FILE}"))
        return [ORIGIN_PREFIX + file.parent.name for file in files if _read_or_none(file) == wanted]

    def folders_with_ledgers(self) -> list[Path]:
        """Return the folders in which ledgers were made with keys of this folder."""
        files = sorted(self.path.glob(f"*/{_MADE_IN_FILE}"))
        places = dict.fromkeys(place for file in files if (place := _read_or_none(file)))
        return [Path(os.fsdecode(place)) for place in places]

    def names_with_keys(self, origin: str) -> Iterator[str]:
        """Yield the names that have a key file here for that ledger."""
        for path in sorted(self.ledger_folder(origin).glob("*.key")):
            yield path.name.split(".", 1)[0]

    def list_keys(self, origin: str) -> list[tuple[str, str]]:
        """Return name and kid of every key file here for that ledger."""
        files = sorted(self.ledger_folder(origin).glob("*.key"))
        parts = (file.name.split(".") for file in files)
        return [(part[0], part[1]) for part in parts if len(part) == 3]

    def _path(self, origin: str, name: str, kid: str) -> Path:
        return self.ledger_folder(origin) / f"{name}.{kid}.key"


def _encode_path(place: Path) -> bytes:
    return os.fsencode(os.path.realpath(place))


def _read_or_none(file: Path) -> bytes | None:
    try:
        return file.read_bytes()
    except OSError:  # only a note of `moot init` depends on it
        return None


def _require_private(path: Path) -> None:
    """Raise Refused if other users may read the key: like ssh, Moot does not use it (LDG-013)."""
    if os.name != "nt" and stat.S_IMODE(path.stat().st_mode) & 0o077:
        raise Refused(
            "key_exposed",
            f"{path} is readable by other users",
            hint=f"chmod 600 {path}; if it may have been copied, rotate the key",
        )


def _read_json(path: Path, kind: type[T]) -> T:
    try:
        return msgspec.json.decode(path.read_bytes(), type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise Malformed(f"{path.name} is damaged: {error}", code="bad_key_file") from None


# The keys of one ledger, by name and kid, for the engine.


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
                f"the key of {name} is locked, and there is no terminal to ask for the passphrase",
                hint="run this at a terminal; for automation set MOOT_PASSPHRASE_FILE",
            )
        return PrivateKey(file.open(passphrase.text), passphrase.attended)


# LEDGER/everyday: the name that the folder's owner uses at a terminal. Its key has the class agent
# and no passphrase, so no decision is signed with it. A lent folder has none.

_FILE: Final = "everyday"


def read_everyday_name(folder: KeyFolder, origin: str) -> str | None:
    """Return the name, if there is one."""
    try:
        text = (folder.ledger_folder(origin) / _FILE).read_text("ascii").strip()
    except (OSError, UnicodeDecodeError):
        return None
    return text if AGENT.match(text) else None


def write_everyday_name(folder: KeyFolder, origin: str, name: str) -> None:
    """Set the name."""
    write_new_file(folder.ledger_folder(origin) / _FILE, f"{name}\n".encode(), 0o600)


def forget_everyday_name(folder: KeyFolder, origin: str) -> None:
    """Remove the name, which can no longer sign, so that another can be set."""
    (folder.ledger_folder(origin) / _FILE).unlink(missing_ok=True)
