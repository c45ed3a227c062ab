"""Half an hour of everything at once: agents that come, race, talk, die; and what must hold after.

worker.py      one agent in a process of its own; says what was acknowledged
disturbances.py  full disks, jumping clocks, backups, exports and checks while others write
watch.py       memory, file size and latency, sampled as time goes by
invariants.py  what must be true of the record afterwards, read from the record alone
picture.py     the three curves as one SVG
__main__.py    `make soak`
"""

from __future__ import annotations

from pathlib import Path


def keys_beside(place: Path) -> Path:
    """The key folder of the project at `place`: beside it, since none may lie in a project."""
    return place.with_name(f"{place.name}-keys")
