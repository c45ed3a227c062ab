"""F-8: one byte of a file or of the record is changed, and nothing goes on from it."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.damage import edit, of
from tests.flows.stage import CRANE, FINCH, OTTER, PARTS, SCOPE, Shop
from tests.flows.test_flows import CRITIQUE, working


def first_bad(shop: Shop, *words: str) -> str:
    """What is said of a changed file: its name and the hash of a record."""
    error = shop.project.json(*words).error
    assert error["code"] == "file_changed", error
    assert re.search(r"\b[0-9a-f]{64}\b", error["message"])
    said: str = error["message"]
    return said


def each_byte(file: Path, places: int) -> Iterator[int]:
    """Change one bit here and there, one after the other; the file is whole again at the end."""
    whole = file.read_bytes()
    for place in range(3, len(whole), max(1, len(whole) // places)):
        file.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        yield place
    file.write_bytes(whole)


@pytest.mark.requirement("FLO-08")
def test_a_byte_anywhere_in_a_debate_stops_it(shop: Shop) -> None:
    shop.debate(shop.blocked())
    shop.agreed()
    go = ("flow", "consensus-to-parliament", "payments.md", "--dir", "bill")
    for _ in each_byte(shop.root / "payments.md", 15):
        assert "payments.md: changed on line" in first_bad(shop, *go)
    assert shop.streams("parliament") == []
    shop.ok(*go)


@pytest.mark.requirement("FLO-08")
def test_a_byte_anywhere_in_the_files_of_a_parliament_stops_it(shop: Shop) -> None:
    shop.approved()
    go = ("--as", CRANE, "flow", "approval-to-trace", "bill", *PARTS)
    for name in ("ledger.json", "session.json", "bill.json", "round-summaries.json"):
        for _ in each_byte(shop.root / "bill" / name, 3):
            assert f"{name}: not what was recorded" in first_bad(shop, *go)
    assert shop.streams("trace") == []
    shop.ok(*go)


@pytest.mark.requirement("FLO-08")
def test_the_first_message_that_differs_is_named_in_any_state_of_the_file(shop: Shop) -> None:
    shop.approved()
    file = shop.root / "bill" / "ledger.json"
    whole = file.read_bytes()
    message = next(
        one["id"]
        for one in json.loads(whole)["messages"]
        if one["content"].get("reasoning") == "rep_2 says YES."
    )
    go = ("--as", CRANE, "flow", "approval-to-trace", "bill", *PARTS)
    for bad in (b"rep_2 says NOO.", b'rep_2 says "YES.'):  # other words; no JSON any more
        changed = whole.replace(b"rep_2 says YES.", bad)
        file.write_bytes(changed)
        assert f"not what was recorded at {message};" in first_bad(shop, *go)
    # Nor does it help to change what we remember of having written it.
    for note in (shop.root / ".moot" / "papers").glob("*.json"):
        was, now = (hashlib.sha256(data).hexdigest() for data in (whole, changed))
        note.write_text(note.read_text("utf-8").replace(was, now), "utf-8")
    assert f"not what was recorded at {message};" in first_bad(shop, *go)
    assert shop.streams("trace") == []


def damage(shop: Shop, stream: str, old: str, new: str) -> None:
    edit(
        shop.project.ledger,
        f"UPDATE events SET body = CAST(replace(CAST(body AS TEXT), '{old}', '{new}') AS BLOB)"
        f" WHERE {of(stream)}",
    )


@pytest.mark.requirement("FLO-08")
def test_what_a_flow_would_write_to_must_be_whole_too(shop: Shop) -> None:
    intent = working(shop)
    shop.as_(OTTER, "reserve", SCOPE)
    shop.ok("trace", "exec", "t1", intent)
    claim = ("trace", "claim", "t1", "--confidence", "0.9", "--evidence", "x1/stdout")
    shop.ok(*claim, "--text", "paid")
    sent = shop.as_(CRANE, "send", FINCH, "CRITIQUE: no", shop.file(CRITIQUE % "t1/c1"))["id"]
    damage(shop, "trace/t1", "paid", "Paid")
    before = shop.count_events()
    done = shop.project.json("--as", FINCH, "flow", "critique-to-challenge", sent)
    assert done.error["code"] == "tampered"
    assert re.search(r"trace/t1 .*; the first bad record is [0-9a-f]{64}$", done.error["message"])
    assert shop.count_events() == before
