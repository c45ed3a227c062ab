"""The registry's rules, one by one: what is accepted, what is refused, and that nothing changed."""

from __future__ import annotations

from functools import partial
from typing import Any

import msgspec
import pytest

from moot.core.machine import Command, Draft, KeyClass, Put, Recorded
from moot.core.names import RESERVED, SYSTEM
from moot.core.record import ArtifactRef
from moot.core.registry import MACHINE
from moot.core.registry import model as ask
from moot.core.registry import model as did
from moot.core.registry.model import (
    KeyEnding,
    KeyEndorsement,
    RegisteredKey,
    key_statement,
    sign_endorsement,
    sign_proof,
)
from moot.core.signing import KEY_PROOF
from tests.core.registry_machine import (
    CUSTODIAN,
    HEADS,
    ORIGIN,
    PIN,
    ROOT,
    RegistryScenario,
    creation,
    signer,
)

OTTER, CRANE = signer("amber-otter"), signer("teal-crane")
NEW = signer("new")


# Founding


@pytest.mark.requirement("REG-30")
def test_a_ledger_begins_with_its_two_keys() -> None:
    scenario = RegistryScenario(created=False)
    (event,) = scenario.accept(creation())
    assert isinstance(event, did.LedgerCreated)
    state = scenario.state
    assert (state.origin, state.root, state.checkpoint) == (
        ORIGIN,
        ROOT.public.hex(),
        PIN.public.hex(),
    )
    assert (state.position, state.clock, state.custodian) == (0, "system", CUSTODIAN)
    root = (ROOT.kid, SYSTEM, KeyClass.SYSTEM, 1, ROOT.public.hex(), CUSTODIAN, 0)
    assert state.keys[ROOT.kid] == RegisteredKey(*root)


@pytest.mark.requirement("REG-00")
@pytest.mark.parametrize(
    "command",
    [
        ask.RetireAgent(name="amber-otter"),
        ask.RevokeKey(kid="0" * 32, reason="r", heads=HEADS),
        ask.EraseArtifact(sha256="0" * 64, size=1, reason="r"),
        ask.AcceptHistory(lost="x", reason="r"),
    ],
)
def test_nothing_happens_before_a_ledger_exists(command: Command) -> None:
    RegistryScenario(created=False).refuse("REG-00", "no_ledger", command)


@pytest.mark.requirement("REG-10")
def test_a_ledger_is_created_once() -> None:
    RegistryScenario().refuse("REG-10", "ledger_exists", creation())


@pytest.mark.requirement("REG-11")
@pytest.mark.parametrize(
    "changed",
    [
        {"root": signer("another").public.hex()},
        {"root": "01" + "00" * 31},
        {"root": "zz"},
        {"checkpoint_proof": "00" * 64},
        {"checkpoint_proof": "zz"},
        {"checkpoint": NEW.public.hex()},
        {"custodian": "e" * 32},
    ],
    ids=str,
)
def test_a_founding_whose_keys_do_not_hold_is_refused(changed: dict[str, Any]) -> None:
    RegistryScenario(created=False).refuse("REG-11", "bad_founding", creation(**changed))


@pytest.mark.requirement("REG-11")
def test_the_checkpoint_key_may_not_be_the_root_key() -> None:
    """One purpose a key."""
    said = key_statement(
        origin=ORIGIN,
        name="checkpoint",
        kind=KeyClass.CHECKPOINT,
        epoch=1,
        public=ROOT.public.hex(),
        custodian=CUSTODIAN,
    )
    command = creation(checkpoint=ROOT.public.hex(), checkpoint_proof=sign_proof(ROOT, said))
    RegistryScenario(created=False).refuse("REG-11", "bad_founding", command)


# Who may ask


