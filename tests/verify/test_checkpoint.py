"""Checkpoints and proofs (sections 5 and 7): what the note counts must be what stands above."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

import pytest

from tests.verify.bundle_builder import Json, Ledger, Signer, b64, story
from tests.verify.verdicts import judge, named

LEDGER = story()
LEDGER.artifacts = {sha: data for sha, data in LEDGER.artifacts.items() if len(data) < 10_000}
PROOFS = [LEDGER.proof(name) for name in LEDGER.streams]
OTHER = "moot.ledger/" + "0" * 32


@pytest.mark.parametrize(
    "changes",
    [
        {"key": Signer("another")},
        {"key": LEDGER.root},
        {"tag": bytes(4)},
        {"origin": OTHER},
        {"signer": OTHER},
        {"root": bytes(32)},
        {"root": b64(bytes(31))},
        {"root": b64(bytes(32))[:-2] + "B="},
        {"streams": 5},
        {"streams": 3},
        {"streams": 0},
        {"streams": "04"},
        {"streams": "1" + "0" * 30},
        {"events": 23},
        {"events": "9" * 5000},
        {"number": "01"},
        {"number": "-1"},
        {"number": "+1"},
        {"number": "٣"},
        {"number": "1 1"},
        {"number": "9" * 5000},
        {"at": "now"},
        {"at": "2026-01-02T03:04:05Z"},
    ],
    ids=" ".join,
)
def test_a_note_that_does_not_hold_is_named(changes: dict[str, Any]) -> None:
    bundle = LEDGER.bundle(note=LEDGER.note(**changes))
    assert named(judge(bundle, LEDGER)) == ("tampered", bundle.find("checkpoint"))


@pytest.mark.parametrize(
    "edit",
    [
        lambda text: text[:-1],
        lambda text: text + "\n",
        lambda text: text + text.splitlines()[-1] + "\n",
        lambda text: text.replace("\n\n", "\n"),
        lambda text: text.replace("\N{EM DASH}", "-"),
        lambda text: text.replace("moot 1", "moot  1"),
        lambda text: text.replace("\n", "\r\n"),
        lambda text: text[:0],
        lambda text: text * 10_000,
    ],
)
def test_a_note_of_another_form_is_named(edit: Callable[[str], str]) -> None:
    bundle = LEDGER.bundle(note=True)
    line = bundle.find("checkpoint")
    changed = bundle.replace(line, {"checkpoint": edit(LEDGER.note())})
    assert named(judge(changed, LEDGER)) == ("tampered", line)


def sealed_too_long(ledger: Ledger) -> str:
    """A byte between signature and text that the signature covers: only the key's holder can."""
    honest = ledger.note()
    text = honest.partition("\n\n")[0] + "\n"
    signature = ledger.note_key.sign_bare(b"x" + text.encode())
    tag = hashlib.sha256(ledger.origin.encode() + b"\n\x01" + ledger.note_key.public).digest()[:4]
    return f"{text}\n\N{EM DASH} {ledger.origin} {b64(tag + signature + b'x')}\n"


def test_a_note_whose_seal_holds_a_byte_too_many_is_named() -> None:
    bundle = LEDGER.bundle(note=sealed_too_long(LEDGER))
    assert named(judge(bundle, LEDGER)) == ("tampered", bundle.find("checkpoint"))


def test_a_note_that_is_no_text_is_named() -> None:
    bundle = LEDGER.bundle()
    line = bundle.find("checkpoint")
    assert named(judge(bundle.replace(line, {"checkpoint": 1}), LEDGER)) == ("tampered", line)


def _proofs(number: int, **changes: Any) -> list[Json]:
    changed = [dict(proof) for proof in PROOFS]
    changed[number].update(changes)
    return changed


@pytest.mark.parametrize(
    "changes",
    [
        {"hash": "0" * 64},
        {"seq": 0},
        {"stream": "errand/none"},
        {"stream": "../../etc/passwd"},
        {"index": 0},
        {"index": -1},
        {"index": True},
        {"path": ["A" * 64]},
        {"path": None},
        {"more": 1},
    ],
    ids=str,
)
def test_a_proof_that_does_not_fit_is_named(changes: dict[str, Any]) -> None:
    bundle = LEDGER.bundle(proofs=_proofs(1, **changes))
    assert named(judge(bundle, LEDGER)) == ("tampered", bundle.find("proof", 1))


