"""People on machines that joined: nobody becomes a person there without a person's consent."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import msgspec
import pytest

from moot.core.machine import KeyClass
from moot.core.names import REGISTRY, SYSTEM
from moot.core.registry.model import (
    AddKey,
    KeyEndorsement,
    key_statement,
    sign_endorsement,
    sign_proof,
)
from moot.core.signing import Signer
from moot.engine.job import Job
from moot.hosts import messages as wire
from moot.hosts.joined_engine import JoinedEngine
from moot.hosts.joining import join_workspace
from moot.hosts.replica import LedgerCopy
from moot.keys.folder import KeyFolder
from tests.cli.terminal import on_a_terminal
from tests.hosts.kept_ledger import KeptLedger
from tests.hosts.test_broken_connections import Intruder
from tests.hosts.test_several_hosts import OTTER, events_of
from tests.project import Project

PASSPHRASE = "correct horse battery staple"


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
    position: wire.CopyPosition
    now: int

    def make(self, name: str, kind: KeyClass, custodian: str = "") -> tuple[AddKey, bytes]:
        signer = Signer(Signer.new_seed())
        public, keeps = signer.public.hex(), custodian or self.custodian
        statement = key_statement(
            origin=self.origin, name=name, kind=kind, epoch=1, public=public, custodian=keeps
        )
        return AddKey(name, kind, public, keeps, sign_proof(signer, statement)), statement

    def ask(self, command: AddKey) -> wire.Commit:
        job = Job(REGISTRY, command, SYSTEM)
        place = (REGISTRY, 1_000, bytes(32))
        return wire.Commit(self.position, self.now, False, (wire.pack_job(job),), (), (place,))


def plan_attack(laptop: Project) -> Attack:
    with laptop.workspace() as workspace:
        engine = workspace.engine
        assert isinstance(engine, JoinedEngine)
        copy: LedgerCopy = engine._copy
        copy.sync()
        custodian = KeyFolder(laptop.keys).custodian
        return Attack(workspace.trust.origin, custodian, copy.position(), engine.clock())


def answer_to(kept: KeptLedger, laptop: Project, question: wire.Question) -> wire.AnyAnswer:
    """What the keeper says to these bytes, whatever a machine's own program would have sent."""
    connection, line = Intruder(kept, laptop).greeted()
    line.send(wire.encode(question), 5)
    answer = wire.decode_answer(line.receive(5))
    connection.close()
    return answer


def test_a_machine_cannot_make_the_first_person(kept: KeptLedger, laptop: Project) -> None:
    """On one machine the first person is its owner; a machine that joined is not the ledger's."""
    attack = plan_attack(laptop)
    command, _ = attack.make("eve-eve", KeyClass.HUMAN)
    before = events_of(kept.project)
    answer = answer_to(kept, laptop, attack.ask(command))
    assert isinstance(answer, wire.Failed), answer
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
        problem = answer.problem if isinstance(answer, wire.DecideAgain) else answer
        assert isinstance(problem, wire.Failed), answer
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
        assert isinstance(answer, wire.Failed), answer
        assert answer.code == "ledgers_part"
    assert events_of(kept.project) == before


# Admitting ----------------------------------------------------------------------------------------


@pytest.fixture
def alice(kept: KeptLedger, typed: dict[str, str]) -> KeptLedger:
    """A ledger whose owner is registered as a person."""
    kept.project.ok("agent", "register", "alice", "--human", **typed)
    return kept


def ask_to_be_admitted(laptop: Project, typed: dict[str, str], name: str = "bob") -> str:
    made = laptop.ok("agent", "register", name, "--human", **typed)
    assert (made["status"], made["class"], made["agent"]) == ("waiting", "human", name)
    assert made["custodian"] == KeyFolder(laptop.keys).custodian
    return str(made["admission"])


def people(project: Project) -> set[str]:
    listed = project.ok("agent", "list")["agents"]
    return {row["agent"] for row in listed if row["class"] == "human"}


