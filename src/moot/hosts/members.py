"""The machines that joined, and the invitations that are still open: a file next to the ledger.

The file holds only hashes of machines' secrets and invitation codes, so that its reader cannot
authenticate as a machine. The ledger itself knows machines as custodians of keys.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import msgspec
from filelock import FileLock

from moot.core.clock import Millis
from moot.core.errors import NotFound, Refused, StoreFailed
from moot.core.names import require_machine_name
from moot.store.files import replace_own_file

FILE: Final = "machines.json"
CODE_BYTES: Final = 16
SECRET_BYTES: Final = 32
HOUR: Final[Millis] = 3_600_000
SEEN_INTERVAL: Final[Millis] = 60_000
MAX_VERSION_LENGTH: Final = 40


class Member(msgspec.Struct, frozen=True):
    """A machine that joined.

    `number` identifies it as the owner of sessions; a key folder that joins again keeps it.
    `revoked_at` is when it was removed; `left` is True if it asked for that itself.
    """

    name: str
    number: int
    custodian: str
    secret_hash: str
    joined_at: Millis
    last_seen: Millis = 0
    version: str = ""
    revoked_at: Millis | None = None
    left: bool = False


class Invitation(msgspec.Struct, frozen=True):
    """Lets one machine join, once, until it expires."""

    id: str
    code_hash: str
    expires_at: Millis


class Members(msgspec.Struct, frozen=True):
    machines: tuple[Member, ...] = ()
    invitations: tuple[Invitation, ...] = ()


class MemberFile:
    """The file of one keeper. Each change replaces the whole file."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE
        self._lock = FileLock(folder / f".{FILE}.lock", timeout=5)
        self._thread_lock = threading.Lock()
        self._cached: tuple[tuple[int, int, int], Members] | None = None

    def read(self) -> Members:
        """Return the file's content; read it again only if the file changed."""
        try:
            found = os.stat(self._path)
            version = (found.st_ino, found.st_mtime_ns, found.st_size)
            if self._cached is None or self._cached[0] != version:
                data = self._path.read_bytes()
                self._cached = version, msgspec.json.decode(data, type=Members)
            return self._cached[1]
        except FileNotFoundError:
            return Members()
        except (msgspec.DecodeError, OSError) as error:
            raise StoreFailed(
                "members_unreadable",
                f"{self._path.name}, the list of machines, cannot be read: {error}",
                hint=f"on the machine that keeps the ledger, restore {self._path.name} from a"
                " backup; or move it away, and let each machine join again with `moot invite`",
            ) from None

    def invite(self, now: Millis, hours: int = 24) -> tuple[str, str]:
        """Return the id and the code of a new invitation; the file keeps only the code's hash."""
        code = secrets.token_hex(CODE_BYTES)
        invitation = Invitation(secrets.token_hex(4), _hash(code.encode()), now + hours * HOUR)
        with self._change() as members:
            valid = tuple(known for known in members.invitations if known.expires_at > now)
            self._write(msgspec.structs.replace(members, invitations=(*valid, invitation)))
        return invitation.id, code

    def admit(
        self,
        invitation: str,
        name: str,
        custodian: str,
        statement: bytes,
        proof: bytes,
        now: Millis,
        require_free: Callable[[Members], None],
        highest_number: int = 0,
    ) -> tuple[Member, bytes]:
        """Add a machine; return it with its secret. Refused if not invited, or the name is taken.

        `require_free` checks its key folder while the list is locked. A new machine gets a number
        above `highest_number`: machines that had the others may own sessions.
        """
        require_machine_name(name)
        with self._change() as members:
            found = next((known for known in members.invitations if known.id == invitation), None)
            if found is None or found.expires_at <= now:
                raise _not_invited("the invitation is unknown, was used, or has expired")
            expected = prove_invitation(found.code_hash, statement)
            if not hmac.compare_digest(expected, proof):
                raise _not_invited("the code is wrong")
            require_free(members)
            if any(known.name == name and known.revoked_at is None for known in members.machines):
                raise Refused(
                    "machine_exists",
                    f"a machine named {name} has already joined",
                    hint="join under another name, or `moot machine revoke` the old one first",
                )
            secret = secrets.token_bytes(SECRET_BYTES)
            number = _choose_number(members, custodian, highest_number)
            member = Member(name, number, custodian, _hash(secret), now, now)
            unused = tuple(known for known in members.invitations if known.id != invitation)
            self._write(Members((*members.machines, member), unused))
        return member, secret

    def authenticate(self, name: str, secret: bytes) -> Member:
        """Return the machine with this secret; Refused if there is none."""
        digest = _hash(secret)
        for member in self.read().machines:
            if member.name == name and hmac.compare_digest(member.secret_hash, digest):
                if member.revoked_at is not None:
                    raise _no_longer_member(member)
                return member
        raise Refused(
            "machine_unknown",
            f"the keeper knows no machine {name} with this secret",
            hint="join again: `moot invite` on the machine that keeps the ledger, then here"
            " `moot init --join INVITATION`",
        )

    def note_seen(self, member: Member, version: str, now: Millis) -> None:
        """Record when a machine connected and with which version; at most once a minute."""
        if self.is_seen_recently(member, version, now):
            return
        with self._change() as members:
            seen = msgspec.structs.replace(
                member, version=version[:MAX_VERSION_LENGTH], last_seen=now
            )
            machines = tuple(seen if known == member else known for known in members.machines)
            self._write(msgspec.structs.replace(members, machines=machines))

    def is_seen_recently(self, member: Member, version: str, now: Millis) -> bool:
        """Return whether the file already has this version and a recent time."""
        return (
            version[:MAX_VERSION_LENGTH] == member.version
            and now - member.last_seen < SEEN_INTERVAL
        )

    def revoke(self, name: str, now: Millis) -> Member:
        """Remove a machine: the keeper refuses its requests. Its agents' keys stay on record."""
        with self._change() as members:
            active = (known for known in members.machines if known.revoked_at is None)
            found = next((known for known in active if known.name == name), None)
            if found is None:
                raise NotFound(
                    "machine_not_found",
                    f"no machine named {name} has joined",
                    hint="`moot machine list` shows all",
                )
            revoked = msgspec.structs.replace(found, revoked_at=now)
            self._replace(members, found, revoked)
        return revoked

    def mark_left(self, member: Member, now: Millis) -> None:
        """Remove a machine at its own request."""
        with self._change() as members:
            for found in members.machines:
                if found.secret_hash == member.secret_hash and found.revoked_at is None:
                    departed = msgspec.structs.replace(found, revoked_at=now, left=True)
                    self._replace(members, found, departed)

    def _replace(self, members: Members, old: Member, new: Member) -> None:
        machines = tuple(new if known is old else known for known in members.machines)
        self._write(msgspec.structs.replace(members, machines=machines))

    @contextmanager
    def _change(self) -> Iterator[Members]:
        self._path.parent.mkdir(mode=0o700, exist_ok=True)
        with self._thread_lock, self._lock:
            yield self.read()

    def _write(self, members: Members) -> None:
        replace_own_file(self._path, msgspec.json.encode(members), 0o600)


