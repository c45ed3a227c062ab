"""Export what hooks saw agents write, in the Agent Trace draft format (version 0.1.0, an RFC).

There is one record for the lines in the newest commit, with its revision, and one for uncommitted
lines. Line ranges come from this machine's file versions (`.moot/files.db`), which are not signed;
the metadata names the signed record of each session. docs/readings.md explains how we
read the ambiguous parts of the draft.
"""

from __future__ import annotations

import difflib
import hashlib
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

import msgspec

from moot.core.clock import Millis, to_text
from moot.core.errors import NotFound
from moot.core.version import VERSION as OUR_VERSION

if TYPE_CHECKING:
    from moot.workspace.file_versions import FileVersion
    from moot.workspace.workspace import Workspace


# A line belongs to the session whose edit first wrote it; other lines have no author.


class LineAuthor(NamedTuple):
    """An agent and the session of its tool."""

    agent: str
    session: str


class LineRange(NamedTuple):
    """Lines `first` to `last`, counted from 1, both included, and their text."""

    author: LineAuthor
    first: int
    last: int
    text: str


def find_line_ranges(versions: Iterable[tuple[LineAuthor | None, str]]) -> tuple[LineRange, ...]:
    """Return the ranges of the last version whose author is known."""
    lines, authors = list[str](), list[LineAuthor | None]()
    for author, text in versions:
        newer = text.splitlines(keepends=True)
        authors = _carry_over(lines, newer, authors, author)
        lines = newer
    return tuple(_join_lines(lines, authors))


def _carry_over(
    older: Sequence[str],
    newer: Sequence[str],
    authors: Sequence[LineAuthor | None],
    author: LineAuthor | None,
) -> list[LineAuthor | None]:
    """Return an author for each new line: unchanged lines keep theirs, the others get `author`."""
    carried: list[LineAuthor | None] = [author] * len(newer)
    matcher = difflib.SequenceMatcher(None, older, newer, autojunk=False)
    for block in matcher.get_matching_blocks():
        carried[block.b : block.b + block.size] = authors[block.a : block.a + block.size]
    return carried


def _join_lines(lines: Sequence[str], authors: Sequence[LineAuthor | None]) -> Iterable[LineRange]:
    first = 0
    for at in range(1, len(authors) + 1):
        if at < len(authors) and authors[at] == authors[first]:
            continue
        author = authors[first]
        if author is not None:
            yield LineRange(author, first + 1, at, "".join(lines[first:at]))
        first = at


DRAFT: Final = "0.1.0"
# The draft's schema takes two numbers, its text and examples three.
VERSION: Final = "0.1"
MOST_FILES: Final = 10_000
_SECONDS: Final = 30.0


class Writer(Protocol):
    """A session's signed record, and the model that its tool named, if any."""

    @property
    def stream(self) -> str: ...

    @property
    def model(self) -> str: ...


Writers = Mapping[tuple[str, str], Writer]  # by agent and session


class TracedFile(NamedTuple):
    """A file on disk, who wrote which of its lines, and when an agent last wrote it."""

    path: str
    blob: str
    at: Millis
    ranges: tuple[LineRange, ...]


def make_records(workspace: Workspace, root: Path, writers: Writers) -> list[dict[str, Any]]:
    """Return the records of one worktree: committed lines first, then uncommitted; no empty
    ones."""
    files = list(_trace_files(workspace, root))
    commit, committed = _find_committed(root, files)
    chosen = (
        (commit, [file for file in files if file.path in committed]),
        ("", [file for file in files if file.path not in committed]),
    )
    origin = workspace.trust.origin
    return [_build_record(origin, revision, found, writers) for revision, found in chosen if found]


def _trace_files(workspace: Workspace, root: Path) -> Iterator[TracedFile]:
    """Yield the files whose content is the last version seen; after an unseen change authors are
    unknown."""
    from moot.api.guard.copies import Copies
    from moot.workspace.file_versions import Act

    with Copies(workspace.path, root, only_reads=True) as copies:
        paths = sorted({version.path for version in copies.versions.last_left(str(root))})
        for path in paths[:MOST_FILES]:
            present = copies.read(path)
            if present is None or not present.blob:
                continue
            history = copies.versions.list_history(str(root), path)
            while history and history[0].blob != present.blob:
                history.pop(0)  # an older version was restored
            left = [version.at for version in history if version.act is Act.LEFT]
            ranges = find_line_ranges(_read_versions(root, reversed(history))) if left else ()
            if ranges:
                yield TracedFile(path, present.blob, max(left), ranges)


def _read_versions(
    root: Path, history: Iterable[FileVersion]
) -> Iterator[tuple[LineAuthor | None, str]]:
    """Yield the text of each version, oldest first, with the agent that wrote it."""
    from moot.api.guard.undo import read_copy
    from moot.workspace.file_versions import Act

    for version in history:
        try:
            text = (read_copy(root, version) if version.blob else b"").decode()
        except (NotFound, UnicodeDecodeError):
            return  # the authors of later lines are unknown
        is_left = version.act is Act.LEFT and bool(version.agent)
        yield LineAuthor(version.agent, version.session) if is_left else None, text


def _find_committed(root: Path, files: Iterable[TracedFile]) -> tuple[str, set[str]]:
    """Return the newest commit, and the paths whose content is the same in it."""
    from moot.system.git_commands import GitQuestion, ask_git, find_blobs

    words = ("rev-parse", "--verify", "--quiet", "HEAD")
    (answer,) = ask_git([GitQuestion(root, words)], _SECONDS)
    if not answer:
        return "", set()
    names = {f"HEAD:{file.path}": file for file in files}
    blobs = find_blobs(root, names, _SECONDS) or {}
    same = {file.path for name, file in names.items() if blobs.get(name) == file.blob}
    return answer.decode("ascii", "replace").strip(), same


def _build_record(
    origin: str,
    revision: str,
    files: list[TracedFile],
    writers: Writers,
) -> dict[str, Any]:
    shown = [
        {"path": file.path, "conversations": list(_conversations(file, writers))} for file in files
    ]
    identity = msgspec.json.encode((origin, revision, shown), order="sorted").decode()
    record: dict[str, Any] = {
        "version": VERSION,
        "id": str(uuid.uuid5(uuid.NAMESPACE_OID, identity)),
        "timestamp": to_text(max(file.at for file in files)),
    }
    if revision:
        record["vcs"] = {"type": "git", "revision": revision}
    record["tool"] = {"name": "moot", "version": OUR_VERSION}
    record["files"] = shown
    sessions = {part.author: writers.get(part.author) for file in files for part in file.ranges}
    record["metadata"] = {
        "moot": {
            "draft": DRAFT,
            "ledger": origin,
            "blobs": {file.path: file.blob for file in files},
            "sessions": [
                {
                    "agent": author.agent,
                    "session": author.session,
                    "record": None if writer is None else writer.stream,
                }
                for author, writer in sessions.items()
            ],
        }
    }
    return record


def _conversations(file: TracedFile, writers: Writers) -> Iterator[dict[str, Any]]:
    """Yield one entry for each session: the draft's word for a session is conversation."""
    for author in dict.fromkeys(part.author for part in file.ranges):
        contributor = {"type": "ai"}
        writer = writers.get(author)
        if writer is not None and writer.model:
            contributor["model_id"] = writer.model
        ranges = [
            {
                "start_line": part.first,
                "end_line": part.last,
                "content_hash": f"sha256:{hashlib.sha256(part.text.encode()).hexdigest()}",
            }
            for part in file.ranges
            if part.author == author
        ]
        yield {"contributor": contributor, "ranges": ranges}
