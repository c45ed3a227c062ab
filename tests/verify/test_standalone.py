"""The stand-alone verifier against docs/format.md: every rule kept once and broken once.

Bundles come from `bundle_builder`, which shares no code with the verifier. Where a rule is broken,
the test asks for the verdict and for the very line; where a rule's edge is legal, for `valid`.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import io
import json
import os
import random
import re
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from nacl import bindings

import moot.verify
from tests.sampling import QUARTERS, examples
from tests.verify import bundle_builder as forge
from tests.verify.bundle_builder import (
    BIG,
    CHUNK,
    DROP,
    Bundle,
    Entry,
    Ledger,
    Signer,
    b64,
    canon,
    seal,
    sha,
)

ROOT = Path(__file__).resolve().parents[2]
FILE = Path(moot.verify.__file__).with_name("standalone.py")
VECTORS = ROOT / "docs" / "vectors"


def load() -> Any:
    """The file by itself, as an auditor has it: not as a part of Moot."""
    spec = importlib.util.spec_from_file_location("moot_standalone_copy", FILE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


standalone = load()


def check(data: bytes, trust: dict[str, Any] | None = None) -> Any:
    return standalone.check(io.BytesIO(data), trusting(trust))


def trusting(pins: dict[str, Any] | None) -> Any:
    """The trust that a file of these pins gives, without a file."""
    names = ("origin", "root", "checkpoint", "minimum")
    return standalone.Trust(*(pins[name] for name in names)) if pins else None


def judge(ledger: Ledger, bundle: Bundle | None = None, minimum: int | None = None) -> Any:
    return check((bundle or ledger.bundle()).data(), ledger.trust(minimum))


def bad_line(found: Any) -> tuple[str, int | None]:
    return found.verdict, found.first_bad and found.first_bad["line"]


def last_event_line(ledger: Ledger) -> int:
    """Where the newest event of the newest stream stands in a bundle."""
    return 1 + sum(map(len, ledger.streams.values()))


def last_registry_line(ledger: Ledger) -> int:
    return 1 + len(ledger.streams["registry"])


@pytest.fixture(scope="module")
def story() -> Ledger:
    return forge.story()


@pytest.fixture
def small() -> Ledger:
    return forge.small()


# The file itself.


def test_the_verifier_is_one_file_of_at_most_800_lines() -> None:
    """An auditor reads it in one sitting. It had 500, which left no room for reasons and names."""
    assert len(FILE.read_text(encoding="utf-8").splitlines()) <= 800


def test_the_verifier_imports_only_the_standard_library_and_pynacl() -> None:
    tree = ast.walk(ast.parse(FILE.read_text(encoding="utf-8")))
    modules: set[str] = set()
    for node in tree:
        if isinstance(node, ast.Import):
            modules |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0
            modules.add(node.module or "")
    tops = {module.split(".")[0] for module in modules}
    assert tops <= set(sys.stdlib_module_names) | {"nacl"}


# Honest bundles.


def test_a_ledger_in_which_everything_happened_is_valid(story: Ledger) -> None:
    found = judge(story, minimum=1)
    assert found.verdict == "valid"
    assert (found.first_bad, found.last_trusted) == (None, None)
    at = f"event {len(story.streams['registry']) - 1} of the registry on {forge.AT}"
    assert found.findings == [f'a loss was accepted at {at}: "a test"']
    assert (found.integrity, found.authenticity) == ("ok", "ok")
    assert found.completeness == "4 of 4 streams"
    assert found.freshness == f"checkpoint 1 of {forge.AT}"
    assert found.key_status == "9 keys, 5 valid, 1 revoked"
    assert found.artifacts == "3 held, 1 erased, 0 missing"
    assert found.policy == "not checked"


def test_the_published_vector_is_valid() -> None:
    trust = json.loads((VECTORS / "trust.json").read_text(encoding="utf-8"))
    assert check((VECTORS / "bundle.jsonl").read_bytes(), trust).verdict == "valid"


def test_some_streams_of_a_ledger_are_valid_and_the_verdict_says_how_many(story: Ledger) -> None:
    found = judge(story, story.bundle(["registry", "talk"]))
    assert (found.verdict, found.completeness) == ("valid", "2 of 4 streams")


def test_a_ledger_with_nothing_but_its_creation_is_valid() -> None:
    assert judge(Ledger()).verdict == "valid"


@pytest.mark.parametrize("streams", [*range(1, 18), 33])
def test_every_proof_in_a_tree_of_any_size_leads_to_the_root(streams: int) -> None:
    ledger = Ledger()
    for number in range(1, streams):
        ledger.event(f"errand/n{number}", ledger.root)
    assert judge(ledger).verdict == "valid"


def test_an_artifact_that_is_cited_and_not_there_is_reported_and_the_chain_is_whole(
    story: Ledger,
) -> None:
    found = judge(story, story.bundle(["registry", "errand/milk", "talk"], artifacts=False))
    # The heads of the revocation are among what is missing, and no event here needs them.
    assert (found.verdict, found.artifacts) == ("valid", "0 held, 1 erased, 2 missing")


# Custody.


def test_agents_in_one_key_folder_are_said_not_to_be_kept_apart(story: Ledger) -> None:
    assert judge(story).custody == (
        "3 agents, 1 custodian: which one wrote is recorded, "
        "that they could not impersonate each other is not"
    )


def test_agents_with_a_key_folder_each_are_said_so() -> None:
    ledger = Ledger(clock="fixed")
    for name, box in (("ada", "0a" * 16), ("bob", "0b" * 16)):
        ledger.add(name, key=Signer(name, box))
    found = judge(ledger)
    assert found.custody == "2 agents, 2 custodians; times are from a fixed test clock"


# Section 1: canonical JSON. Each text stands for the value of `x` in the data of an event.

NOT_CANONICAL = {
    "a key twice": b'1,"x":2',
    "a key twice, deeper": b'{"a":1,"a":1}',
    "keys out of order": b'{"b":1,"a":1}',
    "white space": b" 1",
    "white space in an array": b"[1, 2]",
    "a new line": b"[1,\n2]",
    "a float": b"1.5",
    "a float that is whole": b"1.0",
    "an exponent": b"1e2",
    "a negative zero": b"-0",
    "a leading zero": b"01",
    "a plus": b"+1",
    "not a number": b"NaN",
    "infinity": b"Infinity",
    "negative infinity": b"-Infinity",
    "an integer too great": b"9007199254740992",
    "an integer too small": b"-9007199254740992",
    "an integer of 20 digits": b"1" * 20,
    "an integer of 5,000 digits": b"1" * 5000,
    "a float of 5,000 digits": b"1" * 5000 + b".5",
    "nesting one too deep": b"[" * 31 + b"1" + b"]" * 31,
    "nesting one too deep around nothing": b"[" * 31 + b"]" * 31,
    "nesting far too deep": b"[" * 20_000 + b"]" * 20_000,
    "nesting far too deep and never closed": b"[" * 40_000,
    "objects far too deep": b'{"a":' * 5_000 + b"1" + b"}" * 5_000,
    "a lone surrogate": rb'"\ud800"',
    "a lone low surrogate": rb'"\udc00"',
    "a lone surrogate as a key": rb'{"\ud800":1}',
    "a lone surrogate in UTF-8": b'"\xed\xa0\x80"',
    "a surrogate pair as escapes": rb'"\ud83d\ude00"',
    "a byte that is not UTF-8": b'"\xff"',
    "an overlong encoding": b'"\xc0\xaf"',
    "a byte order mark": b"\xef\xbb\xbf1",
    "an escape that is not needed": rb'"\u0041"',
    "an escaped solidus": rb'"\/"',
    "a control character by number that has a letter": rb'"\u000a"',
    "an escape in upper case": rb'"\u001F"',
    "a raw control character": b'"\x1f"',
    "a raw new line in a string": b'"\n"',
    "a key beyond U+D7FF": '{"\ue000":1}'.encode(),
    "an astral key": '{"\U0001f600":1}'.encode(),
    "single quotes": b"'a'",
    "a comment": b"1/**/",
    "a trailing comma": b"[1,]",
    "a word": b"undefined",
    "nothing": b"",
    "an unclosed string": b'"',
    "an unclosed string of escapes": b'"' + rb"\"" * 20_000,
}
CANONICAL = {
    "the greatest integer": b"9007199254740991",
    "the least integer": b"-9007199254740991",
    "zero": b"0",
    "nesting as deep as it goes": b"[" * 30 + b"1" + b"]" * 30,
    "brackets in a string do not nest": b'"' + b"[" * 200 + b'"',
    "braces after an escaped quote do not nest": rb'"\"' + b"{" * 200 + rb'\\"',
    "the short escapes": rb'"\"\\\b\f\n\r\t"',
    "the long escapes": rb'"\u0000\u001f"',
    "delete and line separators stay": '"\x7f\u2028\u2029"'.encode(),
    "an astral character": '"\U0001f600"'.encode(),
    "no normalisation": '"e\u0301 \u00e9"'.encode(),
    "a key below U+D800": '{"\ud7ff":1}'.encode(),
    "keys sorted by code point": '{"":1,"B":1,"a":1,"\u00e9":1}'.encode(),
    "the empty containers": b'[{},[],"",null,true,false]',
}


def with_data(ledger: Ledger, raw: bytes) -> Bundle:
    """The ledger with one more event, signed over exactly these bytes."""
    ada = ledger.current["ada"]
    text = canon(ledger.body("errand/tea", ada, {"x": "HERE"})).replace(b'"HERE"', raw)
    ledger.append("errand/tea", seal(text, ada))
    return ledger.bundle()


@pytest.mark.parametrize("raw", NOT_CANONICAL.values(), ids=NOT_CANONICAL)
def test_a_signed_payload_that_is_not_canonical_is_tampered(small: Ledger, raw: bytes) -> None:
    bundle = with_data(small, raw)
    assert bad_line(judge(small, bundle)) == ("tampered", last_event_line(small))


@pytest.mark.parametrize("raw", CANONICAL.values(), ids=CANONICAL)
def test_a_signed_payload_at_the_edge_of_the_canonical_is_valid(small: Ledger, raw: bytes) -> None:
    bundle = with_data(small, raw)
    assert judge(small, bundle).verdict == "valid"


@pytest.mark.parametrize("raw", NOT_CANONICAL.values(), ids=NOT_CANONICAL)
def test_a_line_that_is_not_canonical_is_tampered(small: Ledger, raw: bytes) -> None:
    bundle = small.bundle(note=False).append(b'{"checkpoint":' + raw + b"}")
    assert bad_line(judge(small, bundle))[0] == "tampered"


VECTOR = json.loads((VECTORS / "canonical.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("vector", VECTOR["canonical"], ids=lambda vector: vector["bytes"][:24])
def test_a_published_canonical_text_is_read_as_its_value(vector: dict[str, Any]) -> None:
    assert standalone.parse_json(bytes.fromhex(vector["bytes"])) == vector["value"]


@pytest.mark.parametrize("text", VECTOR["refused"])
def test_a_published_text_that_must_be_refused_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        standalone.parse_json(text.encode())


def test_the_published_tree_is_the_tree_the_verifier_computes() -> None:
    tree = json.loads((VECTORS / "blocks.json").read_text(encoding="utf-8"))["tree"]
    leaves = [bytes.fromhex(leaf) for leaf in tree["leaves"]]
    for index, (leaf, path) in enumerate(zip(leaves, tree["paths"], strict=True)):
        root = standalone.root_from_path(leaf, index, len(leaves), list(map(bytes.fromhex, path)))
        assert root.hex() == tree["root"]


# Section 2: keys and signatures.

PRIME = 2**255 - 19
ORDER = 2**252 + 27742317777372353535851937790883648493
ONE = (1).to_bytes(32, "little")  # the neutral point
ORDER_8 = bytes.fromhex("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05")
WEAK = {
    "the neutral point": ONE,
    "the point of order two": (PRIME - 1).to_bytes(32, "little"),
    "a point of order four": bytes(32),
    "the other point of order four": bytes(31) + b"\x80",
    "a point of order eight": ORDER_8,
    "another point of order eight": ORDER_8[:31] + bytes([ORDER_8[31] | 0x80]),
    "the neutral point, not canonical": (PRIME + 1).to_bytes(32, "little"),
    "the neutral point, with a sign": ONE[:31] + b"\x80",
    "a point of order four, not canonical": PRIME.to_bytes(32, "little"),
    "a greatest number": b"\xff" * 32,
    "no point of the curve": (2).to_bytes(32, "little"),
}


class Weak(Signer):
    """A key whose public part is weak; under some of these, libraries accept any message."""

    def __init__(self, public: bytes) -> None:
        super().__init__("weak")
        self.public, self.kid = public, sha(public)[:32]

    def sign_bare(self, message: bytes) -> bytes:  # noqa: ARG002
        return ONE + bytes(32)


@pytest.mark.parametrize("public", WEAK.values(), ids=WEAK)
def test_a_weak_key_is_never_added(small: Ledger, public: bytes) -> None:
    small.add("eve", key=Weak(public))
    assert bad_line(judge(small)) == ("tampered", last_registry_line(small))


@pytest.mark.parametrize("public", WEAK.values(), ids=WEAK)
def test_a_weak_checkpoint_key_is_refused(public: bytes) -> None:
    ledger = ledger_with(note_key=Weak(public))
    assert bad_line(judge(ledger)) == ("tampered", 2)


@pytest.mark.parametrize("public", WEAK.values(), ids=WEAK)
def test_a_weak_root_key_is_refused(public: bytes) -> None:
    ledger = ledger_with(root=Weak(public))
    assert bad_line(judge(ledger)) == ("tampered", 2)


def secret_of(label: str) -> bytes:
    """The secret scalar of the signer with this label."""
    seed = hashlib.sha256(f"moot test key {label}".encode()).digest()
    half = bytearray(hashlib.sha512(seed).digest()[:32])
    half[0], half[31] = half[0] & 248, half[31] & 127 | 64
    return bytes(bindings.crypto_core_ed25519_scalar_reduce(bytes(half).ljust(64, b"\0")))


def sign_with(secret: bytes, public: bytes, message: bytes, salt: bytes) -> tuple[bytes, bytes]:
    """The challenge and the signature, with a nonce drawn from the salt: RFC 8032 by hand."""
    nonce = bindings.crypto_core_ed25519_scalar_reduce(hashlib.sha512(salt + message).digest())
    point = bindings.crypto_scalarmult_ed25519_base_noclamp(nonce)
    digest = hashlib.sha512(point + public + message).digest()
    challenge = bindings.crypto_core_ed25519_scalar_reduce(digest)
    product = bindings.crypto_core_ed25519_scalar_mul(challenge, secret)
    return challenge, point + bindings.crypto_core_ed25519_scalar_add(nonce, product)


class Mixed(Signer):
    """A key of mixed order. Under it some libraries accept every signature it makes, others one
    in eight; it makes only those that all accept, so nothing but the key itself is wrong."""

    def __init__(self) -> None:
        super().__init__("mixed")
        self.public = bindings.crypto_core_ed25519_add(self.public, ORDER_8)
        self.kid = sha(self.public)[:32]

    def sign_bare(self, message: bytes) -> bytes:
        salts = (b"%d" % number for number in range(1000))
        made = (sign_with(secret_of(self.label), self.public, message, salt) for salt in salts)
        return next(signature for challenge, signature in made if challenge[0] % 8 == 0)


def test_a_key_of_mixed_order_is_refused_although_its_signatures_hold(small: Ledger) -> None:
    mixed = Mixed()
    assert bindings.crypto_sign_open(mixed.sign_bare(b"x") + b"x", mixed.public) == b"x"
    small.add("eve", key=mixed)
    assert bad_line(judge(small)) == ("tampered", last_registry_line(small))
    assert bad_line(judge(ledger_with(root=mixed))) == ("tampered", 2)
    assert bad_line(judge(ledger_with(note_key=mixed))) == ("tampered", 2)


def ledger_with(
    root: Signer | None = None, note_key: Signer | None = None, origin: str | None = None
) -> Ledger:
    """A new ledger under these keys."""
    ledger = Ledger("other")
    ledger.root, ledger.note_key = root or ledger.root, note_key or ledger.note_key
    ledger.origin = origin or f"moot.ledger/{ledger.root.kid}"
    ledger.names = {ledger.root.kid: ("system", 1)}
    ledger.streams.clear()
    ledger.registry("ledger_created", ledger.creation())
    return ledger


def resigned(ledger: Ledger, change: Callable[[Entry], Entry]) -> Ledger:
    """The ledger with its newest event signed in another way."""
    entries = ledger.streams["errand/tea"]
    entries[-1] = change(entries[-1])
    return ledger


def plus_order(signature: bytes) -> bytes:
    scalar = int.from_bytes(signature[32:], "little") + ORDER
    return signature[:32] + scalar.to_bytes(32, "little")


BAD_SIGNATURES: dict[str, Callable[[Entry], Entry]] = {
    "one bit flipped": lambda e: replace(
        e, signature=bytes([e.signature[0] ^ 1]) + e.signature[1:]
    ),
    "all zero": lambda e: replace(e, signature=bytes(64)),
    "the same number written greater": lambda e: replace(e, signature=plus_order(e.signature)),
    "by another key": lambda e: seal(e.payload, Signer("eve"), keyid=e.keyid),
    "over the bare payload": lambda e: replace(e, signature=e.signer.sign_bare(e.payload)),
    "over another type": lambda e: replace(
        e, signature=e.signer.sign("application/vnd.moot.heartbeat.v1+json", e.payload)
    ),
    "too short": lambda e: replace(e, signature=e.signature[:63]),
    "too long": lambda e: replace(e, signature=e.signature + b"\0"),
    "empty": lambda e: replace(e, signature=b""),
}


@pytest.mark.parametrize("change", BAD_SIGNATURES.values(), ids=BAD_SIGNATURES)
def test_a_signature_that_does_not_hold_is_tampered(
    small: Ledger, change: Callable[[Entry], Entry]
) -> None:
    assert bad_line(judge(resigned(small, change))) == ("tampered", last_event_line(small))


@pytest.mark.parametrize("size", [0, 60, 63, 65, 66, 67])
def test_a_signature_of_the_wrong_length_is_tampered_even_if_the_key_is_unknown(
    small: Ledger, size: int
) -> None:
    small.event("errand/tea", Signer("eve"))
    ledger = resigned(small, lambda entry: replace(entry, signature=b"\x11" * size))
    assert bad_line(judge(ledger)) == ("tampered", last_event_line(ledger))


# Section 3: the fields of an event. Each change alone, in an event that is signed and chained.

HEX64 = "ab" * 32
ACTOR: dict[str, Any] = {"epoch": 1, "id": "ada", "kid": "", "role": None}
CITED = {"media_type": "text/plain", "sha256": HEX64, "size": 1}


def actor(**changes: Any) -> Callable[[Ledger], dict[str, Any]]:
    """The actor field, with the honest kid unless it is changed."""

    def make(ledger: Ledger) -> dict[str, Any]:
        honest = {**ACTOR, "kid": ledger.current["ada"].kid}
        return {"actor": forge.changed(honest, changes)}

    return make


BAD_FIELDS: dict[str, dict[str, Any] | Callable[[Ledger], dict[str, Any]]] = {
    **{f"no {name}": {name: DROP} for name in forge.small().body("talk", Signer("ada"))},
    "a field too many": {"extra": 1},
    "v is another number": {"v": 2},
    "v is true": {"v": True},
    "v is a text": {"v": "1"},
    "origin is another ledger's": {"origin": "moot.ledger/" + "0" * 32},
    "origin is no origin": {"origin": "ledger"},
    "origin is null": {"origin": None},
    "stream is another": {"stream": "errand/milk"},
    "stream is empty": {"stream": ""},
    "stream has a capital protocol": {"stream": "Errand/tea", "type": "Errand.noted"},
    "stream has an empty name": {"stream": "errand/"},
    "stream has a name of 201": {"stream": "errand/" + "x" * 201},
    "stream has two names": {"stream": "errand/tea/cup"},
    "stream is beside the registry": {"stream": "registry/x", "type": "registry.noted"},
    "stream has a protocol of 33": {"stream": "x" * 33, "type": "x" * 33 + ".noted"},
    "stream has a space": {"stream": "errand/tea cup"},
    "stream ends in a new line": {"stream": "errand/tea\n"},
    "stream has a letter beyond ASCII": {"stream": "errand/t\u00e9"},
    "seq is one too great": {"seq": 3},
    "seq is one too small": {"seq": 1},
    "seq is negative": {"seq": -1},
    "seq is true": {"seq": True},
    "seq is a text": {"seq": "2"},
    "seq is null": {"seq": None},
    "prev is another hash": {"prev": HEX64},
    "prev is in upper case": lambda ledger: {
        "prev": ledger.streams["errand/tea"][-1].hash.hex().upper()
    },
    "prev is short": {"prev": "ab"},
    "prev is null": {"prev": None},
    "reg is null": {"reg": None},
    "reg is negative": {"reg": -1},
    "reg is beyond the registry": {"reg": 3},
    "reg decreases": {"reg": 1},
    "reg is true": {"reg": True},
    "reg is a text": {"reg": "2"},
    "key is empty": {"key": ""},
    "key has 301 characters": {"key": "x" * 301},
    "key is a number": {"key": 1},
    "type is another protocol's": {"type": "talk.noted"},
    "type has no name": {"type": "errand."},
    "type has no protocol": {"type": "noted"},
    "type has a capital": {"type": "errand.Noted"},
    "type begins with a digit": {"type": "errand.1st"},
    "type has a dash": {"type": "errand.has-dash"},
    "type has 97 characters": {"type": "errand." + "x" * 90},
    "type ends in a new line": {"type": "errand.noted\n"},
    "type is null": {"type": None},
    "at has no milliseconds": {"at": "2026-01-02T03:04:05Z"},
    "at has microseconds": {"at": "2026-01-02T03:04:05.678901Z"},
    "at has another zone": {"at": "2026-01-02T03:04:05.678+00:00"},
    "at has a space": {"at": "2026-01-02 03:04:05.678Z"},
    "at has other digits": {"at": "\u0662026-01-02T03:04:05.678Z"},
    "at ends in a new line": {"at": "2026-01-02T03:04:05.678Z\n"},
    "at is a number": {"at": 1},
    "at is null": {"at": None},
    "actor is null": {"actor": None},
    "actor is a list": {"actor": []},
    "actor has no epoch": actor(epoch=DROP),
    "actor has no id": actor(id=DROP),
    "actor has no kid": actor(kid=DROP),
    "actor has no role": actor(role=DROP),
    "actor has a field too many": actor(extra=1),
    "actor's epoch is 0": actor(epoch=0),
    "actor's epoch is true": actor(epoch=True),
    "actor's epoch is a text": actor(epoch="1"),
    "actor's id is too short": actor(id="ad"),
    "actor's id is too long": actor(id="a" * 49),
    "actor's id has a capital": actor(id="Ada"),
    "actor's id begins with a dash": actor(id="-ada"),
    "actor's id ends with a dash": actor(id="ada-"),
    "actor's id has two dashes": actor(id="a--da"),
    "actor's id ends in a new line": actor(id="ada\n"),
    "actor's id is null": actor(id=None),
    "actor's kid is another's": lambda ledger: {
        "actor": {**ACTOR, "kid": ledger.current["operator"].kid}
    },
    "actor's kid is in upper case": lambda ledger: {
        "actor": {**ACTOR, "kid": ledger.current["ada"].kid.upper()}
    },
    "actor's role is empty": actor(role=""),
    "actor's role has 65 characters": actor(role="x" * 65),
    "actor's role is a number": actor(role=1),
    "cause is short": {"cause": "ab"},
    "cause is in upper case": {"cause": HEX64.upper()},
    "cause is a number": {"cause": 1},
    "corr is empty": {"corr": ""},
    "corr has 129 characters": {"corr": "x" * 129},
    "corr is a number": {"corr": 1},
    "data is null": {"data": None},
    "data is a list": {"data": []},
    "data is a text": {"data": "{}"},
    "artifacts is null": {"artifacts": None},
    "artifacts is an object": {"artifacts": {}},
    "artifacts holds 257": {"artifacts": [CITED] * 257},
    "an artifact is a text": {"artifacts": [HEX64]},
    "an artifact has no media type": {"artifacts": [{**CITED, "media_type": ""}]},
    "an artifact's media type has 128": {"artifacts": [{**CITED, "media_type": "x" * 128}]},
    "an artifact's media type is null": {"artifacts": [{**CITED, "media_type": None}]},
    "an artifact's hash is in upper case": {"artifacts": [{**CITED, "sha256": HEX64.upper()}]},
    "an artifact's hash is short": {"artifacts": [{**CITED, "sha256": "ab"}]},
    "an artifact's size is negative": {"artifacts": [{**CITED, "size": -1}]},
    "an artifact's size is true": {"artifacts": [{**CITED, "size": True}]},
    "an artifact lacks a field": {"artifacts": [{"sha256": HEX64, "size": 1}]},
    "an artifact has a field too many": {"artifacts": [{**CITED, "name": "x"}]},
}


@pytest.mark.parametrize("changes", BAD_FIELDS.values(), ids=BAD_FIELDS)
def test_an_event_with_a_field_out_of_rule_is_tampered(
    small: Ledger, changes: dict[str, Any] | Callable[[Ledger], dict[str, Any]]
) -> None:
    ada = small.current["ada"]
    small.event("errand/tea", ada, **(changes(small) if callable(changes) else changes))
    assert bad_line(judge(small)) == ("tampered", last_event_line(small))


GOOD_FIELDS: dict[str, dict[str, Any] | Callable[[Ledger], dict[str, Any]]] = {
    "a key of 300 characters": {"key": "\U0001f600" * 300},
    "a key of one character": {"key": "x"},
    "a type of 96 characters": {"type": "errand." + "x" * 89},
    "a type with digits and underscores": {"type": "errand.a1_b2_"},
    "a role of one character": actor(role="x"),
    "a role of 64 characters": actor(role="\n" * 64),
    "a cause that is nowhere": {"cause": HEX64},
    "a corr of one character": {"corr": "x"},
    "a media type of one character": {"artifacts": [{**CITED, "media_type": "x"}]},
    "a corr of 128 characters": {"corr": "x" * 128},
    "256 artifacts": {"artifacts": [CITED] * 256},
    "a media type of 127 characters": {"artifacts": [{**CITED, "media_type": "x" * 127}]},
    "the greatest size": {"artifacts": [{**CITED, "size": 2**53 - 1}]},
    "no size": {"artifacts": [{**CITED, "size": 0}]},
    "a clock that goes backwards": {"at": "0000-00-00T00:00:00.000Z"},
}


@pytest.mark.parametrize("changes", GOOD_FIELDS.values(), ids=GOOD_FIELDS)
def test_an_event_with_a_field_at_the_edge_of_its_rule_is_valid(
    small: Ledger, changes: dict[str, Any] | Callable[[Ledger], dict[str, Any]]
) -> None:
    ada = small.current["ada"]
    small.event("errand/tea", ada, **(changes(small) if callable(changes) else changes))
    assert judge(small).verdict == "valid"


@pytest.mark.parametrize(
    "stream", ["talk", "a", "errand/" + "x" * 200, "errand/A.z_0:@+~-", "x" * 32, "errand/x"]
)
def test_a_stream_name_at_the_edge_of_its_rule_is_valid(small: Ledger, stream: str) -> None:
    small.event(stream, small.current["ada"])
    assert judge(small).verdict == "valid"


BAD_STREAMS = {
    "beside the registry": "registry/x",
    "a protocol of 33": "x" * 33,
    "no protocol": "",
    "a capital protocol": "Errand",
    "a protocol with a digit": "errand2",
    "an empty name": "errand/",
    "a name of 201": "errand/" + "x" * 201,
    "two names": "errand/tea/cup",
    "a space": "errand/tea cup",
    "a new line at the end": "errand/tea\n",
    "a letter beyond ASCII": "errand/t\u00e9",
}


@pytest.mark.parametrize("stream", BAD_STREAMS.values(), ids=BAD_STREAMS)
def test_a_stream_with_a_name_out_of_rule_is_tampered(small: Ledger, stream: str) -> None:
    """Its first event is signed, its genesis is right: nothing but the name is wrong."""
    small.event(stream, small.current["ada"])
    bundle = small.bundle(["registry", "errand/tea", stream], proofs=False, note=False)
    assert bad_line(judge(small, bundle)) == ("tampered", last_event_line(small))


@pytest.mark.parametrize(("size", "verdict"), [(65_536, "valid"), (65_537, "tampered")])
def test_a_payload_has_at_most_65536_bytes(small: Ledger, size: int, verdict: str) -> None:
    ada = small.current["ada"]
    empty = len(canon(small.body("errand/tea", ada, {"x": ""})))
    entry = small.event("errand/tea", ada, {"x": "x" * (size - empty)})
    assert len(entry.payload) == size
    assert judge(small).verdict == verdict


@pytest.mark.parametrize("payload", [b"", b"1", b"[]", b"null", b"{}", b"\xff", b'"' + b"x" * 99])
def test_a_signed_payload_that_is_no_event_is_tampered(small: Ledger, payload: bytes) -> None:
    small.append("errand/tea", seal(payload, small.current["ada"]))
    assert bad_line(judge(small)) == ("tampered", last_event_line(small))


def test_the_hash_of_an_event_covers_its_signature(small: Ledger) -> None:
    """The holder of a key can sign one message in many ways: the next `prev` fixes one."""
    entry = small.streams["errand/tea"][0]
    message = forge.signed_bytes(forge.EVENT, entry.payload)
    secret = secret_of(entry.signer.label)
    _, other = sign_with(secret, entry.signer.public, message, b"another nonce")
    assert bindings.crypto_sign_open(other + message, entry.signer.public) == message
    small.streams["errand/tea"][0] = replace(entry, signature=other)
    line = small.bundle().event("errand/tea", 1)
    assert bad_line(judge(small)) == ("tampered", line)


# Section 4: the registry. Each rule is broken by one event at the end of an honest registry.


class Scene(Ledger):
    """An honest ledger with a key in every state a key can be in."""

    def __init__(self) -> None:
        super().__init__("scene")
        self.operator_before = self.add("operator", "human")
        self.operator = self.rotate("operator", self.operator_before)
        self.auditor = self.add("auditor", "human", self.operator)
        self.former = self.add("former", "human", self.operator)
        self.revoke(self.former)
        self.ada = self.add("ada")
        self.bob = self.add("bob")
        self.revoke(self.bob)
        self.cyd = self.add("cyd")
        self.retire("cyd")
        self.dan_before = self.add("dan")
        self.dan = self.rotate("dan", self.dan_before, step=1)
        self.gus = self.add("gus")
        self.retire("gus")
        self.revoke(self.gus)
        self.fay = self.add("fay")
        self.eve = Signer("eve")  # never registered

    def added(self, **how: Any) -> dict[str, Any]:
        """The data of an honest `key_added` for a new agent."""
        return self.new_key(self.eve, "eve", **how)

    def rotated(self, name: str, by: Signer | None, **how: Any) -> dict[str, Any]:
        """The data of a `key_rotated` of that name to the new key."""
        old = self.current[name]
        how.setdefault("kind", self.classes[name])
        how.setdefault("epoch", self.names[old.kid][1])
        made = self.new_key(self.eve, name, by=by, **how)
        return {**made, "reason": "a test", "replaces": old.kid}

    def claim(self, signer: Signer, **changes: Any) -> dict[str, Any]:
        """The actor that signer is, with changes."""
        name, epoch = self.names[signer.kid]
        return {"epoch": epoch, "id": name, "kid": signer.kid, "role": None, **changes}


def added(**changes: Any) -> Callable[[Scene], Any]:
    return lambda s: s.registry("key_added", forge.changed(s.added(), changes))


def proved(**statement: Any) -> Callable[[Scene], Any]:
    """`key_added` whose proof is over a statement that says something else."""

    def make(s: Scene) -> None:
        told = {**s.statement(s.eve, "eve", "agent", 1), **statement}
        s.registry(
            "key_added", {**s.added(), "proof": s.eve.sign(forge.KEY_PROOF, canon(told)).hex()}
        )

    return make


def rotated(name: str, by: str, **how: Any) -> Callable[[Scene], Any]:
    return lambda s: s.registry("key_rotated", s.rotated(name, getattr(s, by), **how))


def rotated_with(**changes: Any) -> Callable[[Scene], Any]:
    return lambda s: s.registry("key_rotated", forge.changed(s.rotated("ada", s.ada), changes))


def revoked_with(**changes: Any) -> Callable[[Scene], Any]:
    return lambda s: s.revoke(s.ada, **changes)


def named(name: str) -> Callable[[Scene], Any]:
    return lambda s: s.registry("key_added", s.new_key(s.eve, name))


def endorsed(by: str, kind: str = "human", **changes: Any) -> Callable[[Scene], Any]:
    """`key_added` endorsed by that key of the scene, with changes to the endorsement."""

    def make(s: Scene) -> None:
        data = s.added(kind=kind, by=getattr(s, by))
        s.registry("key_added", {**data, "endorsement": {**data["endorsement"], **changes}})

    return make


def broken_signature(data: dict[str, Any], field: str) -> dict[str, Any]:
    value = data[field]
    return {**data, field: value[:-2] + ("00" if value[-2:] != "00" else "01")}


BROKEN_REGISTRY: dict[str, Callable[[Scene], Any]] = {
    # Authors.
    "a type that does not exist": lambda s: s.registry("key_lost", {}),
    "a ledger created twice": lambda s: s.registry("ledger_created", s.creation()),
    "root acts under a role": lambda s: s.registry(
        "key_added", s.added(), actor=s.claim(s.root, role="boss")
    ),
    "root acts under another name": lambda s: s.registry(
        "key_added", s.added(), actor=s.claim(s.root, id="operator")
    ),
    "root acts in another epoch": lambda s: s.registry(
        "key_added", s.added(), actor=s.claim(s.root, epoch=2)
    ),
    "a human adds a key": lambda s: s.registry("key_added", s.added(), s.operator),
    "a human retires an agent": lambda s: s.registry(
        "agent_retired", {"epoch": 1, "name": "ada", "reason": ""}, s.operator
    ),
    "an agent revokes": lambda s: s.revoke(s.dan, s.ada),
    "an agent erases": lambda s: s.erase(b"x", s.ada),
    "a revoked human revokes": lambda s: s.revoke(s.ada, s.former),
    "a human revokes with a key that was replaced": lambda s: s.revoke(s.ada, s.operator_before),
    "a human revokes under another name": lambda s: s.registry(
        "key_revoked",
        {"heads": s.cite(b"{}")["sha256"], "kid": s.ada.kid, "reason": ""},
        s.operator,
        artifacts=[s.cite(b"{}")],
        actor=s.claim(s.operator, id="auditor"),
    ),
    "a human erases in another epoch": lambda s: s.registry(
        "artifact_erased",
        {"reason": "", "sha256": HEX64, "size": 0},
        s.operator,
        actor=s.claim(s.operator, epoch=2),
    ),
    "an unknown key writes": lambda s: s.registry("key_added", s.added(), Signer("who", "aa" * 16)),
    "the checkpoint key writes": lambda s: s.registry("key_added", s.added(), s.note_key),
    # Fields.
    "a new key without a field": added(proof=DROP),
    "a new key with a field too many": added(reason="why"),
    "a new key of no class": added(**{"class": "robot"}),
    "a new key of class checkpoint": added(**{"class": "checkpoint"}),
    "a new key with a custodian in upper case": added(custodian="B0" * 16),
    "a new key with a short custodian": added(custodian="b0"),
    "a new key with an epoch of 0": added(epoch=0),
    "a new key with an epoch of true": added(epoch=True),
    "a new key with a public part in upper case": lambda s: s.registry(
        "key_added", {**s.added(), "public": s.eve.public.hex().upper()}
    ),
    "a new key with a public part that is short": added(public="ab"),
    "a new key with a proof that is short": added(proof="ab"),
    "a new key with an endorsement of false": added(endorsement=False),
    "a new key with an empty endorsement": added(endorsement={}),
    "a rotation without a reason": rotated_with(reason=DROP),
    "a rotation with a reason of null": rotated_with(reason=None),
    "a revocation with a reason of null": revoked_with(reason=None),
    "a revocation with a field too many": revoked_with(extra=1),
    "a revocation of a short kid": revoked_with(kid="ab"),
    "a retirement with a field too many": lambda s: s.retire("ada", extra=1),
    "a retirement with an epoch that is a text": lambda s: s.retire("ada", epoch="1"),
    "an erasure of a negative size": lambda s: s.erase(b"x", size=-1),
    "an erasure without a hash": lambda s: s.erase(b"x", sha256=DROP),
    "an acceptance without what was lost": lambda s: s.accept_history(s.operator, lost=DROP),
    "an acceptance that lost a number": lambda s: s.accept_history(s.operator, lost=1),
    # Statements and proofs.
    "a key that is not held": lambda s: s.registry(
        "key_added", broken_signature(s.added(), "proof")
    ),
    "a proof by another key": lambda s: s.registry(
        "key_added", {**s.added(), "proof": s.new_key(s.ada, "eve")["proof"]}
    ),
    "a proof of another name": proved(name="ada"),
    "a proof of another class": proved(**{"class": "human"}),
    "a proof of another epoch": proved(epoch=2),
    "a proof of another custodian": proved(custodian="00" * 16),
    "a proof for another ledger": proved(origin="moot.ledger/" + "0" * 32),
    "a proof of another key": proved(public="00" * 32),
    "a proof that is an endorsement": lambda s: s.registry(
        "key_added",
        {**s.added(), "proof": s.endorse(s.eve, s.statement(s.eve, "eve", "agent", 1))["sig"]},
    ),
    # key_added.
    "a kid added twice": lambda s: s.registry("key_added", s.new_key(s.ada, "eve")),
    "a kid added after it was replaced": lambda s: s.registry(
        "key_added", s.new_key(s.dan_before, "eve")
    ),
    "a kid added after it was revoked": lambda s: s.registry("key_added", s.new_key(s.bob, "eve")),
    "the root key added as an agent": lambda s: s.registry("key_added", s.new_key(s.root, "eve")),
    "the checkpoint key added as an agent": lambda s: s.registry(
        "key_added", s.new_key(s.note_key, "eve")
    ),
    "a name used": named("ada"),
    "a name used by a human": named("operator"),
    "a name used and retired": named("cyd"),
    "a name used and revoked": named("bob"),
    "the name system": named("system"),
    "the name checkpoint": named("checkpoint"),
    "a name too short": named("ab"),
    "a name with a capital": named("Eve"),
    "a name too long": named("e" * 49),
    "a first epoch of 2": lambda s: s.registry("key_added", s.added(epoch=2)),
    "a second human nobody endorses": lambda s: s.registry("key_added", s.added(kind="human")),
    "a second human endorsed by an agent": endorsed("ada"),
    "a second human endorsed by root": endorsed("root"),
    "a second human endorsed by a revoked human": endorsed("former"),
    "a second human endorsed by a human key that was replaced": endorsed("operator_before"),
    "a second human endorsed by itself": endorsed("eve"),
    "a second human endorsed by the checkpoint key": endorsed("note_key"),
    "a second human endorsed with a broken signature": endorsed("operator", sig="00" * 64),
    "a second human endorsed in another's name": lambda s: endorsed("ada", kid=s.operator.kid)(s),
    "a second human endorsed by nobody": endorsed("operator", kid="00" * 16),
    "an endorsement with a field too many": endorsed("operator", extra=1),
    "an endorsement whose signature is base64": lambda s: endorsed(
        "operator", sig=b64(s.operator.sign(forge.ENDORSEMENT, b""))
    )(s),
    "an endorsement of another statement": lambda s: s.registry(
        "key_added", {**s.added(), "endorsement": s.endorse(s.operator, {"name": "eve"})}
    ),
    "an endorsement that is a proof": lambda s: s.registry(
        "key_added",
        {**s.added(), "endorsement": {"kid": s.eve.kid, "sig": s.added()["proof"]}},
    ),
    "an agent endorsed by a revoked key": endorsed("bob", "agent"),
    "an agent endorsed by a retired key": endorsed("cyd", "agent"),
    "an agent endorsed by a replaced key": endorsed("dan_before", "agent"),
    "an agent endorsed by an unknown key": endorsed("eve", "agent"),
    "an agent endorsed by the checkpoint key": endorsed("note_key", "agent"),
    # key_rotated.
    "a rotation nobody endorses": lambda s: s.registry("key_rotated", s.rotated("ada", None)),
    "a rotation endorsed by another agent": rotated("ada", "dan"),
    "a rotation endorsed by root": rotated("ada", "root"),
    "a rotation endorsed by the new key": rotated("ada", "eve"),
    "a rotation endorsed by a key before": rotated("dan", "dan_before"),
    "a rotation endorsed by a revoked human": rotated("ada", "former"),
    "a rotation endorsed by a human key that was replaced": rotated("ada", "operator_before"),
    "a rotation of a name that is unknown": lambda s: s.registry(
        "key_rotated",
        {**s.new_key(s.eve, "who", by=s.operator), "reason": "", "replaces": s.ada.kid},
    ),
    "a rotation of another's key": lambda s: s.registry(
        "key_rotated", {**s.rotated("ada", s.operator), "replaces": s.fay.kid}
    ),
    "a rotation of a key that was replaced": lambda s: s.registry(
        "key_rotated", {**s.rotated("dan", s.operator), "replaces": s.dan_before.kid}
    ),
    "a rotation of a key that does not exist": lambda s: s.registry(
        "key_rotated", {**s.rotated("ada", s.operator), "replaces": "00" * 16}
    ),
    "a rotation to a kid that is known": lambda s: s.registry(
        "key_rotated",
        {**s.new_key(s.dan_before, "ada", by=s.ada), "reason": "", "replaces": s.ada.kid},
    ),
    "a rotation to another class": rotated("ada", "operator", kind="human"),
    "a human rotated to an agent": rotated("operator", "operator", kind="agent"),
    "a rotation two epochs onward": rotated("ada", "ada", epoch=3),
    "a rotation one epoch back": rotated("dan", "dan", epoch=1),
    "a human rotated by an agent": rotated("operator", "ada"),
    "a retired agent rotated in the same epoch": rotated("cyd", "operator"),
    "a retired agent rotated two epochs onward": rotated("cyd", "operator", epoch=3),
    "a retired agent rotated by another agent": rotated("cyd", "ada", epoch=2),
    "a revoked agent that endorses its successor": rotated("bob", "bob"),
    "a revoked human that endorses its successor": rotated("former", "former"),
    "a retired and revoked agent that endorses its successor": rotated("gus", "gus", epoch=2),
    "a rotation of the root key": lambda s: s.registry(
        "key_rotated",
        {**s.new_key(s.eve, "system", by=s.operator), "reason": "", "replaces": s.root.kid},
    ),
    "a rotation of the checkpoint key": lambda s: s.registry(
        "key_rotated",
        {**s.new_key(s.eve, "checkpoint", by=s.operator), "reason": "", "replaces": s.note_key.kid},
    ),
    # key_revoked.
    "a revocation of an unknown key": lambda s: s.revoke(s.eve),
    "a revocation twice": lambda s: s.revoke(s.bob),
    "a revocation of the root key": lambda s: s.revoke(s.root),
    "a revocation of the checkpoint key": lambda s: s.revoke(s.note_key),
    "a revocation whose heads are no artifact": lambda s: s.registry(
        "key_revoked", {"heads": HEX64, "kid": s.ada.kid, "reason": ""}
    ),
    "a revocation whose heads are another event's artifact": lambda s: s.registry(
        "key_revoked",
        {"heads": s.cite(canon(s.heads()))["sha256"], "kid": s.ada.kid, "reason": ""},
        artifacts=[s.cite(b"something else")],
    ),
    # agent_retired.
    "a retirement of a human": lambda s: s.retire("operator"),
    "a retirement twice": lambda s: s.retire("cyd"),
    "a retirement of nobody": lambda s: s.retire("who"),
    "a retirement of the system": lambda s: s.retire("system"),
    "a retirement in another epoch": lambda s: s.retire("ada", epoch=2),
    "a retirement in an epoch before": lambda s: s.retire("dan", epoch=1),
    # history_accepted.
    "a loss accepted by nobody": lambda s: s.accept_history(),
    "a loss accepted by an agent": lambda s: s.accept_history(s.ada),
    "a loss accepted by root": lambda s: s.accept_history(s.root),
    "a loss accepted by a revoked human": lambda s: s.accept_history(s.former),
    "a loss accepted by a human key that was replaced": lambda s: s.accept_history(
        s.operator_before
    ),
    "a loss accepted for another reason": lambda s: s.accept_history(s.operator, reason="other"),
    "another loss than was accepted": lambda s: s.accept_history(s.operator, lost="other"),
}


@pytest.mark.parametrize("act", BROKEN_REGISTRY.values(), ids=BROKEN_REGISTRY)
def test_an_event_against_a_rule_breaks_the_registry(act: Callable[[Scene], Any]) -> None:
    scene = Scene()
    act(scene)
    assert bad_line(judge(scene)) == ("tampered", last_registry_line(scene))


KEPT_REGISTRY: dict[str, Callable[[Scene], Any]] = {
    "nothing more": lambda _: None,
    "an agent without endorsement": lambda s: s.add("eve"),
    "an agent endorsed by a human": endorsed("operator", "agent"),
    "an agent endorsed by an agent": endorsed("ada", "agent"),
    "an agent endorsed by root": endorsed("root", "agent"),
    "another human endorsed by a human": endorsed("auditor"),
    "an agent rotated by itself": rotated("ada", "ada"),
    "an agent rotated by a human": rotated("ada", "auditor"),
    "an agent rotated to the next epoch": rotated("ada", "ada", epoch=2),
    "a human rotated by itself": rotated("operator", "operator"),
    "a human rotated by another human": rotated("operator", "auditor"),
    "a human rotated to the next epoch": rotated("operator", "operator", epoch=2),
    "a retired agent that comes back by itself": rotated("cyd", "cyd", epoch=2),
    "a retired agent that comes back by a human": rotated("cyd", "operator", epoch=2),
    "a revoked agent that comes back by a human": rotated("bob", "operator"),
    "a revoked human that comes back by a human": rotated("former", "operator"),
    "a retired and revoked agent that comes back by a human": rotated("gus", "auditor", epoch=2),
    "a revocation by a human": lambda s: s.revoke(s.ada, s.operator),
    "a revocation by a human under a role": lambda s: s.registry(
        "key_revoked",
        {"heads": s.cite(b"{}")["sha256"], "kid": s.ada.kid, "reason": ""},
        s.operator,
        artifacts=[s.cite(b"{}")],
        actor=s.claim(s.operator, role="on call"),
    ),
    "a revocation of one's own key": lambda s: s.revoke(s.operator, s.operator),
    "a revocation of a key that was replaced": lambda s: s.revoke(s.dan_before),
    "a revocation of a key that is retired": lambda s: s.revoke(s.cyd),
    "a retirement of an agent whose key is revoked": lambda s: s.retire("bob"),
    "a retirement after a return": lambda s: (
        rotated("cyd", "cyd", epoch=2)(s),
        s.retire("cyd", epoch=2),
    ),
    "an erasure by root": lambda s: s.erase(b"x"),
    "an erasure by a human": lambda s: s.erase(b"x", s.auditor),
    "an erasure of nothing": lambda s: s.erase(b""),
    "an erasure twice": lambda s: (s.erase(b"x"), s.erase(b"x")),
    "a loss accepted by a human": lambda s: s.accept_history(s.auditor),
    "a reason of nothing": lambda s: s.retire("ada", reason=""),
    "a name of 48": lambda s: s.add("e" * 48),
    "a name of digits": lambda s: s.add("0-1-2"),
}


@pytest.mark.parametrize("act", KEPT_REGISTRY.values(), ids=KEPT_REGISTRY)
def test_an_event_within_the_rules_leaves_the_registry_valid(act: Callable[[Scene], Any]) -> None:
    scene = Scene()
    act(scene)
    assert judge(scene).verdict == "valid"


def test_the_first_human_may_be_endorsed_and_need_not() -> None:
    for by in (None, "root"):
        ledger = Ledger()
        ledger.add("operator", "human", getattr(ledger, by) if by else None)
        assert judge(ledger).verdict == "valid"


def test_a_human_is_the_first_only_once_even_if_that_key_is_revoked() -> None:
    ledger = Ledger()
    ledger.revoke(ledger.add("operator", "human"))
    ledger.add("auditor", "human")
    assert bad_line(judge(ledger)) == ("tampered", last_registry_line(ledger))


def test_where_no_human_key_is_valid_a_loss_is_accepted_without_endorsement() -> None:
    ledger = Ledger()
    ledger.accept_history()
    assert judge(ledger).verdict == "valid"
    operator = ledger.add("operator", "human")
    ledger.revoke(operator)
    ledger.accept_history()
    assert judge(ledger).verdict == "valid"
    ledger.accept_history(operator)
    assert bad_line(judge(ledger)) == ("tampered", last_registry_line(ledger))


BROKEN_CREATION: dict[str, Callable[[], Ledger]] = {
    "a checkpoint key that is not held": lambda: Ledger(checkpoint_proof="00" * 64),
    "a proof in upper case": lambda: Ledger(
        checkpoint_proof=Ledger().creation()["checkpoint_proof"].upper()
    ),
    "another checkpoint key": lambda: Ledger(checkpoint=Signer("eve").public.hex()),
    "a clock of another kind": lambda: Ledger(clock="sundial"),
    "a custodian that is not the proof's": lambda: Ledger(custodian="00" * 16),
    "a custodian that is short": lambda: Ledger(custodian="00"),
    "a root that is not the signer": lambda: Ledger(root=Signer("eve").public.hex()),
    "a field too few": lambda: Ledger(custodian=DROP),
    "a field too many": lambda: Ledger(extra=1),
    "one key for both": lambda: ledger_with(note_key=Ledger("other").root),
    "an event 0 of another type": lambda: created_otherwise(type="registry.key_added"),
    "an event 0 outside the registry": lambda: created_in("registry/x"),
    "an origin that is not the root key's": lambda: ledger_with(origin="moot.ledger/" + "0" * 32),
    "an event 0 of another protocol": lambda: created_otherwise(stream="talk", type="talk.noted"),
    "an event 0 with a number of 1": lambda: created_otherwise(seq=1),
    "an event 0 with a reg": lambda: created_otherwise(reg=0),
    "an event 0 under a role": lambda: created_otherwise(
        actor={"epoch": 1, "id": "system", "kid": Ledger("other").root.kid, "role": "x"}
    ),
    "an event 0 by another name": lambda: created_otherwise(
        actor={"epoch": 1, "id": "root", "kid": Ledger("other").root.kid, "role": None}
    ),
    "an event 0 by another key": lambda: created_by(Signer("eve")),
}


def created_otherwise(**changes: Any) -> Ledger:
    ledger = Ledger("other")
    ledger.streams.clear()
    changes.setdefault("type", "registry.ledger_created")
    ledger.event("registry", ledger.root, ledger.creation(), **changes)
    return ledger


def created_in(stream: str) -> Ledger:
    ledger = Ledger("other")
    ledger.streams.clear()
    ledger.event(stream, ledger.root, ledger.creation(), type="registry.ledger_created")
    return ledger


def created_by(signer: Signer) -> Ledger:
    ledger = Ledger("other")
    ledger.streams.clear()
    ledger.registry("ledger_created", ledger.creation(), signer)
    return ledger


@pytest.mark.parametrize("make", BROKEN_CREATION.values(), ids=BROKEN_CREATION)
def test_a_ledger_created_against_a_rule_is_tampered_at_line_2(make: Callable[[], Ledger]) -> None:
    ledger = make()
    assert bad_line(check(ledger.bundle().data(), ledger.trust())) == ("tampered", 2)


# Section 4: who may write. An event that nobody may have written is `unknown-key` at its line.


def write(s: Scene, signer: Signer, **changes: Any) -> None:
    s.event("talk", signer, **changes)


BEFORE_ADA = 5  # the registry position just before ada's key was added
UNATTRIBUTABLE: dict[str, Callable[[Scene], Any]] = {
    "a key nobody registered": lambda s: write(s, s.eve, actor={**ACTOR, "kid": s.eve.kid}),
    "a key not yet registered": lambda s: write(s, s.ada, reg=BEFORE_ADA),
    "a key that was replaced": lambda s: write(s, s.dan_before),
    "a key that was retired": lambda s: write(s, s.cyd),
    "a key that was revoked": lambda s: write(s, s.bob),
    "a human key that was revoked": lambda s: write(s, s.former),
    "a key under another's name": lambda s: write(s, s.ada, actor=s.claim(s.ada, id="dan")),
    "a key under the system's name": lambda s: write(s, s.ada, actor=s.claim(s.ada, id="system")),
    "a key in another epoch": lambda s: write(s, s.ada, actor=s.claim(s.ada, epoch=2)),
    "a key in the epoch before": lambda s: write(s, s.dan, actor=s.claim(s.dan, epoch=1)),
    "the root key under another name": lambda s: write(
        s, s.root, actor=s.claim(s.root, id="operator")
    ),
    "the root key in another epoch": lambda s: write(s, s.root, actor=s.claim(s.root, epoch=2)),
    "the checkpoint key": lambda s: write(
        s, s.note_key, actor={**s.claim(s.root), "id": "checkpoint", "kid": s.note_key.kid}
    ),
    "a revoked key that dates itself back": lambda s: write(s, s.bob, reg=BEFORE_ADA + 2),
}


@pytest.mark.parametrize("act", UNATTRIBUTABLE.values(), ids=UNATTRIBUTABLE)
def test_an_event_by_a_key_that_may_not_write_it_is_unknown_key_at_its_line(
    act: Callable[[Scene], Any],
) -> None:
    scene = Scene()
    scene.event("errand/tea", scene.ada)
    act(scene)
    found = judge(scene)
    line = last_event_line(scene)
    assert bad_line(found) == ("unknown-key", line)
    assert found.first_bad == {"line": line, "stream": "talk", "seq": 0}
    assert found.last_trusted == {"line": line - 1, "stream": "errand/tea", "seq": 0}


def test_the_first_of_several_unknown_keys_is_named() -> None:
    scene = Scene()
    for signer in (scene.ada, scene.eve, scene.ada, scene.cyd):
        scene.event("talk", signer, actor={**ACTOR, "kid": signer.kid})
    found = judge(scene)
    assert bad_line(found) == ("unknown-key", last_event_line(scene) - 2)
    assert found.last_trusted["seq"] == 0


ENDINGS: dict[str, Callable[[Ledger, Signer], Any]] = {
    "replaced": lambda ledger, key: ledger.rotate("ada", key),
    "retired": lambda ledger, _: ledger.retire("ada"),
    "revoked": lambda ledger, key: ledger.revoke(key, heads={"talk": [9, HEX64]}),
}


@pytest.mark.parametrize("end", ENDINGS.values(), ids=ENDINGS)
def test_a_key_is_valid_from_its_own_position_up_to_the_one_before_its_end(
    end: Callable[[Ledger, Signer], Any],
) -> None:
    verdicts = []
    for reg in range(5):
        ledger = Ledger()
        ledger.add("bob")
        ada = ledger.add("ada")  # position 2
        ledger.accept_history()
        end(ledger, ada)  # position 4
        ledger.event("talk", ada, reg=reg)
        verdicts.append(judge(ledger).verdict)
    assert verdicts == ["unknown-key", "unknown-key", "valid", "valid", "unknown-key"]


def test_a_replaced_or_retired_key_keeps_what_it_wrote_before() -> None:
    ledger = Ledger()
    ada, bob = ledger.add("ada"), ledger.add("bob")
    ledger.event("talk", ada)
    ledger.event("talk", bob)
    ledger.rotate("ada", ada)
    ledger.retire("bob")
    assert judge(ledger).verdict == "valid"


# Section 4: the heads of a revocation.


def revoked(heads: Callable[[Ledger], bytes | dict[str, Any]]) -> tuple[Ledger, Signer]:
    """Bob writes talk 0 to 2 and errand/tea 0, and is revoked with those heads."""
    ledger = Ledger()
    bob = ledger.add("bob")
    ledger.event("errand/tea", bob)
    for _ in range(3):
        ledger.event("talk", bob)
    ledger.revoke(bob, heads=heads(ledger))
    return ledger, bob


def test_what_a_revoked_key_wrote_up_to_the_heads_stays_valid() -> None:
    ledger, _ = revoked(lambda ledger: ledger.heads())
    assert judge(ledger).verdict == "valid"


def test_what_a_revoked_key_writes_beyond_the_heads_is_unknown_key() -> None:
    ledger, bob = revoked(lambda ledger: ledger.heads())
    ledger.event("talk", bob, reg=1)
    assert judge(ledger).first_bad == {
        "line": last_event_line(ledger),
        "stream": "talk",
        "seq": 3,
    }


def test_the_heads_bind_only_the_revoked_key() -> None:
    ledger, _ = revoked(lambda ledger: ledger.heads())
    ledger.event("talk", ledger.add("ada"))
    assert judge(ledger).verdict == "valid"


BAD_HEADS: dict[str, Callable[[Ledger], bytes | dict[str, Any]]] = {
    "a stream is not listed": lambda ledger: {
        name: head for name, head in ledger.heads().items() if name != "errand/tea"
    },
    "no stream is listed": lambda _: {},
    "they have white space": lambda ledger: json.dumps(ledger.heads()).encode(),
    "they are not sorted": lambda ledger: canon(ledger.heads()).replace(
        b'{"errand/tea":[0,', b'{"zzz":[0,"' + b"0" * 64 + b'"],"errand/tea":[0,'
    ),
    "a stream is listed twice": lambda ledger: canon(ledger.heads()).replace(
        b'{"errand/tea":[0,', b'{"errand/tea":[0,"' + b"0" * 64 + b'"],"errand/tea":[0,'
    ),
    "a number is a text": lambda ledger: canon(ledger.heads()).replace(b"[0,", b'["0",'),
    "a number is a float": lambda ledger: canon(ledger.heads()).replace(b"[0,", b"[0.0,"),
    "a number is too great": lambda ledger: {**ledger.heads(), "errand/tea": [2**53, "0" * 64]},
    "a hash is short": lambda ledger: {**ledger.heads(), "errand/tea": [0, "ab"]},
    "a hash is in upper case": lambda ledger: {**ledger.heads(), "errand/tea": [0, "AB" * 32]},
    "an entry has three items": lambda ledger: {
        **ledger.heads(), "errand/tea": [0, "0" * 64, 1]
    },
    "a name is no stream": lambda ledger: {**ledger.heads(), "Errand": [0, "0" * 64]},
    "they are followed by something": lambda ledger: canon(ledger.heads()) + b"\n",
    "they are cut off": lambda ledger: canon(ledger.heads())[:-1],
    "they are not JSON": lambda _: b"\xff\x00",
    "they are a list": lambda ledger: canon(list(ledger.heads().items())),
    "they are empty": lambda _: b"",
}  # fmt: skip


@pytest.mark.parametrize("heads", BAD_HEADS.values(), ids=BAD_HEADS)
def test_if_the_heads_do_not_say_so_every_event_of_the_revoked_key_is_beyond_them(
    heads: Callable[[Ledger], bytes | dict[str, Any]],
) -> None:
    ledger, _ = revoked(heads)
    assert bad_line(judge(ledger)) == ("unknown-key", ledger.bundle().event("errand/tea", 0))


def test_if_the_heads_are_not_in_the_bundle_every_event_of_the_revoked_key_is_beyond_them() -> None:
    ledger, _ = revoked(lambda ledger: ledger.heads())
    found = judge(ledger, ledger.bundle(artifacts=False))
    assert bad_line(found) == ("unknown-key", ledger.bundle().event("errand/tea", 0))
    assert found.artifacts == "0 held, 0 erased, 1 missing"


def test_heads_beyond_the_verifiers_limit_count_as_not_at_hand(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ledger, _ = revoked(lambda ledger: ledger.heads())
    monkeypatch.setattr(standalone, "MAX_HEADS_BYTES", max(map(len, ledger.artifacts.values())) - 1)
    assert bad_line(judge(ledger)) == ("unknown-key", ledger.bundle().event("errand/tea", 0))


def test_heads_of_many_streams_that_fill_several_chunks_are_read() -> None:
    def many(ledger: Ledger) -> dict[str, Any]:
        return {**ledger.heads(), **{f"errand/n{n:06}": [n, "0" * 64] for n in range(12_000)}}

    ledger, bob = revoked(many)
    assert max(map(len, ledger.artifacts.values())) > CHUNK
    assert judge(ledger).verdict == "valid"
    ledger.event("talk", bob, reg=1)
    assert bad_line(judge(ledger)) == ("unknown-key", last_event_line(ledger))


# Section 5: the checkpoint.


def test_a_bundle_with_a_proof_for_each_stream_and_a_note_is_valid(small: Ledger) -> None:
    assert judge(small).verdict == "valid"


BAD_NOTES: dict[str, Callable[[Ledger], str]] = {
    "another origin": lambda s: s.note(origin="moot.ledger/" + "0" * 32),
    "another signer": lambda s: s.note(signer="moot.ledger/" + "0" * 32),
    "another key": lambda s: s.note(key=Signer("eve")),
    "the root key": lambda s: s.note(key=s.root),
    "another key with the right tag": lambda s: s.note(key=Signer("eve"), tag=tag(s)),
    "another tag": lambda s: s.note(tag=b"\0\0\0\0"),
    "a tag of three bytes": lambda s: s.note(tag=b"\0\0\0"),
    "another root": lambda s: s.note(root=bytes(32)),
    "a root of 31 bytes": lambda s: s.note(root=bytes(31)),
    "a root whose base64 is not canonical": lambda s: s.note(root=b64(bytes(32))[:-2] + "B="),
    "one stream more": lambda s: s.note(streams=3),
    "one stream fewer": lambda s: s.note(streams=1),
    "no streams": lambda s: s.note(streams=0),
    "streams with a leading zero": lambda s: s.note(streams="02"),
    "streams of many digits": lambda s: s.note(streams="9" * 5000),
    "one event more": lambda s: s.note(events=6),
    "one event fewer": lambda s: s.note(events=4),
    "events with a leading zero": lambda s: s.note(events="05"),
    "a number with a leading zero": lambda s: s.note(number="01"),
    "a number that is negative": lambda s: s.note(number=-1),
    "a number in other digits": lambda s: s.note(number="\u0661"),
    "a number of 17 digits": lambda s: s.note(number="1" * 17),
    "a number of many digits": lambda s: s.note(number="9" * 5000),
    "another form of time": lambda s: s.note(at="2026-01-02"),
    "no newline at the end": lambda s: s.note()[:-1],
    "a newline more": lambda s: s.note() + "\n",
    "a second signature": lambda s: s.note() + s.note().splitlines()[-1] + "\n",
    "no signature": lambda s: s.note().split("\n\n")[0] + "\n\n",
    "another dash": lambda s: s.note().replace("\N{EM DASH}", "-"),
    "carriage returns": lambda s: s.note().replace("\n", "\r\n"),
    "an extension line": lambda s: s.note().replace("\n\n", "\nmore\n\n"),
    "a signature whose base64 is not canonical": lambda s: (
        s.note()[:-3] + chr(ord(s.note()[-3]) + 1) + "=\n"
    ),
    "nothing": lambda _: "",
    "only newlines": lambda _: "\n" * 9,
}


def tag(ledger: Ledger) -> bytes:
    text = ledger.origin.encode() + b"\n\x01" + ledger.note_key.public
    return bytes.fromhex(sha(text))[:4]


@pytest.mark.parametrize("make", BAD_NOTES.values(), ids=BAD_NOTES)
def test_a_checkpoint_that_is_not_the_ledgers_is_tampered(
    small: Ledger, make: Callable[[Ledger], str]
) -> None:
    bundle = small.bundle(note=make(small) or "")
    if not make(small):
        bundle = bundle.append({"checkpoint": ""})
    assert bad_line(judge(small, bundle)) == ("tampered", len(bundle.lines) + 1)


@pytest.mark.parametrize("number", [0, 9_999_999_999_999_999])
def test_a_checkpoint_may_have_any_number_of_up_to_16_digits(small: Ledger, number: int) -> None:
    assert judge(small, small.bundle(note=small.note(number))).verdict == "valid"


def test_a_checkpoint_of_before_leaves_later_events_unproven(small: Ledger) -> None:
    proofs, note = [small.proof(name) for name in small.streams], small.note()
    small.event("errand/tea", small.current["ada"])
    found = judge(small, small.bundle(proofs=proofs, note=note))
    assert bad_line(found) == ("unproven", None)
    assert found.completeness == "unproven"


def test_a_checkpoint_of_before_leaves_a_later_stream_unproven(small: Ledger) -> None:
    proofs, note = [small.proof(name) for name in small.streams], small.note()
    small.event("talk", small.current["ada"])
    assert judge(small, small.bundle(proofs=proofs, note=note)).verdict == "unproven"


def test_without_a_checkpoint_a_bundle_is_unproven(small: Ledger) -> None:
    for proofs in (True, False):
        found = judge(small, small.bundle(proofs=proofs, note=False))
        assert bad_line(found) == ("unproven", None)
        assert found.freshness == "no checkpoint"


def test_a_stream_without_a_proof_is_unproven(small: Ledger) -> None:
    for line in range(2):
        bundle = small.bundle()
        assert judge(small, bundle.drop(bundle.find("proof", line))).verdict == "unproven"


def test_a_bundle_of_some_streams_is_not_measured_by_the_notes_number_of_events(
    small: Ledger,
) -> None:
    small.event("talk", small.current["ada"])
    bundle = small.bundle(["registry", "talk"], note=small.note(events=77))
    assert judge(small, bundle).verdict == "valid"


# Section 5: proofs.

BAD_PROOFS: dict[str, dict[str, Any]] = {
    "a field too few": {"path": DROP},
    "a field too many": {"extra": 1},
    "a hash that is short": {"hash": "ab"},
    "a hash in upper case": {"hash": "AB" * 32},
    "an index that is negative": {"index": -1},
    "an index that is true": {"index": True},
    "a path that is a text": {"path": ""},
    "a path with a number": {"path": [1]},
    "a path in upper case": {"path": ["AB" * 32]},
    "a seq that is negative": {"seq": -1},
    "a stream that is not above": {"stream": "talk"},
    "a stream of a bad name": {"stream": "Talk"},
    "an index that is taken": {"index": 0},
    "another hash": {"hash": HEX64},
    "a hash of the event before": {"seq": 0},
}
BAD_AT_THE_NOTE: dict[str, dict[str, Any]] = {
    "an index beyond the tree": {"index": 2},
    "an index far beyond the tree": {"index": 2**53 - 1},
    "a path that is empty": {"path": []},
    "a path that is too long": {"path": [HEX64, HEX64]},
    "a path of a thousand": {"path": [HEX64] * 1000},
    "another path": {"path": [HEX64]},
}


@pytest.mark.parametrize("changes", BAD_PROOFS.values(), ids=BAD_PROOFS)
def test_a_proof_that_does_not_fit_the_events_is_tampered_at_its_line(
    small: Ledger, changes: dict[str, Any]
) -> None:
    bundle = small.bundle()
    line = bundle.find("proof", 1)
    found = judge(small, bundle.change(line, **changes))
    assert bad_line(found) == ("tampered", line)
    assert found.last_trusted == {"line": last_event_line(small), "stream": "errand/tea", "seq": 1}


@pytest.mark.parametrize("changes", BAD_AT_THE_NOTE.values(), ids=BAD_AT_THE_NOTE)
def test_a_proof_that_does_not_lead_to_the_root_is_tampered_at_the_checkpoint(
    small: Ledger, changes: dict[str, Any]
) -> None:
    bundle = small.bundle()
    changed = bundle.change(bundle.find("proof", 1), **changes)
    assert bad_line(judge(small, changed)) == ("tampered", bundle.find("checkpoint"))


def test_proofs_are_in_ascending_order_and_one_a_stream(small: Ledger) -> None:
    bundle = small.bundle()
    first, second = bundle.find("proof"), bundle.find("proof", 1)
    assert bad_line(judge(small, bundle.swap(first, second))) == ("tampered", second)
    assert bad_line(judge(small, bundle.duplicate(first))) == ("tampered", first + 1)
    again = bundle.insert(second + 1, {"proof": small.proof("registry", index=9)})
    assert bad_line(judge(small, again)) == ("tampered", second + 1)


def test_a_proof_of_an_older_event_must_have_its_hash(small: Ledger) -> None:
    """The second reading finds what the first could not know."""
    proofs, note = [small.proof(name) for name in small.streams], small.note()
    for _ in range(3):
        small.event("errand/tea", small.current["ada"])
    assert judge(small, small.bundle(proofs=proofs, note=note)).verdict == "unproven"
    proofs[1]["hash"] = HEX64
    bundle = small.bundle(proofs=proofs, note=note)
    found = judge(small, bundle)
    assert bad_line(found) == ("tampered", bundle.find("proof", 1))
    assert found.last_trusted == {"line": last_event_line(small), "stream": "errand/tea", "seq": 4}


def test_a_proof_beyond_the_end_of_its_stream_means_the_stream_was_cut(small: Ledger) -> None:
    whole = small.bundle()
    line = whole.event("errand/tea", 1)
    found = judge(small, whole.drop(line))
    assert bad_line(found) == ("truncated", whole.find("proof", 1) - 1)
    assert (found.completeness, found.last_trusted) == ("truncated", None)


def test_the_number_of_events_is_not_measured_where_a_stream_was_cut(small: Ledger) -> None:
    whole = small.bundle(note=small.note(events=77))
    assert judge(small, whole).verdict == "tampered"
    cut = whole.drop(whole.event("errand/tea", 1))
    assert judge(small, cut).verdict == "truncated"


def test_a_stream_deleted_with_its_proof_shows_in_the_completeness(small: Ledger) -> None:
    found = judge(small, small.bundle(["registry"]))
    assert (found.verdict, found.completeness) == ("valid", "1 of 2 streams")


def test_a_stream_deleted_without_its_proof_is_tampered(small: Ledger) -> None:
    small.event("talk", small.current["ada"])
    bundle = small.bundle()
    gone = bundle.drop(bundle.event("talk", 0))
    assert bad_line(judge(small, gone)) == ("tampered", bundle.find("proof", 2) - 1)


# Section 6: the header and the lines.

BAD_HEADERS: dict[str, dict[str, Any]] = {
    "a field too few": {"digest": DROP},
    "a field too many": {"extra": 1},
    "a digest in upper case": {"digest": "AB" * 32},
    "a digest that is short": {"digest": "ab"},
    "another digest": {"digest": HEX64},
    "another format": {"format": "moot-bundle/2"},
    "lines that are negative": {"lines": -1},
    "lines that are a text": {"lines": "10"},
    "lines that are true": {"lines": True},
    "fewer lines than there are": {"lines": 1},
    "no lines": {"lines": 0},
    "an origin of another kind": {"origin": "ledger"},
}


@pytest.mark.parametrize("changes", BAD_HEADERS.values(), ids=BAD_HEADERS)
def test_a_header_that_does_not_hold_is_tampered_at_line_1(
    small: Ledger, changes: dict[str, Any]
) -> None:
    found = check(small.bundle().data(**changes), small.trust())
    assert bad_line(found) == ("tampered", 1)
    assert (found.last_trusted, found.integrity) == (None, "tampered")


def test_the_header_of_another_ledger_makes_the_first_event_tampered(small: Ledger) -> None:
    data = small.bundle().data(origin="moot.ledger/" + "0" * 32)
    assert bad_line(check(data, small.trust())) == ("tampered", 2)


def test_a_header_that_counts_more_lines_means_the_bundle_was_cut(small: Ledger) -> None:
    bundle = small.bundle()
    found = check(bundle.data(lines=len(bundle.lines) + 1), small.trust())
    assert bad_line(found) == ("truncated", None)


def test_a_bundle_cut_at_any_line_is_never_valid(small: Ledger) -> None:
    lines = small.bundle().data().splitlines(keepends=True)
    verdicts = [check(b"".join(lines[:n]), small.trust()).verdict for n in range(len(lines))]
    assert verdicts[0] == "tampered"
    assert verdicts[1] == "unknown-key"
    assert set(verdicts[2:]) == {"truncated"}


def test_a_header_alone_has_no_root_and_is_unknown_key_at_line_2(small: Ledger) -> None:
    """Also if the header itself says that nothing follows."""
    alone = Bundle(small.origin, [])
    assert bad_line(judge(small, alone)) == ("unknown-key", 2)


def test_a_bundle_cut_within_a_line_is_tampered_at_that_line(small: Ledger) -> None:
    data = small.bundle().data()
    cut = data[:-1]
    assert bad_line(check(cut, small.trust())) == ("tampered", data.count(b"\n"))


@pytest.mark.parametrize("end", [b" ", b"\r", b"\0", b"}"])
def test_a_line_that_ends_in_anything_but_a_newline_is_tampered(small: Ledger, end: bytes) -> None:
    header, _, body = small.bundle().data().partition(b"\n")
    body = body[:-1] + end
    data = canon({**json.loads(header), "digest": sha(body)}) + b"\n" + body
    assert bad_line(check(data, small.trust())) == ("tampered", data.count(b"\n") + 1)


def test_a_file_of_nothing_is_tampered_at_line_1() -> None:
    assert bad_line(check(b"")) == ("tampered", 1)


@pytest.mark.parametrize(
    "line", [b"", b"{}", b"[]", b"null", b"1", b'"x"', b"\xff", b'{"other":1}', b'{"chunk":1}']
)
def test_a_line_of_no_kind_is_tampered(small: Ledger, line: bytes) -> None:
    for number in (2, 4, 8, 11):
        bundle = small.bundle().insert(number, line)
        assert bad_line(judge(small, bundle)) == ("tampered", number)


def test_a_line_may_have_2_mib_with_its_newline_and_no_byte_more(small: Ledger) -> None:
    limit = 2 * 1024 * 1024
    bare = len(canon({"chunk": ""})) + 1
    for extra in (0, 1):
        line = canon({"chunk": "A" * (limit - bare + extra)})
        assert len(line) + 1 == limit + extra
        found = judge(small, small.bundle().insert(2, line))
        assert bad_line(found) == ("tampered", 2)
        assert ("too long" in found.findings[0]) is bool(extra)


def test_a_file_that_is_one_endless_line_is_refused_after_2_mib() -> None:
    class Endless(io.RawIOBase):
        given = 0

        def readable(self) -> bool:
            return True

        def seekable(self) -> bool:
            return True

        def seek(self, *_: int) -> int:
            return 0

        def readinto(self, buffer: Any) -> int:
            self.given += len(buffer)
            assert self.given < 2**23
            buffer[:] = b"[" * len(buffer)
            return len(buffer)

    found = standalone.check(io.BufferedReader(Endless()), None)
    assert bad_line(found) == ("tampered", 1)
    assert found.findings == ["tampered: step 1: the line is too long, or cut off"]


BAD_ENVELOPES: dict[str, dict[str, Any]] = {
    "a field too many": {"extra": 1},
    "another payload type": {"payloadType": "application/json"},
    "a payload type with a wildcard": {"payloadType": forge.EVENT.replace(".", "x")},
    "a payload that is null": {"payload": None},
    "a payload that is not base64": {"payload": "*"},
    "a payload in the other base64": {"payload": "_-_-"},
    "a payload with a newline": {"payload": "e30=\n"},
    "a payload without padding": {"payload": "e30"},
    "a payload whose last bits are not zero": {"payload": "e31="},
    "a payload beyond ASCII": {"payload": "é"},
    "a payload of 2 MiB": {"payload": "A" * 2_000_000},
    "no signatures": {"signatures": []},
    "signatures of null": {"signatures": None},
    "a signature of null": {"signatures": [None]},
    "a signature without a kid": {"signatures": [{"sig": "A" * 86 + "=="}]},
    "a signature that is a number": {"signatures": [{"keyid": "0" * 32, "sig": 1}]},
    "a kid in upper case": {"signatures": [{"keyid": "A" * 32, "sig": "A" * 86 + "=="}]},
    "a kid that is short": {"signatures": [{"keyid": "a", "sig": "A" * 86 + "=="}]},
}


@pytest.mark.parametrize("changes", BAD_ENVELOPES.values(), ids=BAD_ENVELOPES)
def test_an_envelope_that_is_not_as_it_must_be_is_tampered(
    small: Ledger, changes: dict[str, Any]
) -> None:
    bundle = small.bundle()
    for line in (2, 4, bundle.event("errand/tea", 1)):
        assert bad_line(judge(small, bundle.change(line, **changes))) == ("tampered", line)


def test_an_envelope_with_two_signatures_is_tampered(small: Ledger) -> None:
    bundle = small.bundle()
    line = bundle.event("errand/tea", 1)
    twice = small.streams["errand/tea"][1].envelope["signatures"] * 2
    assert bad_line(judge(small, bundle.change(line, signatures=twice))) == ("tampered", line)


def test_the_base64_of_a_signature_is_canonical(small: Ledger) -> None:
    bundle = small.bundle()
    line = bundle.event("errand/tea", 1)
    entry = small.streams["errand/tea"][1]
    good = b64(entry.signature)
    loose = good[:-3] + chr(ord(good[-3]) + 1) + "=="  # the same bytes, other spare bits
    signatures = [{"keyid": entry.keyid, "sig": loose}]
    assert bad_line(judge(small, bundle.change(line, signatures=signatures))) == ("tampered", line)


def test_lines_are_in_the_order_of_their_kinds(small: Ledger) -> None:
    fork = small_fork(small)
    bundle = small.bundle(forks=[fork])
    kinds = ["event", "fork", "artifact", "proof", "checkpoint"]
    for earlier, kind in enumerate(kinds):
        for later in kinds[earlier + 1 :]:
            line = bundle.find(kind)
            moved = bundle.lines[line - 2]
            after = bundle.find(later, -1) if later != "artifact" else bundle.find("chunk", -1)
            # Behind the later kind: there it is out of order, wherever it came from.
            found = judge(small, bundle.insert(after + 1, moved))
            assert bad_line(found) == ("tampered", after + 1), (kind, later)


def test_a_second_header_is_tampered(small: Ledger) -> None:
    header = small.bundle().data().splitlines()[0]
    for line in (2, 5, len(small.bundle().lines) + 2):
        assert bad_line(judge(small, small.bundle().insert(line, header))) == ("tampered", line)


def test_a_second_checkpoint_is_tampered(small: Ledger) -> None:
    line = small.bundle().find("checkpoint")
    assert bad_line(judge(small, small.bundle().duplicate(line))) == ("tampered", line + 1)


def test_a_bundle_that_begins_with_anything_but_the_registry_is_tampered(small: Ledger) -> None:
    bundle = small.bundle()
    for kind in ("artifact", "chunk", "proof", "checkpoint"):
        only = Bundle(small.origin, [bundle.lines[bundle.find(kind) - 2]])
        assert bad_line(judge(small, only)) == ("tampered", 2)
    other = Bundle(small.origin, bundle.lines[bundle.event("errand/tea", 0) - 2 :])
    assert bad_line(judge(small, other)) == ("tampered", 2)
    fork = Bundle(small.origin, [canon({"fork": small.streams["registry"][0].envelope})])
    assert bad_line(judge(small, fork)) == ("tampered", 2)


# Section 7, step 4: the chain.


def test_an_event_dropped_from_a_stream_is_named_by_the_one_that_follows(story: Ledger) -> None:
    bundle = story.bundle()
    for stream, entries in story.streams.items():
        for seq in range(len(entries) - 1):
            line = bundle.event(stream, seq)
            found = judge(story, bundle.drop(line))
            assert bad_line(found) == ("tampered", line), (stream, seq)
            trusted = found.last_trusted["line"] if found.last_trusted else 1
            assert trusted == line - 1


def test_an_event_repeated_is_tampered(story: Ledger) -> None:
    bundle = story.bundle()
    for stream in story.streams:
        line = bundle.event(stream, 0)
        assert bad_line(judge(story, bundle.duplicate(line))) == ("tampered", line + 1)


def test_two_events_swapped_are_tampered_at_the_first(story: Ledger) -> None:
    bundle = story.bundle()
    line = bundle.event("errand/tea", 1)
    assert bad_line(judge(story, bundle.swap(line, line + 1))) == ("tampered", line)


def test_an_event_of_another_stream_of_the_same_author_fits_nowhere_else(story: Ledger) -> None:
    bundle = story.bundle()
    moved = bundle.lines[bundle.event("talk", 0) - 2]
    line = bundle.event("errand/tea", 0)
    assert bad_line(judge(story, bundle.replace(line, moved)))[0] == "tampered"


def test_an_event_of_another_ledger_fits_nowhere_here(small: Ledger) -> None:
    other = forge.story()
    moved = other.streams["talk"][0].envelope
    found = judge(small, small.bundle().insert(last_event_line(small) + 1, moved))
    assert bad_line(found) == ("tampered", last_event_line(small) + 1)


def test_a_stream_stands_in_one_piece(small: Ledger) -> None:
    small.event("talk", small.current["ada"])
    tea = small.event("errand/tea", small.current["ada"])
    bundle = small.bundle()
    apart = bundle.drop(bundle.event("errand/tea", 2))
    apart = apart.insert(apart.event("talk", 0) + 1, tea.envelope)
    assert bad_line(judge(small, apart)) == ("tampered", last_event_line(small))


def test_the_registry_comes_first_and_in_one_piece(small: Ledger) -> None:
    late = small.registry("artifact_erased", {"reason": "", "sha256": HEX64, "size": 0})
    bundle = small.bundle()
    apart = bundle.drop(bundle.event("registry", 3))
    apart = apart.insert(apart.event("errand/tea", 1) + 1, late.envelope)
    assert bad_line(judge(small, apart)) == ("tampered", last_event_line(small))


def test_streams_after_the_registry_may_stand_in_any_order(story: Ledger) -> None:
    bundle = story.bundle()
    first, last = bundle.event("errand/tea", 0), bundle.event("talk", 0)
    count = len(story.streams["errand/tea"])
    moved = bundle
    for _ in range(count):
        raw = moved.lines[first - 2]
        moved = moved.drop(first).insert(last - 1 + len(story.streams["talk"]), raw)
    assert moved.lines != bundle.lines
    assert judge(story, moved).verdict == "valid"


@pytest.mark.parametrize("reg", [None, -1, 0, 2, "1", True])
def test_in_the_registry_reg_is_the_number_of_the_event_before(reg: Any) -> None:
    ledger = Ledger()
    ledger.add("ada")
    ledger.registry("key_added", ledger.new_key(Signer("bob"), "bob"), reg=reg)
    assert bad_line(judge(ledger)) == ("tampered", 4)


def test_a_stream_rewritten_by_the_holder_of_one_key_is_tampered_where_others_signed(
    story: Ledger,
) -> None:
    ledger = forge.story()
    ada = ledger.streams["errand/tea"][0].signer
    ledger.rechain("errand/tea", 0, lambda body: {**body, "data": {"kettle": "stolen"}}, ada)
    bundle = ledger.bundle(proofs=[story.proof(name) for name in story.streams], note=story.note())
    assert bad_line(judge(ledger, bundle)) == ("tampered", bundle.event("errand/tea", 1))


def test_a_stream_rewritten_by_all_its_authors_is_caught_by_the_checkpoint(story: Ledger) -> None:
    ledger = forge.story()
    ledger.rechain("errand/milk", 0, lambda body: {**body, "data": {"litres": 9}})
    bundle = ledger.bundle(proofs=[story.proof(name) for name in story.streams], note=story.note())
    number = list(ledger.streams).index("errand/milk")
    assert bad_line(judge(ledger, bundle)) == ("tampered", bundle.find("proof", number))


# Section 7, step 6: artifacts.


def test_an_artifact_nobody_cites_is_tampered(small: Ledger) -> None:
    bundle = small.bundle()
    line = bundle.find("artifact")
    other = {"artifact": {"sha256": sha(b"x"), "size": 1}}
    assert bad_line(judge(small, bundle.insert(line, other))) == ("tampered", line)


def test_an_artifact_of_another_size_than_cited_is_tampered(small: Ledger) -> None:
    bundle = small.bundle()
    line = bundle.find("artifact")
    for size in (9, 11, 0):
        assert bad_line(judge(small, bundle.change(line, size=size))) == ("tampered", line)


def test_other_bytes_than_cited_are_tampered_at_their_last_chunk(story: Ledger) -> None:
    bundle = story.bundle()
    number = next(n for n, raw in enumerate(bundle.lines, 2) if b'"size":793600' in raw)
    other = b"\1" + BIG[1:CHUNK]
    changed = bundle.replace(number + 1, {"chunk": b64(other)})
    assert bad_line(judge(story, changed)) == ("tampered", number + 2)


def test_chunks_are_full_but_for_the_last(story: Ledger) -> None:
    bundle = story.bundle()
    number = next(n for n, raw in enumerate(bundle.lines, 2) if b'"size":793600' in raw)
    short = bundle.replace(number + 1, {"chunk": b64(BIG[: CHUNK - 1])})
    assert bad_line(judge(story, short)) == ("tampered", number + 1)
    long = bundle.replace(number + 1, {"chunk": b64(BIG[: CHUNK + 1])})
    assert bad_line(judge(story, long)) == ("tampered", number + 1)
    more = bundle.insert(number + 3, {"chunk": b64(b"x")})
    assert bad_line(judge(story, more)) == ("tampered", number + 3)
    empty = bundle.insert(number + 3, {"chunk": ""})
    assert bad_line(judge(story, empty)) == ("tampered", number + 3)
    fewer = bundle.drop(number + 2)
    assert bad_line(judge(story, fewer)) == ("tampered", number + 2)
    beyond = bundle.replace(number + 2, {"chunk": b64(BIG[CHUNK:] + b"x")})
    assert bad_line(judge(story, beyond)) == ("tampered", number + 2)


@pytest.mark.parametrize("size", [1, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK])
def test_an_artifact_of_any_size_is_held(small: Ledger, size: int) -> None:
    cited = small.cite(b"\x5a" * size)
    small.event("errand/tea", small.current["ada"], artifacts=[cited])
    found = judge(small)
    assert (found.verdict, found.artifacts) == ("valid", "2 held, 0 erased, 0 missing")


def test_an_empty_artifact_has_no_chunk(small: Ledger) -> None:
    small.event("errand/tea", small.current["ada"], artifacts=[small.cite(b"")])
    bundle = small.bundle()
    line = bundle.find("artifact", 1)
    assert judge(small, bundle).verdict == "valid"
    assert bad_line(judge(small, bundle.insert(line + 1, {"chunk": ""}))) == ("tampered", line + 1)


def test_an_empty_artifact_under_another_hash_is_tampered(small: Ledger) -> None:
    lie = {"media_type": "x", "sha256": "00" * 32, "size": 0}
    small.event("errand/tea", small.current["ada"], artifacts=[lie])
    bundle = small.bundle()
    line = bundle.find("artifact")
    with_lie = bundle.insert(line, {"artifact": {"sha256": "00" * 32, "size": 0}})
    assert bad_line(judge(small, with_lie)) == ("tampered", line)


def test_artifacts_are_in_ascending_order_and_each_is_there_once(small: Ledger) -> None:
    small.event("errand/tea", small.current["ada"], artifacts=[small.cite(b"")])
    bundle = small.bundle()
    first, second = bundle.find("artifact"), bundle.find("artifact", 1)
    assert second == first + 2
    moved = bundle.insert(first, bundle.lines[second - 2]).drop(second + 1)
    assert bad_line(judge(small, moved)) == ("tampered", first + 1)
    assert bad_line(judge(small, bundle.duplicate(second))) == ("tampered", second + 1)


def test_a_bundle_that_ends_inside_an_artifact_is_tampered(small: Ledger) -> None:
    bundle = small.bundle()
    line = bundle.find("artifact")
    assert bad_line(judge(small, bundle.cut(line))) == ("tampered", line)


def test_an_artifact_that_only_a_fork_cites_may_be_in_the_bundle(small: Ledger) -> None:
    cited = small.cite(b"only in the fork")
    body = {**small.streams["errand/tea"][1].body, "artifacts": [cited]}
    fork = seal(canon(body), small.current["ada"])
    bundle = small.bundle(forks=[fork])
    first = bundle.find("artifact")
    lines = sorted(
        (forge.artifact_lines(b"tea leaves"), forge.artifact_lines(b"only in the fork")),
        key=lambda item: str(item[0]),
    )
    bundle = bundle.drop(first).drop(first)
    for number, line in enumerate([line for item in lines for line in item]):
        bundle = bundle.insert(first + number, line)
    found = judge(small, bundle)
    assert (found.verdict, found.artifacts) == ("forked", "2 held, 0 erased, 0 missing")


def test_what_was_erased_is_told_from_what_is_missing(story: Ledger) -> None:
    bundle = story.bundle()
    number = next(n for n, raw in enumerate(bundle.lines, 2) if b'"size":0}' in raw)
    found = judge(story, bundle.drop(number))
    assert (found.verdict, found.artifacts) == ("valid", "2 held, 1 erased, 1 missing")


# Section 7: forks.


def small_fork(ledger: Ledger, seq: int = 1, /, **changes: Any) -> Entry:
    """A second event for a position of errand/tea that is taken."""
    body = {**ledger.streams["errand/tea"][seq].body, "data": {"kettle": "both"}, **changes}
    return seal(canon(body), ledger.current["ada"])


@pytest.mark.parametrize("seq", [0, 1])
def test_two_events_signed_for_one_position_are_a_fork(small: Ledger, seq: int) -> None:
    bundle = small.bundle(forks=[small_fork(small, seq)])
    found = judge(small, bundle)
    assert found.verdict == "forked"
    assert found.first_bad == {"line": bundle.find("fork"), "stream": "errand/tea", "seq": seq}
    assert (found.last_trusted, found.authenticity) == (None, "forked")


def test_a_fork_of_the_registry_is_a_fork(small: Ledger) -> None:
    body = {**small.streams["registry"][2].body, "at": "2027-01-01T00:00:00.000Z"}
    assert judge(small, small.bundle(forks=[seal(canon(body), small.root)])).verdict == "forked"


def test_the_first_of_several_forks_is_named(small: Ledger) -> None:
    forks = [small_fork(small, 1), small_fork(small, 0), small_fork(small, 1, corr="other")]
    bundle = small.bundle(forks=forks)
    assert bad_line(judge(small, bundle)) == ("forked", bundle.find("fork"))


BAD_FORKS: dict[str, Callable[[Ledger], Entry]] = {
    "the event itself": lambda s: s.streams["errand/tea"][1],
    "an older event itself": lambda s: s.streams["errand/tea"][0],
    "an event of the registry itself": lambda s: s.streams["registry"][1],
    "a position that is not there": lambda s: small_fork(s, 1, seq=2),
    "a stream that is not there": lambda s: small_fork(s, stream="errand/milk"),
    "an unknown key": lambda s: seal(
        canon({**small_fork(s).body, "actor": {**ACTOR, "kid": Signer("eve").kid}}), Signer("eve")
    ),
    "a broken signature": lambda s: replace(small_fork(s), signature=bytes(64)),
    "another ledger": lambda s: small_fork(s, origin="moot.ledger/" + "0" * 32),
    "a field out of rule": lambda s: small_fork(s, v=2),
    "a payload that is not canonical": lambda s: seal(
        small_fork(s).payload + b" ", s.current["ada"]
    ),
}


@pytest.mark.parametrize("make", BAD_FORKS.values(), ids=BAD_FORKS)
def test_a_fork_line_that_is_no_fork_is_tampered(
    small: Ledger, make: Callable[[Ledger], Entry]
) -> None:
    bundle = small.bundle(forks=[make(small)])
    found = judge(small, bundle)
    assert bad_line(found) == ("tampered", bundle.find("fork"))
    assert found.last_trusted["line"] == last_event_line(small)


def test_of_two_fork_lines_that_are_none_the_first_is_named(small: Ledger) -> None:
    """The older position is answered by the second reading, and still comes first."""
    older, newest = small.streams["errand/tea"]
    bundle = small.bundle(forks=[older, newest])
    assert bad_line(judge(small, bundle)) == ("tampered", bundle.find("fork"))


# Section 7: trust, age, and which verdict comes first.


@pytest.mark.parametrize("pin", ["checkpoint", "origin", "root"])
def test_a_bundle_of_another_root_than_the_trusted_is_unknown_key_at_line_2(
    small: Ledger, pin: str
) -> None:
    trust = small.trust(**{pin: Ledger("another").trust()[pin]})
    found = check(small.bundle().data(), trust)
    assert found.verdict == "unknown-key"
    assert found.first_bad == {"line": 2, "stream": "registry", "seq": 0}
    assert found.last_trusted is None


def test_without_a_trust_file_a_bundle_is_unknown_key_at_line_2(small: Ledger) -> None:
    assert bad_line(check(small.bundle().data())) == ("unknown-key", 2)


def test_a_whole_ledger_of_the_forgers_own_is_unknown_key(small: Ledger) -> None:
    own = Ledger("forged")
    own.add("ada")
    assert bad_line(check(own.bundle().data(), small.trust())) == ("unknown-key", 2)


def test_an_unknown_root_comes_before_an_unknown_author() -> None:
    scene = Scene()
    scene.event("talk", scene.cyd)
    assert bad_line(check(scene.bundle().data())) == ("unknown-key", 2)


@pytest.mark.parametrize(("number", "verdict"), [(4, "rolled-back"), (5, "valid"), (6, "valid")])
def test_a_checkpoint_below_the_minimum_is_rolled_back(
    small: Ledger, number: int, verdict: str
) -> None:
    found = judge(small, small.bundle(note=small.note(number)), minimum=5)
    assert bad_line(found) == (verdict, None)


def test_a_minimum_without_a_checkpoint_is_rolled_back(small: Ledger) -> None:
    for minimum in (0, 1):
        found = judge(small, small.bundle(note=False), minimum=minimum)
        assert bad_line(found) == ("rolled-back", None)
        assert found.freshness == "rolled-back"


def test_the_worst_verdict_is_the_verdict(small: Ledger) -> None:
    """Flaws are added one by one, the mildest first; each worse one takes over."""
    small.event("errand/tea", small.current["ada"])
    cut = small.bundle(note=False)
    assert judge(small, cut).verdict == "unproven"
    assert judge(small, cut, minimum=1).verdict == "rolled-back"
    data = cut.data(lines=len(cut.lines) + 1)
    assert check(data, small.trust(1)).verdict == "truncated"
    assert check(data).verdict == "unknown-key"
    forked = small.bundle(note=False, forks=[small_fork(small)])
    assert check(forked.data(lines=99)).verdict == "forked"
    assert check(forked.data(lines=99)[:-1]).verdict == "tampered"


FLAWS: dict[str, tuple[int, Callable[[Ledger], Bundle]]] = {
    "white space": (1, lambda s: s.bundle().insert(4, b"{ }")),
    "a signature": (2, lambda s: resigned(s, BAD_SIGNATURES["all zero"]).bundle()),
    "a field": (3, lambda s: appended(s, v=2)),
    "a link": (4, lambda s: appended(s, prev=HEX64)),
    "a rule of the registry": (5, lambda s: (s.retire("who"), s.bundle())[1]),
    "a citation": (6, lambda s: s.bundle().change(s.bundle().find("artifact"), size=3)),
    "a chunk": (6, lambda s: s.bundle().replace(s.bundle().find("chunk"), {"chunk": ""})),
    "a fork": (7, lambda s: s.bundle(forks=[s.streams["errand/tea"][1]])),
    "a proof": (7, lambda s: s.bundle().change(s.bundle().find("proof"), hash=HEX64)),
    "a checkpoint": (7, lambda s: s.bundle(note="no note")),
    "the end": (8, lambda s: s.bundle().cut(s.bundle().find("artifact"))),
}


def appended(ledger: Ledger, **changes: Any) -> Bundle:
    ledger.event("errand/tea", ledger.current["ada"], **changes)
    return ledger.bundle()


@pytest.mark.parametrize(("step", "make"), FLAWS.values(), ids=FLAWS)
def test_what_stops_the_reading_is_told_with_its_step(
    small: Ledger, step: int, make: Callable[[Ledger], Bundle]
) -> None:
    assert judge(small, make(small)).findings[0].startswith(f"tampered: step {step}: ")


# The second reading.


class Changing(io.BytesIO):
    """A file that somebody changes between the two readings."""

    def __init__(self, data: bytes, later: bytes) -> None:
        super().__init__(data)
        self.later = later
        self.readings = 0

    def seek(self, *to: Any) -> int:
        """Back to the start: first after the look at its first bytes, then to read it again."""
        self.readings += 1
        if self.readings > 1:
            self.__init__(self.later, self.later)  # type: ignore[misc]
        return super().seek(*to)


def test_a_file_that_changes_between_the_readings_is_not_judged(story: Ledger) -> None:
    honest = story.bundle().data()
    other = story.bundle(note=story.note(2)).data()
    with pytest.raises(OSError, match="changed"):
        standalone.check(Changing(honest, other), trusting(story.trust()))
    same = standalone.check(Changing(honest, honest), trusting(story.trust()))
    assert same.verdict == "valid"


def test_memory_does_not_grow_with_the_length_of_a_stream_or_an_artifact() -> None:
    ledger = Ledger()
    cited = ledger.cite(b"\0" * (8 * CHUNK))
    ledger.event("talk", ledger.root, {"x": "x" * 60_000}, artifacts=[cited])
    for _ in range(150):
        ledger.event("talk", ledger.root, {"x": "x" * 60_000})
    file = io.BytesIO(ledger.bundle().data())
    assert len(file.getvalue()) > 20_000_000
    tracemalloc.start()
    try:
        assert standalone.check(file, trusting(ledger.trust())).verdict == "valid"
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 10_000_000


# The command line.


def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-I", str(FILE), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture
def files(tmp_path: Path, small: Ledger) -> tuple[Path, Path]:
    bundle, trust = tmp_path / "bundle.jsonl", tmp_path / "trust.json"
    bundle.write_bytes(small.bundle().data())
    trust.write_text(json.dumps(small.trust(), indent=2), encoding="utf-8")
    return bundle, trust


def test_the_command_prints_the_verdict_the_facets_and_what_it_did_not_check(
    files: tuple[Path, Path],
) -> None:
    bundle, trust = files
    done = run(bundle, "--trust", trust)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert "verdict: valid" in lines
    assert "policy: not checked" in lines
    assert any(re.fullmatch(r"fingerprint: \d{5}( \d{5}){3}", line) for line in lines)
    names = {line.split(":")[0] for line in lines}
    facets = {"integrity", "authenticity", "completeness", "freshness", "key_status", "custody"}
    assert facets | {"artifacts", "first_bad", "last_trusted"} <= names


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_a_reader_that_has_read_enough_is_left_in_peace(
    files: tuple[Path, Path], options: list[str]
) -> None:
    """The verdict is the exit status, even without a reader."""
    bundle, trust = files
    command = [sys.executable, str(FILE), str(bundle), *options]
    for rest, status in ((["--trust", str(trust)], 0), ([], 1)):
        reader, writer = os.pipe()
        os.close(reader)
        done = subprocess.run([*command, *rest], stdout=writer, stderr=subprocess.PIPE, check=False)
        os.close(writer)
        assert (done.returncode, done.stderr) == (status, b"")


def test_a_pipe_cannot_be_read_twice_and_is_not_called_tampered(files: tuple[Path, Path]) -> None:
    bundle, trust = files
    command = [sys.executable, "-I", str(FILE), "/dev/stdin", "--trust", str(trust)]
    done = subprocess.run(command, input=bundle.read_bytes(), capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (4, b"")
    assert done.stderr.startswith(b"could not read: ")


def test_the_command_prints_one_json_object_if_asked(files: tuple[Path, Path]) -> None:
    bundle, _ = files
    done = run(bundle, "--json")
    assert done.returncode == 1
    found = json.loads(done.stdout)
    assert found["verdict"] == "unknown-key"
    assert found["first_bad"] == {"line": 2, "stream": "registry", "seq": 0}
    assert found["policy"] == "not checked"
    assert set(found) == {
        *("verdict", "integrity", "authenticity", "completeness", "freshness", "key_status"),
        *("artifacts", "custody", "first_bad", "last_trusted", "checks", "findings", "policy"),
        *("says", "fingerprint"),
    }


def test_the_exit_status_says_how_it_went(
    files: tuple[Path, Path], small: Ledger, capsys: pytest.CaptureFixture[str]
) -> None:
    bundle, trust = files
    arguments = [str(bundle), "--trust", str(trust)]
    assert standalone.main(arguments) == 0
    bundle.write_bytes(small.bundle(note=False).data())
    assert standalone.main(arguments) == 3
    bundle.write_bytes(small.bundle().data()[:-1])
    assert standalone.main(arguments) == 1
    bundle.unlink()
    assert standalone.main(arguments) == 4
    assert "could not read" in capsys.readouterr().err
    assert standalone.main([str(bundle.parent)]) == 4
    with pytest.raises(SystemExit) as usage:
        standalone.main([])
    assert usage.value.code == 2


BAD_TRUST = {
    "not JSON": b"trust",
    "nothing": b"",
    "not an object": b"[]",
    "no such format": b'{"format":"moot-trust/2"}',
    "deeply nested": b"[" * 60_000,
    "a number too long": b"9" * 60_000,
    "not UTF-8": b"\xff",
    "far too long": b" " * 10_000_000,
}


@pytest.mark.parametrize("raw", BAD_TRUST.values(), ids=BAD_TRUST)
def test_a_trust_file_that_is_none_could_not_be_read(
    files: tuple[Path, Path], raw: bytes, capsys: pytest.CaptureFixture[str]
) -> None:
    bundle, trust = files
    trust.write_bytes(raw)
    assert standalone.main([str(bundle), "--trust", str(trust)]) == 4
    assert "could not read" in capsys.readouterr().err


BAD_PINS: dict[str, dict[str, Any]] = {
    "a field too few": {"minimum": DROP},
    "a field too many": {"extra": 1},
    "another format": {"format": "moot-trust/2"},
    "a minimum that is negative": {"minimum": -1},
    "a minimum that is true": {"minimum": True},
    "a minimum that is a text": {"minimum": "1"},
    "a root in upper case": {"root": "AB" * 32},
    "a checkpoint that is short": {"checkpoint": "ab"},
    "an origin of another kind": {"origin": "ledger"},
}


@pytest.mark.parametrize("changes", BAD_PINS.values(), ids=BAD_PINS)
def test_a_trust_file_with_a_field_out_of_rule_could_not_be_read(
    files: tuple[Path, Path], small: Ledger, changes: dict[str, Any]
) -> None:
    bundle, trust = files
    trust.write_bytes(canon(small.trust(**changes)))
    assert standalone.main([str(bundle), "--trust", str(trust)]) == 4


def test_a_trust_file_may_ask_for_the_very_first_checkpoint(
    files: tuple[Path, Path], small: Ledger
) -> None:
    bundle, trust = files
    trust.write_bytes(canon(small.trust(minimum=0)))
    bundle.write_bytes(small.bundle(note=small.note(0)).data())
    assert standalone.main([str(bundle), "--trust", str(trust)]) == 0


def test_a_trust_file_may_be_in_any_order_and_spaced_at_will(
    files: tuple[Path, Path], small: Ledger
) -> None:
    bundle, trust = files
    turned = dict(reversed(small.trust().items()))
    trust.write_text(json.dumps(turned, indent=4, separators=(" ,", "\n: ")), encoding="utf-8")
    assert standalone.main([str(bundle), "--trust", str(trust)]) == 0


def test_a_trust_file_that_says_a_thing_twice_could_not_be_read(
    files: tuple[Path, Path], small: Ledger
) -> None:
    bundle, trust = files
    trust.write_bytes(canon(small.trust())[:-1] + b',"minimum":0}')
    assert standalone.main([str(bundle), "--trust", str(trust)]) == 4


def test_a_bundle_can_be_verified_by_name_and_the_verdict_is_its_truth(
    files: tuple[Path, Path],
) -> None:
    bundle, trust = files
    assert standalone.verify(bundle, trust).verdict == "valid"
    assert standalone.verify(bundle).verdict == "unknown-key"


# A checkpoint that somebody kept; what it demands is in test_pinned_checkpoint.py.


def test_a_note_that_was_kept_is_an_option_of_the_command(
    files: tuple[Path, Path], small: Ledger
) -> None:
    bundle, trust = files
    note = bundle.with_name("note.txt")
    note.write_text(small.note(), encoding="utf-8", newline="")
    done = run(bundle, "--trust", trust, "--checkpoint", note)
    assert (done.returncode, done.stderr) == (0, "")
    note.write_text(small.note(2, root=bytes(32)), encoding="utf-8", newline="")
    done = run(bundle, "--trust", trust, "--checkpoint", note)
    assert done.returncode == 1
    assert "verdict: rolled-back" in done.stdout.splitlines()
    assert "what checkpoint 2 pinned is not all here" in done.stdout


@pytest.mark.parametrize("made", ["garbage", "forged", "missing", "without trust"])
def test_a_note_that_cannot_be_used_could_not_be_read(
    files: tuple[Path, Path], small: Ledger, made: str
) -> None:
    bundle, trust = files
    note = bundle.with_name("note.txt")
    thief = Signer("a thief") if made == "forged" else None
    if made != "missing":
        text = "garbage" if made == "garbage" else small.note(key=thief)
        note.write_text(text, encoding="utf-8", newline="")
    given: list[str | Path] = [] if made == "without trust" else ["--trust", trust]
    done = run(bundle, *given, "--checkpoint", note)
    assert (done.returncode, done.stdout) == (4, "")
    (line,) = done.stderr.splitlines()
    assert line.startswith("could not read: ")


# Where its one library is absent.


def test_without_pynacl_one_line_says_what_is_missing_and_nothing_is_judged(
    files: tuple[Path, Path],
) -> None:
    """A real Python that sees no installed package."""
    bundle, trust = files
    command = [sys.executable, "-I", "-S", str(FILE), str(bundle), "--trust", str(trust)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (4, "")
    (line,) = done.stderr.splitlines()
    assert "nacl" in line
    assert "pip install pynacl" in line


def test_without_pynacl_anyone_who_imports_it_gets_the_usual_error() -> None:
    program = f"import sys; sys.path.insert(0, {str(FILE.parent)!r}); import standalone"
    command = [sys.executable, "-I", "-S", "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "ModuleNotFoundError" in done.stderr


# Fuzzing. The invariant: whatever the bytes, a verdict and never an exception; and never `valid`
# for a file that was changed.

SMALL = forge.small()
SMALL_DATA, SMALL_TRUST = SMALL.bundle().data(), SMALL.trust()
STORY_LINES = forge.story().bundle(["registry", "errand/tea", "errand/milk"])
STORY_TRUST = forge.story().trust()


@given(st.binary(max_size=300))
@example(b"\n")
@example(b"{}\n{}\n")
def test_random_bytes_are_tampered(data: bytes) -> None:
    assert check(data, SMALL_TRUST).verdict == "tampered"


@given(st.binary(max_size=200), st.integers(0, 2**32))
def test_random_lines_after_an_honest_header_are_never_valid(raw: bytes, seed: int) -> None:
    lines = SMALL_DATA.splitlines(keepends=True)
    place = random.Random(seed).randrange(1, len(lines))
    data = b"".join([*lines[:place], raw, b"\n", *lines[place:]])
    assert check(data, SMALL_TRUST).verdict != "valid"


@settings(max_examples=examples(300))
@given(st.integers(0, 2**63))
def test_a_file_with_bytes_changed_is_never_valid(seed: int) -> None:
    dice = random.Random(seed)
    data = bytearray(SMALL_DATA)
    for _ in range(dice.randint(1, 4)):
        at = dice.randrange(len(data))
        change = dice.choice(("set", "drop", "insert", "move"))
        if change == "set":
            data[at] = dice.randrange(256)
        elif change == "drop":
            del data[at : at + dice.randint(1, 80)]
        elif change == "insert":
            data[at:at] = dice.randbytes(dice.randint(1, 8))
        else:
            end = dice.randrange(len(data))
            data[end:end] = data[at : at + dice.randint(1, 400)]
    verdict = check(bytes(data), SMALL_TRUST).verdict
    assert (verdict == "valid") == (bytes(data) == SMALL_DATA)


def kind_of(raw: bytes) -> str:
    return str(next(iter(json.loads(raw))))


@settings(max_examples=examples(300))
@given(st.integers(0, 2**63))
def test_lines_moved_under_a_right_header_are_valid_only_if_artifacts_are_missing(
    seed: int,
) -> None:
    dice = random.Random(seed)
    bundle, count = STORY_LINES, len(STORY_LINES.lines)
    one, other = dice.randint(2, count + 1), dice.randint(2, count + 1)
    change = dice.choice(("drop", "duplicate", "swap", "flip", "insert"))
    if change == "drop":
        bundle = bundle.drop(one)
    elif change == "duplicate":
        bundle = bundle.duplicate(one)
    elif change == "swap":
        bundle = bundle.swap(one, other)
    elif change == "insert":
        bundle = bundle.insert(one, bundle.lines[other - 2])
    else:
        raw = bytearray(bundle.lines[one - 2])
        raw[dice.randrange(len(raw))] ^= 1 << dice.randrange(8)
        bundle = bundle.replace(one, bytes(raw).replace(b"\n", b" "))
    if check(bundle.data(), STORY_TRUST).verdict == "valid":
        kept = [raw for raw in bundle.lines if kind_of(raw) not in ("artifact", "chunk")]
        assert kept == [r for r in STORY_LINES.lines if kind_of(r) not in ("artifact", "chunk")]


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=12,
)


@settings(max_examples=examples(200))
@given(JSON_VALUES, st.sampled_from(sorted(SMALL.body("errand/tea", SMALL.current["ada"]))))
def test_a_signed_event_with_any_value_in_any_field_is_judged(value: Any, field: str) -> None:
    ledger = forge.small()
    try:
        ledger.event("errand/tea", ledger.current["ada"], **{field: value})
    except UnicodeEncodeError:  # a lone surrogate cannot even be signed
        return
    found = judge(ledger)
    assert found.verdict in standalone.VERDICTS
    if found.verdict == "valid":
        assert field in ("data", "key", "cause", "corr", "artifacts", "at", "actor", "reg")


@settings(max_examples=examples(200))
@given(JSON_VALUES, st.sampled_from(("header", "fork", "artifact", "chunk", "proof", "checkpoint")))
def test_a_line_with_any_value_in_it_is_judged(value: Any, kind: str) -> None:
    raw = json.dumps({kind: value}, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    line = raw.encode(errors="surrogatepass").replace(b"\n", b" ")
    for number in (2, 7, 9):
        assert check(SMALL.bundle().insert(number, line).data(), SMALL_TRUST).verdict == "tampered"


@pytest.mark.parametrize("shard", QUARTERS)
def test_no_single_bit_of_a_bundle_can_be_flipped(shard: int) -> None:
    """One bit of each byte; a quarter has every fourth eight of bytes, so every place of a bit."""
    survivors = []
    for at in (at for at in range(len(SMALL_DATA)) if at // 8 % 4 == shard):
        data = bytearray(SMALL_DATA)
        data[at] ^= 1 << at % 8
        if check(bytes(data), SMALL_TRUST).verdict == "valid":
            survivors.append(at)
    assert survivors == []
