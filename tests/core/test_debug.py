"""What was decided, as a line of MOOT_DEBUG and read back from it."""

from __future__ import annotations

import pytest

from moot.core.debug import DecisionLine, read_decision, write_decision

LINES = {
    "presence Reserve: presence.scope_reserved": DecisionLine(
        "presence", "Reserve", None, ("presence.scope_reserved",)
    ),
    "presence Reserve: refused, overlap": DecisionLine("presence", "Reserve", "overlap", ()),
    "mail/a b Send: refused, too_long, mail.refused, mail.noted": DecisionLine(
        "mail/a b", "Send", "too_long", ("mail.refused", "mail.noted")
    ),
    "presence Leave: nothing to record": DecisionLine("presence", "Leave", None, ()),
}


@pytest.mark.parametrize("line", LINES)
def test_a_decision_is_one_line_that_can_be_read_back(line: str) -> None:
    assert write_decision(*LINES[line]) == line
    assert read_decision(line) == LINES[line]


def test_an_event_that_is_called_refused_is_no_refusal() -> None:
    assert read_decision("presence Leave: refused") == DecisionLine(
        "presence", "Leave", None, ("refused",)
    )
