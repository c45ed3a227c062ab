"""What one machine's secret allows and does not, and what the database's password does."""

from __future__ import annotations

import random
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec
import psycopg
import pytest

from moot.api.presence import scopes
from moot.api.session import Session
from moot.core.errors import Malformed, MootError, Refused
from moot.engine.job import Job
from moot.engine.replay import read_record
from moot.hosts import messages as wire
from moot.hosts.joined_engine import JoinedEngine
from moot.hosts.joining import join_workspace
from moot.hosts.members import MemberFile, hash_code, joining_statement, prove_invitation
from moot.hosts.replica import KeeperConnection
from moot.keys.folder import KeyFolder
from moot.protocols.example.model import Ask
from moot.protocols.presence import STREAM
from moot.protocols.presence.events import ScopeReleased, ScopeReserved
from moot.protocols.presence.machine import MACHINE
from tests.hosts.kept_ledger import KeptLedger
from tests.hosts.test_broken_connections import Intruder
from tests.hosts.test_several_hosts import CRANE, OTTER, events_of, held_paths, reserve
from tests.project import Project
from tests.store.postgres_server import PostgresServer

# Thirty at once -----------------------------------------------------------------------------------

PATHS = ("src", "src/a", "src/a/b.py", "src/c.py", "docs", "docs/x.md", "tests", "tests/one")
NAMES = tuple(f"agent-{number:02}" for number in range(30))
MACHINES = 5


def test_thirty_agents_on_overlapping_scopes_never_have_two_owners(
    kept: KeptLedger, tmp_path: Path
) -> None:
    """From the record: an agent that reserves holds it alone until it is released."""
    machines = [
        kept.join(tmp_path / f"m{n}" / "project", tmp_path / f"m{n}" / "keys", f"machine-{n}")
        for n in range(MACHINES)
    ]
    homes = {name: machines[place % MACHINES] for place, name in enumerate(NAMES)}
    for name, home in homes.items():
        home.ok("agent", "register", name)
    with ThreadPoolExecutor(len(NAMES)) as pool:
        got = sum(pool.map(lambda name: _want_scopes(homes[name], name), NAMES))
    assert _require_one_owner(kept.project) == got
    assert got >= len(PATHS), "many got something"


def _want_scopes(project: Project, name: str) -> int:
    """How many it got; it gives each back at once."""
    chance, got = random.Random(name), 0
    session = Session(project.root, acting=name, keys=KeyFolder(project.keys), env=project.env)
    with session:
        for _ in range(4):
            try:
                scopes.reserve(session, [chance.choice(PATHS)])
            except MootError as error:
                if error.code not in ("reservation_conflict", "too_busy"):
                    raise
                continue
            got += 1
            scopes.release(session, everything=True)
    return got


def _require_one_owner(project: Project) -> int:
    """Read the record from its beginning; how many reservations it holds."""
    held: dict[str, str] = {}
    count = 0
    with project.workspace() as workspace, workspace.store.read() as view:
        records = [read_record(MACHINE, record) for record in view.records(STREAM)]
    for recorded in records:
        match recorded.event:
            case ScopeReserved(scope=scope):
                others = {path for path, owner in held.items() if owner != recorded.actor.id}
                assert not any(_overlap(scope, path) for path in others), recorded
                held[scope] = recorded.actor.id
                count += 1
            case ScopeReleased(scope=scope):
                held.pop(scope)
    return count


def _overlap(one: str, other: str) -> bool:
    return f"{one}/".startswith(f"{other}/") or f"{other}/".startswith(f"{one}/")


NOTHING = wire.CopyPosition(0, b"", 0, 0)

# With one machine's secret ------------------------------------------------------------------------


def test_a_machine_that_always_wants_a_turn_keeps_nobody_out(
    kept: KeptLedger, laptop: Project, desktop: Project
) -> None:
    intruder, stop = Intruder(kept, laptop), threading.Event()

    def want_turns() -> None:
        line = KeeperConnection(intruder.membership, seconds=30)
        while not stop.is_set():
            line.ask(wire.TakeTurn((STREAM, "registry"), NOTHING), wire.SyncDelta)
        line.close()

    greedy = [threading.Thread(target=want_turns) for _ in range(8)]
    for thread in greedy:
        thread.start()
    try:
        for number in range(3):
            assert reserve(desktop, CRANE, f"src/{number}.py") == ""
    finally:
        stop.set()
        for thread in greedy:
            thread.join(60)


