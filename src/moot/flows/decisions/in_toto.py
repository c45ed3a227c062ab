"""A receipt as an in-toto Statement (v1) in a DSSE envelope, for tools that know nothing of ours.

The subjects are the files that were written and, if one is named, a commit; the predicate is the
short of what the receipt says, and leads to it. The ledger's root key signs, as it does for the
receipt itself. It proves no more than the receipt; whoever wants the record checks that.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from moot.core.canonical import canonical
from moot.core.errors import NotFound, Refused
from moot.core.signing import IN_TOTO
from moot.engine.keys import find_system_signatory

if TYPE_CHECKING:
    from moot.flows.decisions.receipt import Receipt
    from moot.workspace.workspace import Workspace

STATEMENT_TYPE: Final = "https:" + "//in-toto.io/Statement/v1"  # a name, not an address
PREDICATE_TYPE: Final = "urn:moot:decision-receipt:v1"
SUFFIX: Final = ".intoto.jsonl"
_SECONDS: Final = 5.0


def make_statement(
    receipt: Receipt, files: Iterable[Path], commit: str | None, origin: str
) -> dict[str, Any]:
    """What is said about these files, and about a commit if one is named."""
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
    """The statement in its envelope: one line. `key_missing` without the ledger's root key."""
    signatory = find_system_signatory(workspace.trust, workspace.keys)
    if signatory is None:
        raise Refused(
            "key_missing",
            "the ledger's root key is not in this key folder",
            hint="let whoever ran `moot init` do this, outside of `moot run`",
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
    """The full id of a commit, by git; `no_such_commit` if git does not know it."""
    from moot.system.git_questions import GitQuestion, ask_git

    words = ("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    (answer,) = ask_git([GitQuestion(folder, words)], _SECONDS)
    if not answer:
        raise NotFound(
            "no_such_commit",
            f"git knows no commit {revision} here",
            hint="`git log --oneline` lists them; HEAD is the newest",
        )
    return answer.decode("ascii", "replace").strip()
