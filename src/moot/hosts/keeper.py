"""A keeper at work: its certificate, the machines that may connect, and where it listens."""

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
from moot.hosts import messages as ask
from moot.hosts.connection import MAX_FRAME, fingerprint_of
from moot.hosts.joining import is_rejoin_proven
from moot.hosts.listener import KeeperListener
from moot.hosts.members import Member, MemberFile, Members, joining_statement
from moot.hosts.request_handler import Request, RequestHandler, answer_safely, reply_if_it_fails
from moot.hosts.server_connection import ServerConnection
from moot.hosts.session_owner import OWNER
from moot.store.artifacts import FileArtifacts
from moot.store.files import write_new_file

# The keeper's own TLS certificate, in DER: the smallest that TLS accepts (RFC 5280 and 8410).
# Nobody checks its name or dates; machines compare the fingerprint.

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
    """A certificate of the signer's key, signed by itself, in DER."""
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
    connections = "\n".join(text[start : start + 64] for start in range(0, len(text), 64))
    return f"-----BEGIN {kind}-----\n{connections}\n-----END {kind}-----\n"


def ensure_certificate(folder: Path) -> Path:
    """The keeper's key and certificate in `folder`, made on first use; only its user may read."""
    place = folder / CERTIFICATE_FILE
    if not place.exists():
        seed = Signer.new_seed()
        key = _sequence(_der(0x02, b"\0"), _sequence(_ED25519), _der(0x04, _der(0x04, seed)))
        certificate = make_certificate(Signer(seed))
        text = _pem("PRIVATE KEY", key) + _pem("CERTIFICATE", certificate)
        with suppress(FileExistsError):  # another process was first
            write_new_file(place, text.encode(), 0o600)
    return place


def read_fingerprint(place: Path) -> str:
    """What the certificate in the file is known by."""
    text = place.read_text("ascii")
    begin = text.index("-----BEGIN CERTIFICATE-----")
    return fingerprint_of(ssl.PEM_cert_to_DER_cert(text[begin:]))


