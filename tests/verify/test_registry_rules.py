"""The rules of the registry (section 4): what each event may do, and who may sign for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.verify.bundle_builder import Ledger, Signer, canon
from tests.verify.verdicts import judge, named

Act = Callable[[Ledger], Any]


def _ledger() -> Ledger:
    """People `operator` and `auditor`; agents `ada`, `bob`, and `cyd`, who is retired."""
    ledger = Ledger("rules")
    operator = ledger.add("operator", "human")
    ledger.add("auditor", "human", operator)
    for name in ("ada", "bob", "cyd"):
        ledger.add(name)
    ledger.retire("cyd")
    return ledger


def _new() -> Signer:
    return Signer("new")


def _who(ledger: Ledger, name: str) -> Signer:
    return ledger.current[name]


def _revoked(ledger: Ledger, name: str) -> Signer:
    key = ledger.current[name]
    ledger.revoke(key)
    return key


def _lone(*changes: Act) -> Act:
    """The acts on a ledger whose only human key is revoked."""

    def act(ledger: Ledger) -> None:
        _revoked(ledger, "operator")
        _revoked(ledger, "auditor")
        for change in changes:
            change(ledger)

    return act


ALLOWED: dict[str, Act] = {
    "an agent is added": lambda it: it.add("dan"),
    "an agent is added with an agent's endorsement": lambda it: it.add("dan", by=_who(it, "ada")),
    "a human is added by a human": lambda it: it.add("eve", "human", _who(it, "auditor")),
    "an agent rotates its own key": lambda it: it.rotate("ada", _who(it, "ada")),
    "an agent rotates into the next epoch": lambda it: it.rotate("ada", _who(it, "ada"), step=1),
    "a human rotates an agent's key": lambda it: it.rotate("ada", _who(it, "operator")),
    "a human rotates their own key": lambda it: it.rotate("operator", _who(it, "operator")),
    "a human rotates another's key": lambda it: it.rotate("operator", _who(it, "auditor")),
    "a retired agent returns": lambda it: it.rotate("cyd", _who(it, "cyd"), step=1),
    "a human brings an agent back": lambda it: it.rotate("cyd", _who(it, "operator"), step=1),
    "root revokes": lambda it: it.revoke(_who(it, "ada")),
    "a human revokes": lambda it: it.revoke(_who(it, "ada"), _who(it, "operator")),
    "a human revokes their own key": lambda it: it.revoke(
        _who(it, "operator"), _who(it, "operator")
    ),
    "a replaced key is revoked": lambda it: (
        old := _who(it, "ada"),
        it.rotate("ada", old),
        it.revoke(old),
    ),
    "a human names the successor of a revoked key": lambda it: (
        _revoked(it, "ada"),
        it.rotate("ada", _who(it, "operator")),
    ),
    "a human erases": lambda it: it.erase(b"gone", _who(it, "operator")),
    "an agent retires twice, with a return between": lambda it: (
        it.rotate("cyd", _who(it, "operator"), step=1),
        it.retire("cyd"),
    ),
    "a human accepts a lost history": lambda it: it.accept_history(_who(it, "auditor")),
    "no human is left to accept a lost history": _lone(lambda it: it.accept_history()),
}

REFUSED: dict[str, Act] = {
    "a type the registry does not know": lambda it: it.registry("key_lent", {}),
    "a second creation": lambda it: it.registry("ledger_created", it.creation()),
    "a missing field": lambda it: it.registry("agent_retired", {"epoch": 1, "name": "ada"}),
    "a further field": lambda it: it.add("dan", more=1),
    "a name in use": lambda it: it.add("ada", key=_new()),
    "the name of a retired agent": lambda it: it.add("cyd", key=_new()),
    "the name system": lambda it: it.add("system", key=_new()),
    "the name checkpoint": lambda it: it.add("checkpoint", key=_new()),
    "a name that is none": lambda it: it.add("Dan"),
    "a short name": lambda it: it.add("xy"),
    "a first epoch of 2": lambda it: it.registry("key_added", it.new_key(_new(), "dan", epoch=2)),
    "a class that is none": lambda it: it.add("dan", "robot"),
    "a key in use": lambda it: it.add("dan", key=_who(it, "ada")),
    "a key that was replaced": lambda it: (
        old := _who(it, "ada"),
        it.rotate("ada", old),
        it.add("dan", key=old),
    ),
    "the root key again": lambda it: it.add("dan", key=it.root),
    "the checkpoint key again": lambda it: it.add("dan", key=it.note_key),
    "a weak key": lambda it: it.add("dan", public="01" + "00" * 31),
    "another's proof": lambda it: it.add("dan", proof=it.new_key(_new(), "dan")["proof"]),
    "a proof for another name": lambda it: it.add(
        "dan", key=_new(), proof=it.new_key(_new(), "eve")["proof"]
    ),
    "a proof for another custodian": lambda it: it.add("dan", custodian="00" * 16),
    "an endorsement by nobody": lambda it: it.add("dan", by=Signer("stranger")),
    "an endorsement by the new key": lambda it: it.add("dan", key=_new(), by=_new()),
    "an endorsement by a retired agent": lambda it: it.add("dan", by=_who(it, "cyd")),
    "an endorsement by a revoked key": lambda it: it.add("dan", by=_revoked(it, "ada")),
    "an endorsement by the checkpoint key": lambda it: it.add("dan", by=it.note_key),
    "an endorsement of something else": lambda it: it.add(
        "dan", endorsement=it.endorse(_who(it, "ada"), {"name": "dan"})
    ),
    "a second human without a human": lambda it: it.add("eve", "human"),
    "a second human by an agent": lambda it: it.add("eve", "human", _who(it, "ada")),
    "a second human by root": lambda it: it.add("eve", "human", it.root),
    "a human after all were revoked": _lone(lambda it: it.add("eve", "human")),
    "a rotation nobody endorsed": lambda it: it.rotate("ada", _who(it, "ada"), endorsement=None),
    "a rotation by another agent": lambda it: it.rotate("ada", _who(it, "bob")),
    "a rotation by root": lambda it: it.rotate("ada", it.root),
    "a rotation by the new key": lambda it: it.rotate("ada", _new(), key=_new()),
    "a rotation two epochs on": lambda it: it.rotate("ada", _who(it, "ada"), step=2),
    "a rotation one epoch back": lambda it: it.rotate("ada", _who(it, "ada"), step=-1),
    "a rotation of no name": lambda it: it.registry(
        "key_rotated",
        {**it.new_key(_new(), "dan"), "reason": "", "replaces": _who(it, "ada").kid},
    ),
    "a rotation of a key that is not current": lambda it: (
        old := _who(it, "ada"),
        it.rotate("ada", old),
        it.rotate("ada", _who(it, "ada"), replaces=old.kid),
    ),
    "a rotation of system": lambda it: it.registry(
        "key_rotated",
        {
            **it.new_key(_new(), "system", by=_who(it, "operator")),
            "reason": "",
            "replaces": it.root.kid,
        },
    ),
    "a human rotated by an agent": lambda it: it.rotate("operator", _who(it, "ada")),
    "an agent become human by rotation": lambda it: (
        it.classes.update(ada="human"),
        it.rotate("ada", _who(it, "operator")),
    ),
    "a retired agent in its old epoch": lambda it: it.rotate("cyd", _who(it, "operator")),
    "a retired agent by another agent": lambda it: it.rotate("cyd", _who(it, "ada"), step=1),
    "a revoked key naming its successor": lambda it: it.rotate("ada", _revoked(it, "ada")),
    "a revoked and retired key naming its successor": lambda it: (
        key := _revoked(it, "ada"),
        it.retire("ada"),
        it.rotate("ada", key, step=1),
    ),
    "a revoked human naming a successor": lambda it: it.rotate(
        "operator", _revoked(it, "operator")
    ),
    "a revocation of no key": lambda it: it.revoke(_new()),
    "a revocation of the root key": lambda it: it.revoke(it.root),
    "a revocation of the checkpoint key": lambda it: it.revoke(it.note_key),
    "a second revocation": lambda it: it.revoke(_revoked(it, "ada")),
    "heads that are not cited": lambda it: it.registry(
        "key_revoked", {"heads": "0" * 64, "kid": _who(it, "ada").kid, "reason": ""}
    ),
    "a revocation by an agent": lambda it: it.revoke(_who(it, "ada"), _who(it, "bob")),
    "a revocation by a revoked human": lambda it: it.revoke(
        _who(it, "ada"), _revoked(it, "operator")
    ),
    "a revocation by a stranger": lambda it: it.revoke(_who(it, "ada"), Signer("stranger")),
    "an erasure by an agent": lambda it: it.erase(b"gone", _who(it, "ada")),
    "a retirement by a human": lambda it: it.registry(
        "agent_retired", {"epoch": 1, "name": "ada", "reason": ""}, _who(it, "operator")
    ),
    "a retirement of a human": lambda it: it.retire("operator"),
    "a retirement of nobody": lambda it: it.retire("dan"),
    "a retirement of system": lambda it: it.retire("system"),
    "a second retirement": lambda it: it.retire("cyd"),
    "a retirement in another epoch": lambda it: it.retire("ada", epoch=2),
    "a reason that is no text": lambda it: it.retire("ada", reason=None),
    "a size that is no number": lambda it: it.erase(b"gone", size=True),
    "a lost history nobody endorsed": lambda it: it.accept_history(),
    "a lost history by an agent": lambda it: it.accept_history(_who(it, "ada")),
    "a lost history by root": lambda it: it.accept_history(it.root),
    "a lost history by a revoked human": lambda it: it.accept_history(_revoked(it, "operator")),
    "another lost history than endorsed": lambda it: it.accept_history(
        _who(it, "operator"), lost="another note"
    ),
    "an endorsed lost history where no human is left": _lone(
        lambda it: it.accept_history(_who(it, "operator"))
    ),
    "root under another name": lambda it: it.registry(
        "artifact_erased",
        {"reason": "", "sha256": "0" * 64, "size": 0},
        actor={"epoch": 1, "id": "operator", "kid": it.root.kid, "role": None},
    ),
    "root in a role": lambda it: it.registry(
        "artifact_erased",
        {"reason": "", "sha256": "0" * 64, "size": 0},
        actor={"epoch": 1, "id": "system", "kid": it.root.kid, "role": "judge"},
    ),
    "a human under another's name": lambda it: it.registry(
        "artifact_erased",
        {"reason": "", "sha256": "0" * 64, "size": 0},
        _who(it, "operator"),
        actor={"epoch": 1, "id": "auditor", "kid": _who(it, "operator").kid, "role": None},
    ),
    "a registry event that saw another position": lambda it: it.registry(
        "key_added", it.new_key(_new(), "dan"), reg=0
    ),
}


@pytest.mark.parametrize("name", ALLOWED)
def test_it_is_allowed(name: str) -> None:
    ledger = _ledger()
    ALLOWED[name](ledger)
    assert named(judge(ledger.bundle(), ledger)) == ("valid", None)


@pytest.mark.parametrize("name", REFUSED)
def test_it_breaks_the_registry(name: str) -> None:
    ledger = _ledger()
    REFUSED[name](ledger)
    bundle = ledger.bundle()
    verdict = judge(bundle, ledger)
    assert named(verdict) == ("tampered", bundle.find("event", -1))
    assert verdict.first_bad is not None
    assert verdict.first_bad.seq == len(ledger.streams["registry"]) - 1
    assert verdict.events == len(ledger.streams["registry"]) - 1


@pytest.mark.parametrize(
    "changes",
    [
        {"clock": "sundial"},
        {"custodian": "x"},
        {"root": "00" * 32},
        {"root": Signer("another root").public.hex()},
        {"root": None},
        {"checkpoint": "01" + "00" * 31},
        {"checkpoint": Signer("another").public.hex()},
        {"checkpoint_proof": "00" * 64},
        {"more": 1},
    ],
    ids=str,
)
def test_a_creation_against_the_rules_is_no_ledger(changes: dict[str, Any]) -> None:
    ledger = Ledger("rules", **changes)
    assert named(judge(ledger.bundle(), ledger)) == ("tampered", 2)


def test_one_key_cannot_be_root_and_checkpoint() -> None:
    ledger = Ledger("rules")
    ledger.note_key = ledger.root
    ledger.streams.clear()
    ledger.registry("ledger_created", ledger.creation())
    assert named(judge(ledger.bundle(), ledger)) == ("tampered", 2)


def test_a_bundle_that_does_not_start_with_its_creation_is_no_ledger() -> None:
    ledger = _ledger()
    bundle = ledger.bundle()
    assert named(judge(bundle.drop(2), ledger)) == ("tampered", 2)
    assert named(judge(bundle.replace(2, canon({"artifact": {}})), ledger)) == ("tampered", 2)


def test_another_stream_before_the_registry_is_refused() -> None:
    ledger = _ledger()
    ledger.event("errand/tea", ledger.current["ada"], {"root": ledger.root.public.hex()})
    ledger.streams = dict(reversed(ledger.streams.items()))
    assert named(judge(ledger.bundle(), ledger)) == ("tampered", 2)
