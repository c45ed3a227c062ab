"""Provable work: propose, review, run, claim, verify.

reading.py  `moot trace list` to `verify`: what is in a trace, and whether it is intact and
            within policy
steps.py    `moot trace new` to `finalize`: one command for each step of a trace
"""
