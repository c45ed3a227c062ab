"""Refuse to start a flow from a damaged record or file, naming the file, the item and the hash.

Every signature of the record is checked, and the native file is compared with the record. A check
repairs nothing (FLO-08).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from itertools import zip_longest
from pathlib import Path
from typing import Concatenate, Final, ParamSpec, TypeVar

from moot.api.debates.check import compare_with_record
from moot.api.debates.session_file import read_file
from moot.api.parliaments.session_files import SessionFiles, read_messages, read_or_none
from moot.core.errors import Malformed, Tampered
from moot.core.ledger import View
from moot.protocols.parliament.files.file_shapes import LEDGER_FILE
from moot.protocols.parliament.messages.message import encode_message, to_document
from moot.protocols.parliament.messages.shapes import read_json
from moot.protocols.path.model import SourceRecord
from moot.store.artifacts import FileArtifacts
from moot.workspace.workspace import Workspace

P = ParamSpec("P")
R = TypeVar("R")
# Text that is only newer than the record does not contradict it.
_NOT_YET_RECORDED: Final = frozenset({"not_yielded", "not_recorded"})


def require_unchanged(workspace: Workspace, source: SourceRecord, file: str = "") -> None:
    """Raise Tampered if the source's record, or its file, is not what was signed."""
    require_valid_signatures(workspace, source.stream)
    _require_record(workspace, source)
    check = _FILE_CHECKS.get(source.protocol)
    if check is not None and file:
        check(workspace, source, workspace.root / file)


def require_valid_signatures(workspace: Workspace, stream: str) -> None:
    """Check every signature of the stream; Tampered names the first bad record."""
    try:
        workspace.engine.load(stream, proved=True)
    except Tampered as error:
        place = _hash_at(workspace, error.stream, error.seq)
        raise Tampered(
            f"{error}; the first bad record is {place}", stream=error.stream, seq=error.seq
        ) from None


def report_first_damage(
    read: Callable[Concatenate[Workspace, P], R],
) -> Callable[Concatenate[Workspace, P], R]:
    """Let a function that meets a damaged record name the first damaged one of its stream."""

    @wraps(read)
    def checked_read(workspace: Workspace, /, *args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return read(workspace, *args, **kwargs)
        except Tampered as error:
            if error.stream:
                require_valid_signatures(workspace, error.stream)
            raise

    return checked_read


def _require_record(workspace: Workspace, source: SourceRecord) -> None:
    """Check that the record which a step names is still at its place."""
    found = _hash_at(workspace, source.stream, source.seq)
    if found != source.hash:
        raise Tampered(
            f"{source.place} is another record now: {found}, not {source.hash}",
            stream=source.stream,
            seq=source.seq,
        )


def _hash_at(workspace: Workspace, stream: str, seq: int) -> str:
    with workspace.store.read() as view:
        record = next(view.records(stream, after=seq - 1), None) if seq >= 0 else None
    return record.hash.hex() if record is not None else "missing"


def _require_debate_file(workspace: Workspace, source: SourceRecord, file: Path) -> None:
    data = read_file(file)
    with workspace.store.read() as view:
        artifacts = FileArtifacts(workspace.path / "artifacts")
        result = compare_with_record(view, source.stream, artifacts, data)
    if result.verdict == "valid" or {one.code for one in result.findings} <= _NOT_YET_RECORDED:
        return
    seq, item, bad = source.seq, "no single entry", result.first_bad
    if bad is not None:
        seq, item = bad.seq, bad.entry or "the part above the first entry"
    raise _file_changed(workspace, source.stream, seq, file, f"{result.integrity} ({item})")


def _require_parliament_files(workspace: Workspace, source: SourceRecord, folder: Path) -> None:
    """Finish what a killed program left unwritten, then compare the ledger file with the record.

    The comparison ignores Moot's note of what it wrote last: that note may be damaged too.
    """
    files = SessionFiles(workspace, folder, source.stream)
    changed = [finding.where for finding in files.find_changed()]
    if not changed:
        files.write()
    with workspace.store.read() as view:
        seq, item = _find_first_difference(view, source.stream, folder)
        head = view.head(source.stream)
    if not changed and seq < 0:
        return
    name = LEDGER_FILE if seq >= 0 else changed[0] or LEDGER_FILE
    seq = seq if seq >= 0 or head is None else head.seq
    where = f" at {item}" if item else ""
    what = f"not what was recorded{where}"
    raise _file_changed(workspace, source.stream, seq, folder / name, what)


def _find_first_difference(view: View, stream: str, folder: Path) -> tuple[int, str]:
    """Find the first message in which file and record differ: its event's seq, and its id."""
    data = read_or_none(folder / LEDGER_FILE) or b""
    try:
        document = read_json(data)
    except Malformed:
        other = (one.id for one in read_messages(view, stream) if encode_message(one) not in data)
    else:
        rows = document.get("messages") if isinstance(document, dict) else None
        pairs = zip_longest(read_messages(view, stream), rows if isinstance(rows, list) else ())
        other = (
            one.id if one is not None else ""
            for one, row in pairs
            if one is None or to_document(one) != row
        )
    first = next(other, None)
    if first is None:
        return -1, ""
    return _find_logging_event(view, stream, first), first or "a message that is not on record"


def _find_logging_event(view: View, stream: str, message: str) -> int:
    """Return the seq of the event that logged the message, or of the last event if none did."""
    found = (
        record.seq
        for record in view.records(stream)
        if record.body.data.get("message", {}).get("id") == message
    )
    head = view.head(stream)
    return next(found, head.seq if head is not None else 0)


def _file_changed(workspace: Workspace, stream: str, seq: int, file: Path, what: str) -> Tampered:
    recorded = _hash_at(workspace, stream, seq)
    return Tampered(
        f"{file}: {what}; recorded in {stream} event {seq}, {recorded}",
        code="file_changed",
        stream=stream,
        seq=seq,
        hint="restore the file from the record (`moot debate verify`, `moot parliament export`)",
    )


_FILE_CHECKS = {"debate": _require_debate_file, "parliament": _require_parliament_files}
