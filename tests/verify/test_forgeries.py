"""Forgeries by someone who holds one key, or none: what is signed fits nowhere else."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest

from tests.verify.bundle_builder import (
    ENDORSEMENT,
    EVENT,
    KEY_PROOF,
    Bundle,
    Entry,
    Json,
    Ledger,
    Signer,
    artifact_lines,
    canon,
    frame,
    seal,
    signed_bytes,
    small,
)
from tests.verify.verdicts import judge, named


def _with(ledger: Ledger, entry: Entry) -> tuple[Bundle, int]:
    """A bundle in which the entry is the newest event of the stream `errand/tea`."""
    ledger.append("errand/tea", entry)
    bundle = ledger.bundle()
    return bundle, bundle.find("event", -1)


@pytest.mark.requirement("LDG-086")
def test_an_event_of_another_ledger_is_refused() -> None:
    ledger, other = small(), small()
    foreign = Ledger("foreign")
    stolen = foreign.event("errand/tea", other.current["ada"])
    bundle, line = _with(ledger, stolen)
    assert named(judge(bundle, ledger)) == ("tampered", line)


@pytest.mark.requirement("LDG-086")
def test_an_event_of_another_stream_is_refused() -> None:
    ledger = small()
    moved = ledger.event("errand/milk", ledger.current["ada"])
    del ledger.streams["errand/milk"]
    bundle = ledger.bundle()
    line = bundle.event("errand/tea", 1)
    # It can only be a stream of its own there, and the one around it is no longer in one piece.
    assert named(judge(bundle.insert(line, moved.envelope), ledger)) == ("tampered", line + 1)


def test_a_stream_under_another_name_is_refused() -> None:
    ledger = small()
    ada = ledger.current["ada"]
    body = ledger.body("errand/milk", ada, prev=ledger.genesis("errand/tea").hex())
    ledger.append("errand/milk", seal(canon(body), ada))
    bundle = ledger.bundle()
    assert named(judge(bundle, ledger)) == ("tampered", bundle.event("errand/milk", 0))


@pytest.mark.requirement("LDG-086")
@pytest.mark.parametrize("kind", ["talk.noted", "registry.key_added", "errand", "errand."])
def test_an_event_of_another_protocol_is_refused(kind: str) -> None:
    ledger = small()
    ada = ledger.current["ada"]
    bundle, line = _with(ledger, seal(canon(ledger.body("errand/tea", ada, type=kind)), ada))
    assert named(judge(bundle, ledger)) == ("tampered", line)


@pytest.mark.parametrize("kind", [KEY_PROOF, ENDORSEMENT, "application/vnd.moot.heartbeat.v1+json"])
def test_a_signature_made_for_another_purpose_is_refused(kind: str) -> None:
    ledger = small()
    ada = ledger.current["ada"]
    payload = canon(ledger.body("errand/tea", ada))
    bundle, line = _with(ledger, seal(payload, ada, signature=ada.sign(kind, payload)))
    assert named(judge(bundle, ledger)) == ("tampered", line)
    assert signed_bytes(kind, payload) != signed_bytes(EVENT, payload)


def test_a_signature_over_the_bare_bytes_is_refused() -> None:
    ledger = small()
    ada = ledger.current["ada"]
    payload = canon(ledger.body("errand/tea", ada))
    bundle, line = _with(ledger, seal(payload, ada, signature=ada.sign_bare(payload)))
    assert named(judge(bundle, ledger)) == ("tampered", line)


@pytest.mark.parametrize(
    "actor",
    [{"id": "bob"}, {"epoch": 2}, {"id": "operator"}, {"id": "system"}, {"id": "checkpoint"}],
    ids=str,
)
def test_a_key_speaks_for_its_own_name_and_epoch_only(actor: Json) -> None:
    ledger = small()
    ada = ledger.current["ada"]
    ledger.add("bob")
    body = ledger.body("errand/tea", ada)
    forged = seal(canon({**body, "actor": {**body["actor"], **actor}}), ada)
    bundle, line = _with(ledger, forged)
    assert named(judge(bundle, ledger)) == ("unknown-key", line)


def test_a_signer_who_claims_anothers_key_is_refused() -> None:
    ledger = small()
    ada, bob = ledger.current["ada"], ledger.add("bob")
    payload = canon(ledger.body("errand/tea", ada))
    bundle, line = _with(ledger, seal(payload, bob))
    assert named(judge(bundle, ledger)) == ("tampered", line)
    ledger.streams["errand/tea"].pop()
    bundle, line = _with(ledger, seal(payload, bob, keyid=ada.kid))
    assert named(judge(bundle, ledger)) == ("tampered", line)


@pytest.mark.parametrize("name", ["root", "note_key"])
def test_the_ledgers_own_keys_do_not_write_as_agents(name: str) -> None:
    ledger = small()
    key = getattr(ledger, name)
    body = ledger.body("errand/tea", key)
    claimed = {**body, "actor": {**body["actor"], "id": "ada"}}
    bundle, line = _with(ledger, seal(canon(claimed), key))
    assert named(judge(bundle, ledger)) == ("unknown-key", line)


def test_the_checkpoint_key_writes_no_events() -> None:
    ledger = small()
    body = ledger.body("errand/tea", ledger.note_key)
    claimed = {**body, "actor": {**body["actor"], "id": "checkpoint"}}
    bundle, line = _with(ledger, seal(canon(claimed), ledger.note_key))
    assert named(judge(bundle, ledger)) == ("unknown-key", line)


def _two_authors() -> tuple[Ledger, Signer, Signer]:
    ledger = Ledger("two")
    ada, bob = ledger.add("ada"), ledger.add("bob")
    for signer in (ada, bob, ada, bob):
        ledger.event("errand/tea", signer, {"said": 1})
    return ledger, ada, bob


def _lie(body: Json) -> Json:
    return {**body, "data": {"said": 2}}


@pytest.mark.requirement("LDG-082")
@pytest.mark.requirement("LDG-084")
def test_a_thief_of_one_key_cannot_rewrite_what_others_signed_after() -> None:
    ledger, ada, _ = _two_authors()
    honest = ledger.bundle()
    ledger.rechain("errand/tea", 0, _lie, signer=ada)
    bundle = ledger.bundle(note=False, proofs=False)
    assert named(judge(bundle, ledger)) == ("tampered", bundle.event("errand/tea", 1))
    assert judge(honest, ledger)


def test_a_thief_of_one_key_cannot_rewrite_the_end_under_an_honest_checkpoint() -> None:
    ledger, _, bob = _two_authors()
    note, proofs = ledger.note(), [ledger.proof(name) for name in ledger.streams]
    ledger.rechain("errand/tea", 3, _lie, signer=bob)
    bundle = ledger.bundle(note=note, proofs=proofs)
    assert named(judge(bundle, ledger)) == ("tampered", bundle.find("proof", 1))
    proofs[1] = ledger.proof("errand/tea")
    bundle = ledger.bundle(note=note, proofs=proofs)
    assert named(judge(bundle, ledger)) == ("tampered", bundle.find("checkpoint"))


def test_a_rewritten_end_without_its_checkpoint_is_at_best_unproven() -> None:
    ledger, _, bob = _two_authors()
    ledger.rechain("errand/tea", 3, _lie, signer=bob)
    assert judge(ledger.bundle(note=False, proofs=False), ledger).verdict == "unproven"


def test_all_agents_together_cannot_make_a_checkpoint() -> None:
    ledger, ada, _ = _two_authors()
    ledger.rechain("errand/tea", 0, _lie)
    bundle = ledger.bundle(note=ledger.note(key=ada))
    assert named(judge(bundle, ledger)) == ("tampered", bundle.find("checkpoint"))


def test_a_stripped_or_swapped_signature_breaks_the_chain() -> None:
    ledger, ada, bob = _two_authors()
    bundle = ledger.bundle()
    line = bundle.event("errand/tea", 0)
    entry = ledger.streams["errand/tea"][0]
    for changes in ({"signature": bytes(64)}, {"keyid": bob.kid}):
        forged = seal(entry.payload, ada, **changes)
        assert named(judge(bundle.replace(line, forged.envelope), ledger)) == ("tampered", line)


def test_another_valid_signature_of_the_same_body_breaks_the_chain() -> None:
    ledger, ada, _ = _two_authors()
    body = {**ledger.streams["errand/tea"][0].body, "key": "again"}
    bundle = ledger.bundle()
    line = bundle.event("errand/tea", 0)
    replaced = bundle.replace(line, seal(canon(body), ada).envelope)
    assert named(judge(replaced, ledger)) == ("tampered", line + 1)


def _entry(ledger: Ledger, **changes: Any) -> Entry:
    ada = ledger.current["ada"]
    return seal(canon(ledger.body("errand/tea", ada, **changes)), ada)


@pytest.mark.parametrize(
    "changes",
    [{"reg": 99}, {"reg": None}, {"reg": 1}, {"seq": 5}, {"prev": "0" * 64}, {"v": 2}, {"v": True}],
    ids=str,
)
def test_an_event_that_does_not_continue_its_stream_is_refused(changes: Json) -> None:
    ledger = small()
    bundle, line = _with(ledger, _entry(ledger, **changes))
    assert named(judge(bundle, ledger)) == ("tampered", line)


def test_the_genesis_of_a_stream_depends_on_ledger_and_name() -> None:
    ledger = small()
    framed = frame(b"moot.genesis.v1", ledger.origin.encode(), b"errand/tea")
    assert ledger.genesis("errand/tea") == hashlib.sha256(b"\x02" + framed).digest()
    assert ledger.genesis("errand/tea") != Ledger("other").genesis("errand/tea")


@pytest.mark.parametrize(
    ("change", "verdict"),
    [
        ({"data": {"other": 1}}, "forked"),
        ({"reg": 0}, "forked"),
        ({"prev": "0" * 64}, "forked"),
        ({}, "tampered"),
        ({"seq": 9}, "tampered"),
        ({"stream": "errand/none"}, "tampered"),
        ({"origin": "moot.ledger/" + "0" * 32}, "tampered"),
        ({"type": "talk.noted"}, "tampered"),
    ],
    ids=str,
)
def test_a_fork_is_a_second_event_for_a_position_above(change: Json, verdict: str) -> None:
    ledger = small()
    entry = ledger.streams["errand/tea"][1]
    bundle = ledger.bundle(forks=[seal(canon({**entry.body, **change}), entry.signer)])
    assert named(judge(bundle, ledger)) == (verdict, bundle.find("fork"))


def test_a_fork_by_an_unregistered_key_proves_nothing() -> None:
    ledger, stranger = small(), Signer("stranger")
    body = ledger.streams["errand/tea"][1].body
    claimed = {**body, "actor": {**body["actor"], "kid": stranger.kid}}
    bundle = ledger.bundle(forks=[seal(canon(claimed), stranger)])
    assert named(judge(bundle, ledger)) == ("tampered", bundle.find("fork"))


def test_the_artifacts_of_a_fork_may_be_shown() -> None:
    ledger = Ledger("forked")
    entry = ledger.event("errand/tea", ledger.add("ada"))
    cited = ledger.cite(b"what the fork said")
    fork = seal(canon({**entry.body, "artifacts": [cited]}), entry.signer)
    bundle = ledger.bundle(forks=[fork])
    line = bundle.find("fork")
    for raw in reversed(artifact_lines(b"what the fork said")):
        bundle = bundle.insert(line + 1, raw)
    assert named(judge(bundle, ledger)) == ("forked", line)