@pytest.mark.requirement("REG-01")
@pytest.mark.parametrize("by", ["amber-otter", "operator"])
@pytest.mark.parametrize("what", ["add", "rotate", "retire", "accept"])
def test_only_the_root_key_manages_names(what: str, by: str) -> None:
    scenario = RegistryScenario()
    scenario.agent()
    human = scenario.human()
    command = {
        "add": scenario.adding("new-name"),
        "rotate": scenario.rotating("amber-otter", NEW, OTTER),
        "retire": ask.RetireAgent(name="amber-otter"),
        "accept": scenario.accepting(human),
    }[what]
    scenario.refuse("REG-01", "not_allowed", command, by=by)


@pytest.mark.requirement("REG-01")
def test_only_the_root_key_founds() -> None:
    scenario = RegistryScenario()
    scenario.agent()
    decision = scenario.decide(creation(), by="amber-otter")
    assert {f.rule for f in decision.findings} == {"REG-01", "REG-10"}
    assert decision.refused


@pytest.mark.requirement("REG-02")
def test_an_agent_may_neither_revoke_nor_erase() -> None:
    scenario = RegistryScenario()
    scenario.agent()
    erase = ask.EraseArtifact(sha256="0" * 64, size=1, reason="secret")
    scenario.refuse("REG-02", "not_allowed", scenario.revoking(OTTER.kid), by="amber-otter")
    scenario.refuse("REG-02", "not_allowed", erase, by="amber-otter")


@pytest.mark.requirement("REG-02")
@pytest.mark.parametrize("by", [SYSTEM, "operator"])
def test_the_root_or_a_person_may_revoke_and_erase(by: str) -> None:
    scenario = RegistryScenario()
    scenario.agent()
    scenario.human()
    scenario.accept(scenario.revoking(OTTER.kid), by=by)
    scenario.accept(ask.EraseArtifact(sha256="0" * 64, size=1, reason="secret"), by=by)
    assert scenario.state.erased["0" * 64] == "secret"


@pytest.mark.requirement("REG-03")
@pytest.mark.parametrize("reason", ["", "  ", "\n\t"])
def test_grave_acts_need_a_reason(reason: str) -> None:
    scenario = RegistryScenario()
    scenario.agent()
    scenario.refuse("REG-03", "reason_required", scenario.revoking(OTTER.kid, reason=reason))
    erase = ask.EraseArtifact(sha256="0" * 64, size=1, reason=reason)
    scenario.refuse("REG-03", "reason_required", erase)
    scenario.refuse("REG-03", "reason_required", scenario.accepting(reason=reason))


# Adding


@pytest.mark.requirement("REG-31")
def test_a_new_name_begins_at_epoch_1_with_its_key() -> None:
    scenario = RegistryScenario()
    scenario.agent()
    agent, key = scenario.state.agents["amber-otter"], scenario.state.keys[OTTER.kid]
    assert (agent.kid, agent.epoch, agent.kind, agent.retired) == (
        OTTER.kid,
        1,
        KeyClass.AGENT,
        False,
    )
    assert (key.name, key.added, key.ended, key.custodian) == ("amber-otter", 1, None, CUSTODIAN)
    assert scenario.state.valid_key(OTTER.kid) == key


@pytest.mark.requirement("REG-12")
@pytest.mark.parametrize("name", ["ab", "Amber", "a--b", "-ab", "", "a b", "x" * 49, "abc\n"])
def test_a_name_outside_the_grammar_is_refused(name: str) -> None:
    scenario = RegistryScenario()
    scenario.refuse("REG-12", "bad_name", scenario.adding(name))


@pytest.mark.requirement("REG-13")
@pytest.mark.parametrize("name", sorted(RESERVED))
def test_reserved_names_are_not_for_agents(name: str) -> None:
    scenario = RegistryScenario()
    scenario.refuse("REG-13", "name_reserved", scenario.adding(name))


@pytest.mark.requirement("REG-13")
@pytest.mark.parametrize("name", sorted(RESERVED - {"operator"}))
def test_the_operator_alone_of_the_reserved_names_may_be_a_person(name: str) -> None:
    scenario = RegistryScenario()
    scenario.refuse("REG-13", "name_reserved", scenario.adding(name, kind=KeyClass.HUMAN))
    scenario.human("operator")
    assert scenario.state.agents["operator"].kind is KeyClass.HUMAN


