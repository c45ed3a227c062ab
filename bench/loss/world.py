"""A generated repository: three worktrees, a workspace, eight agents, the hooks installed."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Final, NamedTuple

from bench.loss.repository import Repository, write_file
from moot.core.machine import KeyClass
from moot.engine.agents import register
from moot.keys.folder import KeyFolder
from moot.workspace.workspace import Workspace

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
# Committed scripts: whoever reads only the command that calls them does not see what they do.
SCRIPTS: Final = {
    "tools/tidy.sh": "git checkout -q -- .\n",
    "tools/format.sh": 'for file in "$@"; do printf "formatted %s\\n" "$$" > "$file"; done\n',
    "tools/prune.sh": 'rm -f "$@"\n',
    "Makefile": "tidy:\n\t@git checkout -q -- .\nall:\n\t@mkdir -p build && echo ok > build/out\n",
}


class Agent(NamedTuple):
    """An agent, the coding tool it is driven by, and the worktree it works in."""

    name: str
    tool: str
    worktree: str

    @property
    def session(self) -> str:
        return f"session-of-{self.name}"


class World(Repository):
    """`top` holds everything: the worktrees, the keys, the home."""

    def __init__(self, top: Path, chance: random.Random) -> None:
        super().__init__(top, WORKTREES[0])
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

    def add_worktree(self, name: str) -> None:
        """Also again, after an agent was allowed to remove it."""
        self.git("worktree", "prune")
        self.git("worktree", "add", "--quiet", "--force", "-B", name, str(self.root(name)), "main")

    def _make_repository(self, chance: random.Random) -> None:
        self.main.mkdir(parents=True)
        self.git("init", "--quiet", "--initial-branch=main")
        self.git("config", "gc.auto", "0")
        for name in self.files:
            write_file(self.main / name, make_text(chance, "committed"))
        for name, text in SCRIPTS.items():
            write_file(self.main / name, text)
        write_file(self.main / ".gitignore", "build/\n*.log\n")
        self.git("add", "-A")
        self.git("commit", "--quiet", "--message=first")
        for name in self.files[::3]:
            write_file(self.main / name, make_text(chance, "committed again"))
        self.git("commit", "--quiet", "-a", "--message=second")
        for name in WORKTREES:
            self.git("branch", f"spare-{name}")
        for name in WORKTREES[1:]:
            self.add_worktree(name)

    def _install(self) -> None:
        self.require_moot("init", "--tools", "none")
        keys = KeyFolder(self.top / "keys")
        with Workspace(self.main / ".moot", keys) as workspace:
            for agent in self.agents:
                signer = keys.add_key(workspace.trust.origin, agent.name, KeyClass.AGENT)
                register(workspace.engine, agent.name, signer, custodian=keys.custodian)
        for tool in (*TOOL_NAMES, "git"):
            self.require_moot("hook", "install", tool, "--no-skill")


def make_text(chance: random.Random, about: str) -> str:
    """Some lines that nobody else has written."""
    lines = [f"{about} {chance.getrandbits(64):016x}" for _ in range(chance.randint(1, 6))]
    return "\n".join(lines) + "\n"
