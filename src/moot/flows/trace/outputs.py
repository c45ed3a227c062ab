"""What is kept of a run: its outputs and what it changed, without secrets, stored before cited."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final, NamedTuple

from moot.core import secrets
from moot.core.canonical import canonical
from moot.protocols.trace.commands import Stored
from moot.system.footprint import FileChange
from moot.system.running import CapturedOutput, ProgramResult

if TYPE_CHECKING:
    from moot.core.secrets import SecretPattern
    from moot.store.artifacts import Artifacts

TEXT: Final = "text/plain"
BYTES: Final = "application/octet-stream"
CHANGES: Final = "application/vnd.moot.changes+json"
# More names than these do not fit into one event; the artifact `changed` lists them all.
MOST_NAMED: Final = 200
NAMED_BYTES: Final = 12_000
# Read beyond the limit, so that no secret is cut in half before it is found.
EDGE: Final = 32_768


class RunObservations(NamedTuple):
    """What is known after a run, apart from how it ended; the names are those of the record."""

    duration_ms: int = 0
    changed: tuple[str, ...] = ()
    undeclared: tuple[str, ...] = ()
    redacted: tuple[str, ...] = ()
    truncated: tuple[str, ...] = ()
    watched: str = ""


class OutputStore(NamedTuple):
    """Where outputs go, what is blotted out of them, and how much of each is stored."""

    artifacts: Artifacts
    hidden: tuple[SecretPattern, ...]
    most_bytes: int


def store_outputs(
    store: OutputStore, ran: ProgramResult, changes: list[FileChange], remarks: tuple[str, ...]
) -> tuple[tuple[Stored, ...], RunObservations]:
    """Store what a run printed and the list of what it changed, without the secrets in them."""
    outputs = (("stdout", ran.stdout), ("stderr", ran.stderr))
    redacted = [*secrets.find_secrets(store.hidden, [change.path for change in changes])]
    changes = [
        change._replace(path=secrets.redact_text(store.hidden, change.path)) for change in changes
    ]
    stored = []
    for name, output in outputs:
        data, secret_names = _redact_and_cut(store, output)
        redacted += secret_names
        stored.append(Stored(name, store.artifacts.put(data, _media_type(data))))
    document = _changes_document(changes, remarks)
    stored.append(Stored("changed", store.artifacts.put(document, CHANGES)))
    observations = RunObservations(
        duration_ms=ran.nanos // 1_000_000,
        changed=_first_names(change.path for change in changes),
        undeclared=_first_names(change.path for change in changes if not change.declared),
        redacted=tuple(dict.fromkeys(redacted)),
        truncated=tuple(name for name, output in outputs if output.size > store.most_bytes),
        watched="; ".join(remarks) or "declared files and git",
    )
    return tuple(stored), observations


def _redact_and_cut(store: OutputStore, output: CapturedOutput) -> tuple[bytes, tuple[str, ...]]:
    """Secrets are blotted out before the cut, which could leave half of one, not to be found.

    For the same reason the last bytes of what reading itself has cut are not stored.
    """
    clean = secrets.redact_bytes(store.hidden, output.beginning)
    sure = len(clean.data) - EDGE if output.truncated else len(clean.data)
    return clean.data[: max(0, min(store.most_bytes, sure))], clean.found


def _changes_document(changes: list[FileChange], remarks: tuple[str, ...]) -> bytes:
    rows = [
        {"declared": change.declared, "how": change.how, "path": change.path} for change in changes
    ]
    return canonical({"changes": rows, "remarks": list(remarks)})


def _first_names(paths: Iterable[str]) -> tuple[str, ...]:
    """As many as fit into an event; the artifact has all."""
    names: list[str] = []
    bytes_left = NAMED_BYTES
    for path in paths:
        bytes_left -= len(path.encode("utf-8", "backslashreplace"))
        if bytes_left < 0 or len(names) == MOST_NAMED:
            return (*names, "...")
        names.append(path)
    return tuple(names)


def _media_type(data: bytes) -> str:
    try:
        data.decode()
    except UnicodeDecodeError:
        return BYTES
    return TEXT
