"""Run a keeper: its certificate, the machines that may connect, and where it listens."""

from __future__ import annotations

import base64
import fcntl
import os
import ssl
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import IO, Final

from moot.core.errors import Malformed, MootError, Refused, StoreFailed
from moot.core.signing import Signer
from moot.core.version import VERSION
from moot.engine.engine import Engine
from moot.hosts import messages as wire
from moot.hosts.connection import MAX_FRAME, fingerprint_of
from moot.hosts.joining import is_rejoin_proven
from moot.hosts.listener import KeeperListener
from moot.hosts.members import Member, MemberFile, Members, joining_statement
from moot.hosts.request_handler import Request, RequestHandler, answer_safely, reply_on_error
from moot.hosts.server_connection import ServerConnection
from moot.hosts.session_owner import OWNER
from moot.store.artifacts import FileArtifacts
from moot.store.files import write_new_file

# The keeper's own TLS certificate, in DER: the smallest that TLS accepts (RFC 5280 and 8410).
# Machines compare its fingerprint and ignore its name and dates.

CERTIFICATE_FILE: Final = "keeper.pem"
_ED25519: Final = bytes.fromhex("06032b6570")  # the object id 1.3.101.112
_COMMON_NAME: Final = bytes.fromhex("0603550403")  # 2.5.4.3
_VALID: Final = (b"200101000000Z", b"491231235959Z")


def _der(tag: int, *parts: bytes) -> bytes:
    content = b"".join(parts)
    length = len(content)
    if length < 0x80:
        return bytes((tag, length)) + content
    size = (length.bit_length() + 7) // 8
    return bytes((tag, 0x80 | size)) + length.to_bytes(size, "big") + content


def _sequence(*parts: bytes) -> bytes:
    return _der(0x30, *parts)


def _bits(content: bytes) -> bytes:
    return _der(0x03, b"\0", content)


def make_certificate(signer: Signer) -> bytes:
    """Make a self-signed certificate of the signer's key, in DER."""
    algorithm = _sequence(_ED25519)
    name = _sequence(_der(0x31, _sequence(_COMMON_NAME, _der(0x0C, b"moot keeper"))))
    serial = _der(0x02, b"\x01" + os.urandom(15))
    statement = _sequence(
        _der(0xA0, _der(0x02, b"\x02")),  # version 3
        serial,
        algorithm,
        name,
        _sequence(*(_der(0x17, moment) for moment in _VALID)),
        name,
        _sequence(algorithm, _bits(signer.public)),
    )
    return _sequence(statement, algorithm, _bits(signer.sign_raw(statement)))


def _pem(kind: str, content: bytes) -> str:
    text = base64.b64encode(content).decode()
    lines = "\n".join(text[start : start + 64] for start in range(0, len(text), 64))
    return f"-----BEGIN {kind}-----\n{lines}\n-----END {kind}-----\n"


def ensure_certificate(folder: Path) -> Path:
    """Return the file with the keeper's key and certificate; make it on first use, mode 0600."""
    path = folder / CERTIFICATE_FILE
    if not path.exists():
        seed = Signer.new_seed()
        key = _sequence(_der(0x02, b"\0"), _sequence(_ED25519), _der(0x04, _der(0x04, seed)))
        certificate = make_certificate(Signer(seed))
        text = _pem("PRIVATE KEY", key) + _pem("CERTIFICATE", certificate)
        with suppress(FileExistsError):  # another process was first
            write_new_file(path, text.encode(), 0o600)
    return path


def read_fingerprint(path: Path) -> str:
    """Return the fingerprint of the certificate in the file."""
    text = path.read_text("ascii")
    begin = text.index("-----BEGIN CERTIFICATE-----")
    return fingerprint_of(ssl.PEM_cert_to_DER_cert(text[begin:]))


