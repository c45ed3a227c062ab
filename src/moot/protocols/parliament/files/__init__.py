"""The four files of a session, as anyone may check them: from their bytes alone.

    file_checks.py  each file against the others: one problem, one bill, one history of votes
    file_shapes.py  the shapes of the four files, key by key, as the protocol prints them
    inspection.py   are the four files sound?

They are written by `session_files.py` one folder up, from the record.
"""
