"""The limits of docs/format.md as numbers, for both checkers."""

from __future__ import annotations

import pytest

from moot.verify import artifacts, bundle, canonical, event_reader, receipt, standalone

LIMITS = {
    "integer": (9_007_199_254_740_991, canonical.MAX_INT, standalone.MAX_INTEGER),
    "depth": (32, canonical.MAX_DEPTH, standalone.MAX_DEPTH),
    "line": (2_097_152, bundle.MAX_LINE, standalone.MAX_LINE_BYTES),
    "payload": (65_536, event_reader.MAX_PAYLOAD, standalone.MAX_PAYLOAD_BYTES),
    "chunk": (786_432, artifacts.CHUNK, standalone.CHUNK_BYTES),
    "receipt": (67_108_864, receipt.MAX_RECEIPT, standalone.MAX_RECEIPT_BYTES),
}


@pytest.mark.parametrize("limit", LIMITS)
def test_a_limit_is_the_one_that_the_format_states(limit: str) -> None:
    stated, ours, alone = LIMITS[limit]
    assert (ours, alone) == (stated, stated)
