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
from moot.core.registry import commands as ask
from moot.core.registry import events as did
from moot.core.registry.model import KeyEnding, KeyEndorsement, RegisteredKey
from moot.core.registry.proofs import key_statement, sign_endorsement, sign_proof
from moot.core.signing import KEY_PROOF
from tests.core.desk import CUSTODIAN, HEADS, ORIGIN, PIN, ROOT, Desk, creation, signer

OTTER, CRANE = signer("amber-otter"), signer("teal-crane")
NEW = signer("new")


# Founding


@pytest.mark.requirement("REG-30")
def test_a_ledger_begins_with_its_two_keys() -> None:
    desk = Desk(created=False)
    (event,) = desk.accept(creation())
    assert isinstance(event, did.LedgerCreated)
    state = desk.state
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
    Desk(created=False).refuse("REG-00", "no_ledger", command)


@pytest.mark.requirement("REG-10")
def test_a_ledger_is_created_once() -> None:
    Desk().refuse("REG-10", "ledger_exists", creation())


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
    Desk(created=False).refuse("REG-11", "bad_founding", creation(**changed))


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
    Desk(created=False).refuse("REG-11", "bad_founding", command)


# Who may ask


@pytest.mark.requirement("REG-01")
@pytest.mark.parametrize("by", ["amber-otter", "operator"])
@pytest.mark.parametrize("what", ["add", "rotate", "retire", "accept"])
def test_only_the_root_key_manages_names(what: str, by: str) -> None:
    desk = Desk()
    desk.agent()
    human = desk.human()
    command = {
        "add": desk.adding("new-name"),
        "rotate": desk.rotating("amber-otter", NEW, OTTER),
        "retire": ask.RetireAgent(name="amber-otter"),
        "accept": desk.accepting(human),
    }[what]
    desk.refuse("REG-01", "not_allowed", command, by=by)


@pytest.mark.requirement("REG-01")
def test_only_the_root_key_founds() -> None:
    desk = Desk()
    desk.agent()
    decision = desk.decide(creation(), by="amber-otter")
    assert {f.rule for f in decision.findings} == {"REG-01", "REG-10"}
    assert decision.refused


@pytest.mark.requirement("REG-02")
def test_an_agent_may_neither_revoke_nor_erase() -> None:
    desk = Desk()
    desk.agent()
    erase = ask.EraseArtifact(sha256="0" * 64, size=1, reason="secret")
    desk.refuse("REG-02", "not_allowed", desk.revoking(OTTER.kid), by="amber-otter")
    desk.refuse("REG-02", "not_allowed", erase, by="amber-otter")


@pytest.mark.requirement("REG-02")
@pytest.mark.parametrize("by", [SYSTEM, "operator"])
def test_the_root_or_a_person_may_revoke_and_erase(by: str) -> None:
    desk = Desk()
    desk.agent()
    desk.human()
    desk.accept(desk.revoking(OTTER.kid), by=by)
    desk.accept(ask.EraseArtifact(sha256="0" * 64, size=1, reason="secret"), by=by)
    assert desk.state.erased["0" * 64] == "secret"


@pytest.mark.requirement("REG-03")
@pytest.mark.parametrize("reason", ["", "  ", "\n\t"])
def test_grave_acts_need_a_reason(reason: str) -> None:
    desk = Desk()
    desk.agent()
    desk.refuse("REG-03", "reason_required", desk.revoking(OTTER.kid, reason=reason))
    erase = ask.EraseArtifact(sha256="0" * 64, size=1, reason=reason)
    desk.refuse("REG-03", "reason_required", erase)
    desk.refuse("REG-03", "reason_required", desk.accepting(reason=reason))


# Adding


@pytest.mark.requirement("REG-31")
def test_a_new_name_begins_at_epoch_1_with_its_key() -> None:
    desk = Desk()
    desk.agent()
    agent, key = desk.state.agents["amber-otter"], desk.state.keys[OTTER.kid]
    assert (agent.kid, agent.epoch, agent.kind, agent.retired) == (
        OTTER.kid,
        1,
        KeyClass.AGENT,
        False,
    )
    assert (key.name, key.added, key.ended, key.custodian) == ("amber-otter", 1, None, CUSTODIAN)
    assert desk.state.valid_key(OTTER.kid) == key


