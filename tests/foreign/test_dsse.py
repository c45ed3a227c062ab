"""Our envelopes are plain DSSE: a library that knows nothing of Moot verifies every one of them."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest
from securesystemslib.dsse import Envelope
from securesystemslib.exceptions import VerificationError
from securesystemslib.signer._key import SSlibKey

VECTORS = Path(__file__).parents[2] / "docs" / "vectors"


def read_envelopes() -> list[dict[str, Any]]:
    lines = (VECTORS / "bundle.jsonl").read_text("utf-8").splitlines()
    return [line for line in map(json.loads, lines) if "payload" in line]


def make_key(keyid: str, public: str) -> SSlibKey:
    return SSlibKey(keyid, "ed25519", "ed25519", {"public": public})


def read_keys() -> dict[str, SSlibKey]:
    """The root key by the trust file, the others as the registry's events name them."""
    root = json.loads((VECTORS / "trust.json").read_text("utf-8"))["root"]
    publics = [root, *_publics(read_envelopes())]
    from moot.core.signing import key_id

    ids = {key_id(bytes.fromhex(public)): public for public in publics}
    return {keyid: make_key(keyid, public) for keyid, public in ids.items()}


def _publics(envelopes: list[dict[str, Any]]) -> list[str]:
    bodies = [json.loads(base64.b64decode(one["payload"])) for one in envelopes]
    return [body["data"]["public"] for body in bodies if "public" in body["data"]]


def test_a_foreign_library_verifies_every_envelope_of_a_record() -> None:
    keys = read_keys()
    envelopes = read_envelopes()
    assert len(envelopes) > 5
    for line in envelopes:
        envelope = Envelope.from_dict(line)
        (keyid,) = envelope.signatures
        assert envelope.payload_type == "application/vnd.moot.event.v1+json"
        assert set(envelope.verify([keys[keyid]], threshold=1)) == {keyid}


@pytest.mark.parametrize("field", ["payload", "payloadType"])
def test_a_changed_envelope_is_refused_by_it(field: str) -> None:
    keys = read_keys()
    line = read_envelopes()[0]
    changed = {
        "payload": base64.b64encode(base64.b64decode(line["payload"]) + b" ").decode(),
        "payloadType": line["payloadType"] + "x",
    }
    envelope = Envelope.from_dict({**line, field: changed[field]})
    with pytest.raises(VerificationError):
        envelope.verify(list(keys.values()), threshold=1)
