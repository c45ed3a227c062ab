"""A generated repository: two worktrees, a workspace, eight agents, the hooks installed."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Final, NamedTuple

from bench.loss.repository import Repository, write_file
from moot.core.machine import KeyClass
from moot.engine.registry_commands import register
from moot.keys.folder import KeyFolder
from moot.workspace.workspace import Workspace

WORKTREES: Final = ("main", "second")
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
# Committed scripts: the command that calls them does not say what they do. `$WRITE` is the program
# that writes and logs the truth; the simulation sets it.
SCRIPTS: Final = {
    "tools/format.sh": 'sleep "$PAUSE"; $WRITE "$TEXT" "$@"; sleep "$PAUSE"\n',
    "tools/prune.sh": 'sleep "$PAUSE"; $WRITE "" "$@"\n',
    "tools/generate.sh": 'sleep "$PAUSE"; $WRITE "$TEXT" $(cat tools/outputs); sleep "$PAUSE"\n',
    "tools/outputs": "src/f0.txt docs/f0.txt\n",
    "tools/test.sh": 'sleep "$PAUSE"; mkdir -p build; echo ok > "build/$$"; sleep "$PAUSE"\n',
    "Makefile": "test:\n\t@sh tools/test.sh\n",
}


class Agent(NamedTuple):
    """An agent, the coding tool it is driven by, and the worktree it works in."""

    name: str
    tool: str
    worktree: str

    @property
    def session(self) -> str:
        return f"session-of-{self.name}"


FILES: Final = tuple(
    f"{folder}/f{number}.txt" for folder, count in FOLDERS.items() for number in range(count)
)
# Not committed at first: git knows nothing of them.
NEW_FILES: Final = tuple(f"{folder}/new{number}.txt" for folder in FOLDERS for number in (0, 1))
CAST: Final = tuple(
    Agent(name, TOOL_NAMES[number % 4], WORKTREES[0 if number < 6 else 1])
    for number, name in enumerate(AGENTS)
)


class World(Repository):
    """`top` holds everything: the worktrees, the keys, the home."""

    def __init__(self, top: Path, chance: random.Random) -> None:
        super().__init__(top, WORKTREES[0])
        self._make_repository(chance)
        self._install()

    def _make_repository(self, chance: random.Random) -> None:
        self.main.mkdir(parents=True)
        self.git("init", "--quiet", "--initial-branch=main")
        self.git("config", "gc.auto", "0")
        for name in FILES:
            write_file(self.main / name, make_text(chance, "committed"))
        for name, text in SCRIPTS.items():
            write_file(self.main / name, text)
        write_file(self.main / ".gitignore", "build/\n*.log\n")
        self.git("add", "-A")
        self.git("commit", "--quiet", "--message=first")
        for name in FILES[::3]:
            write_file(self.main / name, make_text(chance, "committed again"))
        self.git("commit", "--quiet", "-a", "--message=second")
        for name in WORKTREES[1:]:
            self.git("worktree", "add", "--quiet", "-b", name, str(self.root(name)), "main")

    def _install(self) -> None:
        self.require_moot("init", "--tools", "none")
        keys = KeyFolder(self.top / "keys")
        with Workspace(self.main / ".moot", keys) as workspace:
            for agent in CAST:
                signer = keys.add_key(workspace.trust.origin, agent.name, KeyClass.AGENT)
                register(workspace.engine, agent.name, signer, custodian=keys.custodian)
        for tool in (*TOOL_NAMES, "git"):
            self.require_moot("hook", "install", tool, "--no-skill")


def make_text(chance: random.Random, about: str) -> str:
    """Some lines that nobody else has written."""
    lines = [f"{about} {chance.getrandbits(64):016x}" for _ in range(chance.randint(1, 6))]
    return "\n".join(lines) + "\n"
