"""A project for a test: a folder, its keys, its environment, and everything one does in it.

    project = make_project(tmp_path, OTTER, CRANE)      # a workspace with two agents
    project = make_project(tmp_path, OTTER, git=True)   # in a git repository with two worktrees
    bare.init_git("src/a.py")  bare.init(OTTER)         # step by step, in a project without either

    project.ok("status")                     `moot --json status` in this process: its data
    project.ok_as(OTTER, "reserve", "src")   the same as an agent
    project.refused("reserve", "src")        the code and exit status of a command that must fail
    project.run(...)  project.json(...)      the same, whatever comes of it: exit code, out, err
    project.spawn("status")                  the same as a process of its own
    project.hook("claude", call(...))        what a coding tool's hook answers
    project.git("add", "a.txt")              git, under an identity of its own
    project.reserve(CRANE, "src")            straight through the engine: quicker than `moot`
    project.owners()  project.events("INCURSION")  project.letters(CRANE)     what is on record

Nothing here sees the home, the keys or the settings of the user who runs the tests. `moot init`,
`moot agent register` and `git init` really run once in each process that runs tests; every project
gets a copy, in which only the folders that are named in it differ. So tests of one process share
a ledger's keys, and no file.
"""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, NamedTuple
from unittest import mock

import pytest

from moot.core.machine import Command
from moot.keys.folder import KeyFolder
from moot.protocols.presence import STREAM as PRESENCE_STREAM
from moot.protocols.presence.commands import Reserve
from moot.protocols.presence.machine import MACHINE as PRESENCE
from moot.protocols.presence.model import State
from moot.surfaces.cli.main import run as run_moot
from moot.surfaces.hooks.entry import Reply, answer
from moot.workspace.workspace import Workspace
from tests.cli.typeable import find_untypeable
from tests.golden.plugin import check_data

MOOT = (sys.executable, "-P", "-m", "moot")
LIST = "example/today"
OTTER, CRANE = "amber-otter", "teal-crane"
SECONDS: Final = 600  # no command takes longer, even on a busy computer
IDENTITY = {
    "GIT_AUTHOR_NAME": "a",
    "GIT_AUTHOR_EMAIL": "a@example.org",
    "GIT_COMMITTER_NAME": "a",
    "GIT_COMMITTER_EMAIL": "a@example.org",
    "GIT_CONFIG_GLOBAL": os.devnull,
}

copies_are_made = True  # False where each test's ledger is to be in another place
# What a workspace does not depend on; of a passphrase, its text counts and not its file.
_OWN: Final = ("PATH", "HOME", "MOOT_KEYS", "MOOT_PASSPHRASE_FILE")
_NAMING_KEY_FILES: Final = ("workspaces", "*/made-in")
_NAMING_GIT_FILES: Final = ("second/.git", "project/.git/worktrees/second/gitdir")


