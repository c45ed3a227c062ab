"""A run that watches in a yard: its thread is real, its files are real."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from moot.flows.watching.watcher import WatchingRun, watching
from moot.protocols.presence import STREAM
from moot.protocols.presence.commands import Join, Reserve
from moot.system.git_objects import blob_id
from moot.system.watching import WatchFolders, watch_folders
from moot.workspace.call_journal import Call, CallFile, CallKind
from moot.workspace.file_versions import FileVersions
from tests.hooks.yard import CRANE, OTTER, Yard

DEADLINE = 60.0


class Post:
    """Somebody watches as `name`; `lines` is what whoever started the run was told."""

    def __init__(self, yard: Yard, name: str) -> None:
        self.yard = yard
        self.name = name
        self.lines: list[str] = []
        self.person: list[tuple[str, str]] = []
        self._news = threading.Condition()

    def tell(self, line: str) -> None:
        with self._news:
            self.lines.append(line)
            self._news.notify_all()

    def tell_person(self, once: str, sentence: str) -> None:
        self.person.append((once, sentence))

    def wait_for_line(self, part: str) -> str:
        """The first line that holds this; fails after the deadline."""

        def found() -> str | None:
            return next((line for line in self.lines if part in line), None)

        with self._news:
            assert self._news.wait_for(found, DEADLINE), (part, self.lines)
            line = found()
        assert line is not None
        return line


@contextmanager
def post(
    yard: Yard,
    name: str = OTTER,
    root: Path | None = None,
    watch: WatchFolders = watch_folders,
    beat: float = 60.0,
) -> Iterator[Post]:
    made = Post(yard, name)
    with (
        yard.workspace() as workspace,
        watching(
            workspace,
            WatchingRun(name, root or yard.root, beat, made.tell_person),
            made.tell,
            watch,
        ),
    ):
        yield made


def until(is_so: Callable[[], object]) -> None:
    """Wait for a condition; fails after the deadline."""
    over = time.monotonic() + DEADLINE
    while not is_so():
        assert time.monotonic() < over
        threading.Event().wait(0.02)


def join(yard: Yard, name: str, root: Path) -> None:
    yard.execute(name, Join(project_root=str(yard.root), worktree=str(root)), stream=STREAM)


def hold(yard: Yard, name: str, root: Path, *scopes: str, speaks: bool = True) -> None:
    """Somebody is in a worktree and holds these there; its hooks have spoken before."""
    join(yard, name, root)
    if speaks:
        spoke(yard, name)
    reserve = Reserve(scopes=scopes, project_root=str(yard.root), worktree=str(root))
    yard.execute(name, reserve, stream=STREAM)


@contextmanager
def command(yard: Yard, agent: str, root: Path, call: str = "1") -> Iterator[None]:
    """A shell command of an agent runs, as its hooks say."""
    with journaled(
        yard, Call(f"claude:{agent}", agent, "", call, "Bash", CallKind.COMMAND, str(root))
    ):
        yield


@contextmanager
def edit(yard: Yard, agent: str, root: Path, text: str) -> Iterator[None]:
    """An edit of an agent that makes this text of a.txt runs, as its hooks say."""
    file = CallFile(str(root), "a.txt", None, (blob(text),))
    where = f"claude:{agent}", agent, "", "2", "Write", CallKind.EDIT, str(root)
    with journaled(yard, Call(*where, files=(file,))):
        yield


@contextmanager
def journaled(yard: Yard, call: Call) -> Iterator[None]:
    with FileVersions(yard.root / ".moot") as memory:
        memory.journal.begin(call)
    yield
    with FileVersions(yard.root / ".moot") as memory:
        begun = memory.journal.find_begun(call.session, call.call_id, call.tool)
        assert begun is not None
        memory.journal.end(begun)


def spoke(yard: Yard, agent: str) -> None:
    """A hook of this agent said something a while ago."""
    with FileVersions(yard.root / ".moot") as memory:
        memory.journal.hear(f"claude:{agent}", agent)


def incursions(yard: Yard) -> list[tuple[str, str, Any, Any]]:
    """Who, on what, and both versions, as the v1 events say."""
    return [
        (
            event["payload"]["incoming_agent"],
            event["scope"],
            event["payload"].get("blob_before"),
            event["payload"].get("blob_after"),
        )
        for event in yard.events("INCURSION")
    ]


def letters(yard: Yard, to: str = CRANE) -> list[str]:
    """The subjects of what waits in somebody's inbox."""
    inbox = yard.ok("--as", to, "mail", "inbox")
    return [message["subject"] for message in inbox["messages"]]


def told_paths(yard: Yard, to: str = CRANE) -> set[str]:
    """The files that letters in somebody's inbox are about."""
    inbox = yard.ok("--as", to, "mail", "inbox", "--all", "--peek")
    ids = [message["id"] for message in inbox["messages"]]
    bodies = [yard.ok("--as", to, "mail", "show", each)["message"]["body"] for each in ids]
    lines = [line for body in bodies for line in body.splitlines() if line.startswith("- ")]
    return {line[2:].partition(" in ")[0] for line in lines}


def blob(text: str) -> str:
    return blob_id(text.encode())
