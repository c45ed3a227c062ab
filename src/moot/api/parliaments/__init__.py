"""Parliaments: from the call of a session to its final document.

bills.py          the bill: drafted, amended, voted on, decided by a person
convening.py      how a session begins: newly convened, or from files made elsewhere
files.py          the four files of a session: checked, taken in, written again
incoming.py       a message as somebody sends it, read and checked once
ruling.py         a person's ruling and the last vote, in the records of session and decision
runs.py           seats taken by participants: programs, models, scripts, people
session.py        a session in its folder: commands go into the record, the files follow
session_files.py  the four files on disk: exports of the record
sessions.py       a session is called, messages are brought, and it says who is next
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from moot.api.parliaments import bills as bills
    from moot.api.parliaments import files as files
    from moot.api.parliaments import runs as runs
    from moot.api.parliaments import sessions as sessions
