"""A repository in a temporary folder, with a home and keys of its own, and commands run in it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Final

MOOT: Final = (sys.executable, "-P", "-m", "moot")
IDENTITY: Final = {
    "GIT_AUTHOR_NAME": "a",
    "GIT_AUTHOR_EMAIL": "a@example.org",
    "GIT_COMMITTER_NAME": "a",
    "GIT_COMMITTER_EMAIL": "a@example.org",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
}
_SECONDS: Final = 60


class Repository:
    """`top` holds everything: the worktrees (one of them `main`), the keys, the home."""

    def __init__(self, top: Path, main: str) -> None:
        self.top = top
        self.main = top / main
        self.env = {
            "PATH": os.environ["PATH"],
            "HOME": str(top / "home"),
            "MOOT_KEYS": str(top / "keys"),
            **IDENTITY,
        }

    def root(self, worktree: str) -> Path:
        return self.top / worktree

    def git(self, *words: str, cwd: Path | None = None) -> str:
        """A git command of the simulation itself, which must succeed."""
        done = subprocess.run(
            ["git", *words],
            cwd=cwd or self.main,
            env=self.env,
            capture_output=True,
            encoding="utf-8",
            check=True,
            timeout=_SECONDS,
        )
        return done.stdout

    def moot(self, *words: str, cwd: Path | None = None, agent: str = "") -> tuple[int, str]:
        """`moot` as a process: its exit code, and what it printed."""
        named = {"MOOT_AGENT": agent} if agent else {}
        done = subprocess.run(
            [*MOOT, *words],
            cwd=cwd or self.main,
            env={**self.env, **named},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            check=False,
            timeout=_SECONDS,
        )
        return done.returncode, done.stdout + done.stderr

    def require_moot(self, *words: str, cwd: Path | None = None) -> None:
        code, printed = self.moot(*words, cwd=cwd)
        if code:
            raise RuntimeError(f"moot {' '.join(words)}: {printed}")


def write_file(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
