"""A receipt as an in-toto statement: read and validated by in-toto's own library, and verified as
DSSE by another one."""

from __future__ import annotations

import hashlib
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from google.protobuf import json_format
from in_toto_attestation.v1 import statement_pb2
from in_toto_attestation.v1.statement import Statement
from securesystemslib.dsse import Envelope
from securesystemslib.exceptions import VerificationError
from securesystemslib.signer._key import SSlibKey

from moot.core.signing import key_id
from tests.project import Project

QUESTION = ("ask", "Queue: Postgres or Kafka?", "--option", "Postgres", "--option", "Kafka")
VOICES = ("--with", "fern-hare=rules:approve,moss-lynx=rules:sceptic,pine-vole=rules:reject")


@pytest.fixture
def decided(tmp_path: Path) -> Project:
    """A workspace with a question that was argued."""
    (tmp_path / "project").mkdir()
    project = Project(tmp_path / "project", tmp_path / "keys")
    project.ok("init")
    project.ok(*QUESTION, *VOICES)
    return project


def read_statement(project: Project, file: Path) -> dict[str, Any]:
    """The payload, after a foreign library has verified it with the root key of the trust file."""
    root = json.loads(project.pinned.read_text("utf-8"))["root"]
    keyid = key_id(bytes.fromhex(root))
    envelope = Envelope.from_dict(json.loads(file.read_bytes()))
    assert envelope.payload_type == "application/vnd.in-toto+json"
    envelope.verify([SSlibKey(keyid, "ed25519", "ed25519", {"public": root})], threshold=1)
    body: dict[str, Any] = json.loads(envelope.payload)
    return body


def test_in_totos_own_library_accepts_the_statement(decided: Project) -> None:
    written = decided.ok("receipt", "q-1", "-o", "queue.md", "--in-toto")
    file = decided.root / "queue.intoto.jsonl"
    assert written["in_toto"] == "queue.intoto.jsonl"
    body = read_statement(decided, file)
    proto = json_format.ParseDict(body, statement_pb2.Statement())
    Statement.copy_from_pb(proto).validate()
    digests = {one["name"]: one["digest"]["sha256"] for one in body["subject"]}
    for name in ("queue.json", "queue.md"):
        assert digests.pop(name) == hashlib.sha256((decided.root / name).read_bytes()).hexdigest()
    assert not digests
    predicate = body["predicate"]
    assert predicate["receipt"] == {"sha256": written["sha256"]}
    assert predicate["dissent"] == written["dissent"]
    assert predicate["question"] == "Queue: Postgres or Kafka?"


def test_a_commit_is_a_subject_if_it_is_named(decided: Project) -> None:
    git = ("git", "-c", "user.name=a", "-c", "user.email=a@example.org")
    for words in (("init", "-q"), ("commit", "-qm", "first", "--allow-empty")):
        subprocess.run([*git, *words], cwd=decided.root, check=True, timeout=60)
    head = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=decided.root, check=True, capture_output=True, timeout=60
    )
    decided.ok("receipt", "q-1", "-o", "queue.json", "--in-toto", "--commit", "HEAD")
    body = read_statement(decided, decided.root / "queue.intoto.jsonl")
    named = [one["digest"] for one in body["subject"]]
    assert {"gitCommit": head.stdout.decode().strip()} in named


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (("--in-toto", "--commit", "nothing-like-it"), "no_such_commit"),
        (("--commit", "HEAD"), "commit_without_statement"),
    ],
)
def test_a_commit_that_cannot_be_meant_writes_nothing(
    decided: Project, options: tuple[str, ...], code: str
) -> None:
    before = decided.ok("ledger", "log")
    assert decided.refused("receipt", "q-1", "-o", "queue.md", *options)[0] == code
    assert decided.ok("ledger", "log") == before
    assert not list(decided.root.glob("queue*"))


def test_a_changed_statement_is_not_verified(decided: Project) -> None:
    decided.ok("receipt", "q-1", "-o", "queue.json", "--in-toto")
    file = decided.root / "queue.intoto.jsonl"
    file.write_bytes(file.read_bytes().replace(b'"payload":"ey', b'"payload":"fy'))
    with pytest.raises(VerificationError):
        read_statement(decided, file)
