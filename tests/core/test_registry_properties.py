"""Any sequence of commands, sensible or absurd, keeps what the registry promises.

Invariants: `decide` never raises and `evolve` is total; a kid is added once; an ended key is never
valid again and a revoked one stays revoked; a name has at most one valid key, its current one;
epochs grow by at most one; every change of a key stands in TRANSITIONS.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moot.core.machine import Command, Event, KeyClass
from moot.core.names import SYSTEM
from moot.core.record import ArtifactRef
from moot.core.registry import model as ask
from moot.core.registry import model as did
from moot.core.registry.machine import MACHINE, TRANSITIONS
from moot.core.registry.model import (
    EVENTS,
    KeyEndorsement,
    RegisteredKey,
    State,
    key_statement,
    sign_endorsement,
    sign_proof,
)
from moot.core.signing import Signer
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
from tests.sampling import examples

NAMES = ["amber-otter", "teal-crane", "operator", "ada"]
SIGNERS = [signer(f"key {n}") for n in range(6)]
ODD = st.sampled_from(["", "\ud800", "x", "system", "0" * 32, "00" * 64, "é", ROOT.kid])
TEXTS = st.text(max_size=4) | ODD
KINDS = st.sampled_from(KeyClass)
ANY_INT = st.integers(-2, 4) | st.sampled_from([2**53, -(2**70)])


@st.composite
def fair(draw: st.DrawFn, scenario: RegistryScenario) -> Command:
    """A command whose signatures hold, though it may still break any other rule."""
    state = scenario.state
    kids = sorted(state.keys)
    what = draw(st.sampled_from(["add", "add", "rotate", "rotate", "revoke", "retire", "accept"]))
    if what == "retire":
        return ask.RetireAgent(name=draw(st.sampled_from(NAMES)))
    if what == "revoke":
        return ask.RevokeKey(kid=draw(st.sampled_from(kids)), reason="r", heads=HEADS)
    endorser = draw(st.none() | st.sampled_from([*SIGNERS, ROOT]))
    if what == "accept":
        return scenario.accepting(endorser)
    name, key = draw(st.sampled_from(NAMES)), draw(st.sampled_from(SIGNERS))
    agent = state.agents.get(name)
    if what == "add" or agent is None:
        kind = KeyClass.HUMAN if name in ("operator", "ada") else KeyClass.AGENT
        return scenario.adding(name, key, kind, endorser)
    return scenario.rotating(name, key, endorser, draw(st.integers(0, 2)))


ENDORSEMENTS = st.none() | st.builds(KeyEndorsement, TEXTS, TEXTS)
REFS = st.builds(ArtifactRef, TEXTS, ANY_INT, TEXTS)
KEY_FIELDS: dict[str, Any] = {
    "name": TEXTS,
    "kind": KINDS,
    "public": TEXTS | st.sampled_from([s.public.hex() for s in (*SIGNERS, ROOT, PIN)]),
    "custodian": TEXTS | st.just(CUSTODIAN),
    "proof": TEXTS,
    "endorsement": ENDORSEMENTS,
    "epoch": ANY_INT,
}
ABSURD: st.SearchStrategy[Command] = st.one_of(
    st.builds(ask.AddKey, **KEY_FIELDS),
    st.builds(ask.RotateKey, **KEY_FIELDS, replaces=TEXTS, reason=TEXTS),
    st.builds(ask.RevokeKey, kid=TEXTS, reason=TEXTS, heads=REFS),
    st.builds(ask.RetireAgent, name=TEXTS, reason=TEXTS),
    st.builds(ask.EraseArtifact, sha256=TEXTS, size=ANY_INT, reason=TEXTS),
    st.builds(ask.AcceptHistory, lost=TEXTS, reason=TEXTS, endorsement=ENDORSEMENTS),
    st.builds(
        ask.CreateLedger,
        root=TEXTS,
        checkpoint=TEXTS,
        checkpoint_proof=TEXTS,
        clock=TEXTS,
        custodian=TEXTS,
    ),
)


def label(key: RegisteredKey | None) -> str:
    if key is None:
        return "absent"
    return str(key.ending) if key.ending else "valid"


def word(event: type[Event]) -> str:
    """An event as the table of transitions calls it."""
    return MACHINE.type_of[event].removeprefix("registry.")


def check_step(before: State, event: Event, after: State) -> None:
    assert after.position == before.position + 1
    for kid, key in after.keys.items():
        old = before.keys.get(kid)
        if old is not None and old.ended is not None:
            assert key.ended == old.ended
            assert key.is_valid_at(old.ended) is False
            assert after.valid_key(kid) is None
        if label(old) != label(key):
            assert TRANSITIONS[label(old)][word(type(event))] == label(key)
        assert (old is None) or (old.public, old.name, old.added) == (
            key.public,
            key.name,
            key.added,
        )
    assert set(before.keys) <= set(after.keys)
    for name, agent in after.agents.items():
        earlier = before.agents.get(name)
        assert agent.epoch - (earlier.epoch if earlier else agent.epoch) in (0, 1)
        valid = [
            key.kid for key in after.keys.values() if key.name == name and after.valid_key(key.kid)
        ]
        assert valid in ([], [agent.kid])
        assert after.keys[agent.kid].epoch == agent.epoch
        if agent.retired:
            assert valid == []


def check_whole(scenario: RegistryScenario) -> None:
    added = Counter(
        e.public for e in scenario.history if isinstance(e, did.KeyAdded | did.KeyRotated)
    )
    assert not added or max(added.values()) == 1
    revoked = [e.kid for e in scenario.history if isinstance(e, did.KeyRevoked)]
    assert len(revoked) == len(set(revoked))
    assert ROOT.kid not in revoked
    assert all(str(scenario.state.keys[kid].ending) == "revoked" for kid in revoked)
    assert all(scenario.state.keys[kid].heads == HEADS.sha256 for kid in revoked)


@pytest.mark.requirement("REG-35")
@settings(max_examples=examples(150))
@given(st.data())
def test_any_sequence_of_commands_keeps_the_invariants(data: st.DataObject) -> None:
    scenario = RegistryScenario()
    for _ in range(data.draw(st.integers(1, 18))):
        command = data.draw(fair(scenario))
        before, length = scenario.state, len(scenario.history)
        by = data.draw(st.sampled_from([SYSTEM, *sorted(scenario.state.agents)]))
        decision = scenario.decide(command, by)
        if decision.refused:
            assert decision.drafts == ()
            continue
        for draft in decision.drafts:
            scenario.apply(draft.event, by)
        assert len(scenario.history) == length + 1
        check_step(before, scenario.history[-1], scenario.state)
    check_whole(scenario)


@pytest.mark.requirement("REG-35")
@settings(max_examples=examples(200))
@given(st.lists(ABSURD, min_size=1, max_size=5), st.booleans())
def test_absurd_commands_are_decided_and_never_raise(
    commands: list[Command], created: bool
) -> None:
    scenario = RegistryScenario(created)
    if created:
        scenario.agent()
        scenario.human()
    for command in commands:
        decision = scenario.decide(command)
        if decision.refused:
            assert decision.drafts == ()
            assert decision.findings
        else:
            scenario.accept(command)


ANY_EVENT = st.sampled_from(EVENTS).flatmap(
    lambda event: st.builds(
        event,
        **{
            name: {
                "kind": KINDS,
                "endorsement": ENDORSEMENTS,
                "epoch": ANY_INT,
                "size": ANY_INT,
                "public": KEY_FIELDS["public"],
            }.get(name, TEXTS | st.sampled_from(NAMES) | st.just(SIGNERS[0].kid))
            for name in event.__struct_fields__
        },
    )
)


@pytest.mark.requirement("REG-35")
@settings(max_examples=examples(150))
@given(st.lists(ANY_EVENT, max_size=8))
def test_whatever_is_in_the_ledger_evolves(events: list[Event]) -> None:
    scenario = RegistryScenario()
    scenario.agent()
    for event in events:
        scenario.apply(event)
    assert scenario.state.position == 1 + len(events)
    for command in (scenario.adding("new-name"), scenario.accepting(), creation()):
        scenario.decide(command)


@pytest.mark.requirement("REG-36")
def test_the_table_of_transitions_names_every_state_and_has_no_way_out_of_revoked() -> None:
    reached = {state for row in TRANSITIONS.values() for state in row.values()}
    assert reached | {"absent"} == set(TRANSITIONS)
    assert TRANSITIONS["revoked"] == {}
    named = {event for row in TRANSITIONS.values() for event in row}
    assert named <= {word(event) for event in EVENTS}


OTTER, NEW = signer("amber-otter"), signer("new")


def added() -> RegistryScenario:
    scenario = RegistryScenario()
    scenario.agent("amber-otter")
    return scenario


def rotation(scenario: RegistryScenario) -> Command:
    return scenario.rotating("amber-otter", NEW, OTTER, 1)


def revocation(scenario: RegistryScenario) -> Command:
    return scenario.revoking(OTTER.kid)


def retirement(_scenario: RegistryScenario) -> Command:
    return ask.RetireAgent(name="amber-otter")


ACTS = {"key_rotated": rotation, "key_revoked": revocation, "agent_retired": retirement}
WAYS = {"valid": None, "rotated": rotation, "retired": retirement, "revoked": revocation}


def walked() -> dict[tuple[str, str], str]:
    """Where every act leads from every state; what is refused leads nowhere."""
    found = {}
    for state, way in WAYS.items():
        for name, act in ACTS.items():
            scenario = added()
            if way is not None:
                scenario.accept(way(scenario))
            assert label(scenario.state.keys[OTTER.kid]) == state
            if not scenario.decide(act(scenario)).refused:
                scenario.accept(act(scenario))
                found[state, name] = label(scenario.state.keys[OTTER.kid])
    return found


@pytest.mark.requirement("REG-36")
def test_every_edge_of_the_table_can_be_walked_and_leads_where_it_says() -> None:
    moved = {(state, act): to for (state, act), to in walked().items() if state != to}
    drawn = {
        (state, act): to
        for state, row in TRANSITIONS.items()
        for act, to in row.items()
        if state != "absent"
    }
    assert moved == drawn


@given(st.sampled_from(SIGNERS), st.text("abc-", max_size=5), st.integers(1, 9))
def test_a_statement_binds_everything_it_names(key: Signer, name: str, epoch: int) -> None:
    facts: dict[str, Any] = {"name": name, "epoch": epoch, "kind": KeyClass.AGENT}
    facts |= {"public": key.public.hex(), "custodian": CUSTODIAN, "origin": ORIGIN}
    said = key_statement(**facts)
    others: list[dict[str, Any]] = [{"name": name + "x"}, {"epoch": epoch + 1}]
    others += [{"origin": ORIGIN + "0"}, {"kind": KeyClass.HUMAN}, {"custodian": "e" * 32}]
    assert all(key_statement(**{**facts, **changed}) != said for changed in others)
    assert sign_proof(key, said) != sign_endorsement(key, said).sig