@pytest.mark.requirement("REG-14")
def test_a_name_is_never_given_twice() -> None:
    scenario = RegistryScenario()
    scenario.agent()
    again = scenario.adding("amber-otter", NEW)
    scenario.refuse("REG-14", "name_taken", again)
    scenario.accept(ask.RetireAgent(name="amber-otter"))
    scenario.refuse("REG-14", "name_taken", again)
    scenario.accept(scenario.revoking(OTTER.kid))
    scenario.refuse("REG-14", "name_taken", again)


@pytest.mark.requirement("REG-15")
@pytest.mark.parametrize(
    "changed",
    [{"kind": KeyClass.SYSTEM}, {"kind": KeyClass.CHECKPOINT}, {"epoch": 2}, {"epoch": 0}],
    ids=str,
)
def test_new_names_are_agents_or_people_at_epoch_1(changed: dict[str, Any]) -> None:
    scenario = RegistryScenario()
    scenario.refuse("REG-15", "wrong_class", scenario.adding("amber-otter", **changed))


@pytest.mark.requirement("REG-04")
@pytest.mark.parametrize("public", ["01" + "00" * 31, "00" * 32, "ff" * 32, "zz", ""])
def test_a_weak_key_is_refused_wherever_it_might_enter(public: str) -> None:
    scenario = RegistryScenario()
    scenario.agent()
    for command in (
        scenario.adding("teal-crane", public=public),
        scenario.rotating("amber-otter", NEW, OTTER, public=public),
    ):
        decision = scenario.decide(command)
        assert decision.refused
        assert decision.drafts == ()
        assert {f.rule for f in decision.findings} == {"REG-04", "REG-06"}


@pytest.mark.requirement("REG-05")
@pytest.mark.parametrize("known", [OTTER, ROOT, PIN], ids=["an agent's", "the root", "checkpoint"])
def test_a_key_is_registered_once_and_for_one_purpose(known: Any) -> None:
    scenario = RegistryScenario()
    scenario.agent()
    scenario.agent("teal-crane")
    scenario.refuse("REG-05", "key_known", scenario.adding("new-name", known))
    scenario.refuse("REG-05", "key_known", scenario.rotating("teal-crane", known, CRANE))


@pytest.mark.requirement("REG-05")
def test_an_ended_key_is_never_registered_again() -> None:
    scenario = RegistryScenario()
    scenario.agent()
    scenario.accept(scenario.rotating("amber-otter", NEW, OTTER))
    scenario.refuse("REG-05", "key_known", scenario.adding("new-name", OTTER))
    scenario.refuse("REG-05", "key_known", scenario.rotating("amber-otter", OTTER, NEW))


def spoilt_proofs(good: str) -> dict[str, str]:
    flipped = f"{int(good[0], 16) ^ 1:x}{good[1:]}"
    return {
        "changed": flipped,
        "empty": "",
        "short": good[:-2],
        "long": good + "00",
        "not hex": "zz" * 64,
        "upper case": good.upper(),
        "with a space": good[:64] + " " + good[64:],
    }


@pytest.mark.requirement("REG-06")
@pytest.mark.parametrize("how", spoilt_proofs("00"))
def test_a_key_must_prove_that_it_is_held(how: str) -> None:
    scenario = RegistryScenario()
    scenario.agent()
    add = scenario.adding("teal-crane")
    rotate = scenario.rotating("amber-otter", NEW, OTTER)
    for command in (add, rotate):
        spoilt = msgspec.structs.replace(command, proof=spoilt_proofs(command.proof)[how])
        scenario.refuse("REG-06", "no_proof", spoilt)


