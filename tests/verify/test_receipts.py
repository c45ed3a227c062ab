"""Receipts (section 8): only what the root key signed for at the end of a stream is said."""

from __future__ import annotations

import io
import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.verify import receipt as limits
from moot.verify import standalone, verify_bundle
from tests.verify.bundle_builder import Json, Ledger, Signer, canon, story
from tests.verify.verdicts import judge, named, trust_of

STREAM, MADE = "decision/q-1", "decision.receipt_made"
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text("aä\x9b\n", max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["by"]), inner),
    max_leaves=4,
)
SAYS: Json = {"question": "Which queue?", "votes": ["ä", 1, None, {"so": True}]}


def said(data: bytes, pins: Json | None) -> tuple[str, int | None]:
    """What both checkers say of a file's bytes; they must agree."""
    with tempfile.TemporaryDirectory() as folder:
        file, trust = Path(folder, "receipt.json"), Path(folder, "trust.json")
        file.write_bytes(data)
        trust.write_text(json.dumps(pins), encoding="utf-8")
        theirs = standalone.verify(str(file), None if pins is None else str(trust))
        ours = verify_bundle(file, None if pins is None else trust_of(pins))
    assert named(ours) == (theirs.verdict, theirs.first_bad and theirs.first_bad["line"])
    return named(ours)


def receipt(ledger: Ledger, says: Json = SAYS, **more: Any) -> bytes:
    record = ledger.bundle().data().decode()
    return canon({"format": "moot-receipt/1", "record": record, "says": says, **more}) + b"\n"


def ledger(by: Signer | None = None, kind: str = MADE, says: Json = SAYS) -> Ledger:
    """A ledger whose last event of one stream cites what a receipt says."""
    made = Ledger("receipts")
    made.add("ada")
    made.event(STREAM, made.root)
    signer = made.root if by is None else by
    made.event(STREAM, signer, type=kind, artifacts=[made.cite(canon(says))])
    return made


@pytest.mark.requirement("DEC-021")
def test_what_the_root_key_signed_for_is_said() -> None:
    made = ledger()
    assert said(receipt(made), made.trust()) == ("valid", None)
    assert said(receipt(made).rstrip(b"\n"), made.trust()) == ("valid", None)
    assert said(receipt(made), None) == ("unknown-key", 2)
    made.event("errand/tea", made.current["ada"])
    assert said(receipt(made), made.trust()) == ("valid", None)


@pytest.mark.requirement("DEC-021")
def test_anything_else_is_not() -> None:
    agents = Ledger("receipts").add("ada")
    assert said(receipt(ledger(by=agents)), ledger().trust()) == ("tampered", 1)
    assert said(receipt(ledger(kind="decision.noted")), ledger().trust()) == ("tampered", 1)
    assert said(receipt(ledger(), {"question": "Other?"}), ledger().trust()) == ("tampered", 1)
    followed = ledger()
    followed.event(STREAM, followed.root)
    assert said(receipt(followed), followed.trust()) == ("tampered", 1)


