"""`moot run`: start a coding tool under a name, and do for it what needs the ledger's own key.

    delegation.py      pass an operation that needs the ledger's key on to `moot run`
    guard_proof.py     check while a program runs that the hook of each coding tool runs
    launching.py       before the start: is it a coding tool, and will its hook run?
    lending.py         the key folder and the socket that a program gets
    moot_run.py        keep a name present while a program, or this process, works under it
    requests.py        the requests that `moot run` answers for its program
    run_usage.py       measure and record what the coding tools of a run use
    run_watch.py       callbacks of a run
    taken_names.py     take the name of a program, with its lock, before the program starts
    tool_answering.py  answer hooks from the `moot mcp` of the same coding tool
    values.py          encode arguments and results of operations as JSON

The program gets one agent's key and no other (decision 0023).
"""
