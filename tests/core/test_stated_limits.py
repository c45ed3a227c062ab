"""The limits that our pages state, as numbers: with others, verifiers refuse what was written."""

from __future__ import annotations

import pytest

from moot.core import canonical, record

LIMITS = {
    "integer": (canonical.MAX_INT, 9_007_199_254_740_991),
    "depth": (canonical.MAX_DEPTH, 32),
    "bytes of an event": (record.MAX_BODY_BYTES, 65_536),
    "bytes of a text that stands in the record": (record.MAX_TEXT_BYTES, 16_384),
    "artifacts of an event": (record.MAX_ARTIFACTS, 256),
    "role": (record.MAX_ROLE, 64),
    "corr": (record.MAX_CORR, 128),
    "key": (record.MAX_KEY, 300),
    "media type": (record.MAX_MEDIA_TYPE, 127),
}


@pytest.mark.parametrize("limit", LIMITS)
def test_a_limit_is_the_one_that_is_stated(limit: str) -> None:
    ours, stated = LIMITS[limit]
    assert ours == stated
