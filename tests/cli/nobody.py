"""`moot` as someone whom permissions bind: `python -m tests.cli.nobody WHO WHERE WORD...`.

All of `moot` is loaded first: Python itself may lie where nobody may look.
"""

from __future__ import annotations

import importlib
import os
import pkgutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import moot
from moot.surfaces.cli.main import run
from tests.cli.project import Project, Result
from tests.nobody import become_nobody

ROOT = Path(__file__).resolve().parents[2]


def run_as_nobody(project: Project, *words: str, within: Sequence[str] = ()) -> Result:
    """`within`: a command that runs this one, and forbids what permissions else would."""
    who = "as-started" if within else "nobody"
    done = subprocess.run(
        [*within, sys.executable, "-m", "tests.cli.nobody", who, str(project.root), *words],
        cwd=ROOT,
        env=project.env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    return Result(done.returncode, done.stdout, done.stderr)


def main(who: str, where: str, *words: str) -> int:
    for module in pkgutil.walk_packages(moot.__path__, "moot."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    if who == "nobody":
        become_nobody()
    os.chdir(where)
    return run(list(words))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
