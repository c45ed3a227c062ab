"""One ledger for many machines: one keeps it, the others join and have a copy of their own.

    connection.py         a machine's connection to its keeper: frames over a unix socket or TLS
    server_connection.py  the keeper's end of a connection: non-blocking reads and writes
    listener.py           who may connect to the keeper, how many at once, and for how long
    messages.py           the questions and answers, packed with msgpack
    keeper.py             a keeper at work: its certificate, the machines that may connect
    request_handler.py    answers one request of a machine
    turns.py              whose turn it is on a stream: connections that were overtaken queue
    ledger_signing.py     what the ledger's own key signs for a machine, and what not
    members.py            the machines that joined and the open invitations, in a file
    membership.py         what machines ask about machines: who shares the ledger, to leave it
    session_owner.py      which machine owns a session, and how that changes
    sync_delta.py         what a machine's copy lacks, read from the keeper's ledger
    joined_engine.py      the engine of a machine that joined: decides here, commits at the keeper
    joining.py            how a machine joins, and how it joins again when the list was lost
    opening.py            opens a workspace whose ledger is elsewhere: at a keeper, in PostgreSQL
    replica.py            a machine's copy of the ledger, brought up to date
    sync_state.py         what the keeper acknowledged and the copy does not have yet
    postgres/             a ledger in PostgreSQL, with its replication, backups and operators

A machine decides each command on its copy, signs what comes out with its agents' keys, and the
keeper decides it again before it commits (`engine/remote_signatures.py`). Reading needs nobody: all
of the ledger is here, verified. The keeper signs for nobody but the ledger.
"""
