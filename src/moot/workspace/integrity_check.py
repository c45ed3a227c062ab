"""Check whether the record is intact: pass an export to the verifier, which shares no code with it.

A workspace is only read: no checkpoint and no key is made, so that it works on a read-only disk.
The trusted keys come from the caller, or from the copy in the key folder, never from the workspace
that is being checked: an intruder who changed the record could change them too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, NamedTuple, Protocol

import msgspec
from msgspec.structs import replace

from moot.core.errors import Malformed, Tampered, Unavailable
from moot.core.ledger import View
from moot.core.names import REGISTRY
from moot.engine import signers as engine_keys
from moot.engine.export import bundle
from moot.engine.machines import MODULES
from moot.keys.folder import KeyFolder
from moot.keys.seen_checkpoints import Heads, read_seen_ledger
from moot.store.artifacts import FileArtifacts
from moot.store.sqlite.errors import describe_missing_index
from moot.verify import (
    BundleVerdict,
    TrustedLedger,
    TrustError,
    load_trust,
    verify_records,
    with_kept_checkpoint,
)
from moot.verify.bundle import lines_of
from moot.verify.receipt import open_receipt
from moot.verify.verdict import VerdictFinding
from moot.workspace import trust as trust_files

_ORIGIN = re.compile(r"moot\.ledger/[0-9a-f]{32}\Z")
_HEADER_BYTES = 4_096


class CheckOptions(NamedTuple):
    """What a check goes by: the key folder, and what the caller may add.

    `trust` is a trust file to use instead of the one in the key folder. `progress` is called with
    the number of checked lines and of all lines. `watch` gets the lines and must pass them on.
    `note` is a checkpoint that was kept elsewhere: everything that it signed must be there.
    """

    folder: KeyFolder
    trust: Path | None = None
    jobs: int = 1
    progress: Callable[[int, int], None] | None = None
    watch: Callable[[Iterable[bytes]], Iterable[bytes]] | None = None
    note: bytes | None = None

    def watched(self, lines: Iterable[bytes]) -> Iterable[bytes]:
        return lines if self.watch is None else self.watch(lines)


def check_workspace(path: Path, options: CheckOptions, stream: str | None = None) -> BundleVerdict:
    """Check the workspace at `path`, or only one of its streams and the registry (LDG-096)."""
    own = _read_own_trust(path, options.folder)
    trust = _choose_trust(options, own.origin)
    kept = read_seen_ledger(options.folder.user_folder.path / "kept.db", own.origin).heads
    from moot.hosts.opening import open_for_check

    with open_for_check(path, options.folder) as reader, reader.read() as view:
        named_streams = None if stream is None else _streams_named(view, stream, kept)
        streams = None if named_streams is None else _without_lost(view, named_streams, kept)
        seen = kept if named_streams is None else _heads_of(kept, named_streams)
        verdict = verify_records(
            options.watched(bundle(view, own, _AsStored(path / "artifacts"), streams)),
            trust,
            options.jobs,
            progress=options.progress,
            kept=[(name, seq, head.hex()) for name, (seq, head) in seen.items()],
            kept_complete=True,
        )
        tables = _index_findings(reader)
    return replace(verdict, findings=(*verdict.findings, *tables)) if tables else verdict


class _HasIndexes(Protocol):
    def missing_index_tables(self) -> Sequence[str]: ...


def _index_findings(reader: _HasIndexes) -> tuple[VerdictFinding, ...]:
    """Return findings for missing index tables: events are not affected, but commands fail."""
    return tuple(
        VerdictFinding("LDG-071", "index_damaged", "warning", sentence, hint=hint)
        for sentence, hint in map(describe_missing_index, reader.missing_index_tables())
    )


def check_file(file: Path, options: CheckOptions) -> BundleVerdict:
    """Check a bundle or a receipt; its header says which pinned trust file to use."""
    try:
        with file.open("rb") as bytes_of:
            inside = open_receipt(bytes_of)
            trust = _choose_trust(options, _origin_of(inside.file))
            lines = options.watched(lines_of(inside.file))
            return verify_records(
                lines, trust, options.jobs, progress=options.progress, says=inside.says
            )
    except OSError as error:
        raise Unavailable(
            "unreadable_file", f"{file}: {error.strerror or error}", hint="check the path"
        ) from None


def stored_artifacts(path: Path, hashes: Iterable[str]) -> set[str]:
    """Return those of `hashes` that the workspace has a file for, intact or not."""
    artifacts = FileArtifacts(path / "artifacts")
    return {sha256 for sha256 in hashes if artifacts.has(sha256)}


def read_trust(file: Path) -> TrustedLedger:
    try:
        return load_trust(file)
    except OSError as error:
        raise Unavailable(
            "no_trust", f"{file}: {error.strerror or error}", hint="check the path"
        ) from None
    except TrustError as error:
        raise Unavailable(
            "bad_trust", f"{file}: {error}", hint="get it again from the owner of the ledger"
        ) from None


def pinned_trust(folder: KeyFolder, origin: str) -> Path | None:
    """Return the key folder's trust file of a ledger; None if it has none."""
    if not _ORIGIN.match(origin):  # it may come from a hostile file: never a path of its choice
        return None
    place = folder.ledger_folder(origin) / "trust.json"
    try:
        return place if place.is_file() else None
    except OSError as error:
        raise Unavailable(
            "keys_unreadable",
            f"the key folder {folder.path} cannot be read: {error.strerror or error}",
            hint="check its permissions, or set MOOT_KEYS to another one",
        ) from None


