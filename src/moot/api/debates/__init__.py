"""Debates, each in one markdown file.

check.py           is a session file what was recorded?
locked_session.py  a session file under its lock, and its record: where both are written
outcome.py         what a debate that is over means for its decision
places.py          where a session has its files, by its id
proof.py           a debate's file against its record, and the file as others write it
reading.py         is a debate sound, whose turn is it, do they agree, how did it go?
record.py          a session file and its record in the ledger
runs.py            a debate argued by participants: programs, models, scripts, people
session.py         a debate on disk: open it, add to it, and record all of it
session_file.py    a session file on disk: read whole, made once, appended to
writing.py         a debate is begun, appended to, moved on, closed
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from moot.api.debates import proof as proof
    from moot.api.debates import reading as reading
    from moot.api.debates import runs as runs
    from moot.api.debates import writing as writing
