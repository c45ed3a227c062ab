"""Rows that only remark something: each is shown by a file that breaks it, with its severity."""

from __future__ import annotations

import pytest

from moot.core.findings import Severity
from moot.protocols.debate.checker import check_session
from moot.protocols.debate.phases import Happening, Phase, phase_after

from .sessions import CREATED, SESSION_ID, entry, session

HEAD = f"<!-- created: {CREATED} -->\n<!-- session-id: {SESSION_ID} -->\n"
LATER = f"<!-- bounce-protocol: 0.2 -->\n{HEAD}"
VOTE = "stance: approve\nconfidence: 0.8\n"
REST = "summary: A point.\naction_requested: n/a\nevidence: n/a\n"


def fields(text: str) -> str:
    return session(entry(1, "red-fox", fields=text))


UNYIELDED = session(
    entry(1, "red-fox", marker=""), entry(2, "blue-hen", 1, 2), turn_order="free-form"
)
ROWS = [
    (session(header=LATER), "newer_minor", Severity.INFO),
    (session(header=LATER, tags="x"), "unknown_rule", Severity.INFO),
    (session(entry(1, "red-fox", evidence="n/a\nreply_to: y"), header=LATER), "unknown_field",
     Severity.INFO),
    (fields(f"{VOTE}stance: reject\n{REST}"), "duplicate_field", Severity.ERROR),
    (fields(f"{VOTE}confidence: 0.1\n{REST}"), "duplicate_field", Severity.ERROR),
    (fields(f"{VOTE}{REST}summary: Another.\n"), "field_again", Severity.WARNING),
    (fields(f"{REST}{VOTE}"), "field_order", Severity.WARNING),
    (session(header=f"{LATER}<!-- signed-by: x -->\n"), "header_extra", Severity.INFO),
    (fields(f"stance: approve\nconfidence: sure\n{REST}"), "INVALID_CONFIDENCE", Severity.ERROR),
    (session(entry(1, "red-fox", confidence="sure"), output_format="free-text"),
     "INVALID_CONFIDENCE", Severity.WARNING),
    (session(entry(1, "red-fox", body="A heading\n=====\n\nWords.")), "setext_in_body",
     Severity.WARNING),
    (session(entry(1, "red-fox", marker="<!-- yield -->  \n")), "trailing_space",
     Severity.WARNING),
    (session(entry(1, "red-fox").replace(" -->\n<!-- turn", " -->\n\n<!-- turn")), "blank_in_head",
     Severity.ERROR),
    (session(agents=("Bob",)), "odd_agent_name", Severity.WARNING),
    (session(entry(1, "red-fox", 1, 1), entry(2, "blue-hen", 1, 1), turn_order="free-form"),
     "duplicate_turn", Severity.INFO),
    (session(entry(1, "ant", asks="bee and cow to speak"), entry(2, "bee", 1, 2),
             agents=("ant", "bee", "cow"), turn_order="supervised"),
     "ambiguous_next", Severity.WARNING),
    (session(entry(1, "red-fox", at="2026-03-01T10:00:00Z"),
             entry(2, "blue-hen", 1, 2, at="2026-03-01T09:59:00Z")),
     "time_goes_back", Severity.WARNING),
    (session(entry(1, "red-fox", at="2020-01-01T00:00:00Z")), "before_created", Severity.WARNING),
    (session(entry(1, "red-fox"), entry(2, "blue-hen", 1, 2, at="2027-01-01T00:00:00Z")),
     "late_entry", Severity.INFO),
    (UNYIELDED, "MISSING_YIELD_MARKER", Severity.WARNING),
]  # fmt: skip


@pytest.mark.parametrize(("text", "code", "severity"), ROWS)
def test_a_row_says_its_code_with_its_severity(text: str, code: str, severity: Severity) -> None:
    found = {(one.code, one.severity) for one in check_session(text).findings}
    assert (code, severity) in found


@pytest.mark.requirement("BNC-025")
def test_a_session_id_of_another_version_is_an_error_for_anyone_who_asks() -> None:
    other = "a1b2c3d4-e5f6-7890-abcd-ef1234567890"
    head = f"<!-- bounce-protocol: 0.1 -->\n{HEAD}".replace(SESSION_ID, other)
    (finding,) = check_session(session(header=head), strict_uuid=True).findings
    assert (finding.code, finding.severity) == ("uuid_not_v4", Severity.ERROR)


ENDS = {
    Happening.AGREED: Phase.CONSENSUS,
    Happening.ALL_DEFERRED: Phase.DEADLOCK,
    Happening.LAST_ROUND_OVER: Phase.MAX_ROUNDS,
    Happening.CLOSED: Phase.CLOSED,
}
GOES_ON = {
    Happening.OPENED: Phase.ENTRY_OPEN,
    Happening.YIELDED: Phase.ACTIVE,
    Happening.TIMED_OUT: Phase.WAITING_HUMAN,
}


@pytest.mark.parametrize("phase", list(Phase))
def test_whatever_happens_leads_where_the_document_says(phase: Phase) -> None:
    ended = phase in ENDS.values()
    for happening in Happening:
        leads_to = {**ENDS, **GOES_ON}.get(happening, phase)
        if happening is Happening.RESUMED and phase is Phase.WAITING_HUMAN:
            leads_to = Phase.ACTIVE
        assert phase_after(phase, happening) is (phase if ended else leads_to)
    assert phase.has_ended is ended