@pytest.mark.requirement("REG-06")
@pytest.mark.parametrize("field", ["name", "custodian", "kind"])
def test_a_proof_for_another_statement_does_not_hold(field: str) -> None:
    scenario = RegistryScenario()
    other: dict[str, Any] = {"name": "teal-crane", "custodian": "e" * 32, "kind": KeyClass.HUMAN}
    facts: dict[str, Any] = {"name": "amber-otter", "key": OTTER, field: other[field]}
    here = msgspec.structs.replace(
        scenario.adding("amber-otter"), proof=scenario.adding(**facts).proof
    )
    scenario.refuse("REG-06", "no_proof", here)


@pytest.mark.requirement("REG-06")
def test_a_proof_from_another_ledger_or_of_another_kind_does_not_hold() -> None:
    scenario = RegistryScenario()
    good = scenario.adding("amber-otter")
    statement = partial(
        key_statement,
        name="amber-otter",
        kind=KeyClass.AGENT,
        epoch=1,
        public=OTTER.public.hex(),
        custodian=CUSTODIAN,
    )
    foreign = sign_proof(OTTER, statement(origin="moot.ledger/" + "0" * 32))
    consent = sign_endorsement(OTTER, statement(origin=ORIGIN)).sig
    assert OTTER.sign(KEY_PROOF, statement(origin=ORIGIN)).hex() == good.proof
    for proof in (foreign, consent):
        scenario.refuse("REG-06", "no_proof", msgspec.structs.replace(good, proof=proof))


# People


@pytest.mark.requirement("REG-16")
def test_the_first_person_needs_nobody_and_every_further_one_a_persons_consent() -> None:
    scenario = RegistryScenario()
    scenario.agent()
    first = scenario.human("operator")
    second = scenario.adding("ada", kind=KeyClass.HUMAN)
    scenario.refuse("REG-16", "human_key_required", second)
    by_agent = scenario.adding("ada", kind=KeyClass.HUMAN, endorser=OTTER)
    scenario.refuse("REG-16", "human_key_required", by_agent)
    by_root = scenario.adding("ada", kind=KeyClass.HUMAN, endorser=ROOT)
    scenario.refuse("REG-16", "human_key_required", by_root)
    by_itself = scenario.adding("ada", kind=KeyClass.HUMAN, endorser=signer("ada"))
    scenario.refuse("REG-16", "human_key_required", by_itself)
    scenario.human("ada", endorser=first)
    assert [key.name for key in scenario.state.human_keys()] == [
        "operator",
        "ada",
    ]  # the oldest first


@pytest.mark.requirement("REG-16")
def test_losing_every_human_key_does_not_open_the_door_to_an_unendorsed_one() -> None:
    scenario = RegistryScenario()
    first = scenario.human("operator")
    scenario.accept(scenario.revoking(first.kid))
    assert scenario.state.human_keys() == []
    another = scenario.adding("ada", kind=KeyClass.HUMAN)
    scenario.refuse("REG-16", "human_key_required", another)
    by_revoked = scenario.adding("ada", kind=KeyClass.HUMAN, endorser=first)
    scenario.refuse("REG-16", "human_key_required", by_revoked)


@pytest.mark.requirement("REG-16")
def test_any_consent_that_is_given_must_hold() -> None:
    scenario = RegistryScenario()
    scenario.agent()
    said_elsewhere = scenario.adding("teal-crane", endorser=OTTER).endorsement
    scenario.refuse(
        "REG-16", "human_key_required", scenario.adding("new-name", endorsement=said_elsewhere)
    )
    unknown = KeyEndorsement(kid="0" * 32, sig="00" * 64)
    scenario.refuse(
        "REG-16", "human_key_required", scenario.adding("new-name", endorsement=unknown)
    )
    pinned = scenario.adding("new-name", endorser=PIN)
    scenario.refuse("REG-16", "human_key_required", pinned)
    scenario.accept(scenario.adding("new-name", endorser=OTTER))


