"""Artifacts in a bundle (steps 1 and 6): cited, in order, chunk by chunk, with their hash."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.verify.bundle_builder import CHUNK, Bundle, Json, Ledger, artifact_lines, b64, canon, sha
from tests.verify.verdicts import judge, named

SMALL, EMPTY = b"tea leaves", b""
EXACT, LARGE = b"x" * CHUNK, b"y" * (2 * CHUNK + 5)


def _ledger(*contents: bytes) -> Ledger:
    ledger = Ledger("artifacts")
    ada = ledger.add("ada")
    ledger.event("errand/tea", ada, artifacts=[ledger.cite(content) for content in contents])
    return ledger


def _bundle(ledger: Ledger, *lines: Json) -> Bundle:
    """The ledger's bundle with these lines in the place of its artifacts."""
    bundle = ledger.bundle(artifacts=False)
    at = bundle.find("event", -1) - 1
    return bundle.edited(lambda found: found.__setitem__(slice(at, at), map(canon, lines)))


def test_artifacts_of_every_length_are_read() -> None:
    ledger = _ledger(SMALL, EMPTY, EXACT, LARGE)
    verdict = judge(ledger.bundle(), ledger)
    assert verdict
    assert verdict.artifacts == "4 cited: 4 present, 0 erased, 0 missing"


def _head(content: bytes, **changes: object) -> Json:
    return {"artifact": {"sha256": sha(content), "size": len(content), **changes}}


def _chunk(content: bytes) -> Json:
    return {"chunk": b64(content)}


_DESCENDING = sorted((SMALL, EMPTY), key=sha, reverse=True)
_SECOND = len(artifact_lines(_DESCENDING[0]))

# What stands there, and which of its lines is bad, counted from 0.
_BAD: dict[str, tuple[list[Json], int]] = {
    "uncited": (artifact_lines(b"uncited"), 0),
    "another size than cited": ([_head(SMALL, size=9), _chunk(SMALL[:9])], 0),
    "another hash": ([_head(SMALL), _chunk(b"xxx leaves")], 1),
    "a chunk too short": ([_head(SMALL), _chunk(SMALL[:5]), _chunk(SMALL[5:])], 1),
    "a chunk too long": ([_head(SMALL), _chunk(SMALL + b"!")], 1),
    "a chunk too many": ([_head(SMALL), _chunk(SMALL), _chunk(b"!")], 2),
    "an empty chunk": ([_head(EMPTY), _chunk(EMPTY)], 1),
    "a chunk alone": ([_chunk(SMALL)], 0),
    "twice": ([*artifact_lines(SMALL), *artifact_lines(SMALL)], 2),
    "unsorted": ([line for data in _DESCENDING for line in artifact_lines(data)], _SECOND),
    "a size that is no number": ([_head(SMALL, size=True)], 0),
    "a hash that is a path": ([_head(SMALL, sha256="../../../etc/passwd")], 0),
    "a further field": ([_head(SMALL, name="tea.txt")], 0),
    "another kind between": ([_head(SMALL), _head(SMALL)], 1),
}


@pytest.mark.parametrize("name", _BAD)
def test_a_bad_artifact_is_named(name: str) -> None:
    lines, bad = _BAD[name]
    ledger = _ledger(SMALL, EMPTY)
    bundle = _bundle(ledger, *lines)
    first = bundle.find("event", -1) + 1
    assert named(judge(bundle, ledger)) == ("tampered", first + bad)


def test_an_artifact_that_ends_early_is_named_by_what_comes_instead() -> None:
    ledger = _ledger(LARGE)
    bundle = _bundle(ledger, *artifact_lines(LARGE)[:2])
    assert named(judge(bundle, ledger)) == ("tampered", bundle.find("proof"))


def test_a_file_that_ends_within_an_artifact_is_truncated_or_tampered() -> None:
    ledger = _ledger(LARGE)
    bundle = ledger.bundle()
    short = bundle.cut(bundle.find("chunk", 1))
    assert named(judge(short.data(lines=99), ledger)) == ("truncated", None)
    assert named(judge(short, ledger)) == ("tampered", short.find("chunk", 1))


def test_one_flipped_byte_in_a_large_artifact_is_caught() -> None:
    ledger = _ledger(LARGE)
    ledger.artifacts[sha(LARGE)] = LARGE[:-1] + b"z"
    bundle = _bundle(ledger, _head(LARGE), *artifact_lines(LARGE[:-1] + b"z")[1:])
    assert named(judge(bundle, ledger)) == ("tampered", bundle.find("chunk", 2))


@pytest.mark.parametrize(
    "spoil",
    [
        lambda raw: raw.replace(b"==", b""),
        lambda raw: raw.replace(b'cw=="', b'cx=="'),
        lambda raw: raw.replace(b"chunk", b"Chunk"),
        lambda raw: raw.replace(b":", b": "),
        lambda raw: raw.replace(b"dGVh", b"dG\\u0056h"),
        lambda raw: raw.replace(b"dGVh", b"dG Vh"),
        lambda raw: raw[:-1] + b',"chunk":"dGVh"}',
    ],
)
def test_a_chunk_has_one_spelling(spoil: Callable[[bytes], bytes]) -> None:
    ledger = _ledger(SMALL)
    bundle = ledger.bundle()
    line = bundle.find("chunk")
    raw = bundle.lines[line - 2]
    assert spoil(raw) != raw
    assert named(judge(bundle.replace(line, spoil(raw)), ledger)) == ("tampered", line)


def test_kinds_out_of_order_are_named() -> None:
    ledger = _ledger(SMALL)
    bundle = ledger.bundle()
    event, artifact, proof = (bundle.find(kind, -1) for kind in ("event", "artifact", "proof"))
    after = bundle.insert(proof + 1, bundle.lines[artifact - 2])
    assert named(judge(after, ledger)) == ("tampered", proof + 1)
    late = bundle.insert(proof + 1, bundle.lines[event - 2])
    assert named(judge(late, ledger)) == ("tampered", proof + 1)
