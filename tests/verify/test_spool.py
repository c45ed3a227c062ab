"""The spool gives back what was put in, whether in memory or on disk."""

from __future__ import annotations

import tempfile

import pytest

from moot.verify.chain import Spool


def _filled(count: int) -> Spool:
    spool = Spool(8)
    for number in range(count):
        spool.append(number.to_bytes(8, "big"))
    return spool


@pytest.mark.parametrize("count", [0, 1, 1000, 100_000])
def test_every_record_is_found_again(count: int) -> None:
    spool = _filled(count)
    assert len(spool) == count
    assert [int.from_bytes(record, "big") for record in spool] == list(range(count))
    spool.append((7).to_bytes(8, "big"))
    assert spool[count] == (7).to_bytes(8, "big")
    spool.close()


def test_a_machine_without_a_place_to_write_uses_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(**_: object) -> None:
        raise OSError("read-only")

    monkeypatch.setattr(tempfile, "TemporaryFile", refuse)
    spool = _filled(100_000)
    assert spool[99_999] == (99_999).to_bytes(8, "big")
    assert spool[0] == bytes(8)


def test_the_file_of_a_long_spool_is_given_back() -> None:
    short, long = _filled(1), _filled(100_000)
    short.close()
    long.close()
    assert short[0] == bytes(8)
    with pytest.raises(ValueError, match="closed"):
        long[0]
