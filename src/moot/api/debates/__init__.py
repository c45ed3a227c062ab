"""Debates, each in one markdown file.

check.py           compares a session file with its record
locked_session.py  locks a session file and writes it together with its record
outcome.py         what a finished debate means for its decision
places.py          finds the files of a session by its id
proof.py           verifies a debate's file, and follows it while others write
reading.py         checks, status, consensus and reports of a debate
record.py          the record of a session file in the ledger
runs.py            lets participants argue: programs, models, scripts, people
session.py         adds to a debate on disk and records what was added
session_file.py    reads, creates and appends to a session file
writing.py         operations that begin, continue and close a debate
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from moot.api.debates import proof as proof
    from moot.api.debates import reading as reading
    from moot.api.debates import runs as runs
    from moot.api.debates import writing as writing
