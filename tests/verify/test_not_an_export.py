"""Section 7, before the first line: a wrong file is not called a tampered one, and never valid.

Both checkers must refuse the same files. A bundle and a receipt each claim twice what they are, so
one damaged byte cannot make either look like a wrong file.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.verify import NotAnExport, standalone, verify_bundle
from tests.verify.bundle_builder import canon, small
from tests.verify.test_receipts import ledger, receipt

BUNDLE, RECEIPT = small().bundle().data(), receipt(ledger())
OURS = {"bundle": BUNDLE, "receipt": RECEIPT}
WRONG = {
    "nothing": b"",
    "a new line": b"\n",
    "a page": b"# Approved\n\nmoot verify q1.json\n",
    "a trust file": canon(small().trust()) + b"\n",
    "a note": small().note().encode(),
    "other JSON": b'{"record":"moot"}\n',
    "a digest of something else": b'{"digest":1}\n',
    "a bundle without its header": BUNDLE.partition(b"\n")[2],
    "a bundle far below": b"#" * 256 + BUNDLE,
    "bytes": b"\xff\xfe\x00",
    "a database": b"SQLite format 3\0" * 100,
}


def is_judged(file: Path) -> bool:
    """Whether there is a verdict at all; both checkers must think the same, and none says valid."""
    try:
        ours = verify_bundle(file, None).verdict
    except NotAnExport:
        with pytest.raises(ValueError, match="neither an export nor a receipt"):
            standalone.verify(str(file))
        return False
    assert standalone.verify(str(file)).verdict == ours != "valid"
    return True


@pytest.mark.parametrize("data", WRONG.values(), ids=WRONG)
def test_a_file_that_does_not_claim_to_be_one_gets_no_verdict(
    tmp_path: Path, data: bytes, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "file"
    file.write_bytes(data)
    assert not is_judged(file)
    assert standalone.main([str(file)]) == 4
    said = capsys.readouterr()
    assert (said.out, said.err.count("\n")) == ("", 1)
    assert "neither an export nor a receipt" in said.err


@pytest.mark.parametrize("name", OURS)
def test_one_damaged_byte_never_makes_ours_a_wrong_file(tmp_path: Path, name: str) -> None:
    file, data = tmp_path / "file", OURS[name]
    for at in range(300):
        for byte in {data[at] ^ 1 << at % 8, 0x0A, 0x00} - {data[at]}:
            file.write_bytes(data[:at] + bytes([byte]) + data[at + 1 :])
            assert is_judged(file), (at, byte)


@pytest.mark.parametrize("name", OURS)
@pytest.mark.parametrize("keep", [32, 64, 100, 200])
def test_ours_cut_short_in_its_first_line_is_judged(tmp_path: Path, name: str, keep: int) -> None:
    file = tmp_path / "file"
    file.write_bytes(OURS[name][:keep])
    assert is_judged(file)
    assert standalone.verify(str(file)).verdict == verify_bundle(file, None).verdict == "tampered"


@pytest.mark.parametrize("kind", ["moot-bundle/2", "moot-receipt/2"])
def test_another_version_of_the_format_is_not_valid(tmp_path: Path, kind: str) -> None:
    file = tmp_path / "file"
    file.write_bytes(canon({"format": kind}) + b"\n")
    assert is_judged(file)


@given(st.binary(max_size=40), st.sampled_from([b"", b"moot-bundle/", b'{"digest":"']))
def test_no_bytes_are_judged_by_one_and_refused_by_the_other(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, claim: bytes
) -> None:
    file = tmp_path_factory.getbasetemp() / "any bytes"
    file.write_bytes(claim + data)
    assert is_judged(file) or not claim
