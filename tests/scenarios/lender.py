"""A process that lends an agent its key folder and listens, as `moot run` does beside its program.

`python -m tests.scenarios.lender ROOT KEYS NAME [CLOCK]` prints the variables and stays until its
standard input ends.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from moot.api.runner_lending import lent_settings
from moot.api.session import Session
from moot.keys.folder import KeyFolder
from moot.surfaces.hooks.served import answer_hook


def main(root: str, keys: str, name: str, clock: str = "") -> None:
    session = Session(Path(root), acting=name, epoch=1, keys=KeyFolder(Path(keys)), clock=clock)
    with session, lent_settings(session, answer_hook) as lent:
        sys.stdout.write(f"{json.dumps(lent)}\n")
        sys.stdout.flush()
        sys.stdin.read()


if __name__ == "__main__":
    main(*sys.argv[1:])
