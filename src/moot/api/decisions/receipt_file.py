"""Make a receipt: sign its content, and put the record into the same file.

docs/format.md section 8 (DEC-021). Nothing new is recorded if nothing has happened since
the last receipt (DEC-022).
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec

from moot.api.decisions.questions import state_of
from moot.api.decisions.receipt_content import compose_receipt, list_streams
from moot.core.canonical import canonical
from moot.core.errors import Conflict, NotFound, Refused, Unavailable
from moot.core.names import SYSTEM
from moot.core.signing import IN_TOTO
from moot.engine.export import bundle
from moot.engine.signers import find_system_signatory
from moot.protocols.decision import stream_of
from moot.protocols.decision.commands import MakeReceipt
from moot.protocols.decision.model import ChamberKind
from moot.workspace.workspace import Workspace

FORMAT: Final = "moot-receipt/1"
MEDIA_TYPE: Final = "application/vnd.moot.receipt.v1+json"
MAX_BYTES: Final = 64 * 1024 * 1024
_MAX_TRIES: Final = 5


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
    """Sign what the record says of this decision, and put the record itself into the file."""
    _require_argued(workspace, decision)
    content = _sign_content(workspace, decision)
    # Without the checkpoint key or the keeper the end stays unproven; the verdict says so.
    with suppress(Refused, Unavailable):
        workspace.engine.checkpoint()
    with workspace.store.read() as view:
        lines = list(
            bundle(view, workspace.trust, workspace.artifacts, list_streams(workspace, decision))
        )
    record = b"".join(lines).decode()
    data = canonical({"format": FORMAT, "record": record, "says": content}) + b"\n"
    if len(data) > MAX_BYTES:
        raise Refused(
            "receipt_too_large",
            f"the record of {decision} takes {len(data)} bytes, a receipt at most {MAX_BYTES}",
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
            f"{decision} only keeps the costs of mail: there was no vote",
            hint=f"`moot ledger log {stream_of(decision)}` shows it",
        )
    if chamber is ChamberKind.TRACE:
        raise Refused(
            "not_a_decision",
            f"{decision} is a trace: there was no vote",
            hint=f"`moot report {decision}` shows it; `moot trace export {decision}` proves it",
        )


_PROVING_LINES: Final = (b'{"proof":', b'{"checkpoint":')


def _sign_content(workspace: Workspace, decision: str) -> dict[str, Any]:
    """Return the content after Moot has signed exactly this content."""
    stream = stream_of(decision)
    for _ in range(_MAX_TRIES):
        with workspace.store.read() as view:
            head = view.head(stream)
        content = compose_receipt(workspace, decision)
        raw = canonical(content)
        if state_of(workspace, decision).receipt == hashlib.sha256(raw).hexdigest():
            return content
        ref = workspace.artifacts.put(raw, MEDIA_TYPE)
        outcome = workspace.engine.execute(stream, MakeReceipt(receipt=ref), SYSTEM)
        last_seq = -1 if head is None else head.seq
        if outcome.recorded[0].seq == last_seq + 1:  # no other event came in between
            return content
    raise Conflict("busy", f"{decision} changes while the receipt is made", hint="try again later")


# A receipt as an in-toto Statement (v1) in a DSSE envelope, for tools that do not know Moot. It
# proves no more than the receipt.

STATEMENT_TYPE: Final = "https:" + "//in-toto.io/Statement/v1"  # a name, not an address
PREDICATE_TYPE: Final = "urn:moot:decision-receipt:v1"
SUFFIX: Final = ".intoto.jsonl"
_GIT_SECONDS: Final = 5.0


def make_statement(
    receipt: Receipt, files: Iterable[Path], commit: str | None, origin: str
) -> dict[str, Any]:
    """Return a statement about these files, and about a commit if one is named."""
    subjects: list[dict[str, Any]] = [
        {"name": file.name, "digest": {"sha256": hashlib.sha256(file.read_bytes()).hexdigest()}}
        for file in files
    ]
    if commit is not None:
        subjects.append({"name": "git", "digest": {"gitCommit": commit}})
    content = receipt.content
    return {
        "_type": STATEMENT_TYPE,
        "subject": subjects,
        "predicateType": PREDICATE_TYPE,
        "predicate": {
            "decision": content["decision"],
            "dissent": [voice["agent"] for voice in content["argument"]["dissent"]],
            "ledger": origin,
            "question": content["question"],
            "receipt": {"sha256": receipt.sha256},
            "result": content["result"],
            "stage": content["stage"],
            "word": content["word"],
        },
    }


def sign_statement(workspace: Workspace, statement: dict[str, Any]) -> bytes:
    """Return the signed statement as one line; `key_missing` without the ledger's root key."""
    signatory = find_system_signatory(workspace.trust, workspace.keys)
    if signatory is None:
        raise Refused(
            "key_missing",
            "the ledger's root key is not in this key folder",
            hint="the user who ran `moot init` can do this, outside of `moot run`",
        )
    body, signer = canonical(statement), signatory.private_key.signer
    signature = base64.b64encode(signer.sign(IN_TOTO, body)).decode()
    envelope = {
        "payload": base64.b64encode(body).decode(),
        "payloadType": IN_TOTO.decode(),
        "signatures": [{"keyid": signer.kid, "sig": signature}],
    }
    return canonical(envelope) + b"\n"


def find_commit(folder: Path, revision: str) -> str:
    """Return the full id of a commit; `no_such_commit` if git does not know it."""
    from moot.system.git_commands import GitQuestion, ask_git

    words = ("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    (answer,) = ask_git([GitQuestion(folder, words)], _GIT_SECONDS)
    if not answer:
        raise NotFound(
            "no_such_commit",
            f"git knows no commit {revision} here",
            hint="`git log --oneline` lists them; HEAD is the newest",
        )
    return answer.decode("ascii", "replace").strip()
