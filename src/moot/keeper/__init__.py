"""One ledger for many machines: one keeps it, the others join and have a copy of their own.

    certificate.py    the keeper's own TLS certificate, known by its fingerprint
    line.py           frames over a socket, plain or TLS
    questions.py      what may be asked, and what comes back
    members.py        the machines that joined, and who is invited
    returning.py      a machine that joins once more after the list of machines was lost
    ledgers_part.py   what the ledger's own key signs for a machine
    membership.py     what machines ask about machines: who shares the ledger, to be let go
    homes.py          on which machine a session is at home, and who may move it
    turns.py          whose turn it is on a stream that several want
    news.py           what a machine's copy lacks
    artifact_pieces.py  artifacts on their way
    door.py           the keeper's side: answers questions, records commands
    connection.py     the keeper's end of a line, which never waits
    listening.py      who may connect, how much at once, how long that may take: one thread for all
    keeping.py        a keeper at work: who asks, and all of the above
    copying.py        a machine's side: bring the copy up to date
    one_fetches.py    which of its processes does so
    joined_engine.py  a machine's side: decide here, commit there
    commits_ahead.py  what it was acknowledged and the copy lacks
    crowded_streams.py  where it lines up before it decides

A machine decides each command on its copy, signs what comes out with its agents' keys, and the
keeper decides it again before it commits (`engine/given_signatures.py`). Reading needs nobody: all
of the ledger is here, verified. The keeper signs for nobody but the ledger.
"""
