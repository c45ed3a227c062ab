"""Whose key was valid when: positions in the registry decide, never the clock."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from moot.verify import BundleVerdict
from tests.verify.bundle_builder import Ledger, Signer, canon
from tests.verify.verdicts import judge, named


def _place(verdict: BundleVerdict) -> tuple[str, tuple[str | None, int | None] | None]:
    bad = verdict.first_bad
    return verdict.verdict, None if bad is None else (bad.stream, bad.seq)


def _ledger() -> tuple[Ledger, Signer, Signer]:
    ledger = Ledger("attribution")
    operator, ada = ledger.add("operator", "human"), ledger.add("ada")
    ledger.event("errand/tea", ada)
    return ledger, operator, ada


def test_a_key_is_unknown_before_it_was_added() -> None:
    ledger, _, ada = _ledger()
    ledger.event("errand/milk", ada, reg=1)
    assert _place(judge(ledger.bundle(), ledger)) == ("unknown-key", ("errand/milk", 0))


@pytest.mark.parametrize(
    "end",
    [
        lambda ledger: ledger.rotate("ada", ledger.current["operator"]),
        lambda ledger: ledger.retire("ada"),
        lambda ledger: ledger.revoke(ledger.current["ada"]),
    ],
    ids=["rotated", "retired", "revoked"],
)
def test_a_key_is_unknown_from_its_end_on(end: Callable[[Ledger], object]) -> None:
    ledger, _, ada = _ledger()
    end(ledger)
    assert judge(ledger.bundle(), ledger)
    ledger.event("errand/tea", ada)
    assert _place(judge(ledger.bundle(), ledger)) == ("unknown-key", ("errand/tea", 1))


def test_a_successor_writes_where_its_predecessor_did() -> None:
    ledger, operator, _ = _ledger()
    ledger.event("errand/tea", ledger.rotate("ada", operator, step=1))
    assert judge(ledger.bundle(), ledger)


def test_a_revoked_key_cannot_backdate() -> None:
    ledger, _, ada = _ledger()
    ledger.revoke(ada)
    ledger.event("errand/tea", ada, reg=2)
    assert _place(judge(ledger.bundle(), ledger)) == ("unknown-key", ("errand/tea", 1))


def test_a_revoked_key_cannot_backdate_a_new_stream() -> None:
    ledger, _, ada = _ledger()
    ledger.revoke(ada)
    ledger.event("errand/milk", ada, reg=2)
    assert _place(judge(ledger.bundle(), ledger)) == ("unknown-key", ("errand/milk", 0))


def test_a_key_replaced_first_and_revoked_later_cannot_backdate_either() -> None:
    ledger, operator, ada = _ledger()
    ledger.rotate("ada", operator)
    ledger.revoke(ada)
    ledger.event("errand/tea", ada, reg=2)
    assert _place(judge(ledger.bundle(), ledger)) == ("unknown-key", ("errand/tea", 1))


def test_without_the_heads_a_revoked_key_wrote_nothing() -> None:
    ledger, _, ada = _ledger()
    ledger.revoke(ada)
    assert judge(ledger.bundle(), ledger)
    verdict = judge(ledger.bundle(artifacts=False), ledger)
    assert _place(verdict) == ("unknown-key", ("errand/tea", 0))


@pytest.mark.parametrize(
    "heads",
    [
        b"",
        b"null",
        b"[]",
        b"{} ",
        canon({"errand/tea": 0}),
        canon({"errand/tea": [True, "0" * 64]}),
        canon({"errand/tea": [0, "0" * 63]}),
        canon({"errand/tea": [0, "0" * 64, 0]}),
        canon({"Errand": [0, "0" * 64]}),
        b'{"errand/tea": [0,"' + b"0" * 64 + b'"]}',
    ],
    ids=str,
)
def test_malformed_heads_are_no_heads(heads: bytes) -> None:
    ledger, _, ada = _ledger()
    ledger.revoke(ada, heads=heads)
    assert _place(judge(ledger.bundle(), ledger)) == ("unknown-key", ("errand/tea", 0))


def test_the_first_event_beyond_the_heads_is_named_whatever_comes_after() -> None:
    ledger, operator, ada = _ledger()
    bob = ledger.add("bob")
    for signer in (bob, ada, operator, ada):
        ledger.event("errand/tea", signer)
    ledger.event("errand/milk", ada)
    tea = ledger.streams["errand/tea"]
    ledger.revoke(ada, heads={"errand/tea": [2, tea[2].hash.hex()]})
    verdict = judge(ledger.bundle(), ledger)
    assert _place(verdict) == ("unknown-key", ("errand/tea", 4))
    assert verdict.last_trusted is not None
    assert (verdict.last_trusted.stream, verdict.last_trusted.seq) == ("errand/tea", 3)


def test_two_revocations_may_share_their_heads() -> None:
    ledger, operator, ada = _ledger()
    ledger.event("errand/tea", operator)
    heads = ledger.heads()
    ledger.revoke(ada, heads=heads)
    ledger.revoke(operator, heads=heads)
    assert judge(ledger.bundle(), ledger)


def test_heads_of_many_streams_are_read_across_chunks() -> None:
    ledger, _, ada = _ledger()
    others: dict[str, Any] = {f"errand/z{number}": [number, "ab" * 32] for number in range(12_000)}
    ledger.revoke(ada, heads={**ledger.heads(), **others})
    assert judge(ledger.bundle(), ledger)
    ledger.event("errand/tea", ada, reg=2)
    assert _place(judge(ledger.bundle(), ledger)) == ("unknown-key", ("errand/tea", 1))


def test_an_unknown_key_in_the_registry_breaks_it() -> None:
    ledger, _, ada = _ledger()
    ledger.revoke(ada, Signer("stranger"))
    bundle = ledger.bundle()
    assert named(judge(bundle, ledger)) == ("tampered", bundle.event("registry", 3))


def test_an_unknown_key_does_not_hide_damage_behind_it() -> None:
    ledger, _, ada = _ledger()
    ledger.event("errand/tea", Signer("stranger"))
    ledger.event("errand/tea", ada)
    bundle = ledger.bundle()
    line = bundle.event("errand/tea", 2)
    assert named(judge(bundle, ledger)) == ("unknown-key", line - 1)
    assert named(judge(bundle.duplicate(line), ledger)) == ("tampered", line + 1)
