"""The only package that connects pure state machines with the disk: lock, read, decide, sign,
append.

    attribution.py        checks that a record was signed by the actor it names
    batch.py              turns commands into records under the write lock
    checkpoints.py        one signature over all heads, made when a process ends or exports
    engine.py             what every caller uses: execute a command, read a state, see what is due
    export.py             the ledger, or some streams, as lines that can be verified offline
    job.py                a command on its way into the ledger, and what comes back
    ledger_copy.py        a machine's copy of a ledger that another machine keeps
    machines.py           which state machine runs a stream
    rebuild.py            recomputes index rows, words, snapshots and the head tree from events
    registry_commands.py  registers, rotates, revokes and retires keys, with their signatures
    remote_signatures.py  signatures from other machines, decided again at the keeper
    replay.py             brings a state up to date: from cache, a signed snapshot, or event 0
    signed_commits.py     signed commands of several machines, committed together
    signers.py            the private keys of this process, and the names they act under
    signs_of_life.py      the latest signed heartbeat or event of an agent, whichever is newer
    witness.py            compares with another copy: two events for one position are a fork

Begin with `engine.py`, which every caller uses: `job.py` is a command and its result, `batch.py`
turns commands into signed records under the write lock, `replay.py` brings a state up to date.
"""

from moot.engine.engine import Engine
from moot.engine.job import Job, JobOutcome

__all__ = ["Engine", "Job", "JobOutcome"]
