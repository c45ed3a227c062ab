"""A flow does not go on from a damaged record or file: it names the file, the item, the hash.

The record is read with every signature checked; a native file must be what was recorded. A check
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
# What stands beyond the record contradicts nothing: it is not on record yet.
_MORE: Final = frozenset({"not_yielded", "not_recorded"})


def require_whole(workspace: Workspace, source: SourceRecord, file: str = "") -> None:
    """Tampered if the source's record, or the file it stands in, is not what was signed."""
    require_proved(workspace, source.stream)
    _require_record(workspace, source)
    check = _FILES.get(source.protocol)
    if check is not None and file:
        check(workspace, source, workspace.root / file)


def require_proved(workspace: Workspace, stream: str) -> None:
    """Every signature of it is looked at; Tampered names the first record that does not hold."""
    try:
        workspace.engine.load(stream, proved=True)
    except Tampered as error:
        place = _hash_at(workspace, error.stream, error.seq)
        raise Tampered(
            f"{error}; the first bad record is {place}", stream=error.stream, seq=error.seq
        ) from None


def names_first_damage(
    look: Callable[Concatenate[Workspace, P], R],
) -> Callable[Concatenate[Workspace, P], R]:
    """What meets a damaged record on its way names the first one."""

    @wraps(look)
    def looked(workspace: Workspace, /, *args: P.args, **more: P.kwargs) -> R:
        try:
            return look(workspace, *args, **more)
        except Tampered as error:
            if error.stream:
                require_proved(workspace, error.stream)
            raise

    return looked


def _require_record(workspace: Workspace, source: SourceRecord) -> None:
    """The record a step names is the one that stands there."""
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


def _require_session(workspace: Workspace, source: SourceRecord, file: Path) -> None:
    data = read_file(file)
    with workspace.store.read() as view:
        artifacts = FileArtifacts(workspace.path / "artifacts")
        held = compare_with_record(view, source.stream, artifacts, data)
    if held.verdict == "valid" or {one.code for one in held.findings} <= _MORE:
        return
    seq, item = source.seq, "no single entry"
    if held.first_bad is not None:
        seq, item = held.first_bad.seq, held.first_bad.entry or "the part above the first entry"
    raise _changed(workspace, source.stream, seq, file, f"{held.integrity} ({item})")


def _require_papers(workspace: Workspace, source: SourceRecord, folder: Path) -> None:
    """What a killed program left behind is brought up to date; the ledger file is then compared
    with the record itself, whatever is remembered of having written it."""
    files = SessionFiles(workspace, folder, source.stream)
    changed = [finding.where for finding in files.find_changed()]
    if not changed:
        files.write()
    with workspace.store.read() as view:
        seq, item = _first_other(view, source.stream, folder)
        head = view.head(source.stream)
    if not changed and seq < 0:
        return
    name = LEDGER_FILE if seq >= 0 else changed[0] or LEDGER_FILE
    seq = seq if seq >= 0 or head is None else head.seq
    where = f" at {item}" if item else ""
    raise _changed(workspace, source.stream, seq, folder / name, f"not what was recorded{where}")


def _first_other(view: View, stream: str, folder: Path) -> tuple[int, str]:
    """The first message of the file that the record tells otherwise, and where it stands."""
    data = read_or_none(folder / LEDGER_FILE) or b""
    try:
        document = read_json(data)
    except Malformed:
        other = (one.id for one in read_messages(view, stream) if encode_message(one) not in data)
    else:
        said = document.get("messages") if isinstance(document, dict) else None
        pairs = zip_longest(read_messages(view, stream), said if isinstance(said, list) else ())
        other = (
            one.id if one is not None else ""
            for one, row in pairs
            if one is None or to_document(one) != row
        )
    first = next(other, None)
    if first is None:
        return -1, ""
    return _recorded_path(view, stream, first), first or "a message that is not on record"


def _recorded_path(view: View, stream: str, message: str) -> int:
    """The event that logged it; the last one if none did."""
    found = (
        record.seq
        for record in view.records(stream)
        if record.body.data.get("message", {}).get("id") == message
    )
    head = view.head(stream)
    return next(found, head.seq if head is not None else 0)


def _changed(workspace: Workspace, stream: str, seq: int, file: Path, what: str) -> Tampered:
    recorded = _hash_at(workspace, stream, seq)
    return Tampered(
        f"{file}: {what}; recorded in {stream} event {seq}, {recorded}",
        code="file_changed",
        stream=stream,
        seq=seq,
        hint="restore the file from the record (`moot debate verify`, `moot parliament export`)",
    )


_FILES = {"debate": _require_session, "parliament": _require_papers}