@pytest.mark.requirement("REG-12")
@pytest.mark.parametrize("name", ["ab", "Amber", "a--b", "-ab", "", "a b", "x" * 49, "abc\n"])
def test_a_name_outside_the_grammar_is_refused(name: str) -> None:
    desk = Desk()
    desk.refuse("REG-12", "bad_name", desk.adding(name))


@pytest.mark.requirement("REG-13")
@pytest.mark.parametrize("name", sorted(RESERVED))
def test_reserved_names_are_not_for_agents(name: str) -> None:
    desk = Desk()
    desk.refuse("REG-13", "name_reserved", desk.adding(name))


@pytest.mark.requirement("REG-13")
@pytest.mark.parametrize("name", sorted(RESERVED - {"operator"}))
def test_the_operator_alone_of_the_reserved_names_may_be_a_person(name: str) -> None:
    desk = Desk()
    desk.refuse("REG-13", "name_reserved", desk.adding(name, kind=KeyClass.HUMAN))
    desk.human("operator")
    assert desk.state.agents["operator"].kind is KeyClass.HUMAN


@pytest.mark.requirement("REG-14")
def test_a_name_is_never_given_twice() -> None:
    desk = Desk()
    desk.agent()
    again = desk.adding("amber-otter", NEW)
    desk.refuse("REG-14", "name_taken", again)
    desk.accept(ask.RetireAgent(name="amber-otter"))
    desk.refuse("REG-14", "name_taken", again)
    desk.accept(desk.revoking(OTTER.kid))
    desk.refuse("REG-14", "name_taken", again)


@pytest.mark.requirement("REG-15")
@pytest.mark.parametrize(
    "changed",
    [{"kind": KeyClass.SYSTEM}, {"kind": KeyClass.CHECKPOINT}, {"epoch": 2}, {"epoch": 0}],
    ids=str,
)
def test_new_names_are_agents_or_people_at_epoch_1(changed: dict[str, Any]) -> None:
    desk = Desk()
    desk.refuse("REG-15", "wrong_class", desk.adding("amber-otter", **changed))


@pytest.mark.requirement("REG-04")
@pytest.mark.parametrize("public", ["01" + "00" * 31, "00" * 32, "ff" * 32, "zz", ""])
def test_a_weak_key_is_refused_wherever_it_might_enter(public: str) -> None:
    desk = Desk()
    desk.agent()
    for command in (
        desk.adding("teal-crane", public=public),
        desk.rotating("amber-otter", NEW, OTTER, public=public),
    ):
        decision = desk.decide(command)
        assert decision.refused
        assert decision.drafts == ()
        assert {f.rule for f in decision.findings} == {"REG-04", "REG-06"}


@pytest.mark.requirement("REG-05")
@pytest.mark.parametrize("known", [OTTER, ROOT, PIN], ids=["an agent's", "the root", "checkpoint"])
def test_a_key_is_registered_once_and_for_one_purpose(known: Any) -> None:
    desk = Desk()
    desk.agent()
    desk.agent("teal-crane")
    desk.refuse("REG-05", "key_known", desk.adding("new-name", known))
    desk.refuse("REG-05", "key_known", desk.rotating("teal-crane", known, CRANE))


@pytest.mark.requirement("REG-05")
def test_an_ended_key_is_never_registered_again() -> None:
    desk = Desk()
    desk.agent()
    desk.accept(desk.rotating("amber-otter", NEW, OTTER))
    desk.refuse("REG-05", "key_known", desk.adding("new-name", OTTER))
    desk.refuse("REG-05", "key_known", desk.rotating("amber-otter", OTTER, NEW))


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
    desk = Desk()
    desk.agent()
    add = desk.adding("teal-crane")
    rotate = desk.rotating("amber-otter", NEW, OTTER)
    for command in (add, rotate):
        spoilt = msgspec.structs.replace(command, proof=spoilt_proofs(command.proof)[how])
        desk.refuse("REG-06", "no_proof", spoilt)


@pytest.mark.requirement("REG-06")
@pytest.mark.parametrize("field", ["name", "custodian", "kind"])
def test_a_proof_for_another_statement_does_not_hold(field: str) -> None:
    desk = Desk()
    other: dict[str, Any] = {"name": "teal-crane", "custodian": "e" * 32, "kind": KeyClass.HUMAN}
    facts: dict[str, Any] = {"name": "amber-otter", "key": OTTER, field: other[field]}
    here = msgspec.structs.replace(desk.adding("amber-otter"), proof=desk.adding(**facts).proof)
    desk.refuse("REG-06", "no_proof", here)


