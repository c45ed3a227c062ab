"""`moot run`: start a coding tool under a name, and do for it what needs the ledger's own key.

    delegation.py      an operation that signs with the ledger's own key, called where only an
                       agent's key is
    guard_proof.py     while a program runs and when it ends: has the hook of each coding tool
                       spoken?
    launching.py       before a program starts under `moot run`: is it a coding tool, and will
                       its hook run?
    lending.py         what a program of `moot run` finds beside its name: a key folder of its
                       own, and who listens
    moot_run.py        being there: a name for as long as something works under it, for a
                       program or for this process
    requests.py        what a `moot run` answers its program: as the program's own agent, by the
                       library's own rules
    run_usage.py       what the coding tools of a `moot run` use, by their own word: asked for,
                       added up, put on record
    run_watch.py       what may be of interest while `moot run` goes on
    taken_names.py     the name that a program works under: taken with its lock before the
                       program starts
    tool_answering.py  hooks answered by the `moot mcp` of the same coding tool, over the line
                       that it has
    values.py          arguments and results of operations as JSON, with the types that JSON
                       lacks

The program gets one agent's key and no other (decision 0023).
"""
