"""Tests of the command line that are about the ledger's file, or about the machine that keeps it.

Each with the reason why it says nothing about a ledger that lies elsewhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

_OTHER_FOLDER: Final = "it works from a second key folder, which has not the database's address"
_OTHER_MACHINE: Final = "it works from a second key folder; a machine that joined has one"
_AS_LEDGER: Final = "it acts as the ledger without a person, which only the keeper's machine does"
_FILE: Final = "it changes or counts the rows of the ledger's file"

ONLY_HERE: Final[Mapping[str, Mapping[str, str]]] = {
    "postgres": {
        "cli/test_mail.py::test_nobody_writes_in_anothers_name": _OTHER_FOLDER,
        "cli/test_mail.py::test_reading_anothers_inbox_leaves_it_as_it_is": _OTHER_FOLDER,
        "cli/test_trace.py::test_a_forged_event_fails_the_trace_and_nothing_is_run": _FILE,
        "cli/test_heartbeat.py::"
        "test_a_heartbeat_is_repeated_at_will_and_changes_only_its_own_row": _FILE,
        "cli/test_heartbeat.py::test_nobody_beats_for_another": _OTHER_FOLDER,
        "cli/test_heartbeat.py::"
        "test_an_agent_with_a_key_folder_of_its_own_beats_reserves_and_joins": _OTHER_FOLDER,
        "cli/test_agenda_and_status.py::test_without_the_root_key_it_stays_due": _OTHER_FOLDER,
    },
    "joined": {
        "cli/test_mail.py::test_nobody_writes_in_anothers_name": _OTHER_MACHINE,
        "cli/test_mail.py::test_reading_anothers_inbox_leaves_it_as_it_is": _OTHER_MACHINE,
        "cli/test_trace.py::"
        "test_a_claim_on_bytes_that_are_gone_is_accepted_flagged_and_fails_the_audit": (
            "it removes bytes here, which the keeper still has"
        ),
        "cli/test_trace.py::test_an_ended_key_runs_nothing": _AS_LEDGER,
        "cli/test_trace.py::test_a_forged_event_fails_the_trace_and_nothing_is_run": _FILE,
        "cli/test_trace.py::test_what_was_erased_on_purpose_is_told_and_fails_nothing": _AS_LEDGER,
        "cli/test_receipt.py::"
        "test_without_the_machine_s_key_only_a_receipt_that_was_made_can_be_written": (
            "it takes the ledger's own key away, which the keeper has"
        ),
        "cli/test_agenda_and_status.py::test_without_the_root_key_it_stays_due": _OTHER_MACHINE,
        "cli/test_heartbeat.py::"
        "test_a_heartbeat_is_repeated_at_will_and_changes_only_its_own_row": _FILE,
        "cli/test_heartbeat.py::test_nobody_beats_for_another": _OTHER_MACHINE,
        "cli/test_heartbeat.py::"
        "test_an_agent_with_a_key_folder_of_its_own_beats_reserves_and_joins": _OTHER_MACHINE,
    },
}