def _choose_number(members: Members, custodian: str, highest_number: int) -> int:
    """Return the number that this key folder had before, so that it owns its sessions again."""
    former = [known.number for known in members.machines if known.custodian == custodian]
    if former:
        return former[-1]
    return max(highest_number, *(known.number for known in members.machines), 0) + 1


def _no_longer_member(member: Member) -> Refused:
    hint = (
        "join again: `moot invite` on the machine that keeps the ledger, then here"
        " `moot init --join INVITATION`"
    )
    if member.left:
        return Refused("machine_left", f"{member.name} has left this ledger", hint=hint)
    return Refused("machine_revoked", f"{member.name} was removed from this ledger", hint=hint)


def machine_suffix(name: str) -> str:
    """Return how the subject of a letter ends that the ledger signs for a machine.

    It shows the reader that the machine, not the ledger, wrote the text.
    """
    return f" (from the machine {name})"


def prove_invitation(code_hash: str, statement: bytes) -> bytes:
    """Return a proof that a machine has the invitation code, without showing the code."""
    return hmac.digest(bytes.fromhex(code_hash), statement, "sha256")


def hash_code(code: str) -> str:
    return _hash(code.encode())


def joining_statement(machine: str, custodian: str, repository: str) -> bytes:
    """Return the bytes that a joining machine proves: its name, key folder and repository."""
    return msgspec.json.encode(["moot.join.v1", machine, custodian, repository])


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _not_invited(why: str) -> Refused:
    return Refused(
        "not_invited", why, hint="run `moot invite` on the machine that keeps the ledger"
    )
