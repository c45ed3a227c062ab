"""Trace: proposals, runs and claims that can be proved."""
