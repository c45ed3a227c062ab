"""The only place where pure machines meet the disk: lock, read, decide, sign, append.

Begin with `engine.py`, which every caller uses. A command's way: `job.py` the command and its
result, `batch.py` turns commands into signed records under the write lock (`keys.py` who may sign).
Reading: `replay.py` brings a state up to date, `proving.py` verifies who signed,
`heads.py` what a revoked key still counts for, `signs_of_life.py` who is alive, `rollback.py` what
must still be there. Pinning: `checkpoints.py` one signature over all heads, `tree_rebuild.py` the
head tree made anew. Around it: `founding.py` event 0, `agents.py` names and keys, `export.py`
bundles, `rebuild.py` what can be derived again, `witness.py` another copy, `erasing.py` artifacts,
`machines.py` which protocols.
"""

from moot.engine.engine import Engine
from moot.engine.job import Job, JobOutcome

__all__ = ["Engine", "Job", "JobOutcome"]
