"""Act 3: anyone can verify the record; edited copies are detected.

Two verifiers that share no code name the same place: a changed byte, or a deleted last event.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable
from typing import Any, Final

from moot.surfaces.demo.act_decision import PAGE
from moot.surfaces.demo.stage import FIRST, MOOT, DemoCall, DemoStage, Lines, grep, say

RECORD, CHANGED, SHORTENED, TRUST = "record.moot", "changed.moot", "shortened.moot", "trust.json"
RECEIPT: Final = PAGE.replace(".html", ".json")
LIE: Final = "changed-receipt.json"
VERDICTS: Final = "verdicts.json"
Verdicts = list[dict[str, Any]]


def play(stage: DemoStage, verdicts: Verdicts) -> Lines:
    yield stage.title("Act 3", "anyone can check the record, without us")
    yield from stage.moot("ledger", "export", "-o", f"../{RECORD}", how=DemoCall(part=FIRST))
    yield from stage.moot("trust", "export", "-o", f"../{TRUST}", how=DemoCall(part=FIRST))
    yield from stage.go(stage.out)
    yield from _checked(stage, verdicts, RECORD, "valid", "the record as it was written")
    yield from _checked(stage, verdicts, RECEIPT, "valid", "the receipt as it was written")
    yield say("Now someone edits copies, and makes the header fit: that needs no key.")
    header, *body = (stage.out / RECORD).read_bytes().splitlines(keepends=True)
    for name, edit, expected, what in _DAMAGE:
        edited = edit(body)
        (stage.out / name).write_bytes(b"".join([refitted(header, edited), *edited]))
        yield say(f"{what}: {name}", point=True)
        yield from _checked(stage, verdicts, name, expected, what)
    yield from _lie(stage, verdicts)
    yield say("The original is still intact, and so is the workspace itself.", point=True)
    yield from _checked(stage, verdicts, RECORD, "valid", "the record, untouched")
    yield from stage.go(stage.repository)
    yield from stage.moot("verify", how=DemoCall(part=FIRST))
    (stage.out / VERDICTS).write_text(json.dumps(verdicts, indent=1) + "\n", encoding="utf-8")


def _lie(stage: DemoStage, verdicts: Verdicts) -> Lines:
    """Change the readable part of a receipt, which is signed as well."""
    made = json.loads((stage.out / RECEIPT).read_bytes())
    made["says"]["argument"]["dissent"] = []
    text = json.dumps(made, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    (stage.out / LIE).write_text(text + "\n", encoding="utf-8")
    what = "the dissent removed from the receipt"
    yield say(f"{what}: {LIE}", point=True)
    yield from _checked(stage, verdicts, LIE, "tampered", what)


def _checked(stage: DemoStage, verdicts: Verdicts, file: str, expected: str, what: str) -> Lines:
    """Check a file with both verifiers; fail if they disagree."""
    code = 0 if expected == "valid" else 1
    words = (file, "--trust", TRUST)
    yield from stage.moot("verify", *words, how=DemoCall(expect=code, part=FIRST, point="."))
    verdict = DemoCall(expect=code, part=grep("^verdict"))
    yield from stage.standalone(*words, how=verdict)
    ours = stage.answer(*MOOT, "verify", *words, "--json")["data"]
    theirs = stage.answer(*stage.alone, *words, "--json")
    places = [side["first_bad"] and side["first_bad"]["line"] for side in (ours, theirs)]
    if {ours["verdict"], theirs["verdict"]} != {expected} or places[0] != places[1]:
        raise stage.failed(f"the two verifiers disagree about {file}")
    if places[0] is not None:
        yield say(f"Both name the same place: line {places[0]} of the record.")
    verdicts.append({"what": what, "file": file, **ours, "standalone": theirs})


def change_a_byte(body: list[bytes]) -> list[bytes]:
    """Change the confidence of an objection from 0.7 to 0.1, inside a signed event."""
    for number, line in enumerate(body):
        envelope = json.loads(line)
        payload = base64.b64decode(envelope.get("payload", ""))
        if b'"stance":"reject"' in payload and b'"confidence":"0.7"' in payload:
            less = payload.replace(b'"confidence":"0.7"', b'"confidence":"0.1"')
            envelope["payload"] = base64.b64encode(less).decode()
            changed = json.dumps(envelope, sort_keys=True, separators=(",", ":")).encode() + b"\n"
            return [*body[:number], changed, *body[number + 1 :]]
    raise LookupError("no such objection is on record")


def delete_the_last_event(body: list[bytes]) -> list[bytes]:
    number = max(place for place, line in enumerate(body) if line.startswith(b'{"payload"'))
    return [*body[:number], *body[number + 1 :]]


def refitted(header: bytes, body: list[bytes]) -> bytes:
    """Return a header that fits the body: it needs no key, so it protects only from accidents."""
    fields = json.loads(header)
    fields |= {"digest": hashlib.sha256(b"".join(body)).hexdigest(), "lines": len(body)}
    return json.dumps(fields, sort_keys=True, separators=(",", ":")).encode() + b"\n"


_DAMAGE: Final[tuple[tuple[str, Callable[[list[bytes]], list[bytes]], str, str], ...]] = (
    (CHANGED, change_a_byte, "tampered", "one byte of an objection changed"),
    (SHORTENED, delete_the_last_event, "truncated", "the last event deleted"),
)
