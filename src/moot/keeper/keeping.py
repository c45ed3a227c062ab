"""A keeper at work: a workspace, its door, the machines that may use it, and where it listens."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

from moot.core.errors import Malformed, MootError, Refused, StoreFailed
from moot.core.version import VERSION
from moot.engine.engine import Engine
from moot.keeper import questions as ask
from moot.keeper.certificate import ensure_certificate, read_fingerprint, server_context
from moot.keeper.connection import Connection
from moot.keeper.door import Asked, Door, answer_safely, reply_if_it_fails
from moot.keeper.homes import HOME
from moot.keeper.line import MAX_FRAME
from moot.keeper.listening import KeeperListening
from moot.keeper.members import Member, MemberFile, Members, joining_statement
from moot.keeper.returning import is_return_proven
from moot.keeper.running_mark import mark_running
from moot.store.artifacts import FileArtifacts

FOLDER: Final = "keeper"


class _Visitor:
    """A machine on one line, as it greeted. `number` is which machine it is."""

    def __init__(self, machine: str, secret: bytes, number: int) -> None:
        self._machine = machine
        self._secret = secret
        self.number = number
        self.asked_at = time.monotonic()  # when it asked last
        self._known: tuple[Members, Member] | None = None

    def current_member(self, listed: Members, members: MemberFile) -> Member:
        """Who it is by the list as it stands now; Refused once it was taken off."""
        if self._known is None or self._known[0] is not listed:
            self._known = listed, members.greet(self._machine, self._secret)
        return self._known[1]

    def is_welcome(self, members: MemberFile) -> bool:
        """False once the machine was taken off."""
        try:
            self.current_member(members.read(), members)
        except Refused:
            return False
        except MootError:  # the list cannot be read just now: whoever asks is told
            return True
        return True


class Keeping:
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
        self._door = Door(engine, artifacts, folder)
        self._listening = KeeperListening(self, on_failure, warn)
        self._visitors: dict[Connection, _Visitor] = {}
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
        self._door.close()
        self._mark.close()
        failure = self._listening.failure
        if failure is not None:
            raise StoreFailed(
                "keeper_failed",
                f"the keeper cannot go on: {type(failure).__name__}: {failure}",
                hint="what was acknowledged is recorded; start it again: `moot keep`",
            ) from failure

    # Called by the one thread that serves all lines (`listening.py`).

    def receive(self, line: Connection, frame: bytes) -> None:
        """The first frame of a line says who it is; each further one is a question."""
        visitor = self._visitors.get(line)

        def fail(why: ask.Failed) -> None:
            line.is_last = visitor is None
            self._listening.answer(line, ask.encode(why))

        def read() -> None:
            question = ask.decode_question(frame)
            if visitor is None:
                self._greet(line, question)
            else:
                self._door.receive(self._asked(line, visitor, question))

        reply_if_it_fails(read, fail)

    def _asked(self, line: Connection, visitor: _Visitor, question: ask.AnyQuestion) -> Asked:
        visitor.asked_at = time.monotonic()
        return Asked(
            self._current_member(visitor),
            line,
            question,
            lambda answer: self._listening.answer(line, ask.encode(answer)),
            lambda find: self._listening.answer_aside(
                line, lambda: ask.encode(answer_safely(find))
            ),
        )

    def step(self) -> float:
        self._listed = None
        return self._door.step()

    def keeps_turn(self, line: Connection) -> bool:
        return self._door.keeps_turn(line)

    def forget_turn(self, line: Connection) -> None:
        self._door.forget(line)

    def find_unwelcome(self) -> list[Connection]:
        return [
            line for line, visitor in self._visitors.items() if not visitor.is_welcome(self.members)
        ]

    def find_spare(self, most: int) -> Connection | None:
        """Of a machine that has more than half of what there may be the longest silent line, else
        the one that has waited longest for an answer: whoever needs it makes it anew."""
        numbers = [visitor.number for visitor in self._visitors.values()]
        greediest = max(numbers, key=numbers.count, default=0)
        if numbers.count(greediest) <= most // 2:
            return None
        theirs = {
            line: (line.is_answering, visitor.asked_at)
            for line, visitor in self._visitors.items()
            if visitor.number == greediest
        }
        return min(theirs, key=lambda line: theirs[line])

    def find_longest(self) -> Connection | None:
        """Of the machine for which most is kept, over all of its lines, the line with most."""
        held: Counter[int] = Counter()
        for line, visitor in self._visitors.items():
            held[visitor.number] += line.held
        return max(
            self._visitors,
            key=lambda line: (held[self._visitors[line].number], line.held),
            default=None,
        )

    def forget(self, line: Connection) -> None:
        self._visitors.pop(line, None)
        self._door.forget(line)

    def _current_member(self, visitor: _Visitor) -> Member:
        """The list is read once for all that has come."""
        if self._listed is None:
            self._listed = self.members.read()
        return visitor.current_member(self._listed, self.members)

    def _greet(self, line: Connection, question: ask.AnyQuestion) -> None:
        """Welcome a machine, or let one join; both may write to the list of machines, which others
        may be changing: another thread waits for that."""
        if isinstance(question, ask.Join):
            line.is_last = True
            self._listening.answer_aside(
                line, lambda: ask.encode(answer_safely(lambda: self._join(question)))
            )
            return
        if not isinstance(question, ask.Greet):
            raise Malformed("a line begins with a greeting", code="bad_request")
        ask.require_same_version(ask.VERSION, question.version)
        member = self.members.greet(question.machine, question.secret)
        self._visitors[line] = _Visitor(question.machine, question.secret, member.number)
        line.most = MAX_FRAME
        if self.members.is_seen(member, question.program, self._engine.clock()):
            self._listening.answer(line, self._welcome())
        else:
            self._listening.answer_aside(line, lambda: self._note_seen(member, question.program))

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
            self._highest_home(),
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
        if question.custodian in on_record - former and not is_return_proven(registry, question):
            raise Refused(
                "key_folder_unproven",
                "keys of this key folder are on record, of a machine that the keeper's list does"
                " not name any more",
                hint="join in the clone of that machine, with one of its agents' keys in the key"
                " folder; else with a new key folder (MOOT_KEYS)",
            )

    def _highest_home(self) -> int:
        """The highest number of a machine on which anything is at home, joined or forgotten."""
        with self._engine.store.read() as view:
            return max((home for name, _, home in view.all_cursors() if name == HOME), default=0)
