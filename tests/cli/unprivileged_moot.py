"""`moot` as someone whom permissions bind: `python -m tests.cli.unprivileged_moot`.

All of `moot` is loaded first: Python itself may lie where nobody may look. That takes its time, so
one process loads it and forks for every command that it reads: a line of JSON each, and a line as
the answer.
With words it runs these itself: `python -m tests.cli.unprivileged_moot WHERE WORD...`.
"""

from __future__ import annotations

import atexit
import importlib
import json
import os
import pkgutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import moot
from moot.surfaces.cli.main import run
from tests.project import Project, Result
from tests.unprivileged import become_nobody

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = (sys.executable, "-m", "tests.cli.unprivileged_moot")


def run_as_nobody(project: Project, *words: str, within: Sequence[str] = ()) -> Result:
    """`within`: a command that runs this one, and forbids what permissions else would."""
    if not within:
        (done,) = _ask_nobody(project, [words])
        return done
    ran = subprocess.run(
        [*within, *PROGRAM, str(project.root), *words],
        cwd=ROOT,
        env=project.env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=300,
    )
    return Result(ran.returncode, ran.stdout, ran.stderr)


def each_as_nobody(project: Project, commands: Iterable[Sequence[str]]) -> list[Result]:
    """Many commands, one after the other; each answers with an envelope."""
    return _ask_nobody(project, [("--json", *words) for words in commands])


def _ask_nobody(project: Project, commands: Sequence[Sequence[str]]) -> list[Result]:
    server = _server()
    assert server.stdin is not None
    assert server.stdout is not None
    asked = {"where": str(project.root), "env": project.env, "commands": commands}
    server.stdin.write(f"{json.dumps(asked)}\n")
    server.stdin.flush()
    return [Result(*one) for one in json.loads(server.stdout.readline())]


@cache
def _server() -> subprocess.Popen[str]:
    server = subprocess.Popen(
        PROGRAM, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8"
    )
    atexit.register(server.communicate)
    return server


def load_everything() -> None:
    for module in pkgutil.walk_packages(moot.__path__, "moot."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)


def answer_each(asked: dict[str, Any]) -> list[tuple[int, str, str]]:
    return [_run_in_child(asked, words) for words in asked["commands"]]


def _run_in_child(asked: dict[str, Any], words: list[str]) -> tuple[int, str, str]:
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        child = os.fork()
        if child == 0:
            code = 70
            try:
                for number, file in ((1, out), (2, err)):
                    os.dup2(file.fileno(), number)
                os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
                os.environ.clear()
                os.environ.update(asked["env"])
                become_nobody()
                os.chdir(asked["where"])
                code = run(words)
            finally:
                sys.stdout.flush()
                sys.stderr.flush()
                os._exit(code)
        _, status = os.waitpid(child, 0)
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(file.read().decode())
    return os.waitstatus_to_exitcode(status), texts[0], texts[1]


def main(*words: str) -> int:
    load_everything()
    if words:
        os.chdir(words[0])
        return run(list(words[1:]))
    for line in sys.stdin:
        sys.stdout.write(f"{json.dumps(answer_each(json.loads(line)))}\n")
        sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
