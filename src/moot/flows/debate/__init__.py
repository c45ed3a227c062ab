"""A debate over its file and its record: both written in one step.

`session.py` is the way in: open, read, view, add, tick, resume, close. `place.py` writes file and
record together, `file.py` is the file by itself under its `lock.py`, `reading.py` what was read of
it, `record.py` both side by side, `check.py` one held against the other, `mending.py` a file put
back from its record, `watch.py` a file as others write it, `trust.py` how far an author is proved,
`others_words.py` what another said, put into a session as a quotation, `run.py` the participants'
turns, `outcome.py` what it came to, in words.
"""
