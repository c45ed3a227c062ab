"""An environment of its own for each peer: `python -m venv`, `pip install`, and what came of it.

The newest Python that starts here goes first, because with an older one pip may quietly choose an
old release; if the peer does not install there, the next one is tried.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from bench.peers.peers import Peer
from bench.peers.rows import Environment

_PYTHONS: Final = ("python3.14", "python3.13", "python3.12", "python3.11")
_STARTS: Final = (
    "import venv, ensurepip, ssl, sqlite3, os, sys; print(os.path.realpath(sys.executable))"
)
# Where pyenv and uv keep those that are installed and not on PATH.
_SHELVES: Final = (".pyenv/versions", ".local/share/uv/python")
INSTALL_SECONDS: Final = 540.0
_WANTED_PYTHON: Final = re.compile(r"Requires-Python ([<>=!~0-9.,]+)")
_DESCRIBE: Final = """
import importlib.metadata as known, json, platform, sys
names = {each.metadata["Name"] for each in known.distributions()}
print(json.dumps([known.version(sys.argv[1]), platform.python_version(), len(names)]))
"""


def find_pythons() -> list[str]:
    """Those that start, the newest first; the one that runs this is always among them."""
    found = [_start(path) for name in _PYTHONS for path in _find_all(name)]
    return list(dict.fromkeys([*filter(None, found), os.path.realpath(sys.executable)]))


def _find_all(name: str) -> Iterator[str]:
    """On PATH, then on the shelves of those who keep several."""
    if path := shutil.which(name):
        yield path
    for shelf in _SHELVES:
        yield from map(str, sorted(Path.home().glob(f"{shelf}/*/bin/{name}")))


def _start(python: str) -> str:
    """Where it really is; empty if it does not start, or lacks what environments need."""
    code, output = _run([python, "-c", _STARTS], 30)
    return "" if code else output.strip()


def environment_python(folder: Path) -> Path:
    return folder / "bin" / "python"


def install(
    peer: Peer, folder: Path, pythons: list[str], seconds: float = INSTALL_SECONDS
) -> Environment:
    """What was installed into `folder`, or the last line of the last attempt's error."""
    failure = "no Python starts here"
    end = time.monotonic() + seconds
    for python in pythons:
        shutil.rmtree(folder, ignore_errors=True)
        failure = _install_with(python, peer, folder, end)
        if not failure:
            return describe(peer, folder)
    return Environment(peer.name, peer.package, failure=failure)


def copy_checkout(root: Path, folder: Path) -> Path:
    """What a package is built from, copied: building in the checkout would leave things there."""
    shutil.rmtree(folder, ignore_errors=True)
    skipped = shutil.ignore_patterns("__pycache__", "*.egg-info")
    shutil.copytree(root / "src", folder / "src", ignore=skipped)
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(root / name, folder / name)
    return folder


def _install_with(python: str, peer: Peer, folder: Path, end: float) -> str:
    """Empty, or why it did not install."""
    pip = [str(environment_python(folder)), "-m", "pip", "--disable-pip-version-check", "install"]
    for command in (
        [python, "-m", "venv", str(folder)],
        [*pip, "--quiet", "--no-input", peer.requirement],
    ):
        code, output = _run(command, end - time.monotonic())
        if code:
            wanted = _WANTED_PYTHON.findall(output)
            why = f" (it asks for Python {wanted[-1]})" if wanted else ""
            return (last_line(output) or f"code {code}, and not a word") + why
    return ""


def describe(peer: Peer, folder: Path) -> Environment:
    """What is installed there: version, Python, how much of it."""
    code, output = _run([str(environment_python(folder)), "-c", _DESCRIBE, peer.package], 60)
    if code:
        return Environment(peer.name, peer.package, failure=last_line(output))
    version, python, packages = json.loads(output)
    size = sum(_sizes(folder / "lib")) / 1e6
    return Environment(peer.name, peer.package, version, python, round(size), packages)


def _sizes(folder: Path) -> Iterator[int]:
    for top, _, files in os.walk(folder):
        yield from (os.lstat(os.path.join(top, name)).st_size for name in files)


def last_line(output: str) -> str:
    """The last line that says something, without the paths of this machine."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    errors = [line for line in lines if line.lower().startswith("error")]
    chosen = (errors or lines or [""])[-1]
    return chosen.replace(str(Path.home()), "~")[:300]


def _run(command: list[str], seconds: float) -> tuple[int, str]:
    if seconds <= 0:
        return 1, "ERROR: no time left to try"
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=seconds,
            text=True,
            errors="replace",
            check=False,
        )
    except subprocess.TimeoutExpired:
        return 1, f"ERROR: not done after {seconds:.0f} s"
    except OSError as error:
        return 1, f"ERROR: {error.strerror}"
    return done.returncode, done.stdout
