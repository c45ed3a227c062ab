"""A debate over its file and its record: both written in one step.

    session.py          what can be done with a file: read, view, new, add, tick, resume, close
    locked_session.py   file and record under the file's lock, brought in step and written together
    file.py, lock.py    the file by itself: read whole, made once, appended to by one at a time
    reading.py          what was read of a file, and a memory of it for who comes back
    record.py           what the ledger knows of a session, beside its file
    check.py            a file held against its record, to the byte
    mending.py          a file put back from its record
    following.py        a file as others write it
    trust.py            how far the author of an entry is proved
    others_words.py     what another said, put into a session as a quotation
    outcome.py          what a debate came to, in words

Programs call `moot.api.debates.reading` and its neighbours, which say who acts, when, and in which
workspace; participants' turns are in `flows/runs`.
"""