@pytest.mark.requirement("REG-16")
@pytest.mark.parametrize("how", [how for how in spoilt_proofs("00") if how != "changed"])
def test_a_consent_has_one_written_form(how: str) -> None:
    scenario = RegistryScenario()
    first = scenario.human("operator")
    good = scenario.adding("ada", kind=KeyClass.HUMAN, endorser=first)
    assert good.endorsement is not None
    sig = spoilt_proofs(good.endorsement.sig)[how]
    spoilt = msgspec.structs.replace(good, endorsement=KeyEndorsement(first.kid, sig))
    scenario.refuse("REG-16", "human_key_required", spoilt)


# Rotating


@pytest.mark.requirement("REG-32")
@pytest.mark.parametrize("step", [0, 1])
def test_a_rotation_ends_the_old_key_and_begins_the_new(step: int) -> None:
    scenario = RegistryScenario()
    scenario.agent()
    scenario.accept(scenario.rotating("amber-otter", NEW, OTTER, step))
    old, new = scenario.state.keys[OTTER.kid], scenario.state.keys[NEW.kid]
    assert (old.ended, old.ending) == (2, KeyEnding.ROTATED)
    assert (new.added, new.ended, new.epoch) == (2, None, 1 + step)
    assert scenario.state.agents["amber-otter"].kid == NEW.kid
    assert scenario.state.valid_key(OTTER.kid) is None
    assert scenario.state.valid_key(OTTER.kid, position=1) == old
    assert scenario.state.valid_key(NEW.kid, position=1) is None


@pytest.mark.requirement("REG-07")
def test_an_unknown_name_can_neither_rotate_nor_retire() -> None:
    scenario = RegistryScenario()
    human = scenario.human()
    scenario.refuse("REG-07", "agent_not_found", scenario.rotating("amber-otter", NEW, human))
    scenario.refuse("REG-07", "agent_not_found", ask.RetireAgent(name="amber-otter"))


@pytest.mark.requirement("REG-17")
def test_only_the_current_key_of_a_name_is_replaced() -> None:
    scenario = RegistryScenario()
    scenario.agent()
    scenario.agent("teal-crane")
    for replaces in ("0" * 32, CRANE.kid, ROOT.kid, NEW.kid):
        decision = scenario.decide(scenario.rotating("amber-otter", NEW, OTTER, replaces=replaces))
        assert decision.refused
        assert "REG-17" in {f.rule for f in decision.findings}
    scenario.accept(scenario.rotating("amber-otter", NEW, OTTER))
    stale = scenario.rotating("amber-otter", signer("third"), NEW, replaces=OTTER.kid)
    decision = scenario.decide(stale)
    assert {f.rule for f in decision.findings} == {"REG-17", "REG-18"}


@pytest.mark.requirement("REG-17")
def test_a_rotation_keeps_the_class() -> None:
    scenario = RegistryScenario()
    scenario.agent()
    human = scenario.human()
    promoted = scenario.rotating("amber-otter", NEW, human, kind=KeyClass.HUMAN)
    scenario.refuse("REG-17", "not_current", promoted)
    demoted = scenario.rotating("operator", NEW, human, kind=KeyClass.AGENT)
    scenario.refuse("REG-17", "not_current", demoted)


@pytest.mark.requirement("REG-17")
@pytest.mark.parametrize("step", [-1, 2, 5])
def test_epochs_move_by_at_most_one(step: int) -> None:
    scenario = RegistryScenario()
    scenario.agent()
    scenario.refuse("REG-17", "not_current", scenario.rotating("amber-otter", NEW, OTTER, step))


@pytest.mark.requirement("REG-17")
def test_a_retired_name_goes_only_to_its_next_holder() -> None:
    scenario = RegistryScenario()
    scenario.agent()
    scenario.accept(ask.RetireAgent(name="amber-otter"))
    scenario.refuse("REG-17", "not_current", scenario.rotating("amber-otter", NEW, OTTER, 0))
    scenario.accept(scenario.rotating("amber-otter", NEW, OTTER, 1))
    assert not scenario.state.agents["amber-otter"].retired
    assert scenario.state.valid_key(NEW.kid) is not None


