"""The machines that joined, and the invitations that are still open: a file next to the ledger.

A machine's secret and an invitation's code are kept as hashes only: a reader of the file can
authenticate as nobody. The record itself knows machines as custodians of keys.
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
SEEN_EVERY: Final[Millis] = 60_000
MOST_VERSION: Final = 40


class Member(msgspec.Struct, frozen=True):
    """A machine that joined. `number` says which sessions it owns; a key folder that comes
    back has the one it had. `revoked_at` is when it was taken off, by its own word if it `left`."""

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
    """For one machine, once, until it expires."""

    id: str
    code_hash: str
    expires_at: Millis


class Members(msgspec.Struct, frozen=True):
    machines: tuple[Member, ...] = ()
    invitations: tuple[Invitation, ...] = ()


class MemberFile:
    """The file of one keeper. Each change is one whole new file."""

    def __init__(self, folder: Path) -> None:
        self._place = folder / FILE
        self._lock = FileLock(folder / f".{FILE}.lock", timeout=5)
        self._turn = threading.Lock()
        self._known: tuple[tuple[int, int, int], Members] | None = None

    def read(self) -> Members:
        """What the file says; read again only if it is another file than last time."""
        try:
            found = os.stat(self._place)
            version = (found.st_ino, found.st_mtime_ns, found.st_size)
            if self._known is None or self._known[0] != version:
                data = self._place.read_bytes()
                self._known = version, msgspec.json.decode(data, type=Members)
            return self._known[1]
        except FileNotFoundError:
            return Members()
        except (msgspec.DecodeError, OSError) as error:
            raise StoreFailed(
                "members_unreadable",
                f"the list of machines cannot be read: {error}",
                hint=f"where the ledger is kept: restore {self._place.name} from a backup, or move"
                " it away; then each machine joins once more with what `moot invite` prints",
            ) from None

    def invite(self, now: Millis, hours: int = 24) -> tuple[str, str]:
        """The id and the code of a new invitation; only its hash is kept."""
        code = secrets.token_hex(CODE_BYTES)
        invitation = Invitation(secrets.token_hex(4), _hash(code.encode()), now + hours * HOUR)
        with self._change() as members:
            live = tuple(one for one in members.invitations if one.expires_at > now)
            self._write(msgspec.structs.replace(members, invitations=(*live, invitation)))
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
        used: int = 0,
    ) -> tuple[Member, bytes]:
        """The new machine with its secret; Refused if it was not invited, or the name is taken.

        `require_free` is asked about its key folder while nobody else can join. No number up to
        `used` is given to it again: a machine that had it may own sessions.
        """
        require_machine_name(name)
        with self._change() as members:
            found = next((one for one in members.invitations if one.id == invitation), None)
            if found is None or found.expires_at <= now:
                raise _not_invited("the invitation is unknown, was used, or has expired")
            expected = prove_invitation(found.code_hash, statement)
            if not hmac.compare_digest(expected, proof):
                raise _not_invited("the code is wrong")
            require_free(members)
            if any(one.name == name and one.revoked_at is None for one in members.machines):
                raise Refused(
                    "machine_exists",
                    f"a machine called {name} has joined already",
                    hint="join under another name, or `moot machine revoke` the old one first",
                )
            secret = secrets.token_bytes(SECRET_BYTES)
            number = _choose_number(members, custodian, used)
            member = Member(name, number, custodian, _hash(secret), now, now)
            left = tuple(one for one in members.invitations if one.id != invitation)
            self._write(Members((*members.machines, member), left))
        return member, secret

    def authenticate(self, name: str, secret: bytes) -> Member:
        """Return the machine with this secret; Refused if there is none."""
        digest = _hash(secret)
        for one in self.read().machines:
            if one.name == name and hmac.compare_digest(one.secret_hash, digest):
                if one.revoked_at is not None:
                    raise _gone(one)
                return one
        raise Refused(
            "machine_unknown",
            f"the keeper knows no machine {name} with this secret",
            hint="whoever keeps the ledger invites you once more: `moot invite` there, then here"
            " `moot init --join INVITATION`",
        )

    def note_seen(self, member: Member, version: str, now: Millis) -> None:
        """Remember when a machine was here and with which version; written once in a while."""
        if self.is_seen(member, version, now):
            return
        with self._change() as members:
            seen = msgspec.structs.replace(member, version=version[:MOST_VERSION], last_seen=now)
            machines = tuple(seen if one == member else one for one in members.machines)
            self._write(msgspec.structs.replace(members, machines=machines))

    def is_seen(self, member: Member, version: str, now: Millis) -> bool:
        """Has that been noted a short while ago?"""
        return version[:MOST_VERSION] == member.version and now - member.last_seen < SEEN_EVERY

    def revoke(self, name: str, now: Millis) -> Member:
        """Take a machine off: it can ask nothing any more. Its agents' keys stay on record."""
        with self._change() as members:
            found = next(
                (one for one in members.machines if one.name == name and one.revoked_at is None),
                None,
            )
            if found is None:
                raise NotFound(
                    "machine_not_found",
                    f"no machine called {name} has joined",
                    hint="`moot machine list` shows all",
                )
            gone = msgspec.structs.replace(found, revoked_at=now)
            self._replace(members, found, gone)
        return gone

    def let_go(self, member: Member, now: Millis) -> None:
        """Take a machine off at its own word."""
        with self._change() as members:
            for found in members.machines:
                if found.secret_hash == member.secret_hash and found.revoked_at is None:
                    gone = msgspec.structs.replace(found, revoked_at=now, left=True)
                    self._replace(members, found, gone)

    def _replace(self, members: Members, old: Member, new: Member) -> None:
        machines = tuple(new if one is old else one for one in members.machines)
        self._write(msgspec.structs.replace(members, machines=machines))

    @contextmanager
    def _change(self) -> Iterator[Members]:
        self._place.parent.mkdir(mode=0o700, exist_ok=True)
        with self._turn, self._lock:
            yield self.read()

    def _write(self, members: Members) -> None:
        replace_own_file(self._place, msgspec.json.encode(members), 0o600)


def _choose_number(members: Members, custodian: str, used: int) -> int:
    """Return the number that this key folder had, so that it owns its sessions again."""
    former = [one.number for one in members.machines if one.custodian == custodian]
    return former[-1] if former else max(used, *(one.number for one in members.machines), 0) + 1


def _gone(member: Member) -> Refused:
    hint = "join anew: `moot init --join INVITATION`; whoever keeps the ledger invites you"
    if member.left:
        return Refused("machine_left", f"{member.name} has left this ledger", hint=hint)
    return Refused("machine_revoked", f"{member.name} has been taken off this ledger", hint=hint)


def mark_of_machine(name: str) -> str:
    """How the subject of a letter ends that the ledger signs for a machine: its words are that
    machine's own."""
    return f" (from the machine {name})"


def prove_invitation(code_hash: str, statement: bytes) -> bytes:
    """What shows that a machine has the code, without showing the code."""
    return hmac.digest(bytes.fromhex(code_hash), statement, "sha256")


def hash_code(code: str) -> str:
    return _hash(code.encode())


def joining_statement(machine: str, custodian: str, repository: str) -> bytes:
    """What a machine says of itself when it joins."""
    return msgspec.json.encode(["moot.join.v1", machine, custodian, repository])


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _not_invited(why: str) -> Refused:
    return Refused("not_invited", why, hint="ask whoever keeps the ledger: `moot invite`")
