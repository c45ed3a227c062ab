"""The artifacts of a bundle (step 6): cited above, hashed chunk by chunk, never held whole."""

from __future__ import annotations

import hashlib
from collections.abc import Container, Iterable, Set
from typing import Final

from moot.verify.heads import HeadsReader
from moot.verify.step_failure import StepFailure

CHUNK: Final = 786_432


class BundleArtifacts:
    """Which artifacts are cited and which were shown; the one being read is checked as it comes."""

    def __init__(self) -> None:
        self.cited: set[tuple[str, int]] = set()
        self.present: set[tuple[str, int]] = set()
        self.heads: dict[str, HeadsReader] = {}
        self._last_sha256 = ""
        self._open: _OpenArtifact | None = None

    @property
    def is_open(self) -> bool:
        """Whether more chunks of an artifact are due."""
        return self._open is not None

    def note_citations(self, cites: Iterable[tuple[str, int]]) -> None:
        """Remember what an event cites."""
        self.cited.update(cites)

    def begin_artifact(
        self, sha256: str, size: int, heads: Set[str], streams: Container[str]
    ) -> None:
        """An artifact's first line; `heads` are those to be read as heads of these streams."""
        if sha256 <= self._last_sha256:
            raise StepFailure(1, "order_wrong", "artifacts ascend by their hash")
        if (sha256, size) not in self.cited:
            raise StepFailure(
                6, "artifact_uncited", "no event above cites this artifact with this size"
            )
        self._last_sha256 = sha256
        reader = HeadsReader(streams) if sha256 in heads else None
        self._open = _OpenArtifact(sha256, size, reader)
        self._finish_if_whole()

    def add_chunk(self, data: bytes) -> None:
        """The next chunk of the artifact that is being read."""
        content = self._open
        if content is None:
            raise StepFailure(1, "order_wrong", "a chunk belongs to an artifact")
        if len(data) != min(content.due, CHUNK):
            raise StepFailure(6, "chunk_size", "the chunk is not as long as it must be")
        content.feed(data)
        self._finish_if_whole()

    def _finish_if_whole(self) -> None:
        content = self._open
        if content is None or content.due:
            return
        if content.hash.hexdigest() != content.sha256:
            raise StepFailure(6, "artifact_hash", "the artifact's bytes do not have its hash")
        # Section 4: bytes that are not the canonical JSON of heads are heads that are not at hand.
        if content.heads is not None and content.heads.finish():
            self.heads[content.sha256] = content.heads
        self.present.add((content.sha256, content.size))
        self._open = None


class _OpenArtifact:
    def __init__(self, sha256: str, size: int, heads: HeadsReader | None) -> None:
        self.sha256 = sha256
        self.size = size
        self.due = size
        self.hash = hashlib.sha256()
        self.heads = heads

    def feed(self, data: bytes) -> None:
        self.hash.update(data)
        self.due -= len(data)
        if self.heads is not None:
            self.heads.feed(data)
