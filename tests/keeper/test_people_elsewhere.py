"""People on machines that joined: nobody becomes a person there without a person's consent."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import msgspec
import pytest

from moot.core.machine import KeyClass
from moot.core.names import REGISTRY, SYSTEM
from moot.core.registry.commands import AddKey
from moot.core.registry.model import KeyEndorsement
from moot.core.registry.proofs import key_statement, sign_endorsement, sign_proof
from moot.core.signing import Signer
from moot.engine.job import Job
from moot.keeper import questions as ask
from moot.keeper.copying import LedgerCopy
from moot.keeper.joined_engine import JoinedEngine
from moot.keys.folder import KeyFolder
from tests.cli.project import Project
from tests.keeper.kept import KeptLedger
from tests.keeper.test_broken_lines import Intruder
from tests.keeper.test_many_machines import OTTER, events_of
from tests.keys.cheap_locks import make_locks_cheap

PASSPHRASE = "correct horse battery staple"


@pytest.fixture(autouse=True)
def _cheap_locks(monkeypatch: pytest.MonkeyPatch) -> None:
    make_locks_cheap(monkeypatch)


@pytest.fixture
def typed(tmp_path: Path) -> dict[str, str]:
    """What lets a command ask for a passphrase."""
    file = tmp_path / "passphrase"
    file.write_text(PASSPHRASE)
    file.chmod(0o600)
    return {"MOOT_PASSPHRASE_FILE": str(file)}


class Attack(NamedTuple):
    """What is sent over the line, by somebody with one machine's secret and keys."""

    origin: str
    custodian: str
    position: ask.Follow
    now: int

    def make(self, name: str, kind: KeyClass, **changes: str) -> tuple[AddKey, bytes]:
        signer = Signer(Signer.new_seed())
        said = {"name": name, "public": signer.public.hex(), "custodian": self.custodian, **changes}
        statement = key_statement(origin=self.origin, kind=kind, epoch=1, **said)
        return AddKey(kind=kind, proof=sign_proof(signer, statement), **said), statement

    def ask(self, command: AddKey) -> ask.Commit:
        job = Job(REGISTRY, command, SYSTEM)
        place = (REGISTRY, 1_000, bytes(32))
        return ask.Commit(self.position, self.now, False, (ask.send_job(job),), (), (place,))


def plan_attack(laptop: Project) -> Attack:
    with laptop.workspace() as workspace:
        engine = workspace.engine
        assert isinstance(engine, JoinedEngine)
        copy: LedgerCopy = engine._copy
        copy.follow()
        custodian = KeyFolder(laptop.keys).custodian
        return Attack(workspace.trust.origin, custodian, copy.position(), engine.clock())


def answer_to(kept: KeptLedger, laptop: Project, question: ask.Question) -> ask.AnyAnswer:
    """What the keeper says to these bytes, whatever a machine's own program would have sent."""
    connection, line = Intruder(kept, laptop).greeted()
    line.send(ask.encode(question), 5)
    answer = ask.decode_answer(line.receive(5))
    connection.close()
    return answer


def test_a_machine_cannot_make_the_first_person(kept: KeptLedger, laptop: Project) -> None:
    """On one machine the first person is its owner; a machine that joined is not the ledger's."""
    attack = plan_attack(laptop)
    command, _ = attack.make("eve-eve", KeyClass.HUMAN)
    before = events_of(kept.project)
    answer = answer_to(kept, laptop, attack.ask(command))
    assert isinstance(answer, ask.Failed), answer
    assert (answer.kind, answer.code) == ("Refused", "human_key_required")
    assert "`moot agent register NAME --human`" in answer.hint
    assert events_of(kept.project) == before
    assert "eve-eve" not in {row["agent"] for row in kept.project.ok("agent", "list")["agents"]}


def test_the_consent_of_nobody_and_of_an_agent_makes_no_person(
    kept: KeptLedger, laptop: Project, typed: dict[str, str]
) -> None:
    kept.project.ok("agent", "register", "alice", "--human", **typed)
    attack = plan_attack(laptop)
    command, statement = attack.make("eve-eve", KeyClass.HUMAN)
    with laptop.workspace() as workspace:
        registry = workspace.engine.registry()
        held = workspace.keys.find(OTTER, registry.agents[OTTER].kid)
        alice = registry.agents["alice"].kid
    assert held is not None
    before = events_of(kept.project)
    for endorsement in (
        None,
        KeyEndorsement(kid=alice, sig="00" * 64),
        sign_endorsement(held.signer, statement),
        msgspec.structs.replace(sign_endorsement(held.signer, statement), kid=alice),
    ):
        wanted = msgspec.structs.replace(command, endorsement=endorsement)
        answer = answer_to(kept, laptop, attack.ask(wanted))
        problem = answer.problem if isinstance(answer, ask.DecideAgain) else answer
        assert isinstance(problem, ask.Failed), answer
        assert problem.code == "human_key_required"
    assert events_of(kept.project) == before


def test_a_machine_enters_no_agent_under_another_key_folder(
    kept: KeptLedger, laptop: Project, desktop: Project, typed: dict[str, str]
) -> None:
    """Not even with the consent of its own agent."""
    kept.project.ok("agent", "register", "alice", "--human", **typed)
    attack, theirs = plan_attack(laptop), KeyFolder(desktop.keys).custodian
    command, statement = attack.make("coral-finch", KeyClass.AGENT, custodian=theirs)
    with laptop.workspace() as workspace:
        held = workspace.keys.find(OTTER, workspace.engine.registry().agents[OTTER].kid)
    assert held is not None
    consent = sign_endorsement(held.signer, statement)
    before = events_of(kept.project)
    for endorsement in (None, consent):
        wanted = msgspec.structs.replace(command, endorsement=endorsement)
        answer = answer_to(kept, laptop, attack.ask(wanted))
        assert isinstance(answer, ask.Failed), answer
        assert answer.code == "ledgers_part"
    assert events_of(kept.project) == before
