"""Every name that stands in signed records, digests of keys and signed snapshots, as plain text.

    python -m tests.golden.record_names            what differs from record_names.json
    python -m tests.golden.record_names --write    take it in, if it only grew

Names of modules and of nested classes are not in it, for no record holds them. A class name is in
it where a record does hold it: an event's, as its type, and a command's, in the digest of its key.
What can be renamed freely (a checkpoint's fields, which are written as a text) is not in it either.
A field is told by its path: `seats[].id` is the `id` of each of `seats`, `keys{}` a value of a map.
"""

from __future__ import annotations

import ast
import json
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import moot
from moot.api.decisions import receipt_file
from moot.api.decisions.results import Argument
from moot.api.observed.sessions import MEDIA_TYPE as OBSERVED_MEDIA_TYPE
from moot.core import signing
from moot.core.checkpoint_note import Checkpoint
from moot.core.findings import Finding
from moot.core.machine import Machine
from moot.core.names import CHECKPOINT, OPERATOR, REGISTRY, RESERVED, SYSTEM
from moot.core.record import Body, Record, genesis
from moot.core.registry.model import ORIGIN_PREFIX
from moot.engine import export
from moot.engine.job import REFUSED_MARK
from moot.engine.machines import MODULES, Machines
from moot.engine.registry_commands import HEADS_MEDIA_TYPE
from moot.engine.signs_of_life import HeartbeatText
from moot.keys.folder import KeyFile
from moot.protocols.debate.machine import STREAM as DEBATE_PREFIX
from moot.protocols.parliament.messages.contents import CONTENT_TYPES
from moot.protocols.parliament.messages.message import LedgerMessage
from moot.protocols.parliament.model import STREAM_NAME as PARLIAMENT_STREAM
from moot.protocols.presence import STREAM as PRESENCE
from moot.protocols.trace.audit.report import FORMAT as TRACE_REPORT_FORMAT
from moot.protocols.trace.audit.report import AuditReport as TraceReport
from moot.protocols.trace.model import MEDIA_TYPE as TOOL_INPUT_MEDIA_TYPE
from moot.surfaces.terminal.answer import Envelope
from moot.workspace import trust
from tests.golden.growth import breaks, differences
from tests.golden.shapes import fields_of

FILE = Path(__file__).with_name("record_names.json")
INDEX_CHANGES = ("Put", "Drop", "Words")
Names = dict[str, Any]
ADVICE = """\
Names in signed records are frozen: what was signed is never encoded again, and every later version
must read it. Give the old name back: `rename=` of a Struct lets the code use another word for a
field, and a class that a record names keeps its name. A state may change if `version` of its
machine is raised. What only grew is taken in by `python -m tests.golden.record_names --write`.
"""

STRUCTS: dict[str, type] = {
    "event body": Body,
    "heartbeat": HeartbeatText,
    "trust file": trust.TrustFile,
    "key file": KeyFile,
    "argument of a receipt": Argument,
    "report of a trace": TraceReport,
    "message of a parliament": LedgerMessage,
    **{f"content of {kind.value}": content for kind, content in CONTENT_TYPES.items()},
    "finding": Finding,
    "answer of a command": Envelope,
}


def read_names() -> Names:
    """As the code stands now."""
    machines = Machines()
    return {
        "machines": {name: names_of_machine(machines.machine_of(name)) for name in sorted(MODULES)},
        "structs": {label: fields_of(struct) for label, struct in STRUCTS.items()},
        "index spaces": dict.fromkeys(sorted(set(index_spaces())), "in use"),
        "texts": fixed_texts(),
    }


def kept_names() -> Names:
    names: Names = json.loads(FILE.read_text("utf-8"))
    return names


def names_of_machine(machine: Machine[Any]) -> Names:
    return {
        "name": machine.name,
        "version": machine.version,
        "events": {
            event_type: fields_of(event) for event_type, event in sorted(machine.event_of.items())
        },
        "commands": {
            command.__name__: fields_of(command)
            for command in sorted(machine.commands, key=lambda command: command.__name__)
        },
        "state": fields_of(machine.state_type),
    }


def index_spaces() -> Iterator[str]:
    """The first argument of every index change in the source, if it is a fixed text."""
    root = Path(moot.__file__).parent
    for file in sorted(root.rglob("*.py")):
        text = file.read_text("utf-8")
        if not any(f"{name}(" in text for name in INDEX_CHANGES):
            continue  # most files, and parsing all of them takes long
        calls = [
            node
            for node in ast.walk(ast.parse(text))
            if isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id in INDEX_CHANGES
            and node.args
        ]
        if not calls:
            continue
        words = file.relative_to(root.parent).with_suffix("").parts
        scope = vars(import_module(".".join(words)))
        for call in calls:
            space = call.args[0]
            value = scope.get(space.id) if isinstance(space, ast.Name) else None
            value = space.value if isinstance(space, ast.Constant) else value
            if isinstance(value, str):
                yield value


def fixed_texts() -> dict[str, str]:
    """What is signed, hashed or stored word for word, by what it is for."""
    sample = Record("example/today", 0, "kid", b"{}", b"signature")
    checkpoint = Checkpoint(ORIGIN_PREFIX + "kid", 2, bytes(32), 3, 4, "2026-02-18T12:00:00.000Z")
    return {
        "payload type of an event": signing.EVENT.decode(),
        "payload type of a key's proof": signing.KEY_PROOF.decode(),
        "payload type of an endorsement": signing.ENDORSEMENT.decode(),
        "payload type of a heartbeat": signing.HEARTBEAT.decode(),
        "payload type of a snapshot": signing.SNAPSHOT.decode(),
        "payload type of a machine's return": signing.RETURN.decode(),
        "payload type of an in-toto statement": signing.IN_TOTO.decode(),
        "format of an export": export.FORMAT,
        "format of a receipt": receipt_file.FORMAT,
        "format of a trust file": trust.FORMAT,
        "format of a trace's report": TRACE_REPORT_FORMAT,
        "media type of a receipt": receipt_file.MEDIA_TYPE,
        "media type of cited heads": HEADS_MEDIA_TYPE,
        "media type of a tool's input": TOOL_INPUT_MEDIA_TYPE,
        "media type of an observed call": OBSERVED_MEDIA_TYPE,
        "origin before the key": ORIGIN_PREFIX,
        "hash before a first event": genesis("origin", "example/today"),
        "envelope of an event": export.envelope(sample).decode(),
        "text of a checkpoint": checkpoint.text(),
        "mark of a refused key": REFUSED_MARK,
        "stream of keys": REGISTRY,
        "stream of presence": PRESENCE,
        "streams of debates": DEBATE_PREFIX,
        "streams of parliaments": PARLIAMENT_STREAM.pattern,
        "name of the machine": SYSTEM,
        "name of the checkpoint key": CHECKPOINT,
        "name of the first person": OPERATOR,
        "names that no agent may have": " ".join(sorted(RESERVED)),
    }


def main(words: list[str]) -> int:
    now = read_names()
    found = differences(kept_names() if FILE.exists() else {}, now)
    for one in found:
        print(one)  # noqa: T201 - this is what it is called for
    if breaks(found):
        print(ADVICE)  # noqa: T201
        return 1
    if words == ["--write"]:
        FILE.write_text(json.dumps(now, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
