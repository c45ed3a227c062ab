"""Names in signed records never change; what grows is taken in on purpose."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.golden import record_names
from tests.golden.growth import Difference, breaks, differences
from tests.golden.record_names import ADVICE, Names, kept_names, read_names

HERE = Path(__file__).parent
LEDGERS = sorted(HERE.glob("v*/workspace/ledger.db"))


def test_no_name_of_the_record_has_changed() -> None:
    found = differences(kept_names(), read_names())
    assert not found, "\n".join([*map(str, found), "", ADVICE])


def test_nothing_in_it_tells_where_code_lives() -> None:
    text = record_names.FILE.read_text("utf-8")
    for package in ("moot.core", "moot.engine", "moot.protocols.mail", "moot.protocols", "<class"):
        assert package not in text, package


@pytest.mark.parametrize("ledger", LEDGERS, ids=lambda file: file.parts[-3])
def test_old_records_hold_only_names_that_are_kept(ledger: Path) -> None:
    machines = kept_names()["machines"]
    with closing(sqlite3.connect(f"file:{ledger}?mode=ro&immutable=1", uri=True)) as connection:
        bodies = [json.loads(body) for (body,) in connection.execute("SELECT body FROM events")]
        spaces = {space for (space,) in connection.execute("SELECT space FROM index_rows")}
        tags = [tag for (tag,) in connection.execute("SELECT machine FROM snapshots")]
    assert bodies
    body_fields = set(kept_names()["structs"]["event body"])
    for body in bodies:
        fields = machines[body["type"].partition(".")[0]]["events"][body["type"]]
        assert set(body["data"]) <= set(fields), body["type"]
        assert set(body) <= body_fields
    assert spaces <= set(kept_names()["index spaces"])
    assert {tag.partition("/")[0] for tag in tags} <= set(machines)


ASKED = ("machines", "example", "events", "example.errand_asked")
STATE = ("machines", "example", "state")
SEATS = ("machines", "decision", "events", "decision.question_asked")
SENT = ("machines", "mail", "events", "mail.message_sent")
CHAMBERS = "chamber"
Edit = Callable[[Names], None]


def part(names: Names, where: tuple[str, ...]) -> dict[str, Any]:
    found: dict[str, Any] = names
    for word in where:
        found = found[word]
    return found


def put(where: tuple[str, ...], field: str, text: Any) -> Edit:
    return lambda names: part(names, where).update({field: text})


def drop(where: tuple[str, ...], field: str) -> Edit:
    return lambda names: part(names, where).pop(field)


def both(*edits: Edit) -> Edit:
    def edit(names: Names) -> None:
        for one in edits:
            one(names)

    return edit


def edited(edit: Edit) -> list[Difference]:
    now = kept_names()
    edit(now)
    found = differences(kept_names(), now)
    assert found, "the edit changed nothing"
    return found


RAISED = put(("machines", "example"), "version", 99)
BREAKING: dict[str, Edit] = {
    "an event is gone": drop(ASKED[:-1], ASKED[-1]),
    "a command is gone": drop(("machines", "example", "commands"), "Finish"),
    "a command has another name": both(
        drop(("machines", "example", "commands"), "Finish"),
        put(("machines", "example", "commands"), "Complete", {"(whole)": "object", "id": "text"}),
    ),
    "a field is gone": drop(ASKED, "title"),
    "a field has another type": put(ASKED, "title", "integer"),
    "a field has another default": put(SEATS, "supersedes", 'null or text = ""'),
    "a nested field is gone": drop(SEATS, "seats[].agent"),
    "a field that old records lack is required": put(ASKED, "colour", "text"),
    "a nested field that old records lack is required": put(SEATS, "seats[].colour", "text"),
    "a choice has fewer values": put(SEATS, CHAMBERS, 'one of ["debate"]'),
    "a choice that may be null has fewer values": put(SENT, "type", 'null or one of ["ACK"]'),
    "a machine is gone": drop(("machines",), "example"),
    "a version goes back": put(("machines", "decision"), "version", 1),
    "a state changed under its old version": put(STATE, "colour", 'text = ""'),
    "an index space is gone": drop(("index spaces",), "mail.inbox"),
    "a signed text changed": put(("texts",), "format of a receipt", "moot-receipt/2"),
    "a struct is written in another way": put(ASKED, "(whole)", "array"),
}
GROWING: dict[str, Edit] = {
    "a new event": put(ASKED[:-1], "example.errand_praised", {"(whole)": "object", "id": "text"}),
    "a field that may be absent": put(ASKED, "colour", 'text = ""'),
    "a nested field that may be absent": put(SEATS, "seats[].colour", 'text = ""'),
    "a struct that may be absent": both(
        put(ASKED, "colour", "null or struct = null"),
        put(ASKED, "colour.(whole)", "object"),
        put(ASKED, "colour.red", "integer"),
    ),
    "a new machine": put(("machines",), "sixth", {"name": "sixth", "version": 1, "events": {}}),
    "a state under a raised version": both(RAISED, put(STATE, "colour", "text")),
    "a state with less in it under a raised version": both(RAISED, drop(STATE, "(whole)")),
    "a new index space": put(("index spaces",), "sixth.items", "in use"),
}


@pytest.mark.parametrize("what", BREAKING)
def test_this_breaks_old_records(what: str) -> None:
    found = edited(BREAKING[what])
    assert breaks(found)
    assert any(str(one).startswith("BREAKS OLD RECORDS: ") for one in found)


@pytest.mark.parametrize("what", GROWING)
def test_this_only_grows(what: str) -> None:
    assert not breaks(edited(GROWING[what]))


@pytest.mark.parametrize(("where", "field"), [(SEATS, CHAMBERS), (SENT, "type")])
def test_one_more_value_of_a_choice_only_grows(where: tuple[str, ...], field: str) -> None:
    wider = part(kept_names(), where)[field].replace("[", '["attic", ', 1)
    assert not breaks(edited(put(where, field, wider)))


def test_only_growth_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    less, other = kept_names(), kept_names()
    file = tmp_path / "record_names.json"
    monkeypatch.setattr(record_names, "FILE", file)
    drop(ASKED[:-1], ASKED[-1])(less)
    file.write_text(json.dumps(less), encoding="utf-8")
    assert record_names.main([]) == 0
    assert kept_names() == less
    assert record_names.main(["--write"]) == 0
    assert kept_names() == read_names()
    put(ASKED, "titel", "text")(other)
    file.write_text(json.dumps(other), encoding="utf-8")
    assert record_names.main(["--write"]) == 1
    assert kept_names() == other
    told = capsys.readouterr().out
    assert "BREAKS OLD RECORDS: " + " / ".join((*ASKED, "titel")) in told
    assert "frozen" in told
