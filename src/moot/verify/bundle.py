"""The lines of a bundle (section 6): reading them within limits, and telling the kinds apart."""

from __future__ import annotations

import hashlib
from collections.abc import Container, Iterable, Iterator, Mapping, Set
from typing import IO, Any, Final

from moot.verify import canonical
from moot.verify import canonical as field_rules
from moot.verify.crypto import decode_base64
from moot.verify.trusted_registry import HeadsReader
from moot.verify.verdict import StepFailure

MAX_LINE: Final = 2 * 1024 * 1024
_EVENT_START: Final = b'{"payload":'
_FORK_START: Final = b'{"fork":'
_CHUNK_START: Final = b'{"chunk":"'
_CHUNK_END: Final = b'"}\n'


def lines_of(file: IO[bytes]) -> Iterator[bytes]:
    """The lines of an open file; an overlong one is cut where it is too long already (LDG-093)."""
    while line := file.readline(MAX_LINE + 1):
        yield line


class BundleLines:
    """The lines after the header, counted and hashed as they are taken; one can be put back."""

    def __init__(self, lines: Iterable[bytes]) -> None:
        self._lines = iter(lines)
        self._digest = hashlib.sha256()
        self._back: bytes | None = None
        self.number = 0

    def take(self) -> bytes | None:
        """The next line, checked for size and newline (step 1), or `None` after the last."""
        line, self._back = self._back, None
        if line is not None:
            self.number += 1
            return line
        line = next(self._lines, None)
        if line is None:
            return None
        self.number += 1
        if len(line) > MAX_LINE:  # LDG-093
            raise StepFailure(1, "line_too_long", "the line is longer than 2 MiB").at(self.number)
        if line[-1:] != b"\n":
            raise StepFailure(1, "line_unended", "the line does not end with a newline").at(
                self.number
            )
        if self.number > 1:
            self._digest.update(line)
        return line

    def envelopes(self) -> Iterator[tuple[int, bytes]]:
        """Lines that look like events, with their numbers; stops before the first other line."""
        while (line := self.take()) is not None:
            if not line.startswith(_EVENT_START):
                self._back = line
                self.number -= 1
                return
            yield self.number, line

    def hexdigest(self) -> str:
        """The digest of the lines taken so far, without the header."""
        return self._digest.hexdigest()


def fork_envelope(line: bytes) -> bytes | None:
    """The envelope inside a fork line, as a line of its own; `None` for other kinds."""
    # Canonical JSON around canonical JSON: cutting the text is parsing it.
    if line.startswith(_FORK_START) and line.endswith(b"}\n"):
        return line[len(_FORK_START) : -2] + b"\n"
    return None


def chunk_bytes(line: bytes) -> bytes | None:
    """The bytes of a chunk line; `None` for other kinds."""
    if not (line.startswith(_CHUNK_START) and line.endswith(_CHUNK_END)):
        return None
    data = decode_base64(line[len(_CHUNK_START) : -len(_CHUNK_END)])
    if not data:
        raise StepFailure(1, "base64_malformed", "the chunk is empty or not canonical base64")
    return data


def parse_line(line: bytes) -> tuple[str, Any]:
    """Any other line: the name of its kind and its value, with exactly the fields of the kind."""
    try:
        value = canonical.parse_canonical(line[:-1])
    except canonical.NotCanonical as reason:
        raise StepFailure(1, "line_not_canonical", f"the line is {reason}") from reason
    kind = _kind(value)
    if kind is None:
        raise StepFailure(1, "line_unknown", "the line is of no kind that stands here")
    inner = value if kind == "header" else value[kind]
    if not _KINDS[kind](inner):
        raise StepFailure(
            1, "line_malformed", f"a field of the {kind} is missing, foreign or malformed"
        )
    return kind, inner


def _kind(value: Any) -> str | None:
    if type(value) is not dict:
        return None
    if "format" in value:
        return "header"
    name = next(iter(value)) if len(value) == 1 else None
    return name if name in _KINDS and name != "header" else None


def _is_path(value: Any) -> bool:
    return type(value) is list and all(map(field_rules.HEX_HASH, value))


_KINDS: Final[Mapping[str, field_rules.Rule]] = {
    "header": field_rules.an_object(
        {
            "digest": field_rules.HEX_HASH,
            "format": field_rules.one_of("moot-bundle/1"),
            "lines": field_rules.number(0),
            "origin": field_rules.ORIGIN,
        }
    ),
    "artifact": field_rules.an_object({"sha256": field_rules.HEX_HASH, "size": field_rules.SIZE}),
    "proof": field_rules.an_object(
        {
            "hash": field_rules.HEX_HASH,
            "index": field_rules.number(0),
            "path": _is_path,
            "seq": field_rules.number(0),
            "stream": field_rules.STREAM,
        }
    ),
    "checkpoint": field_rules.text(),
}


# The artifacts of a bundle (step 6): cited above, hashed chunk by chunk, never held whole.

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