@pytest.mark.requirement("REG-18")
def test_a_rotation_needs_the_old_key_or_a_person() -> None:
    scenario = RegistryScenario()
    scenario.agent()
    scenario.agent("teal-crane")
    human = scenario.human()
    scenario.refuse("REG-18", "not_endorsed", scenario.rotating("amber-otter", NEW, None))
    for other in (CRANE, ROOT, NEW, PIN):
        scenario.refuse("REG-18", "not_endorsed", scenario.rotating("amber-otter", NEW, other))
    scenario.accept(scenario.rotating("amber-otter", NEW, human))


@pytest.mark.requirement("REG-18")
def test_consent_to_another_rotation_does_not_hold() -> None:
    scenario = RegistryScenario()
    scenario.agent()
    other = scenario.rotating("amber-otter", signer("third"), OTTER)
    scenario.refuse(
        "REG-18",
        "not_endorsed",
        scenario.rotating("amber-otter", NEW, None, endorsement=other.endorsement),
    )


@pytest.mark.requirement("REG-18")
def test_a_persons_key_is_rotated_by_itself_or_another_person_and_by_no_agent() -> None:
    scenario = RegistryScenario()
    scenario.agent()
    first = scenario.human("operator")
    second = scenario.human("ada", endorser=first)
    scenario.refuse("REG-18", "not_endorsed", scenario.rotating("operator", NEW, OTTER))
    scenario.accept(scenario.rotating("operator", NEW, first))
    scenario.accept(scenario.rotating("operator", signer("third"), second))


@pytest.mark.requirement("REG-33")
def test_a_revoked_key_never_endorses_its_successor() -> None:
    scenario = RegistryScenario()
    scenario.agent()
    human = scenario.human()
    scenario.accept(scenario.revoking(OTTER.kid))
    scenario.refuse("REG-18", "not_endorsed", scenario.rotating("amber-otter", NEW, OTTER))
    scenario.refuse("REG-18", "not_endorsed", scenario.rotating("amber-otter", NEW, OTTER, 1))
    scenario.accept(scenario.rotating("amber-otter", NEW, human))


@pytest.mark.requirement("REG-33")
def test_retiring_a_revoked_name_does_not_wash_the_key_clean() -> None:
    scenario = RegistryScenario()
    scenario.agent()
    human = scenario.human()
    scenario.accept(scenario.revoking(OTTER.kid))
    scenario.accept(ask.RetireAgent(name="amber-otter"))
    key = scenario.state.keys[OTTER.kid]
    assert (key.ending, key.ended, key.heads) == (KeyEnding.REVOKED, 3, HEADS.sha256)
    scenario.refuse("REG-18", "not_endorsed", scenario.rotating("amber-otter", NEW, OTTER, 1))
    scenario.accept(scenario.rotating("amber-otter", NEW, human, 1))


@pytest.mark.requirement("REG-33")
def test_replacing_a_revoked_key_does_not_forget_its_revocation() -> None:
    scenario = RegistryScenario()
    scenario.agent()
    human = scenario.human()
    scenario.accept(scenario.revoking(OTTER.kid))
    scenario.accept(scenario.rotating("amber-otter", NEW, human))
    key = scenario.state.keys[OTTER.kid]
    assert (key.ending, key.ended, key.heads) == (KeyEnding.REVOKED, 3, HEADS.sha256)
    scenario.refuse("REG-19", "cannot_revoke", scenario.revoking(OTTER.kid))


@pytest.mark.requirement("REG-33")
def test_a_key_revoked_after_its_end_keeps_its_first_end_and_gains_the_heads() -> None:
    scenario = RegistryScenario()
    scenario.agent()
    scenario.accept(scenario.rotating("amber-otter", NEW, OTTER))
    scenario.accept(scenario.revoking(OTTER.kid))
    key = scenario.state.keys[OTTER.kid]
    assert (key.ended, key.ending, key.heads) == (2, KeyEnding.REVOKED, HEADS.sha256)


