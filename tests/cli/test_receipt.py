"""`moot receipt`: a decision as a file that proves itself; whatever is changed in it is noticed."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from moot.core.canonical import canonical
from moot.core.errors import Refused
from moot.protocols.decision.commands import MakeReceipt
from moot.protocols.decision.machine import MACHINE
from moot.verify import load_trust, standalone, verify_bundle
from tests.project import Project

VOICES = "amber-otter=rules:approve,teal-crane=rules:sceptic,coral-finch=rules:reject"
QUESTION = ("ask", "Queue: Postgres or Kafka?", "--option", "Postgres", "--option", "Kafka")
STREAM = "decision/q-1"


@pytest.fixture
def peopled(bare: Project, passphrase: str) -> Project:
    """A workspace with a person, and a question that was argued: two for, one against."""
    bare.env["MOOT_PASSPHRASE_FILE"] = passphrase
    bare.init()
    bare.ok(*QUESTION, "--with", VOICES, "--context", "We have one server.")
    return bare


@pytest.fixture
def decided(peopled: Project) -> Project:
    peopled.ok("decide", "q-1", "approve", "--reason", "We know it.")
    return peopled


def receipt(project: Project, name: str = "q.json", decision: str = "q-1") -> Path:
    project.ok("receipt", decision, "-o", name)
    return project.root / name


def both(project: Project, file: Path) -> tuple[str, int | None]:
    """What both checkers say of a file: they must agree."""
    ours = verify_bundle(file, load_trust(project.pinned))
    theirs = standalone.verify(str(file), str(project.pinned))
    place = None if ours.first_bad is None else ours.first_bad.line
    assert (ours.verdict, place) == (theirs.verdict, theirs.first_bad and theirs.first_bad["line"])
    return ours.verdict, place


def events(project: Project) -> int:
    return len(project.ok("ledger", "log", STREAM)["events"])


@pytest.mark.requirement("DEC-021")
def test_a_receipt_says_everything_and_both_checkers_take_it(decided: Project) -> None:
    file = receipt(decided)
    made = json.loads(file.read_bytes())
    assert list(made) == ["format", "record", "says"]
    said = made["says"]
    assert (said["question"], said["stage"]) == ("Queue: Postgres or Kafka?", "approved")
    assert said["context"]["text"] == "We have one server."
    assert {one["key"]["class"] for one in said["participants"]} == {"agent"}
    assert len({one["key"]["custodian"] for one in said["participants"]}) == 1
    assert [one["answer"] for one in said["first_answers"]] == ["Postgres", "Kafka", "Kafka"]
    assert len(said["argument"]["votes"]) == 6
    assert said["argument"]["first"]["in_favour"] == ["amber-otter"]
    assert said["argument"]["last"]["in_favour"] == ["amber-otter", "teal-crane"]
    (change,) = said["argument"]["changes"]
    assert (change["agent"], change["before"]) == ("teal-crane", "reject 0.7")
    assert change["heard"][0]["entry"]
    (voice,) = said["argument"]["dissent"]
    assert (voice["agent"], "always reject" in voice["text"]) == ("coral-finch", True)
    assert said["word"]["key"]["class"] == "human"
    assert said["cost"]["calls"] == 9
    assert both(decided, file) == ("valid", None)
    found = decided.ok("verify", "q.json")
    assert found["verdict"] == "valid"
    assert {"name": "receipt", "ok": True, "detail": "it says what its record cites"} in found[
        "checks"
    ]


@pytest.mark.requirement("DEC-021")
def test_the_hashes_it_names_are_those_of_the_record(decided: Project) -> None:
    said = json.loads(receipt(decided).read_bytes())["says"]
    logged = decided.ok("ledger", "log", STREAM)["events"]
    (mine,) = [one for one in said["evidence"] if one["id"] == STREAM]
    assert [one["hash"] for one in mine["events"]] == [one["hash"] for one in logged[:-1]]
    assert logged[-1]["type"] == "decision.receipt_made"


@pytest.mark.requirement("DEC-022")
def test_a_second_receipt_of_the_same_decision_records_nothing(decided: Project) -> None:
    first = receipt(decided).read_bytes()
    count = events(decided)
    assert receipt(decided, "again.json").read_bytes() == first
    assert events(decided) == count


@pytest.mark.requirement("DEC-022")
def test_what_happens_later_needs_another_receipt(peopled: Project) -> None:
    waiting = receipt(peopled, "waiting.json")
    assert json.loads(waiting.read_bytes())["says"]["stage"] == "waiting"
    peopled.ok("decide", "q-1", "approve", "--reason", "Good.")
    approved = receipt(peopled, "approved.json")
    assert both(peopled, waiting) == both(peopled, approved) == ("valid", None)
    old, new = (json.loads(file.read_bytes()) for file in (waiting, approved))
    mixed = peopled.root / "mixed.json"
    mixed.write_bytes(canonical({**new, "says": old["says"]}) + b"\n")
    assert both(peopled, mixed) == ("tampered", 1)


@pytest.mark.requirement("DEC-023")
@pytest.mark.parametrize("form", ["md", "html"])
def test_what_is_read_has_the_dissent_and_names_the_proof(decided: Project, form: str) -> None:
    decided.ok("receipt", "q-1", "-o", f"docs.{form}")
    text = (decided.root / f"docs.{form}").read_text("utf-8")
    proof = (decided.root / "docs.json").read_bytes()
    assert hashlib.sha256(proof).hexdigest() in text
    assert "moot verify docs.json --trust trust.json" in text
    for said in ("APPROVED", "coral-finch", "always reject", "We know it.", "Inclusion proofs"):
        assert said in text, said
    assert "<script" not in text
    assert "scripted; no model and no person" in text
    assert "all keys lie in one folder" in text


@pytest.mark.requirement("DEC-023")
def test_a_veto_and_its_reason_are_in_the_receipt_of_what_followed(decided: Project) -> None:
    decided.ok(*QUESTION, "--with", VOICES)
    decided.ok("decide", "q-2", "veto", "--reason", "No new servers.")
    decided.ok("ask", "--resume", "q-3")
    decided.ok("decide", "q-3", "approve", "--reason", "Now yes.")
    file = receipt(decided, "q3.json", "decision/q-3")
    said = json.loads(file.read_bytes())["says"]
    (before,) = said["earlier"]
    told = (before["decision"], before["word"], before["reason"])
    assert told == ("q-2", "vetoed", "No new servers.")
    assert {one["id"] for one in said["evidence"]} >= {"decision/q-2", "decision/q-3"}
    assert both(decided, file) == ("valid", None)


@pytest.mark.requirement("DEC-023")
def test_an_amendment_stands_in_the_receipt_in_full(peopled: Project) -> None:
    (peopled.root / "mine.md").write_text("Postgres, with a limit.\n", encoding="utf-8")
    words = ("--reason", "A limit.", "--text", "mine.md")
    peopled.ok("decide", "q-1", "amend", *words)
    said = json.loads(receipt(peopled).read_bytes())["says"]
    assert said["word"]["text"]["text"] == "Postgres, with a limit.\n"
    peopled.ok("receipt", "q-1", "-o", "q.md")
    assert "Postgres, with a limit." in (peopled.root / "q.md").read_text("utf-8")


@pytest.mark.requirement("DEC-023")
def test_a_parliament_s_votes_are_in_the_receipt(bare: Project) -> None:
    bare.ok("init")
    bare.ok(
        *("ask", "Ship it?", "--chamber", "parliament"),
        *("--with", "amber-otter=rules:approve,teal-crane=rules:reject,jade-heron=rules:approve"),
    )
    file = receipt(bare)
    said = json.loads(file.read_bytes())["says"]
    assert said["chamber"] == "parliament"
    assert said["argument"]["last"]["against"] == ["teal-crane"]
    assert [voice["agent"] for voice in said["argument"]["dissent"]] == ["teal-crane"]
    bare.ok("receipt", "q-1", "-o", "q.md")
    text = (bare.root / "q.md").read_text("utf-8")
    assert "## The bill" in text
    assert "always NO" in text
    assert both(bare, file) == ("valid", None)
    assert bare.ok("ledger", "witness", "q.json")["same"] > 10


@pytest.mark.requirement("DEC-022")
def test_without_the_machine_s_key_only_a_receipt_that_was_made_can_be_written(
    peopled: Project,
) -> None:
    before = receipt(peopled).read_bytes()
    (system,) = peopled.keys.glob("*/system.*.key")
    system.unlink()
    assert receipt(peopled, "again.json").read_bytes() == before
    peopled.ok("decide", "q-1", "approve", "--reason", "Good.")
    count = events(peopled)
    assert peopled.refused("receipt", "q-1", "-o", "new.json") == ("key_missing", 1)
    assert events(peopled) == count
    assert not (peopled.root / "new.json").exists()


@pytest.mark.requirement("DEC-024")
def test_those_who_share_a_model_or_a_program_are_named_beside_the_tally(bare: Project) -> None:
    bare.ok("init")
    script = bare.root / "says.py"
    entry = {"stance": "approve", "confidence": 0.9, "summary": "Yes.", "body": "Yes."}
    script.write_text(
        "import json, sys\n"
        "asked = json.dumps(json.load(sys.stdin)['reply_schema'])\n"
        f"print(json.dumps({entry!r} if 'stance' in asked else {{'answer': 'yes'}}))\n",
        encoding="utf-8",
    )
    same = f"cmd:python3 {script}"
    bare.ok("ask", "Ship it?", "--with", f"{same},{same}")
    bare.ok("receipt", "q-1", "-o", "q.md")
    text = (bare.root / "q.md").read_text("utf-8")
    assert "the same program" in text
    assert "agreement between them weighs less" in text


@pytest.mark.requirement("DEC-021")
def test_only_the_machine_signs_for_a_receipt(decided: Project) -> None:
    count = events(decided)
    with decided.workspace() as space:
        ref = space.artifacts.put(b"{}", "text/plain")
        with pytest.raises(Refused) as refused:
            space.engine.execute(STREAM, MakeReceipt(receipt=ref), "amber-otter")
        assert refused.value.code == "not_allowed"
        with pytest.raises(Refused) as unknown:
            space.engine.execute("decision/q-9", MakeReceipt(receipt=ref), "system")
        assert unknown.value.code == "decision_not_found"
    assert events(decided) == count
    assert MACHINE.version > 1


@pytest.mark.requirement("DEC-021")
@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("receipt", "q-9", "-o", "q.md"), "decision_not_found"),
        (("receipt", "debate/x", "-o", "q.md"), "not_a_decision"),
        (("receipt", "../x", "-o", "q.md"), "not_a_decision"),
        (("receipt", "q-1", "-o", "q.txt"), "usage"),
        (("receipt", "q-1"), "usage"),
        (("receipt", "q-1", "-o", ".moot/trust.json/q.md"), "unwritable_file"),
    ],
)
def test_what_cannot_be_a_receipt_is_refused(
    decided: Project, words: tuple[str, ...], code: str
) -> None:
    assert decided.refused(*words)[0] == code
    assert not list(decided.root.glob("q.*"))


# What was changed is noticed, by both checkers, at the same place --------------------------------


def changed(file: Path, edit: Any) -> bytes:
    made = json.loads(file.read_bytes())
    edit(made)
    return canonical(made) + b"\n"


def edits() -> dict[str, Any]:
    def lines(made: dict[str, Any], cut: Any) -> None:
        made["record"] = "".join(cut(made["record"].splitlines(keepends=True)))

    return {
        "the question": lambda made: made["says"].update(question="Something else?"),
        "a vote": lambda made: made["says"]["argument"]["votes"][0].update(stance="reject"),
        "the dissent": lambda made: made["says"]["argument"].update(dissent=[]),
        "more is said": lambda made: made["says"].update(also="this"),
        "nothing is said": lambda made: made.update(says={}),
        "a field more": lambda made: made.update(note="x"),
        "no record": lambda made: made.update(record=""),
        "the record is none": lambda made: made.update(record="{}\n"),
        "a receipt in it": lambda made: made.update(record=canonical(made).decode()),
        "the end of the record": lambda made: lines(made, lambda old: old[:-1]),
        "an event": lambda made: lines(made, lambda old: [*old[:5], *old[6:]]),
        "another format": lambda made: made.update(format="moot-receipt/2"),
    }


@pytest.mark.requirement("DEC-021")
def test_whatever_is_changed_in_a_receipt_is_noticed(decided: Project) -> None:
    file = receipt(decided)
    damaged = decided.root / "damaged.json"
    for what, edit in edits().items():
        damaged.write_bytes(changed(file, edit))
        verdict, _ = both(decided, damaged)
        assert verdict in ("tampered", "truncated"), what
        code = decided.json("verify", "damaged.json").code
        assert code == 1, what


@pytest.mark.requirement("DEC-021")
def test_one_byte_anywhere_is_noticed(decided: Project) -> None:
    file = receipt(decided)
    good = file.read_bytes()
    damaged = decided.root / "damaged.json"

    @settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
    @given(st.integers(0, len(good) - 2), st.integers(1, 255))
    def one(place: int, change: int) -> None:
        other = bytearray(good)
        other[place] ^= change
        damaged.write_bytes(bytes(other))
        assert both(decided, damaged)[0] != "valid"

    one()


@pytest.mark.requirement("DEC-021")
@pytest.mark.parametrize("cut", [30, 40, 5_000])
def test_a_receipt_cut_short_or_grown_is_none(decided: Project, cut: int) -> None:
    good = receipt(decided).read_bytes()
    damaged = decided.root / "damaged.json"
    damaged.write_bytes(good[:cut])
    assert both(decided, damaged) == ("tampered", 1)
    damaged.write_bytes(good + b"\n")
    assert both(decided, damaged) == ("tampered", 1)
    damaged.write_bytes(good.removesuffix(b"\n"))
    assert both(decided, damaged) == ("valid", None)


@pytest.mark.requirement("DEC-021")
def test_an_agent_s_own_file_is_no_receipt(decided: Project) -> None:
    """What an agent stores and has cited does not become something the ledger says."""
    file = receipt(decided)
    made = json.loads(file.read_bytes())
    said = {**made["says"], "stage": "vetoed"}
    with decided.workspace() as space:
        ref = space.artifacts.put(canonical(said), "application/vnd.moot.receipt.v1+json")
        assert space.artifacts.has(ref.sha256)
    lie = decided.root / "lie.json"
    lie.write_bytes(canonical({**made, "says": said}) + b"\n")
    assert both(decided, lie) == ("tampered", 1)
