"""Export bundles: the ledger, or some of its streams, as lines that can be verified offline.

docs/format.md section 6. Everything is read in one consistent view, twice: once for the
digest in the header, once to be written. Memory does not grow with the ledger.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Iterator
from contextlib import suppress

from moot.core.canonical import canonical
from moot.core.checkpoint_note import Checkpoint, read_note
from moot.core.errors import Conflict, Malformed, NotFound
from moot.core.ledger import Head, View
from moot.core.names import REGISTRY
from moot.core.record import Record
from moot.core.signing import EVENT
from moot.engine.checkpoints import inclusion_path_of
from moot.engine.signers import LedgerTrust
from moot.store.artifacts import Artifacts

FORMAT = "moot-bundle/1"
_ENVELOPE = (
    b'{"payload":"%b","payloadType":"' + EVENT + b'","signatures":[{"keyid":"%b","sig":"%b"}]}'
)


def bundle(
    view: View, trust: LedgerTrust, artifacts: Artifacts, streams: Iterable[str] | None = None
) -> Iterator[bytes]:
    """Yield the lines of a bundle, header first. `view` must stay open until the last line."""
    chosen = _choose_streams(view, streams)
    digest, lines = hashlib.sha256(), 0
    for line in _body_lines(view, trust, artifacts, chosen):
        digest.update(line)
        lines += 1
    header = {
        "digest": digest.hexdigest(),
        "format": FORMAT,
        "lines": lines,
        "origin": trust.origin,
    }
    yield canonical(header) + b"\n"
    again = hashlib.sha256()
    for line in _body_lines(view, trust, artifacts, chosen):
        again.update(line)
        yield line
    if again.digest() != digest.digest():  # events cannot change in a view; artifacts are files
        raise Conflict(
            "changed_meanwhile",
            "an artifact was erased or changed during the export",
            hint="try again",
        )


def _choose_streams(view: View, streams: Iterable[str] | None) -> list[tuple[str, Head]]:
    """Return the registry first, then the requested streams in order of creation."""
    heads = list(view.streams())
    if streams is not None:
        wanted = {REGISTRY, *streams}
        unknown = sorted(wanted - {name for name, _ in heads})
        if unknown:
            raise NotFound(
                "not_found", f"there is no {unknown[0]}", hint="`moot ledger log` lists all"
            )
        heads = [(name, head) for name, head in heads if name in wanted]
    return sorted(heads, key=lambda item: (item[0] != REGISTRY, item[1].number))


def _body_lines(
    view: View, trust: LedgerTrust, artifacts: Artifacts, chosen: list[tuple[str, Head]]
) -> Iterator[bytes]:
    cited: set[str] = set()
    for name, _ in chosen:
        for record in view.records(name):
            cited.update(_cited_hashes(record))
            yield envelope(record) + b"\n"
    names = {name for name, _ in chosen}
    for record in view.forks():
        if record.stream in names:
            yield b'{"fork":%b}\n' % envelope(record)
    for sha256 in sorted(cited):
        yield from _artifact_lines(artifacts, sha256)
    yield from _proof_lines(view, trust, names)


def _cited_hashes(record: Record) -> Iterator[str]:
    """Yield the hashes of the artifacts that a record cites.

    Most records cite none, and parsing every body would take most of the time. In a canonical body
    only `actor` comes before the top-level `artifacts`, and no text in it can contain these bytes
    (its quotes are escaped): so the first occurrence is the field itself.
    """
    place = record.raw.find(b'"artifacts":')
    if not record.raw.startswith(b'"artifacts":[]', place):
        with suppress(Malformed):  # damaged: it is exported as it is, and the verifier reports it
            yield from (ref.sha256 for ref in record.body.artifacts)


def envelope(record: Record) -> bytes:
    """Return the DSSE envelope, in canonical form."""
    payload, sig = base64.b64encode(record.raw), base64.b64encode(record.signature)
    return _ENVELOPE % (payload, record.kid.encode(), sig)


def _artifact_lines(artifacts: Artifacts, sha256: str) -> Iterator[bytes]:
    size = artifacts.size(sha256)
    if size is None:
        return  # erased or lost: the verifier reports it
    yield canonical({"artifact": {"sha256": sha256, "size": size}}) + b"\n"
    for chunk in artifacts.chunks(sha256):
        yield b'{"chunk":"%b"}\n' % base64.b64encode(chunk)


def _proof_lines(view: View, trust: LedgerTrust, names: set[str]) -> Iterator[bytes]:
    note = view.newest_note()
    if note is None:
        return
    # A damaged note or tree proves nothing: it is exported as it is, and the verifier reports it.
    with suppress(Malformed, KeyError):
        checkpoint = read_note(note, trust.checkpoint)
        for name, head in view.pinned_heads():
            if name in names:
                yield canonical({"proof": _proof(view, checkpoint, name, head)}) + b"\n"
    yield canonical({"checkpoint": note}) + b"\n"


def _proof(view: View, checkpoint: Checkpoint, name: str, head: Head) -> dict[str, object]:
    path = inclusion_path_of(view, head.number, checkpoint.streams)
    return {
        "hash": head.hash.hex(),
        "index": head.number,
        "path": [node.hex() for node in path],
        "seq": head.seq,
        "stream": name,
    }
