"""Writes docs/vectors/: known answers for anyone who implements docs/format.md.

Deterministic (fixed keys and clock), so a second run changes nothing; a test compares.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from moot.core import checkpoint_note
from moot.core.canonical import canonical
from moot.core.machine import KeyClass
from moot.core.record import genesis
from moot.core.registry.model import key_statement, sign_proof
from moot.core.signing import EVENT, Signer, key_id, signed_bytes
from moot.engine.export import bundle
from moot.engine.registry_commands import HEADS_MEDIA_TYPE, current_heads, retire, revoke
from moot.protocols.example.model import Ask, Finish
from moot.testing import World
from moot.workspace import trust as trust_files

FOLDER = Path(__file__).parents[1] / "docs" / "vectors"

CANONICAL: list[Any] = [
    None,
    True,
    0,
    -1,
    2**53 - 1,
    -(2**53 - 1),
    "",
    "é € 😀",
    '\u0000\u001f\u007f\u0080\u2028"\\/\b\f\n\r\t',
    [],
    {},
    {"b": 1, "a": [1, {"d": None, "c": False}], "é": "x", "": 0, "Z": "0.85"},
]
NOT_CANONICAL = [
    '{"a":1,"a":2}',
    '{"b":1,"a":2}',
    '{"a": 1}',
    "1.0",
    "1e3",
    "-0",
    "NaN",
    "9007199254740992",
    '"\\u0041"',
    '"\\/"',
    '"\\ud800"',
    '"\\u001F"',
    '{"😀":1}',
    "[" * 33 + "]" * 33,
    " 1",
    "01",
]


def a_small_ledger() -> World:
    """Every kind of registry event but an accepted loss, two lists of errands, one artifact."""
    world = World()
    world.human("operator")
    for name in ("amber-otter", "teal-crane", "plum-heron"):
        world.agent(name)
    engine = world.engine
    engine.execute("example/today", Ask(title="water the plants", of="teal-crane"), "amber-otter")
    world.clock.forward(seconds=5)
    engine.execute("example/today", Finish(id="e1"), "teal-crane", key="first", corr="affair-1")
    engine.execute("example/later", Ask(title="prune", of="plum-heron"), "amber-otter")
    ref, data = current_heads(engine)
    world.artifacts.put(data, HEADS_MEDIA_TYPE)
    revoke(engine, engine.registry().agents["plum-heron"].kid, "lost laptop", ref)
    retire(engine, "teal-crane", "done")
    engine.checkpoint()
    return world


def bundle_lines(world: World) -> Iterator[bytes]:
    with world.store.read() as view:
        yield from bundle(view, world.trust, world.artifacts)


def building_blocks() -> dict[str, Any]:
    signer = Signer(bytes(range(32)))
    origin = "moot.ledger/" + signer.kid
    said = key_statement(
        origin=origin,
        name="amber-otter",
        kind=KeyClass.AGENT,
        epoch=1,
        public=signer.public.hex(),
        custodian="0" * 32,
    )
    leaves = [checkpoint_note.leaf_hash(f"example/{n}", n, bytes([n]) * 32) for n in range(5)]
    nodes = checkpoint_note.changed_nodes({}, 5, enumerate(leaves))
    return {
        "seed": bytes(range(32)).hex(),
        "public": signer.public.hex(),
        "kid": key_id(signer.public),
        "pae": signed_bytes(EVENT, b"{}").hex(),
        "signature_over_pae": signer.sign(EVENT, b"{}").hex(),
        "genesis": {"origin": origin, "stream": "example/a", "prev": genesis(origin, "example/a")},
        "statement": said.decode(),
        "proof": sign_proof(signer, said),
        "tree": {
            "leaves": [leaf.hex() for leaf in leaves],
            "root": checkpoint_note.root_hash(nodes, 5).hex(),
            "paths": [
                [n.hex() for n in checkpoint_note.inclusion_path(nodes, i, 5)] for i in range(5)
            ],
        },
    }


def files() -> dict[str, bytes]:
    """Every vector file by name."""
    world = a_small_ledger()
    canon = {
        "canonical": [{"value": value, "bytes": canonical(value).hex()} for value in CANONICAL],
        "refused": NOT_CANONICAL,
    }
    return {
        "canonical.json": _json(canon),
        "blocks.json": _json(building_blocks()),
        "bundle.jsonl": b"".join(bundle_lines(world)),
        "trust.json": trust_files.trust_file_bytes(trust_files.trust_file_of(world.trust)),
    }


def _json(value: Any) -> bytes:
    return json.dumps(value, indent=1, sort_keys=True).encode() + b"\n"


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, data in files().items():
        (FOLDER / name).write_bytes(data)
        print(f"{name}: {len(data)} bytes")


if __name__ == "__main__":
    main()
