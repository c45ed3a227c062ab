"""Observed work: the sessions that a coding tool's hook reports, and the times nobody watched.

guards.py      how each agent is guarded now, and the times in which nobody checked: read,
               never written
seen_tests.py  was a shell command a run of tests, and does its exit status say how they
               ended?
sessions.py    what a coding tool's hook saw, one record for each session, and the times
               nobody watched
"""
