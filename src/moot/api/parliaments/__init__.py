"""Parliaments: from the call of a session to its final document.

bills.py          operations on the bill: draft, amend, vote, rule
convening.py      convenes a session, or imports one from files
files.py          operations on the four files: check, import, export
incoming.py       reads and checks an incoming message
ruling.py         records a person's ruling in both the session and its decision
runs.py           lets participants take seats: programs, models, scripts, people
session.py        a session in its folder: records commands, then updates the files
session_files.py  writes the four files as exports of the record
sessions.py       operations to convene a session, submit messages, see what is next
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from moot.api.parliaments import bills as bills
    from moot.api.parliaments import files as files
    from moot.api.parliaments import runs as runs
    from moot.api.parliaments import sessions as sessions
