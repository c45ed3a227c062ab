"""What `moot run` is for its program's hooks: a process that lends a key folder, and listens.

`python -m bench.lender FOLDER NAME` prints the program's variables and stays until its standard
input ends.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.ground import keys_of
from moot.api.session import Session
from moot.keys.folder import KeyFolder
from moot.runner.lending import lent_settings
from moot.surfaces.hooks.hook_server import answer_hook


@contextmanager
def lender(place: Path, name: str) -> Iterator[dict[str, str]]:
    """The variables that a program of such a run finds, while the block lasts."""
    words = [sys.executable, "-m", "bench.lender", str(place), name]
    with subprocess.Popen(
        words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        said: dict[str, str] = json.loads(process.stdout.readline())
        try:
            yield {**said, "MOOT_AGENT": name, "MOOT_EPOCH": "1"}
        finally:
            process.communicate(timeout=60)


def main(place: str, name: str) -> None:
    keys = KeyFolder(keys_of(Path(place)))
    session = Session(Path(place), acting=name, epoch=1, keys=keys)
    with session, lent_settings(session, answer_hook) as lent:
        print(json.dumps(lent), flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main(*sys.argv[1:])