def server_context(path: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.num_tickets = 0  # clients do not resume TLS sessions: it would save no round trip
    context.load_cert_chain(path)
    return context


# Each keeper holds a shared lock on one file; the system releases it when the process exits. On a
# file system without flock, a keeper that has ever run counts as running.

RUNNING_FILE: Final = "running"


def mark_keeper_running(folder: Path) -> IO[bytes]:
    """Show that one more keeper runs, until the returned file is closed."""
    mark = open(folder / RUNNING_FILE, "ab")  # noqa: SIM115 - open as long as the keeper runs
    with suppress(OSError):  # no flock here: the keeper works without it
        fcntl.flock(mark, fcntl.LOCK_SH)
    return mark


def is_keeper_running(folder: Path) -> bool:
    with suppress(OSError), open(folder / RUNNING_FILE, "rb") as mark:
        try:
            fcntl.flock(mark, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return True
    return False


FOLDER: Final = "keeper"


class _Peer:
    """The machine on one connection, and its number in the list of machines."""

    def __init__(self, machine: str, secret: bytes, number: int) -> None:
        self._machine = machine
        self._secret = secret
        self.number = number
        self.asked_at = time.monotonic()  # when it asked last
        self._cached: tuple[Members, Member] | None = None

    def current_member(self, members: Members, file: MemberFile) -> Member:
        """Return its entry in the current list; Refused if it left or was revoked."""
        if self._cached is None or self._cached[0] is not members:
            self._cached = members, file.authenticate(self._machine, self._secret)
        return self._cached[1]

    def is_member(self, file: MemberFile) -> bool:
        """Return False if the machine left or was revoked."""
        try:
            self.current_member(file.read(), file)
        except Refused:
            return False
        except MootError:  # the list is unreadable: the next request reports it
            return True
        return True


class KeeperServer:
    """Answers machines until it is closed. Joining machines must work on `repository`."""

    def __init__(
        self,
        engine: Engine,
        artifacts: FileArtifacts,
        folder: Path,
        trust: bytes,
        repository: str,
        on_failure: Callable[[], None] = lambda: None,
        warn: Callable[[str], None] = lambda _: None,
    ) -> None:
        """The listener thread calls `on_failure` if it stops (`close` then raises the reason), and
        `warn` with problems that it survives."""
        folder.mkdir(mode=0o700, exist_ok=True)
        self._folder = folder
        self._engine = engine
        self._trust = trust
        self._repository = repository
        self.members = MemberFile(folder)
        self._handler = RequestHandler(engine, artifacts, folder)
        self._listener = KeeperListener(self, on_failure, warn)
        self._peers: dict[ServerConnection, _Peer] = {}
        self._members_now: Members | None = None  # the list as read for this step
        self._certificate = ensure_certificate(folder)
        self._mark = mark_keeper_running(folder)

    @property
    def fingerprint(self) -> str:
        return read_fingerprint(self._certificate)

    def listen_unix(self, path: Path) -> None:
        """Listen for other clones and containers on this machine, without a port."""
        self._listener.listen_unix(path)

    def listen_tls(self, host: str, port: int) -> int:
        return self._listener.listen_tls(host, port, server_context(self._certificate))

    def close(self) -> None:
        self._listener.close()
        self._handler.close()
        self._mark.close()
        failure = self._listener.failure
        if failure is not None:
            raise StoreFailed(
                "keeper_failed",
                f"the keeper cannot go on: {type(failure).__name__}: {failure}",
                hint="what was acknowledged is recorded; start it again: `moot keep`",
            ) from failure

    # Called by the one thread that serves all connections (`listener.py`).

    def receive(self, connection: ServerConnection, frame: bytes) -> None:
        """Read the first frame of a connection as its hello, each later one as a question."""
        peer = self._peers.get(connection)

        def fail(why: wire.Failed) -> None:
            connection.closes_after_answer = peer is None
            self._listener.answer(connection, wire.encode(why))

        def read() -> None:
            question = wire.decode_question(frame)
            if peer is None:
                self._admit(connection, question)
            else:
                self._handler.receive(self._make_request(connection, peer, question))

        reply_on_error(read, fail)

    def _make_request(
        self, connection: ServerConnection, peer: _Peer, question: wire.AnyQuestion
    ) -> Request:
        peer.asked_at = time.monotonic()
        return Request(
            self._current_member(peer),
            connection,
            question,
            lambda answer: self._listener.answer(connection, wire.encode(answer)),
            lambda find: self._listener.answer_in_background(
                connection, lambda: wire.encode(answer_safely(find))
            ),
        )

    def step(self) -> float:
        self._members_now = None
        return self._handler.step()

    def keeps_turn(self, connection: ServerConnection) -> bool:
        return self._handler.keeps_turn(connection)

    def forget_turn(self, connection: ServerConnection) -> None:
        self._handler.forget(connection)

    def find_revoked(self) -> list[ServerConnection]:
        return [
            connection
            for connection, peer in self._peers.items()
            if not peer.is_member(self.members)
        ]

    def find_surplus(self, most: int) -> ServerConnection | None:
        """Return a connection to close when all `most` are used, or None.

        Only a machine with more than half of them loses one: the one that has been idle longest,
        else the one that has waited longest for an answer. That machine reconnects.
        """
        numbers = [peer.number for peer in self._peers.values()]
        greediest = max(numbers, key=numbers.count, default=0)
        if numbers.count(greediest) <= most // 2:
            return None
        theirs = {
            connection: (connection.is_answering, peer.asked_at)
            for connection, peer in self._peers.items()
            if peer.number == greediest
        }
        return min(theirs, key=lambda connection: theirs[connection])

    def find_largest(self) -> ServerConnection | None:
        """Return the largest connection of the machine that has the most bytes in memory."""
        held: Counter[int] = Counter()
        for connection, peer in self._peers.items():
            held[peer.number] += connection.buffered_bytes
        return max(
            self._peers,
            key=lambda connection: (
                held[self._peers[connection].number],
                connection.buffered_bytes,
            ),
            default=None,
        )

    def forget(self, connection: ServerConnection) -> None:
        self._peers.pop(connection, None)
        self._handler.forget(connection)

    def _current_member(self, peer: _Peer) -> Member:
        """Look the machine up in a list that is read once for each step."""
        if self._members_now is None:
            self._members_now = self.members.read()
        return peer.current_member(self._members_now, self.members)

    def _admit(self, connection: ServerConnection, question: wire.AnyQuestion) -> None:
        """Welcome a machine, or let one join.

        Both may write to the list of machines, which another process may have locked, so a
        background thread does that.
        """
        if isinstance(question, wire.Join):
            connection.closes_after_answer = True
            self._listener.answer_in_background(
                connection, lambda: wire.encode(answer_safely(lambda: self._join(question)))
            )
            return
        if not isinstance(question, wire.Hello):
            raise Malformed("the first message must be a hello", code="bad_request")
        wire.require_same_version(wire.VERSION, question.version)
        member = self.members.authenticate(question.machine, question.secret)
        self._peers[connection] = _Peer(question.machine, question.secret, member.number)
        connection.max_frame = MAX_FRAME
        if self.members.is_seen_recently(member, question.program, self._engine.clock()):
            self._listener.answer(connection, self._welcome())
        else:
            self._listener.answer_in_background(
                connection, lambda: self._note_seen(member, question.program)
            )

    def _note_seen(self, member: Member, program: str) -> bytes:
        with suppress(MootError, OSError):  # a full disk is no reason to refuse the machine
            self.members.note_seen(member, program, self._engine.clock())
        return self._welcome()

    def _welcome(self) -> bytes:
        return wire.encode(wire.Welcome(wire.VERSION, VERSION, self._engine.clock()))

    def _join(self, question: wire.Join) -> wire.Joined:
        wire.require_same_version(wire.VERSION, question.version)
        if self._repository and question.repository != self._repository:
            raise Refused(
                "another_repository",
                "this ledger is kept for another repository",
                hint="join from a clone of that repository",
            )
        statement = joining_statement(question.machine, question.custodian, question.repository)
        _, secret = self.members.admit(
            question.invitation,
            question.machine,
            question.custodian,
            statement,
            question.proof,
            self._engine.clock(),
            lambda members: self._require_own_custodian(members, question),
            self._highest_owner(),
        )
        return wire.Joined(secret, self._trust)

    def _require_own_custodian(self, members: Members, question: wire.Join) -> None:
        """Refuse a key folder that another machine has: the machine itself names its folder."""
        machines, registry = members.machines, self._engine.registry()
        theirs = {member.custodian for member in machines if member.revoked_at is None}
        if question.custodian in theirs | {registry.custodian}:
            raise Refused(
                "custodian_taken",
                "this key folder belongs to a machine that shares the ledger already",
                hint="work in that machine's clone; or remove it first, on the machine that keeps"
                " the ledger: `moot machine list`, then `moot machine revoke NAME`",
            )
        former = {member.custodian for member in machines if member.revoked_at is not None}
        on_record = {key.custodian for key in registry.keys.values() if key.ended is None}
        if question.custodian in on_record - former and not is_rejoin_proven(registry, question):
            raise Refused(
                "key_folder_unproven",
                "the ledger has keys of this key folder, but its machine is no longer in the"
                " keeper's list",
                hint="join in the clone of that machine, with a key of one of its agents in the"
                " key folder; or use a new key folder (MOOT_KEYS)",
            )

    def _highest_owner(self) -> int:
        """Return the highest number of a machine that owns a session, even if it left the list."""
        with self._engine.store.read() as view:
            owners = (owner for name, _, owner in view.all_cursors() if name == OWNER)
            return max(owners, default=0)