def server_context(place: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.num_tickets = 0  # nobody comes back to a session: it would save no round trip
    context.load_cert_chain(place)
    return context


# Each keeper holds a lock on one file, which the system releases when it ends or is killed. On a
# disk without such locks a keeper that has ever run counts as running.

RUNNING_FILE: Final = "running"


def mark_running(folder: Path) -> IO[bytes]:
    """The mark of one more keeper, which lasts until this is closed."""
    mark = open(folder / RUNNING_FILE, "ab")  # noqa: SIM115 - as long as the keeper runs
    with suppress(OSError):  # no such locks: it keeps the ledger all the same
        fcntl.flock(mark, fcntl.LOCK_SH)
    return mark


def is_any_running(folder: Path) -> bool:
    with suppress(OSError), open(folder / RUNNING_FILE, "rb") as mark:
        try:
            fcntl.flock(mark, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return True
    return False


FOLDER: Final = "keeper"


class _Peer:
    """The machine on one connection; `number` says which it is."""

    def __init__(self, machine: str, secret: bytes, number: int) -> None:
        self._machine = machine
        self._secret = secret
        self.number = number
        self.asked_at = time.monotonic()  # when it asked last
        self._known: tuple[Members, Member] | None = None

    def current_member(self, listed: Members, members: MemberFile) -> Member:
        """Who it is by the list as it stands now; Refused once it was taken off."""
        if self._known is None or self._known[0] is not listed:
            self._known = listed, members.authenticate(self._machine, self._secret)
        return self._known[1]

    def is_member(self, members: MemberFile) -> bool:
        """False once the machine was taken off."""
        try:
            self.current_member(members.read(), members)
        except Refused:
            return False
        except MootError:  # the list cannot be read just now: the next request says so
            return True
        return True


class KeeperServer:
    """Answers machines until it is closed. `repository` is what joining machines must work on."""

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
        """`on_failure` is called if it can answer nobody any more; `close` then raises why. `warn`
        is told what hinders it while it goes on. Another thread calls both."""
        folder.mkdir(mode=0o700, exist_ok=True)
        self._folder = folder
        self._engine = engine
        self._trust = trust
        self._repository = repository
        self.members = MemberFile(folder)
        self._handler = RequestHandler(engine, artifacts, folder)
        self._listening = KeeperListener(self, on_failure, warn)
        self._peers: dict[ServerConnection, _Peer] = {}
        self._listed: Members | None = None  # the machines, for what has come just now
        self._certificate = ensure_certificate(folder)
        self._mark = mark_running(folder)

    @property
    def fingerprint(self) -> str:
        return read_fingerprint(self._certificate)

    def listen_here(self, place: Path) -> None:
        """Listen for other clones and containers of this machine, without a port."""
        self._listening.listen_unix(place)

    def listen(self, host: str, port: int) -> int:
        return self._listening.listen_tls(host, port, server_context(self._certificate))

    def close(self) -> None:
        self._listening.close()
        self._handler.close()
        self._mark.close()
        failure = self._listening.failure
        if failure is not None:
            raise StoreFailed(
                "keeper_failed",
                f"the keeper cannot go on: {type(failure).__name__}: {failure}",
                hint="what was acknowledged is recorded; start it again: `moot keep`",
            ) from failure

    # Called by the one thread that serves all connections (`listener.py`).

    def receive(self, connection: ServerConnection, frame: bytes) -> None:
        """The first frame of a connection says who it is; each further one is a question."""
        peer = self._peers.get(connection)

        def fail(why: ask.Failed) -> None:
            connection.is_last = peer is None
            self._listening.answer(connection, ask.encode(why))

        def read() -> None:
            question = ask.decode_question(frame)
            if peer is None:
                self._admit(connection, question)
            else:
                self._handler.receive(self._asked(connection, peer, question))

        reply_if_it_fails(read, fail)

    def _asked(
        self, connection: ServerConnection, peer: _Peer, question: ask.AnyQuestion
    ) -> Request:
        peer.asked_at = time.monotonic()
        return Request(
            self._current_member(peer),
            connection,
            question,
            lambda answer: self._listening.answer(connection, ask.encode(answer)),
            lambda find: self._listening.answer_aside(
                connection, lambda: ask.encode(answer_safely(find))
            ),
        )

    def step(self) -> float:
        self._listed = None
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
        """Of a machine that has more than half of what there may be the longest silent connection,
        else the one that has waited longest for an answer: its machine connects again."""
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
        """Return the largest connection of the machine that has most bytes in memory."""
        held: Counter[int] = Counter()
        for connection, peer in self._peers.items():
            held[peer.number] += connection.held
        return max(
            self._peers,
            key=lambda connection: (held[self._peers[connection].number], connection.held),
            default=None,
        )

    def forget(self, connection: ServerConnection) -> None:
        self._peers.pop(connection, None)
        self._handler.forget(connection)

    def _current_member(self, peer: _Peer) -> Member:
        """The list is read once for all that has come."""
        if self._listed is None:
            self._listed = self.members.read()
        return peer.current_member(self._listed, self.members)

    def _admit(self, connection: ServerConnection, question: ask.AnyQuestion) -> None:
        """Welcome a machine, or let one join; both may write to the list of machines, which others
        may be changing: another thread waits for that."""
        if isinstance(question, ask.Join):
            connection.is_last = True
            self._listening.answer_aside(
                connection, lambda: ask.encode(answer_safely(lambda: self._join(question)))
            )
            return
        if not isinstance(question, ask.Hello):
            raise Malformed("a line begins with a greeting", code="bad_request")
        ask.require_same_version(ask.VERSION, question.version)
        member = self.members.authenticate(question.machine, question.secret)
        self._peers[connection] = _Peer(question.machine, question.secret, member.number)
        connection.most = MAX_FRAME
        if self.members.is_seen(member, question.program, self._engine.clock()):
            self._listening.answer(connection, self._welcome())
        else:
            self._listening.answer_aside(
                connection, lambda: self._note_seen(member, question.program)
            )

    def _note_seen(self, member: Member, program: str) -> bytes:
        with suppress(MootError, OSError):  # no room for it: no reason to send anybody away
            self.members.note_seen(member, program, self._engine.clock())
        return self._welcome()

    def _welcome(self) -> bytes:
        return ask.encode(ask.Welcome(ask.VERSION, VERSION, self._engine.clock()))

    def _join(self, question: ask.Join) -> ask.Joined:
        ask.require_same_version(ask.VERSION, question.version)
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
            lambda listed: self._require_own_custodian(listed, question),
            self._highest_owner(),
        )
        return ask.Joined(secret, self._trust)

    def _require_own_custodian(self, listed: Members, question: ask.Join) -> None:
        """A machine says itself which key folder it has: never one that is another's already."""
        machines, registry = listed.machines, self._engine.registry()
        theirs = {one.custodian for one in machines if one.revoked_at is None}
        if question.custodian in theirs | {registry.custodian}:
            raise Refused(
                "custodian_taken",
                "this key folder belongs to a machine that shares the ledger already",
                hint="work in that machine's clone; or where the ledger is kept let it be taken"
                " off first: `moot machine list` shows it, `moot machine revoke NAME` does it",
            )
        former = {one.custodian for one in machines if one.revoked_at is not None}
        on_record = {key.custodian for key in registry.keys.values() if key.ended is None}
        if question.custodian in on_record - former and not is_rejoin_proven(registry, question):
            raise Refused(
                "key_folder_unproven",
                "keys of this key folder are on record, of a machine that the keeper's list does"
                " not name any more",
                hint="join in the clone of that machine, with one of its agents' keys in the key"
                " folder; else with a new key folder (MOOT_KEYS)",
            )

    def _highest_owner(self) -> int:
        """Return the highest number of a machine that owns a session, joined or forgotten."""
        with self._engine.store.read() as view:
            return max((home for name, _, home in view.all_cursors() if name == OWNER), default=0)