# Revoking, retiring, erasing, accepting


@pytest.mark.requirement("REG-34")
def test_a_revocation_cites_the_heads_as_an_artifact() -> None:
    scenario = RegistryScenario()
    scenario.agent()
    decision = scenario.decide(scenario.revoking(OTTER.kid))
    event = did.KeyRevoked(heads=HEADS.sha256, kid=OTTER.kid, reason="stolen")
    assert decision.drafts == (Draft(event, (HEADS,)),)
    scenario.apply(event)
    assert scenario.state.valid_key(OTTER.kid) is None
    assert scenario.state.valid_key(OTTER.kid, position=1) is not None


@pytest.mark.requirement("REG-19")
def test_what_does_not_exist_or_was_revoked_cannot_be_revoked() -> None:
    scenario = RegistryScenario()
    scenario.agent()
    scenario.refuse("REG-19", "cannot_revoke", scenario.revoking("0" * 32))
    scenario.accept(scenario.revoking(OTTER.kid))
    scenario.refuse("REG-19", "cannot_revoke", scenario.revoking(OTTER.kid))


@pytest.mark.requirement("REG-19")
@pytest.mark.parametrize("key", [ROOT, PIN], ids=["root", "checkpoint"])
@pytest.mark.parametrize("by", [SYSTEM, "operator"])
def test_the_founding_keys_cannot_be_revoked(key: Any, by: str) -> None:
    """Every checker would call such a registry broken, from there on for ever."""
    scenario = RegistryScenario()
    scenario.human()
    scenario.refuse("REG-19", "cannot_revoke", scenario.revoking(key.kid), by=by)


@pytest.mark.requirement("REG-20")
def test_people_and_the_retired_do_not_retire() -> None:
    scenario = RegistryScenario()
    scenario.agent()
    scenario.human()
    scenario.refuse("REG-20", "cannot_retire", ask.RetireAgent(name="operator"))
    (event,) = scenario.accept(ask.RetireAgent(name="amber-otter", reason="done"))
    assert event == did.AgentRetired(epoch=1, name="amber-otter", reason="done")
    scenario.refuse("REG-20", "cannot_retire", ask.RetireAgent(name="amber-otter"))
    assert scenario.state.keys[OTTER.kid].ending is KeyEnding.RETIRED


@pytest.mark.requirement("REG-21")
def test_an_artifact_is_erased_once() -> None:
    scenario = RegistryScenario()
    erase = ask.EraseArtifact(sha256="0" * 64, size=1, reason="secret")
    (event,) = scenario.accept(erase)
    assert event == did.ArtifactErased(reason="secret", sha256="0" * 64, size=1)
    scenario.refuse("REG-21", "already_erased", erase)


@pytest.mark.requirement("REG-22")
def test_a_lost_history_is_accepted_by_a_person_if_there_is_one() -> None:
    scenario = RegistryScenario()
    scenario.agent()
    scenario.accept(scenario.accepting())
    human = scenario.human()
    scenario.refuse("REG-22", "human_key_required", scenario.accepting())
    scenario.refuse("REG-22", "human_key_required", scenario.accepting(OTTER))
    scenario.refuse("REG-22", "human_key_required", scenario.accepting(ROOT))
    wrong = msgspec.structs.replace(scenario.accepting(human), lost="another note")
    scenario.refuse("REG-22", "human_key_required", wrong)
    scenario.accept(scenario.accepting(human))


@pytest.mark.requirement("REG-22")
def test_a_consent_that_nobody_alive_gave_is_refused() -> None:
    """With no human key valid the field is null: a checker accepts nothing else."""
    scenario = RegistryScenario()
    scenario.agent()
    scenario.refuse("REG-22", "human_key_required", scenario.accepting(OTTER))
    human = scenario.human()
    scenario.accept(scenario.revoking(human.kid))
    scenario.refuse("REG-22", "human_key_required", scenario.accepting(human))
    scenario.accept(scenario.accepting())


