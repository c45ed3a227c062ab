"""The checkpoint of section 5: a C2SP signed note with one signature, by the checkpoint key."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from moot.verify import canonical
from moot.verify.chain import Chain, Stream
from moot.verify.crypto import decode_base64, frame_parts, signature_holds
from moot.verify.verdict import StepFailure

MAX_NOTE: Final = 1024
_COUNT = "(0|[1-9][0-9]{0,15})"
_NOTE = re.compile(
    rf"(?P<signed>(moot[.]ledger/[0-9a-f]{{32}})\n{_COUNT}\n([^\n]{{44}})\n"
    rf"moot {_COUNT} {_COUNT} ({canonical.MOMENT_EXPRESSION})\n)\n"
    r"— (moot[.]ledger/[0-9a-f]{32}) ([^\n]{92})\n"
).fullmatch


class CheckpointNote(NamedTuple):
    """What the checkpoint key signed: so many streams and events, under this root."""

    streams: int
    root: bytes
    number: int
    events: int
    at: str

    def may_follow(self, kept: CheckpointNote) -> bool:
        """Section 7: as far as two notes tell, what the kept one pinned is under this one too."""
        more = self.number > kept.number and self.events > kept.events
        return self.root == kept.root or (more and self.streams >= kept.streams)


def read_note(text: str, origin: str, public: bytes) -> CheckpointNote:
    """Step 7: the note's form, its origin line, and its signature under the checkpoint key."""
    match = _NOTE(text) if len(text) <= MAX_NOTE else None
    if match is None:
        raise _bad("note_malformed", "the checkpoint is not a signed note of section 5")
    signed, named, streams, root_text, number, events, at, signer, signature_text = match.groups()
    root, signature = _unbase64(root_text, 32), _unbase64(signature_text, 68)
    counts = [int(text) for text in (streams, number, events)]
    if root is None or signature is None:
        raise _bad("note_malformed", "a value in the checkpoint is malformed")
    if named != origin or signer != origin:
        raise _bad("note_foreign", "the checkpoint is of another ledger")
    hint = hashlib.sha256(origin.encode() + b"\n\x01" + public).digest()[:4]
    if signature[:4] != hint or not signature_holds(public, signature[4:], signed.encode()):
        raise _bad("note_signature", "the checkpoint does not hold under the checkpoint key")
    return CheckpointNote(counts[0], root, counts[1], counts[2], at)


def _unbase64(text: str, length: int) -> bytes | None:
    data = decode_base64(text.encode())
    return data if data is not None and len(data) == length else None


def _bad(code: str, message: str) -> StepFailure:
    return StepFailure(7, code, message)


# The tree of section 5: RFC 6962 over the newest event of every stream.

# No tree that a note can count is this high; a longer path leads nowhere and is not remembered.
MAX_PATH: Final = 64


def leaf_hash(stream: str, seq: int, event_hash: bytes) -> bytes:
    """The leaf of a stream whose newest event this is."""
    return hashlib.sha256(
        b"\x00" + frame_parts(stream.encode(), str(seq).encode(), event_hash)
    ).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """An inner node."""
    return hashlib.sha256(b"\x01" + left + right).digest()


def root_from_path(leaf_hash: bytes, index: int, size: int, path: Sequence[bytes]) -> bytes | None:
    """The root to which a path leads from leaf `index` of `size`, or `None` if it cannot.

    `place` and `last` are the numbers of our node and of the rightmost node on the same level. A
    rightmost node without a sibling moves up unchanged, so levels are skipped until it has one.
    """
    if not 0 <= index < size:
        return None
    place, last, subtree = index, size - 1, leaf_hash
    for sibling in path:
        if last == 0:
            return None
        if place % 2 == 1 or place == last:
            subtree = node_hash(sibling, subtree)
            while place % 2 == 0:
                place, last = place // 2, last // 2
        else:
            subtree = node_hash(subtree, sibling)
        place, last = place // 2, last // 2
    return subtree if last == 0 else None


# Inclusion proofs (step 7): one a stream, held until the checkpoint whose root they lead to.


class _Proof(NamedTuple):
    place: int
    leaf: bytes
    path: tuple[bytes, ...] | None


class InclusionProofs:
    """The proofs read so far; a path too long for any tree is known to fail and not kept."""

    def __init__(self) -> None:
        self._proofs: list[_Proof] = []
        self.truncated = False

    def add_proof(self, value: dict[str, Any], chain: Chain) -> Stream:
        """A proof's line; returns its stream, which is shorter than `proved` if truncated."""
        stream = chain.streams.get(value["stream"])
        if stream is None:
            raise StepFailure(7, "proof_foreign", "the proof is of a stream that is not above")
        index, seq = value["index"], value["seq"]
        if stream.proved is not None or (self._proofs and index <= self._proofs[-1].place):
            raise StepFailure(1, "order_wrong", "proofs ascend by index, one a stream")
        event_hash = bytes.fromhex(value["hash"])
        above = chain.hash_at(stream, seq)
        if above is not None and above != event_hash:
            raise StepFailure(
                7, "proof_mismatch", "the proof is of another event than the one above"
            )
        self.truncated = self.truncated or above is None
        stream.proved = seq
        fits = len(value["path"]) <= MAX_PATH
        path = tuple(map(bytes.fromhex, value["path"])) if fits else None
        self._proofs.append(_Proof(index, leaf_hash(stream.name, seq, event_hash), path))
        return stream

    def require_root(self, note: CheckpointNote, chain: Chain) -> None:
        """Step 7, at the checkpoint: every proof leads to its root, and its events are counted."""
        for index, leaf, path in self._proofs:
            if path is None or root_from_path(leaf, index, note.streams, path) != note.root:
                raise StepFailure(
                    7, "proof_broken", f"proof {index} does not lead to the checkpoint"
                )
        # Streams that the note counts may be left out of a bundle; then nothing can be compared.
        proved = [stream.proved for stream in chain.streams.values() if stream.proved is not None]
        whole = len(proved) == note.streams and not self.truncated
        if whole and note.events != sum(seq + 1 for seq in proved):
            raise StepFailure(7, "count_wrong", "the checkpoint counts another number of events")
