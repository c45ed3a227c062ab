"""The story of `moot demo`, step by step: lines to print, and what was found for the page.

Three agents share a list of errands. One of them meddles, one errand comes too late, and then
someone edits the exported record, twice, and makes its header fit. Both checkers name the place.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable, Iterator
from typing import Any

from moot.core.errors import StoreFailed
from moot.surfaces.cli.demo_stage import FIRST, LIST, MOOT, Stage, execute

AGENTS = ("amber-otter", "teal-crane", "coral-finch")
RECORD, CHANGED, SHORTENED = "record.moot", "changed.moot", "shortened.moot"


class Story:
    def __init__(self, stage: Stage, full: bool) -> None:
        self._stage = stage
        self._full = full
        self.verdicts: list[dict[str, Any]] = []
        self.events: list[dict[str, Any]] = []

    def tell(self) -> Iterator[str]:
        """Every line, as it happens."""
        for chapter in (self._begin, self._work, self._export, self._attack):
            yield from chapter()
            yield ""
        if self._full:
            yield from self._restore()
            yield ""
            yield from self._revoke()
            yield ""
        yield from self._write_page()

    def _begin(self) -> Iterator[str]:
        stage = self._stage
        yield "# A repository, a workspace in it, and three agents, each with a key of its own."
        yield from stage.set_up()
        yield from stage.moot("init")
        for name in AGENTS:
            yield from stage.moot("agent", "register", name)

    def _work(self) -> Iterator[str]:
        from moot.example.commands import Ask, Finish

        stage = self._stage
        yield "# They work. Every step is signed; a refused step is on record as well."
        amber, teal, coral = AGENTS
        with stage.engine() as engine:
            soon = engine.clock() + 1
            yield from execute(engine, amber, Ask(title="review the auth cache", of=teal))
            yield from execute(engine, amber, Ask(title="update the changelog", of=coral))
            yield from execute(engine, coral, Finish(id="e1"))
            yield from execute(engine, teal, Finish(id="e1"))
            yield from execute(engine, teal, Ask(title="rotate the token", of=amber, due_at=soon))
        yield "# What is due, and for whom? Reading changes nothing; `tick` lets time limits act."
        yield from stage.moot("agenda")
        yield from stage.moot("tick")
        yield from stage.moot("ledger", "log", LIST)

    def _export(self) -> Iterator[str]:
        stage = self._stage
        yield "# One file, checked by anyone with the two public keys; no workspace is needed."
        yield from stage.moot("ledger", "export", "-o", f"../{RECORD}")
        yield from stage.moot("trust", "export", "-o", "../trust.json")
        self.events = stage.answer(*MOOT, "ledger", "log", LIST, "--json")["data"]["events"]
        yield from stage.go(stage.out)
        yield from stage.moot("verify", RECORD, "--trust", "trust.json")
        yield from stage.standalone(RECORD, "--trust", "trust.json")
        self._note("the export as it was written", RECORD, "valid")

    def _attack(self) -> Iterator[str]:
        yield "# Now someone edits copies of it, and makes the header fit."
        yield from self._damage(CHANGED, "one byte of an event changed", change_a_byte)
        yield from self._damage(SHORTENED, "one event deleted", delete_an_event)

    def _damage(
        self, name: str, what: str, edit: Callable[[list[bytes]], list[bytes]]
    ) -> Iterator[str]:
        stage = self._stage
        header, *body = (stage.out / RECORD).read_bytes().splitlines(keepends=True)
        edited = edit(body)
        (stage.out / name).write_bytes(b"".join([refitted(header, edited), *edited]))
        yield f"# {what}: {name}"
        yield from stage.moot("verify", name, "--trust", "trust.json", expect=1, pipe=FIRST)
        yield from stage.standalone(name, "--trust", "trust.json", expect=1)
        self._note(what, name, "tampered")
        line = self.verdicts[-1]["first_bad"]["line"]
        yield f"# Both name the same place: event {line - 1}, which is line {line} of the file."

    def _restore(self) -> Iterator[str]:
        """An older ledger file put in the place of the newest."""
        stage = self._stage
        ledger, old = stage.repository / ".moot" / "ledger.db", stage.out / "older.db"
        yield "# Someone puts an older ledger back: reading shows it, writing is refused."
        yield from stage.go(stage.repository)
        yield from stage.moot("ledger", "backup", "../older.db")
        yield from stage.moot("agent", "register", "late-heron")
        newest = ledger.read_bytes()
        ledger.write_bytes(old.read_bytes())
        yield "$ cp ../older.db .moot/ledger.db"
        yield from stage.moot("verify", expect=1, pipe=FIRST)
        yield from stage.moot("agent", "register", "lost-heron", expect=1)
        ledger.write_bytes(newest)
        yield "# The newest copy is put back."
        yield from stage.moot("verify", pipe=FIRST)

    def _revoke(self) -> Iterator[str]:
        yield "# A key that is no longer trusted: what it signed before still counts."
        reason = "it meddled"
        yield from self._stage.moot("agent", "revoke", AGENTS[2], "--reason", reason)
        yield from self._stage.moot("verify")

    def _note(self, what: str, file: str, expected: str) -> None:
        """Both checkers must say the same; anything else is a bug worth a loud end."""
        ours, theirs = self._stage.verdicts(file)
        places = [one["first_bad"] and one["first_bad"]["line"] for one in (ours, theirs)]
        if {ours["verdict"], theirs["verdict"]} != {expected} or places[0] != places[1]:
            raise StoreFailed(
                "demo_failed", f"the two checkers disagree about {file}", hint="this is a bug"
            )
        self.verdicts.append({"what": what, "file": file, **ours})

    def _write_page(self) -> Iterator[str]:
        from moot.surfaces.cli.demo_page import demo_page
        from moot.surfaces.cli.page import write_page

        stage = self._stage
        page = stage.out / "report.html"
        write_page(page, demo_page(self, (stage.out / RECORD).read_bytes()))
        yield f"report   {page}"
        yield f"record   {stage.out / RECORD}"
        yield f"try it   cd {stage.repository} && MOOT_KEYS={stage.keys} moot status"


def event_lines(body: list[bytes]) -> list[int]:
    """Which lines are events of the errand list."""
    mark = f'"stream":"{LIST}"'.encode()
    found = []
    for number, line in enumerate(body):
        envelope = json.loads(line)
        if "payload" in envelope and mark in base64.b64decode(envelope["payload"]):
            found.append(number)
    return found


def change_a_byte(body: list[bytes]) -> list[bytes]:
    """`review` becomes `Review` inside a signed event."""
    number = event_lines(body)[0]
    envelope = json.loads(body[number])
    payload = base64.b64decode(envelope["payload"]).replace(b"review", b"Review")
    envelope["payload"] = base64.b64encode(payload).decode()
    line = json.dumps(envelope, sort_keys=True, separators=(",", ":")).encode() + b"\n"
    return [*body[:number], line, *body[number + 1 :]]


def delete_an_event(body: list[bytes]) -> list[bytes]:
    """The meddling disappears."""
    number = event_lines(body)[2]
    return [*body[:number], *body[number + 1 :]]


def refitted(header: bytes, body: list[bytes]) -> bytes:
    """The header that fits: it needs no key, so it protects only against accidents."""
    fields = json.loads(header)
    fields |= {"digest": hashlib.sha256(b"".join(body)).hexdigest(), "lines": len(body)}
    return json.dumps(fields, sort_keys=True, separators=(",", ":")).encode() + b"\n"
