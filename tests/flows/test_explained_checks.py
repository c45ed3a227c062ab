"""The ids of the checks that `moot trace verify` prints can be explained."""

from __future__ import annotations

import pytest

from moot.core.errors import NotFound
from moot.flows.codes.explanation import explain_code
from moot.protocols.trace.audit.verification import CHECKS, NamedCheck


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.id)
def test_every_check_of_a_trace_is_explained(check: NamedCheck) -> None:
    for typed in (check.id, check.id.lower()):
        (told,) = explain_code(typed)
        assert (told.code, told.protocol, told.sentence) == (check.id, "trace", check.about)


def test_a_slip_in_the_id_of_a_check_is_led_to_the_nearest() -> None:
    with pytest.raises(NotFound) as unknown:
        explain_code("CHK_CHAIN_CONTINUTY")
    assert unknown.value.hint == "`moot explain CHK_CHAIN_CONTINUITY` is the nearest"
