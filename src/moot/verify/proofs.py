"""Inclusion proofs (step 7): one a stream, held until the checkpoint whose root they lead to."""

from __future__ import annotations

from typing import Any, NamedTuple

from moot.verify import head_tree
from moot.verify.chain import Chain, Stream
from moot.verify.checkpoint_note import CheckpointNote
from moot.verify.step_failure import StepFailure


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
        fits = len(value["path"]) <= head_tree.MAX_PATH
        path = tuple(map(bytes.fromhex, value["path"])) if fits else None
        self._proofs.append(_Proof(index, head_tree.leaf_hash(stream.name, seq, event_hash), path))
        return stream

    def require_root(self, note: CheckpointNote, chain: Chain) -> None:
        """Step 7, at the checkpoint: every proof leads to its root, and its events are counted."""
        for index, leaf, path in self._proofs:
            if (
                path is None
                or head_tree.root_from_path(leaf, index, note.streams, path) != note.root
            ):
                raise StepFailure(
                    7, "proof_broken", f"proof {index} does not lead to the checkpoint"
                )
        # Streams that the note counts may be left out of a bundle; then nothing can be compared.
        proved = [stream.proved for stream in chain.streams.values() if stream.proved is not None]
        whole = len(proved) == note.streams and not self.truncated
        if whole and note.events != sum(seq + 1 for seq in proved):
            raise StepFailure(7, "count_wrong", "the checkpoint counts another number of events")
