"""A keeper at work: a workspace, its door, the machines that may use it, and where it listens."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Final

from moot.core.errors import Malformed, MootError, Refused, StoreFailed
from moot.core.version import VERSION
from moot.engine.engine import Engine
from moot.keeper import questions as ask
from moot.keeper.certificate import ensure_certificate, read_fingerprint, server_context
from moot.keeper.door import Door, answer_safely
from moot.keeper.listening import Answering, KeeperListening
from moot.keeper.members import Member, MemberFile, joining_statement
from moot.store.artifacts import FileArtifacts

FOLDER: Final = "keeper"
SOCKET: Final = "door"


class Keeping:
    """Answers machines until it is closed. `repository` is what joining machines must work on."""

    def __init__(
        self,
        engine: Engine,
        artifacts: FileArtifacts,
        folder: Path,
        trust: bytes,
        repository: str,
    ) -> None:
        folder.mkdir(mode=0o700, exist_ok=True)
        self._folder = folder
        self._engine = engine
        self._trust = trust
        self._repository = repository
        self.members = MemberFile(folder)
        self._door = Door(engine, artifacts, folder)
        self._listening = KeeperListening(self._greet, self._door.forget, self._door.keeps_turn)
        self._certificate = ensure_certificate(folder)

    @property
    def fingerprint(self) -> str:
        return read_fingerprint(self._certificate)

    def listen_here(self) -> Path:
        """Listen for other users' programs of this machine; returns the socket."""
        place = self._folder / SOCKET
        self._listening.listen_unix(place)
        return place

    def listen(self, host: str, port: int) -> int:
        return self._listening.listen_tls(host, port, server_context(self._certificate))

    def close(self) -> None:
        self._listening.close()

    def _greet(self, frame: bytes, line: object) -> tuple[Answering | None, bytes]:
        try:
            question = ask.decode_question(frame)
            if isinstance(question, ask.Join):
                return None, ask.encode(self._join(question))
            if not isinstance(question, ask.Greet):
                raise Malformed("a line begins with a greeting", code="bad_request")
            ask.require_same_version(ask.VERSION, question.version)
            member = self.members.greet(question.machine, question.secret)
            with suppress(StoreFailed, OSError):  # no room for it: no reason to send anybody away
                self.members.note_seen(member, question.program, self._engine.clock())
        except MootError as error:
            return None, ask.encode(ask.fail(error))

        welcome = ask.Welcome(ask.VERSION, VERSION, self._engine.clock())
        return _Answering(self.members, self._door, member, question, line), ask.encode(welcome)

    def _join(self, question: ask.Join) -> ask.Joined:
        ask.require_same_version(ask.VERSION, question.version)
        if self._repository and question.repository != self._repository:
            raise Refused(
                "another_repository",
                "this ledger is kept for another repository",
                hint="join from a clone of that repository",
            )
        self._require_own_custodian(question.custodian)
        statement = joining_statement(question.machine, question.custodian, question.repository)
        _, secret = self.members.admit(
            question.invitation,
            question.machine,
            question.custodian,
            statement,
            question.proof,
            self._engine.clock(),
        )
        return ask.Joined(secret, self._trust)

    def _require_own_custodian(self, custodian: str) -> None:
        """A machine says itself which key folder it has: never one that is another's already."""
        machines = self.members.read().machines
        former = {one.custodian for one in machines if one.revoked_at is not None}
        theirs = {one.custodian for one in machines if one.revoked_at is None}
        theirs |= {key.custodian for key in self._engine.registry().keys.values()} - former
        if custodian in theirs:
            raise Refused(
                "custodian_taken",
                "this key folder belongs to a machine that shares the ledger already",
                hint="work in that machine's clone; or where the ledger is kept let it be taken"
                " off first: `moot machine list` shows it, `moot machine revoke NAME` does it",
            )


class _Answering:
    """Answers on one line, as long as its machine is one of us."""

    def __init__(
        self, members: MemberFile, door: Door, member: Member, greeting: ask.Greet, line: object
    ) -> None:
        self._members = members
        self._door = door
        self._greeting = greeting
        self._line = line
        self.number = member.number

    @property
    def is_welcome(self) -> bool:
        try:
            self._find_member()
        except Refused:
            return False
        except MootError:  # the list cannot be read just now: whoever asks is told
            return True
        return True

    def __call__(self, frame: bytes) -> bytes:
        return ask.encode(
            answer_safely(
                lambda: self._door.answer(
                    self._find_member(), self._line, ask.decode_question(frame)
                )
            )
        )

    def _find_member(self) -> Member:
        return self._members.greet(self._greeting.machine, self._greeting.secret)