@pytest.mark.requirement("REG-06")
def test_a_proof_from_another_ledger_or_of_another_kind_does_not_hold() -> None:
    desk = Desk()
    good = desk.adding("amber-otter")
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
        desk.refuse("REG-06", "no_proof", msgspec.structs.replace(good, proof=proof))


# People


@pytest.mark.requirement("REG-16")
def test_the_first_person_needs_nobody_and_every_further_one_a_persons_consent() -> None:
    desk = Desk()
    desk.agent()
    first = desk.human("operator")
    second = desk.adding("ada", kind=KeyClass.HUMAN)
    desk.refuse("REG-16", "human_key_required", second)
    by_agent = desk.adding("ada", kind=KeyClass.HUMAN, endorser=OTTER)
    desk.refuse("REG-16", "human_key_required", by_agent)
    by_root = desk.adding("ada", kind=KeyClass.HUMAN, endorser=ROOT)
    desk.refuse("REG-16", "human_key_required", by_root)
    by_itself = desk.adding("ada", kind=KeyClass.HUMAN, endorser=signer("ada"))
    desk.refuse("REG-16", "human_key_required", by_itself)
    desk.human("ada", endorser=first)
    assert [key.name for key in desk.state.human_keys()] == ["operator", "ada"]  # the oldest first


@pytest.mark.requirement("REG-16")
def test_losing_every_human_key_does_not_open_the_door_to_an_unendorsed_one() -> None:
    desk = Desk()
    first = desk.human("operator")
    desk.accept(desk.revoking(first.kid))
    assert desk.state.human_keys() == []
    another = desk.adding("ada", kind=KeyClass.HUMAN)
    desk.refuse("REG-16", "human_key_required", another)
    by_revoked = desk.adding("ada", kind=KeyClass.HUMAN, endorser=first)
    desk.refuse("REG-16", "human_key_required", by_revoked)


@pytest.mark.requirement("REG-16")
def test_any_consent_that_is_given_must_hold() -> None:
    desk = Desk()
    desk.agent()
    said_elsewhere = desk.adding("teal-crane", endorser=OTTER).endorsement
    desk.refuse("REG-16", "human_key_required", desk.adding("new-name", endorsement=said_elsewhere))
    unknown = KeyEndorsement(kid="0" * 32, sig="00" * 64)
    desk.refuse("REG-16", "human_key_required", desk.adding("new-name", endorsement=unknown))
    pinned = desk.adding("new-name", endorser=PIN)
    desk.refuse("REG-16", "human_key_required", pinned)
    desk.accept(desk.adding("new-name", endorser=OTTER))


@pytest.mark.requirement("REG-16")
@pytest.mark.parametrize("how", [how for how in spoilt_proofs("00") if how != "changed"])
def test_a_consent_has_one_written_form(how: str) -> None:
    desk = Desk()
    first = desk.human("operator")
    good = desk.adding("ada", kind=KeyClass.HUMAN, endorser=first)
    assert good.endorsement is not None
    sig = spoilt_proofs(good.endorsement.sig)[how]
    spoilt = msgspec.structs.replace(good, endorsement=KeyEndorsement(first.kid, sig))
    desk.refuse("REG-16", "human_key_required", spoilt)


# Rotating


@pytest.mark.requirement("REG-32")
@pytest.mark.parametrize("step", [0, 1])
def test_a_rotation_ends_the_old_key_and_begins_the_new(step: int) -> None:
    desk = Desk()
    desk.agent()
    desk.accept(desk.rotating("amber-otter", NEW, OTTER, step))
    old, new = desk.state.keys[OTTER.kid], desk.state.keys[NEW.kid]
    assert (old.ended, old.ending) == (2, KeyEnding.ROTATED)
    assert (new.added, new.ended, new.epoch) == (2, None, 1 + step)
    assert desk.state.agents["amber-otter"].kid == NEW.kid
    assert desk.state.valid_key(OTTER.kid) is None
    assert desk.state.valid_key(OTTER.kid, position=1) == old
    assert desk.state.valid_key(NEW.kid, position=1) is None


@pytest.mark.requirement("REG-07")
def test_an_unknown_name_can_neither_rotate_nor_retire() -> None:
    desk = Desk()
    human = desk.human()
    desk.refuse("REG-07", "agent_not_found", desk.rotating("amber-otter", NEW, human))
    desk.refuse("REG-07", "agent_not_found", ask.RetireAgent(name="amber-otter"))


