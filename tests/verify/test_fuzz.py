"""Whatever the bytes, the answer is a verdict, and it is valid only for the honest bundle."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.verify.bundle_builder import small
from tests.verify.verdicts import judge, judge_pinned

LEDGER = small()
BUNDLE = LEDGER.bundle()
DATA = BUNDLE.data()


@given(st.binary(max_size=300))
def test_any_bytes_have_a_verdict(data: bytes) -> None:
    assert judge_pinned(data, None).verdict in ("tampered", "unknown-key")


@given(st.integers(0, len(DATA)), st.integers(0, 40), st.binary(max_size=10), st.booleans())
def test_a_bundle_with_a_piece_replaced_is_never_valid(
    at: int, removed: int, new: bytes, whole_header: bool
) -> None:
    changed = DATA[:at] + new + DATA[at + removed :]
    if whole_header:
        body = changed.partition(b"\n")[2].split(b"\n")[:-1]
        changed = BUNDLE.edited(lambda lines: lines.__setitem__(slice(None), body)).data()
    assert judge(changed, LEDGER).verdict != "valid" or changed == DATA


_raw_lines = (
    st.sampled_from(BUNDLE.lines)
    | st.binary(max_size=30)
    | st.sampled_from(
        [b"{}", b'{"payload":""}', b'{"chunk":"AAAA"}', b'{"fork":{}}', b'{"checkpoint":""}']
    )
)


@given(st.lists(_raw_lines, max_size=16))
def test_any_lines_under_a_right_header_have_a_verdict(lines: list[bytes]) -> None:
    bundle = BUNDLE.edited(lambda found: found.__setitem__(slice(None), lines))
    verdict = judge(bundle, LEDGER)
    assert verdict.verdict != "valid" or lines == BUNDLE.lines or _is_shorter(lines)
    assert verdict.to_dict()["verdict"] == verdict.verdict


def _is_shorter(lines: list[bytes]) -> bool:
    """The honest bundle without its artifact, which may be left out, or without a whole stream."""
    return [line for line in BUNDLE.lines if line in lines] == lines


@given(st.permutations(BUNDLE.lines))
def test_the_lines_in_another_order_are_never_valid(lines: list[bytes]) -> None:
    bundle = BUNDLE.edited(lambda found: found.__setitem__(slice(None), lines))
    assert judge(bundle, LEDGER).verdict != "valid" or lines == BUNDLE.lines
