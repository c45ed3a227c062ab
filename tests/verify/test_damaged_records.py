"""Records dropped, duplicated, swapped or inserted: each is named by where it went wrong."""

from __future__ import annotations

import pytest

from moot.verify import BundleVerdict
from tests.sampling import QUARTERS
from tests.verify.bundle_builder import Ledger, canon, seal, small
from tests.verify.damaged_bundles import in_quarters, light_story, quarter_of
from tests.verify.verdicts import judge, judge_pinned, named

STORY = light_story()
BUNDLE = STORY.bundle()
EVENTS = [(name, seq) for name, entries in STORY.streams.items() for seq in range(len(entries))]
NEXT = [place for place in EVENTS if (place[0], place[1] + 1) in EVENTS]
LAST = [place for place in EVENTS if place not in NEXT]


def _line(place: tuple[str, int]) -> int:
    return BUNDLE.event(*place)


def _places(verdict: BundleVerdict) -> tuple[tuple[str | None, int | None], int | None]:
    """What stood at the first bad line, and the last trusted line."""
    assert verdict.first_bad is not None
    trusted = verdict.last_trusted
    bad = (verdict.first_bad.stream, verdict.first_bad.seq)
    return bad, trusted.line if trusted is not None else None


def test_the_untouched_bundle_is_valid() -> None:
    assert judge(BUNDLE, STORY)


@pytest.mark.requirement("LDG-082")
@pytest.mark.parametrize("place", NEXT, ids=str)
def test_a_dropped_record_is_named(place: tuple[str, int]) -> None:
    line = _line(place)
    verdict = judge(BUNDLE.drop(line), STORY)
    assert named(verdict) == ("tampered", line)
    if line > 2:
        assert _places(verdict) == (place, line - 1)


@pytest.mark.parametrize("place", [place for place in LAST if place[0] != "registry"], ids=str)
def test_a_dropped_last_record_is_a_truncated_stream(place: tuple[str, int]) -> None:
    short = BUNDLE.drop(_line(place))
    verdict = judge(short, STORY)
    if place[1] == 0:
        assert verdict.verdict == "tampered"
    else:
        stream = list(STORY.streams).index(place[0])
        assert named(verdict) == ("truncated", short.find("proof", stream))


@pytest.mark.requirement("LDG-082")
@pytest.mark.parametrize("place", EVENTS, ids=str)
def test_a_duplicated_record_is_named(place: tuple[str, int]) -> None:
    line = _line(place)
    verdict = judge(BUNDLE.duplicate(line), STORY)
    assert named(verdict) == ("tampered", line + 1)
    assert _places(verdict) == ((place[0], place[1] + 1), line)


@pytest.mark.requirement("LDG-082")
@pytest.mark.parametrize("place", NEXT, ids=str)
def test_swapped_records_are_named(place: tuple[str, int]) -> None:
    line = _line(place)
    assert named(judge(BUNDLE.swap(line, line + 1), STORY)) == ("tampered", line)


@pytest.mark.requirement("LDG-082")
@pytest.mark.parametrize("place", EVENTS, ids=str)
def test_an_inserted_record_is_named(place: tuple[str, int]) -> None:
    line = _line(place)
    ada = STORY.current["ada"]
    stray = seal(canon(STORY.body("errand/tea", ada, {"stray": True}, seq=99)), ada)
    assert named(judge(BUNDLE.insert(line, stray.envelope), STORY)) == ("tampered", line)


@pytest.mark.requirement("LDG-082")
@pytest.mark.parametrize("place", [place for place in EVENTS if place[1] > 0], ids=str)
def test_a_record_that_cannot_be_read_is_named_by_what_was_due_there(
    place: tuple[str, int],
) -> None:
    line = _line(place)
    verdict = judge(BUNDLE.replace(line, b"{}"), STORY)
    assert named(verdict) == ("tampered", line)
    assert verdict.first_bad is not None
    assert (verdict.first_bad.stream, verdict.first_bad.seq) == place


@pytest.mark.requirement("LDG-082")
def test_a_signed_record_that_names_another_one_before_it_is_named() -> None:
    ledger = small()
    ledger.event("errand/tea", ledger.current["ada"], prev="0" * 64)
    bundle = ledger.bundle()
    last = bundle.event("errand/tea", len(ledger.streams["errand/tea"]) - 1)
    assert named(judge(bundle, ledger)) == ("tampered", last)


@pytest.mark.requirement("LDG-083")
@pytest.mark.parametrize("stream", [name for name in STORY.streams if name != "registry"])
def test_a_deleted_stream_is_missed_by_its_proof_or_the_count(stream: str) -> None:
    def without(lines: list[bytes]) -> None:
        first = BUNDLE.event(stream, 0) - 2
        del lines[first : first + len(STORY.streams[stream])]

    assert judge(BUNDLE.edited(without), STORY).verdict == "tampered"


def test_a_stream_that_is_left_out_with_its_proof_is_not_claimed() -> None:
    verdict = judge(STORY.bundle(["registry", "talk"]), STORY)
    assert verdict
    assert verdict.completeness == "complete up to checkpoint 1 (2 of 4 streams)"


@pytest.mark.parametrize("keep", range(1, len(STORY.streams["errand/tea"])))
def test_a_cut_tail_without_a_checkpoint_is_never_valid(keep: int) -> None:
    ledger = light_story()
    ledger.streams["errand/tea"] = ledger.streams["errand/tea"][:keep]
    verdict = judge(ledger.bundle(proofs=False, note=False), STORY)
    assert named(verdict) == ("unproven", None)


def test_an_old_checkpoint_with_its_old_history_is_caught_by_the_minimum() -> None:
    ledger = Ledger("old")
    ada = ledger.add("ada")
    ledger.event("errand/tea", ada)
    old = ledger.bundle(note=ledger.note(1))
    ledger.event("errand/tea", ada)
    assert judge(ledger.bundle(note=ledger.note(2)), ledger, minimum=2)
    assert named(judge(old, ledger, minimum=2)) == ("rolled-back", None)


@pytest.mark.requirement("LDG-085")
@pytest.mark.parametrize("shard", QUARTERS)
def test_every_flipped_byte_is_caught(shard: int) -> None:
    """A quarter has every fourth eight of bytes, so every place of a bit."""
    ledger = small()
    data = ledger.bundle().data()
    for at in (at for at in range(len(data)) if at // 8 % 4 == shard):
        flipped = data[:at] + bytes([data[at] ^ 1 << at % 8]) + data[at + 1 :]
        assert judge(flipped, ledger, jobs=1).verdict != "valid", at


def test_every_flipped_byte_of_a_line_is_caught_under_a_new_header() -> None:
    ledger = small()
    bundle = ledger.bundle()
    for line, raw in enumerate(bundle.lines, 2):
        for at in range(0, len(raw), 11):
            flipped = raw[:at] + bytes([raw[at] ^ 0x01]) + raw[at + 1 :]
            verdict = judge(bundle.replace(line, flipped), ledger)
            assert verdict.verdict == "tampered", (line, at)


@pytest.mark.parametrize(("kind", "shard"), in_quarters())
def test_no_damage_in_the_catalogue_is_valid(kind: str, shard: int) -> None:
    for name, (data, trust) in quarter_of(kind, shard):
        assert judge_pinned(data, trust).verdict != "valid", name
