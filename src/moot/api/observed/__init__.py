"""Observed work: the sessions that a coding tool's hook reports, and the gaps between them.

guards.py      how each agent is guarded now, and when nothing checked its edits
seen_tests.py  whether a shell command ran tests, and how they ended
sessions.py    one record for each session of what hooks saw, with the gaps
"""
