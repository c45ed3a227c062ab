"""A run that watches in a yard: its thread is real, its files are real."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from moot.flows.guard.call_notes import CallNote, note_beginning, note_end
from moot.flows.watching.watcher import WatchingRun, watching
from moot.protocols.presence import STREAM
from moot.protocols.presence.commands import Join, Reserve
from moot.system.git_objects import blob_id
from moot.system.watching import WatchFolders, watch_folders
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


def hold(yard: Yard, name: str, root: Path, *scopes: str) -> None:
    """Somebody is in a worktree and holds these there."""
    join(yard, name, root)
    reserve = Reserve(scopes=scopes, project_root=str(yard.root), worktree=str(root))
    yard.execute(name, reserve, stream=STREAM)


@contextmanager
def command(yard: Yard, agent: str, root: Path, call: str = "1") -> Iterator[None]:
    """A shell command of an agent runs, as its hooks say."""
    where = yard.root / ".moot", f"claude:{agent}", agent, call
    note_beginning(*where, CallNote(folder=str(root)))
    yield
    note_end(*where)


def spoke(yard: Yard, agent: str) -> None:
    """A hook of this agent said something a while ago."""
    with command(yard, agent, yard.root, "earlier"):
        pass
    for file in (yard.root / ".moot/hooks/watched").glob("*/*"):
        then = file.stat().st_mtime - 30
        os.utime(file, (then, then))


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


def blob(text: str) -> str:
    return blob_id(text.encode())
