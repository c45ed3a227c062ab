"""Making one record: profile check, canonical bytes, signature, hash. No disk."""

from __future__ import annotations

from collections.abc import Iterator

from bench.figure import Figure, ratio
from bench.ground import Ground
from bench.raw import RawSignatures
from bench.rounds import rate, take_turns
from moot.core.record import Actor, Body, seal
from moot.core.signing import Signer


def measure(ground: Ground) -> Iterator[Figure]:
    signer = Signer(bytes(32))
    body = _body(signer.kid)
    raw = RawSignatures(len(seal(body, signer).raw))

    def many(count: int) -> None:
        for _ in range(count):
            _ = seal(body, signer).hash

    rounds = take_turns(rate(many, 2_000), rate(raw.sign, 2_000), ground.pick(15, 5))
    yield ratio(
        "canonical form, signature, hash",
        "records/s",
        rounds.ours,
        rounds.raw,
        against="signatures",
    )


def _body(kid: str) -> Body:
    return Body(
        origin="moot.ledger/" + "0" * 32,
        stream="example/errands",
        seq=7,
        prev="0" * 64,
        reg=3,
        key=None,
        type="example.errand_asked",
        at="2026-02-18T16:00:00.000Z",
        actor=Actor("amber-otter", 1, kid),
        data={"id": "e7", "title": "look into the auth cache", "of": "amber-otter", "due_at": None},
    )