def test_a_person_is_admitted_by_one_who_sits_at_the_keeper(
    alice: KeptLedger, laptop: Project, typed: dict[str, str]
) -> None:
    word = ask_to_be_admitted(laptop, typed)
    assert people(alice.project) == {"alice"}
    admitted = alice.project.ok("admit", word, **typed)
    assert (admitted["agent"], admitted["by"], admitted["machine"]) == ("bob", "alice", "laptop")
    assert (admitted["status"], admitted["class"]) == ("active", "human")
    assert admitted["custodian"] == KeyFolder(laptop.keys).custodian
    assert people(laptop) == people(alice.project) == {"alice", "bob"}
    laptop.ok("--as", "bob", "config", "stale-minutes", "7", **typed)
    assert alice.project.json("verify").data["verdict"] == "valid"
    assert laptop.json("verify").data["verdict"] == "valid"


def test_anyone_who_consents_is_told_what_the_machine_is_called_now(
    alice: KeptLedger, laptop: Project, typed: dict[str, str]
) -> None:
    """An invited machine can claim the key folder of one that was revoked."""
    alice.project.ok("machine", "revoke", "laptop")
    assert join_workspace(laptop.root, KeyFolder(laptop.keys), alice.invite(), "stranger", "")
    word = ask_to_be_admitted(laptop, typed)
    assert alice.project.ok("admit", word, **typed)["machine"] == "stranger"


def test_a_person_is_admitted_by_one_who_sits_at_another_machine(
    alice: KeptLedger, laptop: Project, desktop: Project, typed: dict[str, str]
) -> None:
    alice.project.ok("admit", ask_to_be_admitted(laptop, typed), **typed)
    word = ask_to_be_admitted(desktop, typed, "carol")
    admitted = laptop.ok("admit", word, **typed)
    assert (admitted["by"], admitted["custodian"]) == ("bob", KeyFolder(desktop.keys).custodian)
    desktop.ok("--as", "carol", "config", "stale-minutes", "7", **typed)
    assert people(alice.project) == {"alice", "bob", "carol"}


def test_what_is_admitted_is_shown_on_both_sides(
    alice: KeptLedger, laptop: Project, typed: dict[str, str]
) -> None:
    there = laptop.run("agent", "register", "bob", "--human", **typed)
    asked = laptop.ok("agent", "register", "bob", "--human", **typed)
    assert asked["fingerprint"] in there.out
    assert f"  moot admit {asked['admission']}\n" in there.out, "the same word again"
    here = alice.project.run("admit", asked["admission"], **typed)
    assert asked["fingerprint"] in here.out
    assert "on laptop" in here.out
    assert len(list(laptop.keys.glob("*/bob.*.key"))) == 1


def test_a_repeat_admits_nobody_twice(
    alice: KeptLedger, laptop: Project, typed: dict[str, str]
) -> None:
    word = ask_to_be_admitted(laptop, typed)
    alice.project.ok("admit", word, **typed)
    before = events_of(alice.project)
    again = alice.project.ok("admit", word, **typed)
    assert (again["agent"], again["by"]) == ("bob", None)
    assert laptop.ok("admit", word)["by"] is None
    assert laptop.refused("agent", "register", "bob", "--human", **typed)[0] == "name_taken"
    assert events_of(alice.project) == before
    assert len(list(laptop.keys.glob("*/bob.*.key"))) == 1


@pytest.mark.requirement("HST-013")
def test_nobody_is_admitted_without_a_person(
    alice: KeptLedger, laptop: Project, desktop: Project, typed: dict[str, str]
) -> None:
    word = ask_to_be_admitted(laptop, typed)
    before = events_of(alice.project)
    for project, settings in (
        (laptop, typed),  # bob does not admit himself
        (desktop, typed),
        (alice.project, {}),  # nobody unlocks a key
        (alice.project, {"MOOT_AGENT": OTTER, **typed}),
    ):
        code, _ = project.refused("admit", word, **settings)
        assert code == "human_key_required"
    assert events_of(alice.project) == before


def test_before_the_owner_is_registered_nobody_asks(
    kept: KeptLedger, laptop: Project, typed: dict[str, str]
) -> None:
    done = laptop.json("agent", "register", "bob", "--human", **typed)
    assert done.error["code"] == "human_key_required"
    assert "on the machine that keeps the ledger" in done.error["hint"]
    assert not list(laptop.keys.glob("*/bob.*.key"))
    kept.project.ok("agent", "register", "alice", "--human", **typed)
    assert ask_to_be_admitted(laptop, typed)


