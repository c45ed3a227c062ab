"""Making a receipt: the machine signs for what it says, and the record goes into the same file.

docs/format.md section 8 (DEC-021). Nothing new is recorded if nothing has happened since the last
receipt (DEC-022).
"""

from __future__ import annotations

import hashlib
from contextlib import suppress
from typing import Any, Final, NamedTuple

import msgspec

from moot.core.canonical import canonical
from moot.core.errors import Conflict, Refused, Unavailable
from moot.core.names import SYSTEM
from moot.engine.export import bundle
from moot.flows.decisions.questions import state_of
from moot.flows.decisions.receipt_content import compose_receipt, list_streams
from moot.protocols.decision import stream_of
from moot.protocols.decision.commands import MakeReceipt
from moot.protocols.decision.model import ChamberKind
from moot.workspace.workspace import Workspace

FORMAT: Final = "moot-receipt/1"
MEDIA_TYPE: Final = "application/vnd.moot.receipt.v1+json"
MOST_BYTES: Final = 64 * 1024 * 1024
_TRIES: Final = 5


class Receipt(NamedTuple):
    """`data` is the file; `proofs` and `checkpoint` are those of the record in it."""

    content: dict[str, Any]
    data: bytes
    proofs: tuple[dict[str, Any], ...]
    checkpoint: str | None

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.data).hexdigest()


def make_receipt(workspace: Workspace, decision: str) -> Receipt:
    """Sign for what is on record of this decision, and put the record itself into the file."""
    _require_argued(workspace, decision)
    content = _sign_content(workspace, decision)
    # Without its key, or its keeper, the end stays unproven, and the verdict says so.
    with suppress(Refused, Unavailable):
        workspace.engine.checkpoint()
    with workspace.store.read() as view:
        lines = list(
            bundle(view, workspace.trust, workspace.artifacts, list_streams(workspace, decision))
        )
    record = b"".join(lines).decode()
    data = canonical({"format": FORMAT, "record": record, "says": content}) + b"\n"
    if len(data) > MOST_BYTES:
        raise Refused(
            "receipt_too_large",
            f"the record of {decision} takes {len(data)} bytes, a receipt at most {MOST_BYTES}",
            hint=f"`moot ledger export -o record.moot {stream_of(decision)}` has no such limit",
        )
    proving = [msgspec.json.decode(line) for line in lines if line.startswith(_PROVING_LINES)]
    proofs = tuple(line["proof"] for line in proving if "proof" in line)
    notes = [line["checkpoint"] for line in proving if "checkpoint" in line]
    return Receipt(content, data, proofs, notes[0] if notes else None)


def _require_argued(workspace: Workspace, decision: str) -> None:
    chamber = state_of(workspace, decision).chamber
    if chamber is ChamberKind.MAIL:
        raise Refused(
            "not_a_decision",
            f"{decision} keeps the costs of mail: nothing was voted on",
            hint=f"`moot ledger log {stream_of(decision)}` shows it",
        )
    if chamber is ChamberKind.TRACE:
        raise Refused(
            "not_a_decision",
            f"{decision} is a trace: its work is proved, nothing was voted on",
            hint=f"`moot report {decision}` shows it; `moot trace export {decision}` proves it",
        )


_PROVING_LINES: Final = (b'{"proof":', b'{"checkpoint":')


def _sign_content(workspace: Workspace, decision: str) -> dict[str, Any]:
    """What the receipt says, once the machine has signed for exactly this."""
    stream = stream_of(decision)
    for _ in range(_TRIES):
        seen = _head(workspace, stream)
        content = compose_receipt(workspace, decision)
        raw = canonical(content)
        if state_of(workspace, decision).receipt == hashlib.sha256(raw).hexdigest():
            return content
        ref = workspace.artifacts.put(raw, MEDIA_TYPE)
        outcome = workspace.engine.execute(stream, MakeReceipt(receipt=ref), SYSTEM)
        if outcome.recorded[0].seq == seen + 1:  # nobody wrote between the look and the act
            return content
    raise Conflict("busy", f"{decision} is being written to", hint="try again when it rests")


def _head(workspace: Workspace, stream: str) -> int:
    with workspace.store.read() as view:
        head = view.head(stream)
    return -1 if head is None else head.seq
