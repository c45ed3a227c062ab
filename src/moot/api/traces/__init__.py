"""Traces: work that can be proved, from a task to a verified report.

lifecycle.py      a trace is begun, stopped, and a part of it gets a new key
planning.py       proposals and intents, and the critic's judgement of both
execution.py      an intent is run; runs that died are recorded; participants do all of it
claims.py         what runs show, objections to it, the final statement
reading.py        where a trace stands; a trace as a page; all traces; work only watched by a hook
verification.py   is a trace intact, complete and within its policy?
recording.py      what all steps have in common: which trace, who acts, what is recorded first
"""