class Result(NamedTuple):
    """How a command ended."""

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
    """`root` is the project's folder and main worktree, `other` its second worktree."""

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

    @property
    def other(self) -> Path:
        return self.root.parent / "second"

    # Making it.

    def init(self, *agents: str, **settings: str) -> None:
        """Make the workspace, and register the agents."""
        if not copies_are_made:
            self._init_here(agents, settings)
            return
        env = {**self.env, **settings}
        secret = env.get("MOOT_PASSPHRASE_FILE")
        passphrase = Path(secret).read_text("utf-8") if secret else ""
        others = frozenset((name, env[name]) for name in env.keys() - set(_OWN))
        _, made = _make_workspace(agents, passphrase, others)
        shutil.copytree(made.root / ".moot", self.root / ".moot")
        shutil.copytree(made.keys, self.keys)
        here = os.fsencode(made.root.resolve()), os.fsencode(self.root.resolve())
        for file in (file for each in _NAMING_KEY_FILES for file in self.keys.glob(each)):
            file.write_bytes(file.read_bytes().replace(*here))

    def init_git(self, *files: str) -> None:
        """Make the project a git repository on branch main in which these files are committed."""
        made = Path(_make_repository(files).name, "project")
        shutil.copytree(made, self.root, symlinks=True, dirs_exist_ok=True)

    def _init_here(self, agents: tuple[str, ...], settings: dict[str, str]) -> None:
        self.ok("init", **settings)
        self.register(*agents)

    def register(self, *agents: str, **settings: str) -> None:
        for name in agents:
            self.ok("agent", "register", name, **settings)

    # Commands.

    def run(self, *words: str, cwd: str | Path | None = None, **settings: str) -> Result:
        """Run `moot` in this process, which is quick."""
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
        """Return the data of a command that must succeed."""
        done = self.json(*words, cwd=cwd, **settings)
        assert done.code == 0, done
        return done.data

    def ok_as(self, agent: str, *words: str, **settings: str) -> Any:
        return self.ok("--as", agent, *words, **settings)

    def refused(
        self, *words: str, cwd: str | Path | None = None, **settings: str
    ) -> tuple[str, int]:
        """Return the code and the exit status of a command that must fail; a hint is required."""
        done = self.json(*words, cwd=cwd, **settings)
        assert done.error["hint"], done
        return done.error["code"], done.code

    def spawn(self, *words: str, cwd: str | Path | None = None, **settings: str) -> Result:
        """Run `moot` as a real process."""
        return self._run_process([*MOOT, *words], cwd, settings)

    def git(self, *words: str, cwd: str | Path | None = None, **settings: str) -> Result:
        return self._run_process(["git", *words], cwd, {**IDENTITY, **settings})

    def _run_process(
        self, words: list[str], cwd: str | Path | None, settings: dict[str, str]
    ) -> Result:
        done = subprocess.run(
            words,
            cwd=cwd or self.root,
            env={**self.env, **settings},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            check=False,
            timeout=SECONDS,
        )
        return Result(done.returncode, done.stdout, done.stderr)

    # Hooks.

    def hook(
        self, tool: str, said: dict[str, Any] | bytes, agent: str | None = OTTER, **settings: str
    ) -> Reply:
        """Return what the hook answers, in this process."""
        data = said if isinstance(said, bytes) else json.dumps(said).encode()
        here = str(self.root) if isinstance(said, bytes) else str(said.get("cwd") or self.root)
        env = {**self.env, **({"MOOT_AGENT": agent} if agent else {}), **settings}
        return answer(tool, data, env, here)

    def start_hook(
        self, tool: str, said: dict[str, Any] | bytes, agent: str | None = OTTER, **settings: str
    ) -> subprocess.Popen[bytes]:
        """Start the hook as a real process, and give it its input."""
        data = said if isinstance(said, bytes) else json.dumps(said).encode()
        env = {**self.env, **({"MOOT_AGENT": agent} if agent else {}), **settings}
        child = subprocess.Popen(
            [*MOOT, "hook", tool],
            cwd=self.root,
            env=env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert child.stdin is not None
        child.stdin.write(data)
        child.stdin.close()
        child.stdin = None  # `communicate` would flush it
        return child

    # The engine.

    @contextmanager
    def workspace(self) -> Iterator[Workspace]:
        with Workspace(self.root / ".moot", KeyFolder(self.keys)) as space:
            yield space

    def execute(self, actor: str, *commands: Command, stream: str = LIST) -> None:
        assert commands
        with self.workspace() as space:
            for command in commands:
                space.engine.execute(stream, command, actor)

    def reserve(self, agent: str, *scopes: str, work: str | None = None) -> None:
        root = str(self.root)
        command = Reserve(scopes=scopes, project_root=root, worktree=root, work=work)
        self.execute(agent, command, stream=PRESENCE_STREAM)

    # What is on record.

    @property
    def ledger(self) -> Path:
        return self.root / ".moot" / "ledger.db"

    @property
    def pinned(self) -> Path:
        """The trust file that the key folder remembers."""
        (found,) = self.keys.glob("*/trust.json")
        return found

    @property
    def presence(self) -> State:
        with self.workspace() as space:
            return space.engine.state(PRESENCE, PRESENCE_STREAM)

    def owners(self) -> dict[str, str]:
        """Return who holds each scope."""
        return {held.scope: held.owner for held in self.presence.live}

    def events(self, kind: str) -> list[dict[str, Any]]:
        """Return all v1 events of a kind."""
        with self.workspace() as space, space.store.read() as view:
            rows = [json.loads(row.value) for row in view.rows("presence.events")]
        return [row for row in rows if row["event_type"] == kind]

    def count_events(self) -> int:
        """Return how many events the whole ledger has."""
        with self.workspace() as space, space.store.read() as view:
            return view.count_streams_and_events()[1]

    def letters(self, agent: str = CRANE) -> list[dict[str, Any]]:
        """Return what is in an inbox, the newest first, each with its subject and body."""
        inbox = self.ok_as(agent, "mail", "inbox", "--all", "--peek")["messages"]
        inbox.sort(key=lambda each: str(each["at"]), reverse=True)
        return [self.ok_as(agent, "mail", "show", each["id"])["message"] for each in inbox]

    def told_changes(self, agent: str = CRANE) -> list[tuple[str, str, str, str]]:
        """Return the changes that a holder was told of, the newest first.

        Each names the agent whose command ran (empty: unknown), the file, and git's ids before
        and after.
        """
        changes = []
        for letter in self.letters(agent):
            who = re.search(r"changed while (\S+)'s command ran; no one else", letter["subject"])
            for line in re.findall(r"^- (.*) in .*: \w+ \((\S+) -> (\S+)\)$", letter["body"], re.M):
                path, *ids = line
                blobs = ("" if each == "nothing" else each for each in ids)
                changes.append((who[1] if who else "", path, *blobs))
        return changes


def make_project(place: Path, *agents: str, git: bool = False, **settings: str) -> Project:
    """Make a project in `place` with a workspace and these agents, and return it.

    With `git` it is a repository whose file a.txt is committed, and has a second worktree.
    """
    if git:
        copy_repository(place)
    else:
        (place / "project").mkdir(parents=True)
    made = Project(place / "project", place / "keys", **settings)
    made.init(*agents)
    return made


def copy_repository(place: Path) -> None:
    """Put two worktrees with a committed file a.txt into `place`; no workspace."""
    source = Path(_make_repository(("a.txt",), second=True).name).resolve()
    for name in ("project", "second"):
        shutil.copytree(source / name, place / name, symlinks=True)
    for name in _NAMING_GIT_FILES:
        text = (place / name).read_text("utf-8")
        (place / name).write_text(text.replace(str(source), str(place.resolve())), encoding="utf-8")


def git(folder: Path, *words: str) -> str:
    """Run git, which must succeed, and return what it prints."""
    done = subprocess.run(
        ["git", *words],
        cwd=folder,
        env={**os.environ, **IDENTITY},
        check=True,
        capture_output=True,
        encoding="utf-8",
        timeout=SECONDS,
    )
    return done.stdout


@pytest.fixture
def bare(tmp_path: Path) -> Project:
    """A folder without a workspace."""
    root = tmp_path / "project"
    root.mkdir()
    return Project(root, tmp_path / "keys")


@pytest.fixture
def project(bare: Project) -> Project:
    """A workspace with two agents."""
    bare.init(OTTER, CRANE)
    return bare


@pytest.fixture
def passphrase(tmp_path: Path) -> str:
    """The name of a file that holds a passphrase."""
    file = tmp_path / "passphrase"
    file.write_text("correct horse battery staple\n", encoding="utf-8")
    file.chmod(0o600)
    return str(file)


@pytest.fixture
def people(passphrase: str) -> dict[str, str]:
    """What a person's act needs in its environment."""
    return {"MOOT_PASSPHRASE_FILE": passphrase}


@cache
def _make_workspace(
    agents: tuple[str, ...], passphrase: str, others: frozenset[tuple[str, str]]
) -> tuple[TemporaryDirectory[str], Project]:
    """The cache holds the folder, so that it is removed when the process ends, and not before."""
    folder = TemporaryDirectory(prefix="moot-workspace-", ignore_cleanup_errors=True)
    place = Path(folder.name)
    project = Project(place / "project", place / "keys", **dict(others))
    project.root.mkdir()
    settings = {}
    if passphrase:
        file = place / "passphrase"
        file.write_text(passphrase, encoding="utf-8")
        file.chmod(0o600)
        settings["MOOT_PASSPHRASE_FILE"] = str(file)
    project._init_here(agents, settings)
    return folder, project


@cache
def _make_repository(files: tuple[str, ...], second: bool = False) -> TemporaryDirectory[str]:
    folder = TemporaryDirectory(prefix="moot-repository-", ignore_cleanup_errors=True)
    root = Path(folder.name, "project")
    root.mkdir()
    for file in (root / name for name in files):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("one\n", encoding="utf-8")
    git(root, "init", "--quiet", "--initial-branch=main")
    git(root, "add", ".")
    git(root, "commit", "--quiet", "--allow-empty", "--message=first")
    if second:
        git(root, "worktree", "add", "--quiet", "-b", "feature", str(root.parent / "second"))
    return folder


def _text(stream: io.TextIOWrapper) -> str:
    stream.flush()
    raw = stream.buffer
    assert isinstance(raw, io.BytesIO)
    return raw.getvalue().decode()
