"""The four files of a session, as anyone may check them: from their bytes alone.

    contents.py       session.json and bill.json as frozen values
    file_shapes.py     what must stand in each file, key by key
    summary_shape.py  a round's summary, a vote's row
    inspection.py     are the files sound? every check in its order
    message_checks.py    each message against those before it
    file_checks.py     each file against the others
    four_files.py           the four files side by side, for both

They are written by `session_files.py` one folder up, from the record.
"""