@pytest.mark.parametrize(
    "changes",
    [
        {"path": []},
        {"path": PROOFS[3]["path"][::-1]},
        {"path": [*PROOFS[3]["path"], "0" * 64]},
        {"path": ["0" * 64] * 20_000},
        {"index": 4},
        {"index": 2**53 - 1},
    ],
    ids=lambda changes: str(changes)[:60],
)
def test_a_proof_that_leads_elsewhere_is_told_at_the_checkpoint(changes: dict[str, Any]) -> None:
    bundle = LEDGER.bundle(proofs=_proofs(3, **changes))
    assert named(judge(bundle, LEDGER)) == ("tampered", bundle.find("checkpoint"))
    assert judge(LEDGER.bundle(proofs=_proofs(3, **changes), note=False), LEDGER).verdict == (
        "unproven"
    )


def test_two_proofs_of_one_stream_are_refused() -> None:
    bundle = LEDGER.bundle(proofs=[*PROOFS, {**PROOFS[1], "index": 9}])
    assert named(judge(bundle, LEDGER)) == ("tampered", bundle.find("proof", 4))


def test_proofs_out_of_order_are_refused() -> None:
    bundle = LEDGER.bundle(proofs=[PROOFS[1], PROOFS[0], *PROOFS[2:]])
    assert named(judge(bundle, LEDGER)) == ("tampered", bundle.find("proof", 1))


def test_a_forged_longer_stream_is_caught_at_the_checkpoint() -> None:
    """A proof that claims more events than the tree holds sets truncated, and then fails."""
    bundle = LEDGER.bundle(proofs=_proofs(1, seq=99))
    assert named(judge(bundle, LEDGER)) == ("tampered", bundle.find("checkpoint"))


def test_an_old_proof_for_an_event_in_the_middle_is_found_again() -> None:
    ledger = Ledger("growing")
    ada = ledger.add("ada")
    ledger.event("errand/tea", ada)
    note, proofs = ledger.note(), [ledger.proof(name) for name in ledger.streams]
    for _ in range(3):
        ledger.event("errand/tea", ada)
    assert judge(ledger.bundle(note=note, proofs=proofs), ledger).verdict == "unproven"
    ledger.rechain("errand/tea", 0, lambda body: {**body, "key": "rewritten"})
    bundle = ledger.bundle(note=note, proofs=proofs)
    assert named(judge(bundle, ledger)) == ("tampered", bundle.find("proof", 1))


def test_a_stream_newer_than_the_note_is_unproven_and_not_counted() -> None:
    ledger = Ledger("growing")
    ada = ledger.add("ada")
    ledger.event("errand/tea", ada)
    ledger.event("errand/milk", ada)
    note = ledger.note()
    proofs = [ledger.proof(name) for name in ("registry", "errand/tea")]
    ledger.event("errand/late", ada)
    bundle = ledger.bundle(["registry", "errand/tea", "errand/late"], note=note, proofs=proofs)
    assert named(judge(bundle, ledger)) == ("unproven", None)


def test_a_note_that_counts_other_events_is_caught_when_all_streams_are_proved() -> None:
    ledger = Ledger("counting")
    ledger.event("errand/tea", ledger.add("ada"))
    bundle = ledger.bundle(note=ledger.note(events=4))
    assert named(judge(bundle, ledger)) == ("tampered", bundle.find("checkpoint"))
    partial = ledger.bundle(["registry"], note=ledger.note(events=4))
    assert judge(partial, ledger)


def test_nothing_stands_after_the_checkpoint() -> None:
    bundle = LEDGER.bundle()
    line = bundle.find("checkpoint")
    for again in (line, line - 1, 2):
        longer = bundle.append(bundle.lines[again - 2])
        assert named(judge(longer, LEDGER)) == ("tampered", line + 1)


def test_a_checkpoint_without_a_registry_is_refused() -> None:
    bundle = LEDGER.bundle()
    alone = bundle.edited(lambda lines: lines.__delitem__(slice(0, len(lines) - 1)))
    assert named(judge(alone, LEDGER)) == ("tampered", 2)
