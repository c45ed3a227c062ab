"""A generated repository: three worktrees, a workspace, eight agents, the hooks installed."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Final, NamedTuple

from moot.core.machine import KeyClass
from moot.engine.agents import register
from moot.keys.folder import KeyFolder
from moot.workspace.workspace import Workspace

MOOT: Final = (sys.executable, "-P", "-m", "moot")
WORKTREES: Final = ("main", "second", "third")
TOOL_NAMES: Final = ("claude", "codex", "gemini", "opencode")
AGENTS: Final = (
    "amber-otter",
    "teal-crane",
    "brown-heron",
    "olive-lynx",
    "coral-finch",
    "indigo-hare",
    "ivory-newt",
    "umber-wren",
)
PERSON: Final = "a person"
FOLDERS: Final = {"src": 8, "docs": 5, "tests": 6, "lib/deep": 5}
IDENTITY: Final = {
    "GIT_AUTHOR_NAME": "a",
    "GIT_AUTHOR_EMAIL": "a@example.org",
    "GIT_COMMITTER_NAME": "a",
    "GIT_COMMITTER_EMAIL": "a@example.org",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
}
# Committed scripts: whoever reads only the command that calls them does not see what they do.
SCRIPTS: Final = {
    "tools/tidy.sh": "git checkout -q -- .\n",
    "tools/format.sh": 'for file in "$@"; do printf "formatted %s\\n" "$$" > "$file"; done\n',
    "tools/prune.sh": 'rm -f "$@"\n',
    "Makefile": "tidy:\n\t@git checkout -q -- .\nall:\n\t@mkdir -p build && echo ok > build/out\n",
}
_SECONDS: Final = 60


class Agent(NamedTuple):
    """An agent, the coding tool it is driven by, and the worktree it works in."""

    name: str
    tool: str
    worktree: str

    @property
    def session(self) -> str:
        return f"session-of-{self.name}"


class World:
    """`top` holds everything: the worktrees, the keys, the home."""

    def __init__(self, top: Path, chance: random.Random) -> None:
        self.top = top
        self.env = {
            "PATH": os.environ["PATH"],
            "HOME": str(top / "home"),
            "MOOT_KEYS": str(top / "keys"),
            **IDENTITY,
        }
        self.agents = tuple(
            Agent(name, TOOL_NAMES[number % 4], WORKTREES[number % 3])
            for number, name in enumerate(AGENTS)
        )
        self.files = tuple(
            f"{folder}/f{number}.txt"
            for folder, count in FOLDERS.items()
            for number in range(count)
        )
        # Not committed at first: git knows nothing of them.
        self.new_files = tuple(
            f"{folder}/new{number}.txt" for folder in FOLDERS for number in (0, 1)
        )
        self._make_repository(chance)
        self._install()

    def root(self, worktree: str) -> Path:
        return self.top / worktree

    @property
    def main(self) -> Path:
        return self.root(WORKTREES[0])

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

    def add_worktree(self, name: str) -> None:
        """Also again, after an agent was allowed to remove it."""
        self.git("worktree", "prune")
        self.git("worktree", "add", "--quiet", "--force", "-B", name, str(self.root(name)), "main")

    def _make_repository(self, chance: random.Random) -> None:
        self.main.mkdir(parents=True)
        self.git("init", "--quiet", "--initial-branch=main")
        self.git("config", "gc.auto", "0")
        for name in self.files:
            _write(self.main / name, make_text(chance, "committed"))
        for name, text in SCRIPTS.items():
            _write(self.main / name, text)
        _write(self.main / ".gitignore", "build/\n*.log\n")
        self.git("add", "-A")
        self.git("commit", "--quiet", "--message=first")
        for name in self.files[::3]:
            _write(self.main / name, make_text(chance, "committed again"))
        self.git("commit", "--quiet", "-a", "--message=second")
        for name in WORKTREES:
            self.git("branch", f"spare-{name}")
        for name in WORKTREES[1:]:
            self.add_worktree(name)

    def _install(self) -> None:
        self._require("init", "--tools", "none")
        keys = KeyFolder(self.top / "keys")
        with Workspace(self.main / ".moot", keys) as workspace:
            for agent in self.agents:
                signer = keys.add_key(workspace.trust.origin, agent.name, KeyClass.AGENT)
                register(workspace.engine, agent.name, signer, custodian=keys.custodian)
        for tool in (*TOOL_NAMES, "git"):
            self._require("hook", "install", tool, "--no-skill")

    def _require(self, *words: str, cwd: Path | None = None) -> None:
        code, printed = self.moot(*words, cwd=cwd)
        if code:
            raise RuntimeError(f"moot {' '.join(words)}: {printed}")


def make_text(chance: random.Random, about: str) -> str:
    """Some lines that nobody else has written."""
    lines = [f"{about} {chance.getrandbits(64):016x}" for _ in range(chance.randint(1, 6))]
    return "\n".join(lines) + "\n"


def _write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