def test_a_machine_cannot_join_as_another_ones_key_folder(
    kept: KeptLedger, laptop: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    theirs = KeyFolder(laptop.keys).custodian
    monkeypatch.setattr(KeyFolder, "custodian", theirs)
    (tmp_path / "evil").mkdir()
    with pytest.raises(Refused) as refused:
        join_workspace(
            tmp_path / "evil", KeyFolder(tmp_path / "evil-keys"), kept.invite(), "evil", ""
        )
    assert refused.value.code == "custodian_taken"
    assert not (tmp_path / "evil" / ".moot").exists()


def test_two_that_join_at_once_do_not_have_one_key_folder(
    kept: KeptLedger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both would be the same machine to the ledger: each could end the other's agents."""
    together, admit = threading.Barrier(2), MemberFile.admit
    statement = ("c" * 32, "")

    def admit_together(self: MemberFile, *arguments: object) -> object:
        together.wait(10)
        return admit(self, *arguments)  # type: ignore[arg-type]

    def join(name: str) -> str:
        invited = kept.invite()
        proof = prove_invitation(hash_code(invited.code), joining_statement(name, *statement))
        try:
            kept.keeping._join(wire.Join(wire.VERSION, name, *statement, invited.id, proof))
        except MootError as error:
            return error.code
        return ""

    monkeypatch.setattr(MemberFile, "admit", admit_together)
    with ThreadPoolExecutor(2) as pool:
        assert sorted(pool.map(join, ("first", "second"))) == ["", "custodian_taken"]
    assert len(kept.keeping.members.read().machines) == 1


def test_what_the_rules_refuse_is_refused_at_the_keeper_whatever_a_machine_decides(
    kept: KeptLedger, laptop: Project, desktop: Project
) -> None:
    """A machine that signs with a good key what its own, changed rules allow."""
    assert reserve(laptop, OTTER, "src/a.py") == ""
    with desktop.workspace() as workspace:
        engine = workspace.engine
        assert isinstance(engine, JoinedEngine)
        engine._copy.sync()
        with engine.store.read() as view:
            first = next(view.records(STREAM))
        job = Job("example/today", Ask(title="x", of=CRANE, due_at=None), CRANE)
        before = events_of(kept.project)
        lie = wire.Commit(
            engine._copy.position(),
            engine.clock(),
            False,
            (wire.pack_job(job),),
            ((first.raw, first.signature),),
            (("example/today", 0, bytes(32)),),
        )
        answer = engine._copy.connection.ask(lie, wire.DecideAgain)
        assert isinstance(answer, wire.DecideAgain)
    assert events_of(kept.project) == before


def test_a_number_that_no_store_holds_is_no_question(
    kept: KeptLedger, laptop: Project, desktop: Project
) -> None:
    """It would make the store fail for everybody whose command is committed in the same group."""
    with desktop.workspace() as workspace:
        engine = workspace.engine
        assert isinstance(engine, JoinedEngine)
        engine._copy.sync()
        before = events_of(kept.project)
        position = engine._copy.position()
        for field in ("position", "note", "beats"):
            huge = msgspec.structs.replace(position, **{field: 2**63})
            with pytest.raises(Malformed) as refused:
                engine._copy.connection.ask(huge, wire.SyncDelta)
            assert refused.value.code == "bad_request"
    assert events_of(kept.project) == before
    assert reserve(laptop, OTTER, "src/a.py") == ""


# With the database's password ---------------------------------------------------------------------


@pytest.fixture
def database() -> Iterator[PostgresServer]:
    server = PostgresServer()
    yield server
    server.end()


@pytest.fixture
def in_database(
    kept: KeptLedger, database: PostgresServer, tmp_path: Path
) -> Iterator[tuple[KeptLedger, Project, psycopg.Connection]]:
    """A keeper over PostgreSQL, a machine that joined, and somebody with the password."""
    kept.close()
    kept.project.ok("ledger", "move", database.url)
    ledger = KeptLedger(kept.project)
    laptop = ledger.join(tmp_path / "l" / "project", tmp_path / "l" / "keys", "laptop")
    laptop.ok("agent", "register", OTTER)
    assert reserve(laptop, OTTER, "src/a.py") == ""
    with psycopg.connect(database.url, autocommit=True) as attacker:
        (schema,) = attacker.execute(
            "SELECT nspname FROM pg_namespace WHERE nspname LIKE 'moot_%'"
        ).fetchone() or ("",)
        attacker.execute(f"SET search_path = {schema}".encode())
        yield ledger, laptop, attacker
    ledger.close()


InDatabase = tuple[KeptLedger, Project, psycopg.Connection]


def test_an_event_that_the_database_makes_up_is_taken_over_by_no_machine(
    in_database: InDatabase,
) -> None:
    ledger, laptop, attacker = in_database
    attacker.execute(
        "INSERT INTO events (id, stream, seq, kid, body, sig, key) SELECT id + 1, stream, seq + 1,"
        " kid, body, sig, NULL FROM events ORDER BY id DESC LIMIT 1"
    )
    attacker.execute(
        "UPDATE streams SET seq = seq + 1 WHERE number ="
        " (SELECT stream FROM events ORDER BY id DESC LIMIT 1)"
    )
    before = held_paths(laptop)
    assert reserve(laptop, OTTER, "src/b.py") not in ("", "reservation_conflict")
    assert held_paths(laptop) == before == ["src/a.py"]
    assert ledger.project.json("verify").data["verdict"] == "tampered"


def test_an_event_that_the_database_hides_is_missed_by_every_machine(
    in_database: InDatabase,
) -> None:
    ledger, laptop, attacker = in_database
    for statement in (
        "ALTER TABLE events DISABLE TRIGGER USER",
        "CREATE TEMP TABLE gone AS SELECT * FROM events ORDER BY id DESC LIMIT 1",
        "DELETE FROM events WHERE id IN (SELECT id FROM gone)",
        "UPDATE streams SET seq = streams.seq - 1 FROM gone WHERE number = gone.stream",
    ):
        attacker.execute(statement.encode())
    assert reserve(laptop, OTTER, "src/b.py") == "another_history"
    assert held_paths(laptop) == ["src/a.py"], "what was seen stays"
    assert ledger.project.json("verify").data["verdict"] != "valid"


def test_anyone_who_holds_the_databases_lock_delays_and_changes_nothing(
    in_database: InDatabase,
) -> None:
    ledger, laptop, attacker = in_database
    before = events_of(ledger.project)
    with ThreadPoolExecutor(1) as pool:
        with attacker.transaction():
            attacker.execute("SELECT pg_advisory_xact_lock(hashtextextended(current_schema(), 0))")
            waiting = pool.submit(reserve, laptop, OTTER, "src/b.py")
            while not attacker.execute("SELECT 1 FROM pg_locks WHERE NOT granted").fetchone():
                assert not waiting.done()
        assert waiting.result(timeout=60) == ""
    assert events_of(ledger.project) == before + 1
