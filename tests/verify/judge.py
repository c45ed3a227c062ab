"""What the tests of the verifier ask of it: a verdict for forged bytes, and the line it names.

Every bundle that is judged here without further demands is judged by the standalone checker too,
which was written apart from the same document: the two must name the same verdict and line, and
say the same of who holds the keys and of losses that were accepted.
"""

from __future__ import annotations

import io
import json
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec

from moot.verify import Trust, Verdict, standalone, verify_records
from moot.verify.bundle import lines_of
from tests.verify.forge import Bundle, Json, Ledger

LOSS = "a loss was accepted at event "


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
    verdict = verify_records(lines_of(io.BytesIO(data)), trust, **more)
    if not more:
        other = standalone_finds(data, pins)
        assert named(verdict) == named_by(other), "the two checkers disagree"
        if verdict.verdict != "tampered":  # there each says what it had read before it stopped
            assert verdict.custody == other.custody.partition(";")[0]
            assert losses(verdict) == [said for said in other.findings if said.startswith(LOSS)]
    return verdict


def named(verdict: Verdict) -> tuple[str, int | None]:
    """The two things on which all checkers must agree."""
    return verdict.verdict, verdict.first_bad.line if verdict.first_bad is not None else None


def losses(verdict: Verdict) -> list[str]:
    """What it says of losses that were accepted."""
    return [found.message for found in verdict.findings if found.code == "loss_accepted"]


def named_by(found: SimpleNamespace) -> tuple[str, int | None]:
    """The same two things from the other checker."""
    return found.verdict, found.first_bad and found.first_bad["line"]


def standalone_finds(data: bytes, pins: Json | None) -> SimpleNamespace:
    """All that the other checker says; it reads files."""
    with tempfile.TemporaryDirectory() as folder:
        bundle, trust = Path(folder, "bundle"), Path(folder, "trust.json")
        bundle.write_bytes(data)
        trust.write_text(json.dumps(pins), encoding="utf-8")
        return standalone.verify(str(bundle), None if pins is None else str(trust))
