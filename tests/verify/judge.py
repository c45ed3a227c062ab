"""What the tests of the verifier ask of it: a verdict for forged bytes, and the line it names."""

from __future__ import annotations

import io
from typing import Any

import msgspec
from forge import Bundle, Json, Ledger

from moot.verify import Trust, Verdict, verify_records
from moot.verify.bundle import lines_of


def trust_of(pins: Json) -> Trust:
    """The pins of a forged ledger as the verifier takes them."""
    kept = {name: value for name, value in pins.items() if name != "format"}
    return msgspec.convert(kept, Trust)


def judge(
    bundle: Bundle | bytes, ledger: Ledger, minimum: int | None = None, **more: Any
) -> Verdict:
    """The verdict on a bundle by someone who trusts the ledger."""
    data = bundle if isinstance(bundle, bytes) else bundle.data()
    return judge_pinned(data, ledger.trust(minimum), **more)


def judge_pinned(data: bytes, pins: Json | None, **more: Any) -> Verdict:
    """The verdict on bytes by someone with this trust file, or none."""
    trust = None if pins is None else trust_of(pins)
    return verify_records(lines_of(io.BytesIO(data)), trust, **more)


def named(verdict: Verdict) -> tuple[str, int | None]:
    """The two things on which all checkers must agree."""
    return verdict.verdict, verdict.first_bad.line if verdict.first_bad is not None else None
