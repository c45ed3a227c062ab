"""The four files of a session, as anyone may check them: from their bytes alone.

    contents.py       session.json and bill.json as frozen values
    fileshapes.py     what must stand in each file, key by key
    summary_shape.py  a round's summary, a vote's row
    inspection.py     are the files sound? every check in its order
    crosschecks.py    each message against those before it
    agreements.py     each file against the others
    book.py           the four files side by side, for both

They are written by `papers.py` one folder up, from the record.
"""
