"""A bundle several times as long takes the same memory."""

from __future__ import annotations

import hashlib
import tracemalloc
from collections.abc import Iterator

import pytest

from moot.verify import chain, verify_records
from tests.verify.bundle_builder import CHUNK, Json, Ledger, b64, canon
from tests.verify.verdicts import trust_of


def _hashed(size: int) -> str:
    digest = hashlib.sha256()
    for _ in range(size // CHUNK):
        digest.update(bytes(CHUNK))
    return digest.hexdigest()


def _made(chunks: int, events: int) -> tuple[Ledger, Json, list[bytes]]:
    """A ledger, the citation of its one artifact of zeros, and its lines without that artifact."""
    ledger = Ledger("memory")
    ada = ledger.add("ada")
    cited = {"media_type": "x", "sha256": _hashed(chunks * CHUNK), "size": chunks * CHUNK}
    for number in range(events):
        ledger.event("errand/tea", ada, {"text": "x" * 200}, artifacts=[cited] * (number == 0))
    return ledger, cited, [line + b"\n" for line in ledger.bundle(artifacts=False).lines]


def _body(cited: Json, lines: list[bytes]) -> Iterator[bytes]:
    """The lines after the header; the artifact's are made as they are read."""
    first = next(number for number, line in enumerate(lines) if line.startswith(b'{"proof"'))
    yield from lines[:first]
    yield canon({"artifact": {"sha256": cited["sha256"], "size": cited["size"]}}) + b"\n"
    chunk = canon({"chunk": b64(bytes(CHUNK))}) + b"\n"
    for _ in range(cited["size"] // CHUNK):
        yield chunk
    yield from lines[first:]


def _bundle(ledger: Ledger, cited: Json, lines: list[bytes]) -> Iterator[bytes]:
    digest, count = hashlib.sha256(), 0
    for line in _body(cited, lines):
        digest.update(line)
        count += 1
    header = {"digest": digest.hexdigest(), "format": "moot-bundle/1", "lines": count}
    yield canon({**header, "origin": ledger.origin}) + b"\n"
    yield from _body(cited, lines)


def _peak(chunks: int, events: int) -> int:
    made = _made(chunks, events)
    trust = trust_of(made[0].trust())
    tracemalloc.start()
    try:
        verdict = verify_records(_bundle(*made), trust)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
        assert verdict


@pytest.mark.parametrize(("chunks", "events"), [(2, 4000), (24, 1000)])
def test_more_events_or_larger_artifacts_take_no_more_memory(
    chunks: int, events: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chain, "_BUFFER", 4096)
    assert _peak(chunks, events) < _peak(2, 1000) + 60_000
