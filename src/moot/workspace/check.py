"""Is the record intact? The exporter's lines go into the checker, which shares no code with it.

A live workspace is only looked at: nothing is written, no checkpoint is made, no key is created;
so neither it nor the key folder need be writable.
What is trusted comes from the caller or from the copy pinned in the key folder, never from the
workspace that is being checked.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO, NamedTuple

import msgspec

from moot.core.errors import Malformed, Tampered, Unavailable
from moot.core.ledger import View
from moot.core.names import REGISTRY
from moot.engine import keys as engine_keys
from moot.engine.export import bundle
from moot.engine.machines import MODULES
from moot.keys.folder import KeyFolder
from moot.keys.kept import Heads, look
from moot.store.artifacts import FileArtifacts
from moot.store.sqlite.reader import SqliteReader
from moot.verify import Trust, TrustError, Verdict, keeping, load_trust, verify_records
from moot.verify.bundle import lines_of
from moot.verify.receipt import opened
from moot.workspace import trust as trust_files

_ORIGIN = re.compile(r"moot\.ledger/[0-9a-f]{32}\Z")
_HEADER_BYTES = 4_096


class How(NamedTuple):
    """`trust`: a trust file other than the pinned one; `progress` is told (lines, of lines).

    `watch` is handed the lines and hands them on; it may look at each as it passes. `note` is a
    checkpoint that was kept elsewhere: what it pinned must be there.
    """

    folder: KeyFolder
    trust: Path | None = None
    jobs: int = 1
    progress: Callable[[int, int], None] | None = None
    watch: Callable[[Iterable[bytes]], Iterable[bytes]] | None = None
    note: bytes | None = None

    def passing(self, lines: Iterable[bytes]) -> Iterable[bytes]:
        return lines if self.watch is None else self.watch(lines)


def check_live(path: Path, how: How, stream: str | None = None) -> Verdict:
    """Check the workspace at `path`, or only one of its streams (with the keys it rests on)."""
    own = _own(path, how.folder)
    trust = _trusted(how, own.origin)
    kept = look(how.folder.path / "kept.db", own.origin).heads
    with SqliteReader(path / "ledger.db") as reader, reader.read() as view:
        called = None if stream is None else _called(view, stream, kept)
        streams = None if called is None else _present(view, called, kept)
        seen = kept if called is None else _only(kept, called)
        return verify_records(
            how.passing(bundle(view, own, _AsStored(path / "artifacts"), streams)),
            trust,
            how.jobs,
            progress=how.progress,
            kept=[(name, seq, head.hex()) for name, (seq, head) in seen.items()],
            kept_complete=True,
        )


def check_file(file: Path, how: How) -> Verdict:
    """Check a bundle or a receipt; its header says which pinned trust file to use."""
    try:
        with file.open("rb") as bytes_of:
            inside = opened(bytes_of)
            trust = _trusted(how, _origin_of(inside.file))
            lines = how.passing(lines_of(inside.file))
            return verify_records(lines, trust, how.jobs, progress=how.progress, says=inside.says)
    except OSError as error:
        raise Unavailable(
            "unreadable_file", f"{file}: {error.strerror or error}", hint="check the path"
        ) from None


def stored(path: Path, hashes: Iterable[str]) -> set[str]:
    """Those of `hashes` whose bytes are in the workspace, whatever they are."""
    artifacts = FileArtifacts(path / "artifacts")
    return {sha256 for sha256 in hashes if artifacts.has(sha256)}


def read_trust(file: Path) -> Trust:
    try:
        return load_trust(file)
    except OSError as error:
        raise Unavailable(
            "no_trust", f"{file}: {error.strerror or error}", hint="check the path"
        ) from None
    except TrustError as error:
        raise Unavailable(
            "bad_trust", f"{file}: {error}", hint="obtain it again from whoever runs the ledger"
        ) from None


def pinned_trust(folder: KeyFolder, origin: str) -> Path | None:
    """What this key folder believes about a ledger; None if it has never met it."""
    if not _ORIGIN.match(origin):  # it may come from a hostile file: never a path of its choice
        return None
    place = folder.ledger(origin) / "trust.json"
    try:
        return place if place.is_file() else None
    except OSError as error:
        raise Unavailable(
            "keys_unreadable",
            f"the key folder {folder.path} cannot be read: {error.strerror or error}",
            hint="check its permissions, or name one of your own by MOOT_KEYS",
        ) from None


def _own(path: Path, folder: KeyFolder) -> engine_keys.Trust:
    """Which ledger this is, and by which keys to read it: the pinned ones if there are any."""
    file = path / "trust.json"
    try:
        pinned = pinned_trust(folder, trust_files.read(file).origin)
        return trust_files.read(pinned or file).trust()
    except Malformed as error:
        raise Unavailable(
            "bad_trust", str(error), hint="`moot ledger doctor` says how to mend it"
        ) from None


def _trusted(how: How, origin: str) -> Trust | None:
    file = how.trust or pinned_trust(how.folder, origin)
    trust = None if file is None else read_trust(file)
    return trust if how.note is None else _keeping(trust, how.note)


def _keeping(trust: Trust | None, note: bytes) -> Trust:
    """A note that is none of the ledger's proves nothing, neither for nor against it."""
    if trust is None:
        raise Unavailable(
            "no_trust",
            "a kept checkpoint holds under the key of a trust file, and there is none",
            hint="name the ledger's trust file by --trust",
        )
    try:
        return keeping(trust, note)
    except TrustError as error:
        raise Unavailable(
            "bad_checkpoint",
            f"the kept checkpoint cannot be used: {error}",
            hint="give it byte for byte as `moot ledger checkpoint -o FILE` wrote it, with the "
            "trust file of the same ledger",
        ) from None


def _origin_of(file: IO[bytes]) -> str:
    """What the header claims; whatever is wrong with it is for the checker to say."""
    line = file.readline(_HEADER_BYTES)
    file.seek(0)
    try:
        return msgspec.json.decode(line, type=_Header).origin
    except (msgspec.DecodeError, UnicodeDecodeError):
        return ""


class _Header(msgspec.Struct):
    origin: str


class _AsStored(FileArtifacts):
    """Bytes as they are on disk: the checker itself finds what was changed."""

    def chunks(self, sha256: str) -> Iterator[bytes]:
        with suppress(Tampered):
            yield from super().chunks(sha256)


def _called(view: View, named: str, kept: Heads) -> list[str]:
    """Every stream that goes by a name, here or as it was kept: `decision/q-1`, `q-1`, a thread,
    or one of its messages."""
    short = named.partition(":")[0]
    forms = [f"{protocol}/{name}" for protocol in MODULES for name in {short, short.lower()}]
    found = [name for name in (named, *forms) if view.head(name) is not None or name in kept]
    return found or [named]


def _present(view: View, streams: list[str], kept: Heads) -> list[str]:
    """A stream that is gone although it was kept is no mistyped name: the verdict must say so."""
    return [name for name in streams if view.head(name) is not None or name not in kept]


def _only(kept: Heads, streams: list[str]) -> Heads:
    return {name: head for name, head in kept.items() if name in (REGISTRY, *streams)}
