"""One ledger for several machines: one machine keeps it, the others join and have a copy.

    connection.py         a machine's connection to its keeper: frames over a unix socket or TLS
    server_connection.py  the keeper's end of a connection: non-blocking reads and writes
    listener.py           the keeper's event loop: accepts connections, limits and times them out
    messages.py           the questions and answers, packed with msgpack
    keeper.py             runs a keeper: its certificate, the machines that may connect
    request_handler.py    answers one request of a machine
    turns.py              whose turn it is on a stream: commits that were overtaken queue
    ledger_signing.py     what the ledger's own key signs for a machine, and what it does not
    members.py            the machines that joined and the open invitations, in a file
    membership.py         questions about machines: list them, leave, move a session
    session_owner.py      which machine owns a session, and how that changes
    sync_delta.py         what a machine's copy lacks, read from the keeper's ledger
    joined_engine.py      the engine of a machine that joined: decides here, commits at the keeper
    joining.py            joins a ledger, and joins again after the keeper lost its list
    opening.py            opens a workspace whose ledger is elsewhere: at a keeper, in PostgreSQL
    replica.py            a machine's copy of the ledger, and how it is synchronised
    sync_state.py         commits that the keeper acknowledged and the copy does not have yet
    postgres/             a ledger in PostgreSQL

A machine decides each command on its copy and signs the events with its agents' keys; the keeper
decides it again before it commits (`engine/remote_signatures.py`). Reading needs no keeper: the
machine has all of the ledger, verified. The keeper signs only for the ledger, never for an agent.
"""
