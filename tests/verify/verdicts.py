"""What the tests of the verifier ask of it: a verdict for forged bytes, and the line it names.

Every bundle that is judged here without further demands is judged by the standalone checker too,
which was written apart from the same document: the two must name the same verdict and line, and
say the same of who holds the keys, of losses that were accepted and of a checkpoint that was kept.
"""

from __future__ import annotations

import io
import json
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
from nacl.exceptions import CryptoError

from moot.verify import (
    BundleVerdict,
    TrustedLedger,
    TrustError,
    standalone,
    verify_records,
    with_kept_checkpoint,
)
from moot.verify.bundle import lines_of
from moot.verify.receipt import CLAIMED_WITHIN, claims_to_be_ours
from tests.verify.bundle_builder import Bundle, Json, Ledger

LOSS = "a loss was accepted at event "
PINNED = " pinned is not all here"


def trust_of(pins: Json) -> TrustedLedger:
    """The pins of a forged ledger as the verifier takes them."""
    kept = {name: value for name, value in pins.items() if name != "format"}
    return msgspec.convert(kept, TrustedLedger)


class NoNote(Exception):
    """Neither checker takes this for a checkpoint of the trusted ledger."""


def judge(
    bundle: Bundle | bytes, ledger: Ledger, minimum: int | None = None, **more: Any
) -> BundleVerdict:
    """The verdict on a bundle by someone who trusts the ledger; `note`: a checkpoint they kept."""
    data = bundle if isinstance(bundle, bytes) else bundle.data()
    return judge_pinned(data, ledger.trust(minimum), **more)


def judge_pinned(
    data: bytes, pins: Json | None, note: bytes | None = None, **more: Any
) -> BundleVerdict:
    """The verdict on bytes by someone with this trust file, or none, who may have kept a note."""
    trust = None if pins is None else trust_of(pins)
    if note is not None and trust is not None:
        trust = _keeping(trust, note, data, pins)
    verdict = verify_records(lines_of(io.BytesIO(data)), trust, **more)
    if not more:
        other = standalone_finds(data, pins, note)
        assert named(verdict) == named_by(other), "the two checkers disagree"
        assert lacking(verdict) == [
            said.removeprefix("rolled-back: ") for said in other.findings if PINNED in said
        ]
        if verdict.verdict != "tampered":  # there each says what it had read before it stopped
            assert verdict.custody == other.custody.partition(";")[0]
            assert losses(verdict) == [said for said in other.findings if said.startswith(LOSS)]
    return verdict


def _keeping(trust: TrustedLedger, note: bytes, data: bytes, pins: Json | None) -> TrustedLedger:
    try:
        return with_kept_checkpoint(trust, note)
    except TrustError as error:
        with pytest.raises((ValueError, CryptoError)):
            standalone_finds(data, pins, note)
        raise NoNote(str(error)) from None


def named(verdict: BundleVerdict) -> tuple[str, int | None]:
    """The two things on which all checkers must agree."""
    return verdict.verdict, verdict.first_bad.line if verdict.first_bad is not None else None


def losses(verdict: BundleVerdict) -> list[str]:
    """What it says of losses that were accepted."""
    return [found.message for found in verdict.findings if found.code == "loss_accepted"]


def lacking(verdict: BundleVerdict) -> list[str]:
    """What it says of a checkpoint that was kept; of bytes that do not hold, nothing."""
    return [found.message for found in verdict.findings if found.code == "checkpoint_lacking"]


def named_by(found: SimpleNamespace) -> tuple[str, int | None]:
    """The same two things from the other checker."""
    return found.verdict, found.first_bad and found.first_bad["line"]


def standalone_finds(data: bytes, pins: Json | None, note: bytes | None = None) -> SimpleNamespace:
    """All that the other checker says; it reads files."""
    with tempfile.TemporaryDirectory() as folder:
        bundle, trust, kept = (str(Path(folder, name)) for name in ("bundle", "trust", "note"))
        Path(bundle).write_bytes(data)
        Path(trust).write_text(json.dumps(pins), encoding="utf-8")
        Path(kept).write_bytes(note or b"")
        given = None if pins is None else trust, None if note is None else kept
        if claims_to_be_ours(data[:CLAIMED_WITHIN]):
            return standalone.verify(bundle, *given)
        with pytest.raises(ValueError, match="neither an export nor a receipt"):
            standalone.verify(bundle, *given)
    # A file that is none of ours; as the lines of a bundle it is judged all the same.
    names = ("origin", "root", "checkpoint", "minimum")
    trusted = standalone.Trust(*(pins[name] for name in names)) if pins else None
    return standalone.check(io.BytesIO(data), trusted)
