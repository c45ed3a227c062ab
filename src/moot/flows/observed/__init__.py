"""Observed work: the sessions that a coding tool's hook reports, and the times nobody watched."""
