"""One small program for each peer, run by the Python of that peer's environment.

    python -m bench.peers.drivers.NAME offers     says what it can be asked
    python -m bench.peers.drivers.NAME QUESTION   prepares, says so, and measures once for each line

Only the standard library, the peer itself and the modules beside this one are imported here.
"""