@pytest.mark.requirement("REG-17")
def test_only_the_current_key_of_a_name_is_replaced() -> None:
    desk = Desk()
    desk.agent()
    desk.agent("teal-crane")
    for replaces in ("0" * 32, CRANE.kid, ROOT.kid, NEW.kid):
        decision = desk.decide(desk.rotating("amber-otter", NEW, OTTER, replaces=replaces))
        assert decision.refused
        assert "REG-17" in {f.rule for f in decision.findings}
    desk.accept(desk.rotating("amber-otter", NEW, OTTER))
    stale = desk.rotating("amber-otter", signer("third"), NEW, replaces=OTTER.kid)
    decision = desk.decide(stale)
    assert {f.rule for f in decision.findings} == {"REG-17", "REG-18"}


@pytest.mark.requirement("REG-17")
def test_a_rotation_keeps_the_class() -> None:
    desk = Desk()
    desk.agent()
    human = desk.human()
    promoted = desk.rotating("amber-otter", NEW, human, kind=KeyClass.HUMAN)
    desk.refuse("REG-17", "not_current", promoted)
    demoted = desk.rotating("operator", NEW, human, kind=KeyClass.AGENT)
    desk.refuse("REG-17", "not_current", demoted)


@pytest.mark.requirement("REG-17")
@pytest.mark.parametrize("step", [-1, 2, 5])
def test_epochs_move_by_at_most_one(step: int) -> None:
    desk = Desk()
    desk.agent()
    desk.refuse("REG-17", "not_current", desk.rotating("amber-otter", NEW, OTTER, step))


@pytest.mark.requirement("REG-17")
def test_a_retired_name_goes_only_to_its_next_holder() -> None:
    desk = Desk()
    desk.agent()
    desk.accept(ask.RetireAgent(name="amber-otter"))
    desk.refuse("REG-17", "not_current", desk.rotating("amber-otter", NEW, OTTER, 0))
    desk.accept(desk.rotating("amber-otter", NEW, OTTER, 1))
    assert not desk.state.agents["amber-otter"].retired
    assert desk.state.valid_key(NEW.kid) is not None


@pytest.mark.requirement("REG-18")
def test_a_rotation_needs_the_old_key_or_a_person() -> None:
    desk = Desk()
    desk.agent()
    desk.agent("teal-crane")
    human = desk.human()
    desk.refuse("REG-18", "not_endorsed", desk.rotating("amber-otter", NEW, None))
    for other in (CRANE, ROOT, NEW, PIN):
        desk.refuse("REG-18", "not_endorsed", desk.rotating("amber-otter", NEW, other))
    desk.accept(desk.rotating("amber-otter", NEW, human))


@pytest.mark.requirement("REG-18")
def test_consent_to_another_rotation_does_not_hold() -> None:
    desk = Desk()
    desk.agent()
    other = desk.rotating("amber-otter", signer("third"), OTTER)
    desk.refuse(
        "REG-18",
        "not_endorsed",
        desk.rotating("amber-otter", NEW, None, endorsement=other.endorsement),
    )


@pytest.mark.requirement("REG-18")
def test_a_persons_key_is_rotated_by_itself_or_another_person_and_by_no_agent() -> None:
    desk = Desk()
    desk.agent()
    first = desk.human("operator")
    second = desk.human("ada", endorser=first)
    desk.refuse("REG-18", "not_endorsed", desk.rotating("operator", NEW, OTTER))
    desk.accept(desk.rotating("operator", NEW, first))
    desk.accept(desk.rotating("operator", signer("third"), second))


@pytest.mark.requirement("REG-33")
def test_a_revoked_key_never_endorses_its_successor() -> None:
    desk = Desk()
    desk.agent()
    human = desk.human()
    desk.accept(desk.revoking(OTTER.kid))
    desk.refuse("REG-18", "not_endorsed", desk.rotating("amber-otter", NEW, OTTER))
    desk.refuse("REG-18", "not_endorsed", desk.rotating("amber-otter", NEW, OTTER, 1))
    desk.accept(desk.rotating("amber-otter", NEW, human))