def test_a_name_that_was_given_meanwhile_is_not_given_again(
    alice: KeptLedger, laptop: Project, desktop: Project, typed: dict[str, str]
) -> None:
    word = ask_to_be_admitted(laptop, typed)
    desktop.ok("agent", "register", "bob")
    before = events_of(alice.project)
    assert alice.project.refused("admit", word, **typed)[0] == "name_taken"
    assert laptop.refused("agent", "register", "bob", "--human", **typed)[0] == "name_taken"
    assert laptop.refused("agent", "register", "system", "--human", **typed)[0] == "name_reserved"
    assert not list(laptop.keys.glob("*/system.*.key"))
    assert events_of(alice.project) == before


def test_a_word_of_another_ledger_admits_nobody(
    alice: KeptLedger, laptop: Project, typed: dict[str, str], tmp_path: Path
) -> None:
    other = Project(tmp_path / "other" / "project", tmp_path / "other" / "keys")
    other.root.mkdir(parents=True)
    other.ok("init", **typed)
    word = ask_to_be_admitted(laptop, typed)
    before = events_of(other)
    assert other.refused("admit", word, **typed)[0] == "another_ledger"
    assert events_of(other) == before
    assert people(alice.project) == {"alice"}


def test_a_damaged_word_admits_nobody(
    alice: KeptLedger, laptop: Project, typed: dict[str, str]
) -> None:
    word = ask_to_be_admitted(laptop, typed)
    name, _, rest = word.partition("#")
    before = events_of(alice.project)
    damaged = {
        "",
        name,
        rest,
        f"rob#{rest}",
        f"BOB#{rest}",
        f"{name}#",
        f"{name}#{rest[:-1]}",
        f"{name}#{rest}AAAA",
        f"{name}#{rest}" + "A" * 1_000,
        *(
            f"{name}#{rest[:at]}{'B' if rest[at] == 'A' else 'A'}{rest[at + 1 :]}"
            for at in range(0, len(rest) - 1, 9)
        ),
    }
    for text in damaged - {word}:
        code, _ = alice.project.refused("admit", "--", text, **typed)
        assert code == "bad_admission", text
    assert events_of(alice.project) == before


def test_a_second_key_of_a_waiting_name_is_another_word(
    alice: KeptLedger, laptop: Project, typed: dict[str, str], tmp_path: Path
) -> None:
    """A person who forgot the passphrase starts again; what was admitted counts."""
    first = ask_to_be_admitted(laptop, typed)
    other = tmp_path / "other-passphrase"
    other.write_text("another passphrase altogether")
    other.chmod(0o600)
    second = ask_to_be_admitted(laptop, {"MOOT_PASSPHRASE_FILE": str(other)})
    assert first != second
    alice.project.ok("admit", second, **typed)
    assert alice.project.refused("admit", first, **typed)[0] == "name_taken"
    assert laptop.ok("--as", "bob", "config", "stale-minutes", "7", MOOT_PASSPHRASE_FILE=str(other))


def test_a_person_whose_key_was_admitted_renews_it_at_home(
    alice: KeptLedger, laptop: Project, typed: dict[str, str]
) -> None:
    alice.project.ok("admit", ask_to_be_admitted(laptop, typed), **typed)
    laptop.ok("agent", "rotate", "bob", **typed)
    laptop.ok("--as", "bob", "config", "stale-minutes", "7", **typed)


def test_at_a_terminal_the_fingerprint_is_compared_before_a_key_is_unlocked(
    alice: KeptLedger, laptop: Project, typed: dict[str, str]
) -> None:
    asked = laptop.ok("agent", "register", "bob", "--human", **typed)
    before = events_of(alice.project)
    seen = on_a_terminal(alice.project, "admit", asked["admission"], typed=["n"])
    assert "[not_admitted]" in seen
    assert asked["fingerprint"] in seen
    assert "bob asks to be a person here; the key is on laptop" in seen
    assert "passphrase" not in seen
    assert events_of(alice.project) == before
    seen = on_a_terminal(alice.project, "admit", asked["admission"], typed=["y", PASSPHRASE])
    assert "bob is a person here, by the consent of alice" in seen
    assert people(laptop) == {"alice", "bob"}
    assert "had been admitted before" in on_a_terminal(alice.project, "admit", asked["admission"])
