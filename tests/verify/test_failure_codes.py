"""Every kind of damage is told under its own code, as the failure of the step that it breaks."""

from __future__ import annotations

import io
from collections.abc import Callable

import pytest

from moot.verify import BundleVerdict, verify_records
from moot.verify.bundle import MAX_LINE, lines_of
from tests.verify.bundle_builder import Bundle, Json, Ledger, Signer, canon, seal, small
from tests.verify.verdicts import trust_of

Damage = Callable[[Ledger, Bundle], Bundle | bytes]


class Misnamed(Ledger):
    """A ledger that does not bear the name of its root key."""

    def creation(self, clock: str = "system") -> Json:
        self.origin = "moot.ledger/" + "0" * 32
        return super().creation(clock)


def _newest(ledger: Ledger, **changes: object) -> Bundle:
    """With another event of ada's, in which something is not as it should be."""
    ledger.event("errand/tea", ledger.current["ada"], **changes)
    return ledger.bundle()


def _raw(ledger: Ledger, payload: bytes) -> Bundle:
    ledger.append("errand/tea", seal(payload, ledger.current["ada"]))
    return ledger.bundle()


def _signed_by(ledger: Ledger, by: Signer, keyid: str) -> Bundle:
    payload = canon(ledger.body("errand/tea", ledger.current["ada"]))
    ledger.append("errand/tea", seal(payload, by, keyid=keyid))
    return ledger.bundle()


def _bad_rule(ledger: Ledger, _: Bundle) -> Bundle:
    ledger.add("operator", "human")
    return ledger.bundle()


def _proof(ledger: Ledger, **changes: object) -> Bundle:
    first, second = (ledger.proof(name) for name in ledger.streams)
    return ledger.bundle(proofs=[first, {**second, **changes}])


def _sealed(ledger: Ledger, *kinds: str) -> Bundle:
    """Answers of a decision, opened or sealed as they should not be."""
    for kind in kinds:
        data: Json = {"commitment": "0" * 64} if kind == "answer_sealed" else {"nonce": "1" * 64}
        ledger.event("decision/d", ledger.current["ada"], data, type=f"decision.{kind}")
    return ledger.bundle()


def _chunk(_: Ledger, bundle: Bundle) -> Bundle:
    return bundle.replace(bundle.find("chunk"), {"chunk": "dGVh"})


def _swapped(one: str, other: str) -> Damage:
    return lambda _, bundle: bundle.swap(bundle.find(one), bundle.find(other))


def _note(**changes: object) -> Damage:
    return lambda ledger, _: ledger.bundle(note=ledger.note(**changes))  # type: ignore[arg-type]


