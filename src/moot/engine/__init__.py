"""The only place where pure meets IO: lock, read, decide, sign, append.

`engine.py` is the door; `batch.py` turns commands into records under the lock; `replay.py` brings
a machine's state up to date; `writer.py` commits many callers' commands in one transaction;
`checkpoints.py` pins all heads under one signature; `export.py` writes bundles; `rebuild.py` makes
what is derived anew (`tree.py` the tree of heads); `witness.py` compares with another copy;
`erasing.py` removes an artifact.
"""

from moot.engine.engine import Engine
from moot.engine.job import Job, Outcome

__all__ = ["Engine", "Job", "Outcome"]