@pytest.mark.requirement("DEC-021")
def test_a_receipt_is_at_most_as_long_as_the_format_says(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its newline is no part of it. What the limit is: `test_limits.py`."""
    made = ledger()
    whole = receipt(made).removesuffix(b"\n")
    for room, verdict in [(0, ("valid", None)), (-1, ("tampered", 1)), (-36, ("tampered", 1))]:
        monkeypatch.setattr(limits, "MAX_RECEIPT", len(whole) + room)
        monkeypatch.setattr(standalone, "MAX_RECEIPT_BYTES", len(whole) + room)
        assert said(whole, made.trust()) == verdict
        assert said(whole + b"\n", made.trust()) == verdict
    for room in range(3):
        monkeypatch.setattr(limits, "MAX_RECEIPT", len(whole) + room)
        monkeypatch.setattr(standalone, "MAX_RECEIPT_BYTES", len(whole) + room)
        for more in (b"\n\n", b"\nx", b" ", b"\n" + b"x" * 40):
            assert said(whole + more, made.trust()) == ("tampered", 1)


@pytest.mark.requirement("DEC-021")
def test_a_byte_more_than_64_mebibytes_is_refused() -> None:
    empty = canon({"format": "moot-receipt/1", "record": "", "says": {}})
    longer = empty.replace(b'""', b'"%b"' % (b"a" * (2**26 + 1 - len(empty))))
    assert len(longer) == 2**26 + 1
    assert limits.open_receipt(io.BytesIO(longer)).says is None
    with pytest.raises(ValueError, match="not a receipt"):
        standalone.Reading(None)._step_1_receipt(io.BytesIO(longer))


@pytest.mark.requirement("DEC-021")
def test_a_receipt_whose_words_were_erased_still_counts_by_its_hash() -> None:
    made = ledger()
    made.artifacts.clear()
    assert said(receipt(made), made.trust()) == ("valid", None)


@pytest.mark.requirement("DEC-021")
@pytest.mark.parametrize(
    "data",
    [
        b'{"format":"moot-receipt/1","record":',
        b'{"format":"moot-receipt/1","record":"","says":{}}',
        b'{"format":"moot-receipt/1","record":1,"says":{}}',
        b'{"format":"moot-receipt/1","record":"","says":[]}',
        b'{"format":"moot-receipt/1","record":"","says":{}} ',
        b'{"format":"moot-receipt/1","record":"","says":{"a":1.5}}',
        b'{"format":"moot-receipt/1","record":"","says":{"a":"\\ud800"}}',
        b'{"format":"moot-receipt/1","record":"","says":{},"z":1}',
        b'{"format":"moot-receipt/1","record":"","says":' + b'{"a":' * 40 + b"1" + b"}" * 41,
        b'{"format":"moot-receipt/1", "record":"","says":{}}',
        b'{"format":"moot-receipt/2","record":"","says":{}}',
    ],
)
def test_what_is_no_receipt_fails_at_its_first_line(data: bytes) -> None:
    assert said(data, ledger().trust()) == ("tampered", 1)


def test_what_is_no_receipt_is_read_from_its_first_byte(tmp_path: Path) -> None:
    file = tmp_path / "receipt"
    file.write_bytes(b'{"format":"moot-receipt/1","record":"","says":[]}\n')
    (found,) = verify_bundle(file, None).findings
    assert (found.code, found.line) == ("line_malformed", 1), "a line, though of another form"


@pytest.mark.requirement("DEC-021")
def test_damage_inside_is_named_by_its_line_in_the_record() -> None:
    made = ledger()
    whole = made.bundle()
    place = whole.event(STREAM, 0)
    for damaged, line in ((whole.duplicate(place), place + 1), (whole.drop(place), place)):
        record = damaged.data().decode()
        text = canon({"format": "moot-receipt/1", "record": record, "says": SAYS})
        assert said(text, made.trust()) == ("tampered", line)


@pytest.mark.requirement("DEC-021")
@given(st.binary(max_size=40), st.integers(24, 60))
def test_no_bytes_break_a_checker(data: bytes, kept: int) -> None:
    assert said(receipt(ledger())[:kept] + data, ledger().trust())[0] == "tampered"


def test_a_receipt_behind_a_bad_line_is_never_read() -> None:
    """The second reading of a bundle begins at its start, wherever the first one ended."""
    read_twice, follows = story(), receipt(ledger())  # a revocation asks about events above it
    lines = read_twice.bundle().data().splitlines(keepends=True)
    for place in (2, len(lines) - 1):
        data = b"".join([*lines[:place], b"{}\n", follows])
        assert said(data, read_twice.trust()) == ("tampered", place + 1)


# What is told of it.

DECIDED: Json = {
    "decision": "q-1",
    "stage": "approved",
    "question": "Which queue?\x1b[2J",
    "word": {"by": "operator", "reason": "cheap"},
    "result": {"dissent": ["ada"], "summary": "1 to 1"},
    "cautions": ["not told"],
}


def told(says: Json, trusted: bool = True, **more: Any) -> Any:
    """What both checkers repeat of a receipt; they must agree."""
    made = ledger(says=says)
    with tempfile.TemporaryDirectory() as folder:
        file, trust = Path(folder, "receipt.json"), Path(folder, "trust.json")
        file.write_bytes(receipt(made, {**says, **more}))
        trust.write_text(json.dumps(made.trust()), encoding="utf-8")
        theirs = standalone.verify(str(file), str(trust) if trusted else None)
        ours = verify_bundle(file, trust_of(made.trust()) if trusted else None)
    assert ours.says == theirs.says
    return ours.says


def test_what_the_machine_signed_for_is_told() -> None:
    kept = {name: value for name, value in DECIDED.items() if name != "cautions"}
    assert told(DECIDED) == {"signed_by": "machine", **kept}


def test_what_is_not_proved_is_not_repeated() -> None:
    assert told(DECIDED, trusted=False) is None
    assert told(DECIDED, stage="vetoed") is None


def test_a_bundle_says_nothing() -> None:
    made = ledger()
    assert judge(made.bundle(), made).says is None


@given(st.dictionaries(st.sampled_from(sorted(DECIDED)), JSON_VALUES))
def test_a_receipt_of_any_form_is_told_by_its_five_names(says: Json) -> None:
    names = {"signed_by", "decision", "stage", "question", "word", "result"}
    assert told(says).keys() == names


def test_the_single_file_prints_it_in_one_line_without_control_characters(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = ledger(says=DECIDED)
    (tmp_path / "receipt.json").write_bytes(receipt(made, DECIDED))
    (tmp_path / "trust.json").write_text(json.dumps(made.trust()), encoding="utf-8")
    files = (str(tmp_path / name) for name in ("receipt.json", "trust.json"))
    assert standalone.main([next(files), "--trust", next(files)]) == 0
    (line,) = (one for one in capsys.readouterr().out.splitlines() if one.startswith("says: "))
    assert line.startswith('says: {"signed_by": "machine", "decision": "q-1", "stage": "approved"')
    assert line.isprintable()