# Values that the format page limits


@pytest.mark.requirement("REG-08")
@pytest.mark.parametrize("custodian", ["", "c" * 31, "C" * 32, "z" * 32, "c" * 33, "c" * 32 + "\n"])
def test_a_custodian_is_32_hex_digits(custodian: str) -> None:
    scenario = RegistryScenario()
    scenario.agent()
    scenario.refuse("REG-08", "bad_value", scenario.adding("teal-crane", custodian=custodian))
    rotate = scenario.rotating("amber-otter", NEW, OTTER, custodian=custodian)
    scenario.refuse("REG-08", "bad_value", rotate)
    decision = RegistryScenario(created=False).decide(creation(custodian=custodian))
    assert "REG-08" in {f.rule for f in decision.findings}


@pytest.mark.requirement("REG-08")
@pytest.mark.parametrize("clock", ["", "fixed ", "real"])
def test_a_ledgers_clock_is_the_systems_or_fixed(clock: str) -> None:
    RegistryScenario(created=False).refuse("REG-08", "bad_value", creation(clock=clock))


@pytest.mark.requirement("REG-08")
@pytest.mark.parametrize(
    ("sha256", "size"),
    [("0" * 63, 1), ("A" * 64, 1), ("0" * 64 + "\n", 1), ("0" * 64, -1), ("0" * 64, 2**53)],
)
def test_an_artifact_is_a_hash_and_a_size(sha256: str, size: int) -> None:
    scenario = RegistryScenario()
    scenario.agent()
    erase = ask.EraseArtifact(sha256=sha256, size=size, reason="secret")
    scenario.refuse("REG-08", "bad_value", erase)
    heads = ArtifactRef(sha256, size, "application/json")
    scenario.refuse("REG-08", "bad_value", scenario.revoking(OTTER.kid, heads=heads))


# What the store keeps findable


def test_erased_artifacts_are_findable_and_nothing_else_is() -> None:
    scenario = RegistryScenario()
    scenario.agent()
    scenario.accept(ask.EraseArtifact(sha256="0" * 64, size=1, reason="secret"))
    actor = scenario.acting().as_actor()
    rows = [
        row
        for seq, event in enumerate(scenario.history)
        for row in MACHINE.index(Recorded(event, "registry", seq, 0, actor, bytes(32)))
    ]
    assert rows == [Put("registry.erased", "0" * 64, {"reason": "secret"})]


# What the state tells others


def test_a_name_is_held_by_its_newest_holder_until_the_key_ends() -> None:
    scenario = RegistryScenario()
    scenario.accept(scenario.adding("amber-otter"))
    held = scenario.state
    assert [held.is_holder("amber-otter", epoch) for epoch in (0, 1, 2)] == [False, True, False]
    assert not held.is_holder("teal-crane", 1)
    scenario.accept(ask.RetireAgent(name="amber-otter"))
    assert not scenario.state.is_holder("amber-otter", 1)


def test_a_new_name_begins_with_its_first_holder() -> None:
    scenario = RegistryScenario()
    whole = msgspec.structs.asdict(scenario.adding("amber-otter"))
    del whole["epoch"]
    (event,) = scenario.accept(ask.AddKey(**whole))
    assert isinstance(event, did.KeyAdded)
    assert event.epoch == 1


@pytest.mark.requirement("REG-35")
def test_the_retirement_of_nobody_changes_nothing_but_the_position() -> None:
    scenario = RegistryScenario()
    before = scenario.state
    scenario.apply(did.AgentRetired(name="nobody", epoch=1, reason=""))
    assert scenario.state == msgspec.structs.replace(before, position=before.position + 1)


def test_an_artifact_without_bytes_can_be_erased() -> None:
    scenario = RegistryScenario()
    scenario.accept(ask.EraseArtifact(sha256="0" * 64, size=0, reason="r"))
    assert "0" * 64 in scenario.state.erased