STRANGER = Signer("stranger")
# What is told, the check that fails with it, and how to bring it about.
DAMAGES: dict[str, tuple[str, Damage]] = {
    "empty": ("format", lambda *_: b""),
    "line_too_long": ("format", lambda _, b: b.data() + b"x" * (MAX_LINE + 1)),
    "line_unended": ("format", lambda _, b: b.data()[:-1]),
    "line_not_canonical": ("format", lambda _, b: b.append(b'{"b":1,"a":1}')),
    "line_unknown": ("format", lambda _, b: b.append({"other": 1})),
    "line_malformed": ("format", lambda _, b: b.change(b.find("proof"), index=-1)),
    "envelope_malformed": ("format", lambda _, b: b.insert(3, b'{"payload":""}')),
    "base64_malformed": ("format", lambda _, b: b.replace(b.find("chunk"), {"chunk": "="})),
    "order_wrong": ("format", _swapped("artifact", "proof")),
    "order_wrong: an artifact twice": (
        "format",
        lambda _, b: b.duplicate(b.find("chunk")).insert(
            b.find("chunk") + 1, b.lines[b.find("artifact") - 2]
        ),
    ),
    "order_wrong: a chunk alone": ("format", lambda _, b: b.drop(b.find("artifact"))),
    "order_wrong: a proof twice": ("format", lambda _, b: b.duplicate(b.find("proof", 1))),
    "order_wrong: no header": ("format", lambda _, b: b.lines[b.find("proof") - 2] + b"\n"),
    "fork_unproven": ("chain", lambda led, _: led.bundle(forks=[led.streams["errand/tea"][0]])),
    "fork_unproven: by nobody": (
        "signatures",
        lambda led, _: led.bundle(forks=[seal(canon(led.body("errand/tea", STRANGER)), STRANGER)]),
    ),
    "stream_split": ("format", lambda _, b: b.insert(b.find("artifact"), b.lines[1])),
    "lines_added": ("format", lambda _, b: b.data(lines=len(b.lines) - 1)),
    "digest_wrong": ("format", lambda _, b: b.data(digest="0" * 64)),
    "payload_too_large": ("signatures", lambda led, _: _newest(led, data={"t": "x" * 65_536})),
    "signature_invalid": (
        "signatures",
        lambda led, _: _signed_by(led, STRANGER, led.current["ada"].kid),
    ),
    "payload_not_canonical": ("fields", lambda led, _: _raw(led, b"{ }")),
    "field_invalid": ("fields", lambda led, _: _newest(led, corr="")),
    "protocol_mismatch": ("fields", lambda led, _: _newest(led, type="talk.noted")),
    "origin_foreign": ("fields", lambda _, b: b.data(origin="moot.ledger/" + "0" * 32)),
    "kid_mismatch": ("fields", lambda led, _: _signed_by(led, led.root, led.root.kid)),
    "seq_broken": ("chain", lambda _, b: b.duplicate(2)),
    "prev_broken": ("chain", lambda led, _: _newest(led, prev="0" * 64)),
    "reg_broken": ("chain", lambda led, _: _newest(led, reg=0)),
    "reg_beyond": ("chain", lambda led, _: _newest(led, reg=99)),
    "registry_rule": ("registry", _bad_rule),
    "registry_rule: a ledger under the name of another": (
        "registry",
        lambda *_: Misnamed("misnamed").bundle(),
    ),
    "artifact_uncited": ("artifacts", lambda _, b: b.change(b.find("artifact"), size=1)),
    "artifact_hash": (
        "artifacts",
        lambda _, b: b.replace(b.find("chunk"), {"chunk": "dGVhIGxlYXZlZA=="}),
    ),
    "chunk_size": ("artifacts", _chunk),
    "artifact_short": ("artifacts", lambda _, b: b.cut(b.find("artifact"))),
    "note_malformed": ("checkpoint", _note(at="now")),
    "note_foreign": ("checkpoint", _note(origin="moot.ledger/" + "0" * 32)),
    "note_signature": ("checkpoint", _note(key=STRANGER)),
    "count_wrong": ("checkpoint", _note(events=4)),
    "proof_foreign": ("checkpoint", lambda led, _: _proof(led, stream="talk")),
    "proof_mismatch": ("checkpoint", lambda led, _: _proof(led, hash="0" * 64)),
    "proof_broken": ("checkpoint", lambda led, _: _proof(led, path=["0" * 64])),
    "opened_early": ("receipt", lambda led, _: _sealed(led, "answer_sealed", "answer_given")),
}


def ask(data: Bundle | bytes, ledger: Ledger) -> BundleVerdict:
    raw = data if isinstance(data, bytes) else data.data()
    return verify_records(lines_of(io.BytesIO(raw)), trust_of(ledger.trust()))


@pytest.mark.parametrize("code", DAMAGES)
def test_damage_is_told_under_its_code_by_the_check_that_it_fails(code: str) -> None:
    check, damage = DAMAGES[code]
    ledger = small()
    verdict = ask(damage(ledger, ledger.bundle()), ledger)
    assert verdict.verdict == "tampered"
    (found,) = (one for one in verdict.findings if one.severity == "error")
    assert (found.code, found.rule) == (code.partition(":")[0], f"format-7/{check}")
    (failed,) = (one for one in verdict.checks if one.ok is False)
    assert (failed.name, found.message in failed.detail) == (check, True)


def test_of_what_was_not_read_nothing_is_said() -> None:
    ledger = small()
    verdict = ask(ledger.bundle().duplicate(4), ledger)
    stopped = "not established: reading stopped at the damage"
    assert (verdict.authenticity, verdict.completeness, verdict.artifacts) == (stopped,) * 3
    assert verdict.integrity == "damaged at line 5 (registry 3): event 3 was expected here"
    told = {one.name: (one.ok, one.detail) for one in verdict.checks}
    held = ("format", "signatures", "fields", "registry", "artifacts", "checkpoint")
    ended = ("authors", "trust", "forks", "completeness", "freshness", "kept", "receipt", "clock")
    assert {name: told[name] for name in held} == dict.fromkeys(held, (None, "held up to line 4"))
    assert {name: told[name] for name in ended} == dict.fromkeys(ended, (None, "not reached"))
    assert told["chain"] == (False, "event 3 was expected here")
