"""`moot` as someone whom permissions bind: `python -m tests.cli.nobody WHO WHERE WORD...`.

All of `moot` is loaded first: Python itself may lie where nobody may look. That takes its time, so
many commands may share it: `EACH` stands before them, as JSON, and every answer gets a line.
"""

from __future__ import annotations

import importlib
import json
import os
import pkgutil
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

import moot
from moot.surfaces.cli.main import run
from tests.cli.project import Project, Result
from tests.nobody import become_nobody

ROOT = Path(__file__).resolve().parents[2]
EACH = "--each"


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


def each_as_nobody(project: Project, commands: Iterable[Sequence[str]]) -> list[Result]:
    """Many commands, one after the other; each answers with an envelope."""
    asked = [["--json", *words] for words in commands]
    done = run_as_nobody(project, EACH, json.dumps(asked))
    answers = done.out.splitlines()
    assert len(answers) == len(asked), done.err
    codes = json.loads(done.err.splitlines()[-1])
    return [Result(code, f"{said}\n", "") for code, said in zip(codes, answers, strict=True)]


def main(who: str, where: str, *words: str) -> int:
    for module in pkgutil.walk_packages(moot.__path__, "moot."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    if who == "nobody":
        become_nobody()
    os.chdir(where)
    if words[0] != EACH:
        return run(list(words))
    codes = [run(one) for one in json.loads(words[1])]
    sys.stderr.write(f"{json.dumps(codes)}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
