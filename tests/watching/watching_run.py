"""A run that watches in a project: its thread is real, its files are real."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from moot.api.guard.watcher import WatchingRun, watching
from moot.protocols.presence import STREAM
from moot.protocols.presence.commands import Join, Reserve
from moot.system.folder_watch import WatchFolders, watch_folders
from moot.system.git_objects import blob_id
from moot.workspace.call_journal import Call, CallFile, CallKind
from moot.workspace.file_versions import FileVersions
from tests.project import CRANE, OTTER, Project

DEADLINE = 60.0


class WatchedRun:
    """A run that watches as `name`; `lines` is what it printed for its user."""

    def __init__(self, project: Project, name: str) -> None:
        self.project = project
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
def watching_run(
    project: Project,
    name: str = OTTER,
    root: Path | None = None,
    watch: WatchFolders = watch_folders,
    beat: float = 60.0,
) -> Iterator[WatchedRun]:
    made = WatchedRun(project, name)
    with (
        project.workspace() as workspace,
        watching(
            workspace,
            WatchingRun(name, root or project.root, beat, made.tell_person),
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


def join(project: Project, name: str, root: Path) -> None:
    project.execute(name, Join(project_root=str(project.root), worktree=str(root)), stream=STREAM)


def hold(project: Project, name: str, root: Path, *scopes: str, speaks: bool = True) -> None:
    """Somebody is in a worktree and holds these there; its hooks have spoken before."""
    join(project, name, root)
    if speaks:
        spoke(project, name)
    reserve = Reserve(scopes=scopes, project_root=str(project.root), worktree=str(root))
    project.execute(name, reserve, stream=STREAM)


@contextmanager
def command(project: Project, agent: str, root: Path, call: str = "1") -> Iterator[None]:
    """A shell command of an agent runs, as its hooks say."""
    with journaled(
        project, Call(f"claude:{agent}", agent, "", call, "Bash", CallKind.COMMAND, str(root))
    ):
        yield


@contextmanager
def edit(project: Project, agent: str, root: Path, text: str) -> Iterator[None]:
    """An edit of an agent that makes this text of a.txt runs, as its hooks say."""
    file = CallFile(str(root), "a.txt", None, (blob(text),))
    where = f"claude:{agent}", agent, "", "2", "Write", CallKind.EDIT, str(root)
    with journaled(project, Call(*where, files=(file,))):
        yield


@contextmanager
def journaled(project: Project, call: Call) -> Iterator[None]:
    with FileVersions(project.root / ".moot") as memory:
        memory.journal.begin(call)
    yield
    with FileVersions(project.root / ".moot") as memory:
        begun = memory.journal.find_begun(call.session, call.call_id, call.tool)
        assert begun is not None
        memory.journal.end(begun)


def spoke(project: Project, agent: str) -> None:
    """A hook of this agent said something a while ago."""
    with FileVersions(project.root / ".moot") as memory:
        memory.journal.hear(f"claude:{agent}", agent)


def incursions(project: Project) -> list[tuple[str, str, Any, Any]]:
    """Who, on what, and both versions, as the v1 events say."""
    return [
        (
            event["payload"]["incoming_agent"],
            event["scope"],
            event["payload"].get("blob_before"),
            event["payload"].get("blob_after"),
        )
        for event in project.events("INCURSION")
    ]


def letters(project: Project, to: str = CRANE) -> list[str]:
    """The subjects of what waits in somebody's inbox."""
    inbox = project.ok("--as", to, "mail", "inbox")
    return [message["subject"] for message in inbox["messages"]]


def told_paths(project: Project, to: str = CRANE) -> set[str]:
    """The files that letters in somebody's inbox are about."""
    inbox = project.ok("--as", to, "mail", "inbox", "--all", "--peek")
    ids = [message["id"] for message in inbox["messages"]]
    bodies = [project.ok("--as", to, "mail", "show", each)["message"]["body"] for each in ids]
    lines = [line for body in bodies for line in body.splitlines() if line.startswith("- ")]
    return {line[2:].partition(" in ")[0] for line in lines}


def blob(text: str) -> str:
    return blob_id(text.encode())
