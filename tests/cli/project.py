"""A project of its own for a test: folder, key folder, environment; `moot` in it, in two ways.

`run` calls the command line in this process, which is quick; `spawn` starts a real one. Neither
ever sees the home, the keys or the settings of whoever runs the tests.
"""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

from moot.core.machine import Command
from moot.keys.folder import KeyFolder
from moot.surfaces.cli.main import run as run_moot
from moot.workspace.workspace import Workspace
from tests.cli.typeable import find_untypeable
from tests.golden.plugin import check_data

MOOT = (sys.executable, "-P", "-m", "moot")
LIST = "example/today"


class Result(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def envelope(self) -> dict[str, Any]:
        (line,) = self.out.splitlines()
        said: dict[str, Any] = json.loads(line)
        if said["ok"]:  # a process of its own may have printed it
            check_data(said["command"], said["data"])
        return said

    @property
    def data(self) -> Any:
        said = self.envelope
        assert said["ok"], said["error"]
        return said["data"]

    @property
    def error(self) -> dict[str, Any]:
        said = self.envelope
        assert not said["ok"]
        assert said["data"] is None
        problem: dict[str, Any] = said["error"]
        hints = [problem["hint"] or "", *(each["hint"] or "" for each in problem["findings"])]
        assert [why for hint in hints for why in find_untypeable(hint)] == []
        return problem


class Project:
    def __init__(self, root: Path, keys: Path, **settings: str) -> None:
        self.root = root
        self.keys = keys
        self.env = {
            "PATH": os.environ["PATH"],
            "HOME": str(keys.parent / "home"),
            "MOOT_KEYS": str(keys),
            "GIT_CONFIG_NOSYSTEM": "1",
            **settings,
        }

    def run(self, *words: str, cwd: str | Path | None = None, **settings: str) -> Result:
        out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8") for _ in range(2))
        before = Path.cwd()
        os.chdir(cwd or self.root)
        try:
            with (
                mock.patch.dict(os.environ, {**self.env, **settings}, clear=True),
                redirect_stdout(out),
                redirect_stderr(err),
            ):
                code = run_moot(list(words))
        finally:
            os.chdir(before)
        return Result(code, _text(out), _text(err))

    def json(self, *words: str, cwd: str | Path | None = None, **settings: str) -> Result:
        return self.run("--json", *words, cwd=cwd, **settings)

    def ok(self, *words: str, cwd: str | Path | None = None, **settings: str) -> Any:
        """The data of a command that must succeed."""
        done = self.json(*words, cwd=cwd, **settings)
        assert done.code == 0, done
        return done.data

    def refused(
        self, *words: str, cwd: str | Path | None = None, **settings: str
    ) -> tuple[str, int]:
        """The code and the exit status of a command that must not succeed; a hint is required."""
        done = self.json(*words, cwd=cwd, **settings)
        assert done.error["hint"], done
        return done.error["code"], done.code

    def spawn(self, *words: str, cwd: str | Path | None = None, **settings: str) -> Result:
        done = subprocess.run(
            [*MOOT, *words],
            cwd=cwd or self.root,
            env={**self.env, **settings},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        return Result(done.returncode, done.stdout, done.stderr)

    @contextmanager
    def workspace(self) -> Iterator[Workspace]:
        with Workspace(self.root / ".moot", KeyFolder(self.keys)) as space:
            yield space

    def execute(self, actor: str, *commands: Command, stream: str = LIST) -> None:
        with self.workspace() as space:
            for command in commands:
                space.engine.execute(stream, command, actor)

    @property
    def ledger(self) -> Path:
        return self.root / ".moot" / "ledger.db"

    @property
    def pinned(self) -> Path:
        """The trust file that the key folder remembers."""
        (found,) = self.keys.glob("*/trust.json")
        return found


def _text(stream: io.TextIOWrapper) -> str:
    stream.flush()
    raw = stream.buffer
    assert isinstance(raw, io.BytesIO)
    return raw.getvalue().decode()