def _read_own_trust(path: Path, folder: KeyFolder) -> engine_keys.LedgerTrust:
    """Return the ledger's origin and keys: from the key folder if it has them."""
    file = path / "trust.json"
    try:
        pinned = pinned_trust(folder, trust_files.read_trust_file(file).origin)
        return trust_files.read_trust_file(pinned or file).trust()
    except Malformed as error:
        raise Unavailable(
            "bad_trust", str(error), hint="`moot ledger doctor` shows how to fix it"
        ) from None


def _choose_trust(options: CheckOptions, origin: str) -> TrustedLedger | None:
    file = options.trust or pinned_trust(options.folder, origin)
    trust = None if file is None else read_trust(file)
    return trust if options.note is None else _with_kept_checkpoint(trust, options.note)


def _with_kept_checkpoint(trust: TrustedLedger | None, note: bytes) -> TrustedLedger:
    """Return the trust with a kept checkpoint; Unavailable if the ledger's key did not sign it,
    since it then proves nothing."""
    if trust is None:
        raise Unavailable(
            "no_trust",
            "checking a kept checkpoint needs a trust file, and there is none",
            hint="name the ledger's trust file with --trust",
        )
    try:
        return with_kept_checkpoint(trust, note)
    except TrustError as error:
        raise Unavailable(
            "bad_checkpoint",
            f"the kept checkpoint cannot be used: {error}",
            hint="use the unchanged file of `moot ledger checkpoint -o FILE`, with the trust file "
            "of the same ledger",
        ) from None


def _origin_of(file: IO[bytes]) -> str:
    """Return the ledger that the header names; the verifier reports an unreadable one."""
    line = file.readline(_HEADER_BYTES)
    file.seek(0)
    try:
        return msgspec.json.decode(line, type=_Header).origin
    except (msgspec.DecodeError, UnicodeDecodeError):
        return ""


class _Header(msgspec.Struct):
    origin: str


class _AsStored(FileArtifacts):
    """Artifacts as they are on disk, without our own check: the verifier finds changes."""

    def chunks(self, sha256: str) -> Iterator[bytes]:
        with suppress(Tampered):
            yield from super().chunks(sha256)


def _streams_named(view: View, named: str, kept: Heads) -> list[str]:
    """Return every stream of that name, in the ledger or remembered: `decision/q-1`, `q-1`, a
    thread, or one of its messages."""
    short = named.partition(":")[0]
    forms = [f"{protocol}/{name}" for protocol in MODULES for name in {short, short.lower()}]
    found = [name for name in (named, *forms) if view.head(name) is not None or name in kept]
    return found or [named]


def _without_lost(view: View, streams: list[str], kept: Heads) -> list[str]:
    """Remove streams that are remembered but missing: they are a loss, which the verdict reports,
    not a typing error."""
    return [name for name in streams if view.head(name) is not None or name not in kept]


def _heads_of(kept: Heads, streams: list[str]) -> Heads:
    return {name: head for name, head in kept.items() if name in (REGISTRY, *streams)}