@pytest.mark.requirement("REG-33")
def test_retiring_a_revoked_name_does_not_wash_the_key_clean() -> None:
    desk = Desk()
    desk.agent()
    human = desk.human()
    desk.accept(desk.revoking(OTTER.kid))
    desk.accept(ask.RetireAgent(name="amber-otter"))
    key = desk.state.keys[OTTER.kid]
    assert (key.ending, key.ended, key.heads) == (KeyEnding.REVOKED, 3, HEADS.sha256)
    desk.refuse("REG-18", "not_endorsed", desk.rotating("amber-otter", NEW, OTTER, 1))
    desk.accept(desk.rotating("amber-otter", NEW, human, 1))


@pytest.mark.requirement("REG-33")
def test_replacing_a_revoked_key_does_not_forget_its_revocation() -> None:
    desk = Desk()
    desk.agent()
    human = desk.human()
    desk.accept(desk.revoking(OTTER.kid))
    desk.accept(desk.rotating("amber-otter", NEW, human))
    key = desk.state.keys[OTTER.kid]
    assert (key.ending, key.ended, key.heads) == (KeyEnding.REVOKED, 3, HEADS.sha256)
    desk.refuse("REG-19", "cannot_revoke", desk.revoking(OTTER.kid))


@pytest.mark.requirement("REG-33")
def test_a_key_revoked_after_its_end_keeps_its_first_end_and_gains_the_heads() -> None:
    desk = Desk()
    desk.agent()
    desk.accept(desk.rotating("amber-otter", NEW, OTTER))
    desk.accept(desk.revoking(OTTER.kid))
    key = desk.state.keys[OTTER.kid]
    assert (key.ended, key.ending, key.heads) == (2, KeyEnding.REVOKED, HEADS.sha256)


# Revoking, retiring, erasing, accepting


@pytest.mark.requirement("REG-34")
def test_a_revocation_cites_the_heads_as_an_artifact() -> None:
    desk = Desk()
    desk.agent()
    decision = desk.decide(desk.revoking(OTTER.kid))
    event = did.KeyRevoked(heads=HEADS.sha256, kid=OTTER.kid, reason="stolen")
    assert decision.drafts == (Draft(event, (HEADS,)),)
    desk.apply(event)
    assert desk.state.valid_key(OTTER.kid) is None
    assert desk.state.valid_key(OTTER.kid, position=1) is not None


@pytest.mark.requirement("REG-19")
def test_what_does_not_exist_or_was_revoked_cannot_be_revoked() -> None:
    desk = Desk()
    desk.agent()
    desk.refuse("REG-19", "cannot_revoke", desk.revoking("0" * 32))
    desk.accept(desk.revoking(OTTER.kid))
    desk.refuse("REG-19", "cannot_revoke", desk.revoking(OTTER.kid))


@pytest.mark.requirement("REG-19")
@pytest.mark.parametrize("key", [ROOT, PIN], ids=["root", "checkpoint"])
@pytest.mark.parametrize("by", [SYSTEM, "operator"])
def test_the_founding_keys_cannot_be_revoked(key: Any, by: str) -> None:
    """Every checker would call such a registry broken, from there on for ever."""
    desk = Desk()
    desk.human()
    desk.refuse("REG-19", "cannot_revoke", desk.revoking(key.kid), by=by)


@pytest.mark.requirement("REG-20")
def test_people_and_the_retired_do_not_retire() -> None:
    desk = Desk()
    desk.agent()
    desk.human()
    desk.refuse("REG-20", "cannot_retire", ask.RetireAgent(name="operator"))
    (event,) = desk.accept(ask.RetireAgent(name="amber-otter", reason="done"))
    assert event == did.AgentRetired(epoch=1, name="amber-otter", reason="done")
    desk.refuse("REG-20", "cannot_retire", ask.RetireAgent(name="amber-otter"))
    assert desk.state.keys[OTTER.kid].ending is KeyEnding.RETIRED


@pytest.mark.requirement("REG-21")
def test_an_artifact_is_erased_once() -> None:
    desk = Desk()
    erase = ask.EraseArtifact(sha256="0" * 64, size=1, reason="secret")
    (event,) = desk.accept(erase)
    assert event == did.ArtifactErased(reason="secret", sha256="0" * 64, size=1)
    desk.refuse("REG-21", "already_erased", erase)


@pytest.mark.requirement("REG-22")
def test_a_lost_history_is_accepted_by_a_person_if_there_is_one() -> None:
    desk = Desk()
    desk.agent()
    desk.accept(desk.accepting())
    human = desk.human()
    desk.refuse("REG-22", "human_key_required", desk.accepting())
    desk.refuse("REG-22", "human_key_required", desk.accepting(OTTER))
    desk.refuse("REG-22", "human_key_required", desk.accepting(ROOT))
    wrong = msgspec.structs.replace(desk.accepting(human), lost="another note")
    desk.refuse("REG-22", "human_key_required", wrong)
    desk.accept(desk.accepting(human))


