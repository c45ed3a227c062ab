"""The `moot mcp` that a coding tool starts, with this process as the tool."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from bench.ground import keys_of

_SECONDS = 60.0


@contextmanager
def tool_server(place: Path, settings: Mapping[str, str]) -> Iterator[None]:
    """It answers the hooks that this process starts, while the block lasts."""
    env = {**os.environ, **settings}
    words = [sys.executable, "-m", "moot", "mcp"]
    pipe = subprocess.PIPE
    with subprocess.Popen(words, cwd=place, env=env, stdin=pipe, stdout=pipe) as server:
        try:
            _wait_for_note(keys_of(place) / "beside")
            yield
        finally:
            server.communicate(timeout=_SECONDS)


def _wait_for_note(folder: Path) -> None:
    until = time.monotonic() + _SECONDS
    while not (folder.is_dir() and any(folder.iterdir())):
        if time.monotonic() > until:
            raise SystemExit("the server does not listen for hooks")
        time.sleep(0.02)