@pytest.mark.requirement("REG-22")
def test_a_consent_that_nobody_alive_gave_is_refused() -> None:
    """With no human key valid the field is null: a checker accepts nothing else."""
    desk = Desk()
    desk.agent()
    desk.refuse("REG-22", "human_key_required", desk.accepting(OTTER))
    human = desk.human()
    desk.accept(desk.revoking(human.kid))
    desk.refuse("REG-22", "human_key_required", desk.accepting(human))
    desk.accept(desk.accepting())


# Values that the format page limits


@pytest.mark.requirement("REG-08")
@pytest.mark.parametrize("custodian", ["", "c" * 31, "C" * 32, "z" * 32, "c" * 33, "c" * 32 + "\n"])
def test_a_custodian_is_32_hex_digits(custodian: str) -> None:
    desk = Desk()
    desk.agent()
    desk.refuse("REG-08", "bad_value", desk.adding("teal-crane", custodian=custodian))
    rotate = desk.rotating("amber-otter", NEW, OTTER, custodian=custodian)
    desk.refuse("REG-08", "bad_value", rotate)
    decision = Desk(created=False).decide(creation(custodian=custodian))
    assert "REG-08" in {f.rule for f in decision.findings}


@pytest.mark.requirement("REG-08")
@pytest.mark.parametrize("clock", ["", "fixed ", "real"])
def test_a_ledgers_clock_is_the_systems_or_fixed(clock: str) -> None:
    Desk(created=False).refuse("REG-08", "bad_value", creation(clock=clock))


@pytest.mark.requirement("REG-08")
@pytest.mark.parametrize(
    ("sha256", "size"),
    [("0" * 63, 1), ("A" * 64, 1), ("0" * 64 + "\n", 1), ("0" * 64, -1), ("0" * 64, 2**53)],
)
def test_an_artifact_is_a_hash_and_a_size(sha256: str, size: int) -> None:
    desk = Desk()
    desk.agent()
    erase = ask.EraseArtifact(sha256=sha256, size=size, reason="secret")
    desk.refuse("REG-08", "bad_value", erase)
    heads = ArtifactRef(sha256, size, "application/json")
    desk.refuse("REG-08", "bad_value", desk.revoking(OTTER.kid, heads=heads))


# What the store keeps findable


def test_erased_artifacts_are_findable_and_nothing_else_is() -> None:
    desk = Desk()
    desk.agent()
    desk.accept(ask.EraseArtifact(sha256="0" * 64, size=1, reason="secret"))
    actor = desk.acting().as_actor()
    rows = [
        row
        for seq, event in enumerate(desk.history)
        for row in MACHINE.index(Recorded(event, "registry", seq, 0, actor, bytes(32)))
    ]
    assert rows == [Put("registry.erased", "0" * 64, {"reason": "secret"})]


# What the state tells others


def test_a_name_is_held_by_its_newest_holder_until_the_key_ends() -> None:
    desk = Desk()
    desk.accept(desk.adding("amber-otter"))
    held = desk.state
    assert [held.is_holder("amber-otter", epoch) for epoch in (0, 1, 2)] == [False, True, False]
    assert not held.is_holder("teal-crane", 1)
    desk.accept(ask.RetireAgent(name="amber-otter"))
    assert not desk.state.is_holder("amber-otter", 1)


def test_a_new_name_begins_with_its_first_holder() -> None:
    desk = Desk()
    whole = msgspec.structs.asdict(desk.adding("amber-otter"))
    del whole["epoch"]
    (event,) = desk.accept(ask.AddKey(**whole))
    assert isinstance(event, did.KeyAdded)
    assert event.epoch == 1


@pytest.mark.requirement("REG-35")
def test_the_retirement_of_nobody_changes_nothing_but_the_position() -> None:
    desk = Desk()
    before = desk.state
    desk.apply(did.AgentRetired(name="nobody", epoch=1, reason=""))
    assert desk.state == msgspec.structs.replace(before, position=before.position + 1)


def test_an_artifact_without_bytes_can_be_erased() -> None:
    desk = Desk()
    desk.accept(ask.EraseArtifact(sha256="0" * 64, size=0, reason="r"))
    assert "0" * 64 in desk.state.erased
