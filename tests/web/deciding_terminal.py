"""`moot serve --decide` at a terminal, and what a page sends to it."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import signal
import subprocess
import termios
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.project import MOOT, Project
from tests.wait_readable import is_readable
from tests.web.server import SECONDS, Listener, Visitor

PASSPHRASE = "correct horse battery staple"


def make_deciding_project(folder: Path) -> tuple[Project, dict[str, str]]:
    """A project whose operator has a passphrase, and the setting that gives it from a file."""
    root, file = folder / "project", folder / "passphrase"
    root.mkdir()
    file.write_text(PASSPHRASE)
    file.chmod(0o600)
    project = Project(root, folder / "keys")
    unattended = {"MOOT_PASSPHRASE_FILE": str(file)}
    project.ok("init", **unattended)
    return project, unattended


class Terminal:
    """`moot serve --decide` at a terminal of its own."""

    def __init__(self, project: Project) -> None:
        self._ours, theirs = pty.openpty()
        self.process = subprocess.Popen(
            [*MOOT, "serve", "--decide"],
            cwd=project.root,
            env={**project.env, "TERM": "dumb"},
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # noqa: PLW1509
        )
        os.close(theirs)
        self.shown = ""

    def read_until(self, pattern: str) -> str:
        """What matches, once the terminal shows it."""
        limit = time.monotonic() + SECONDS
        while (match := re.search(pattern, self.shown)) is None:
            assert time.monotonic() < limit, self.shown
            if is_readable(self._ours, 0.2):
                self.shown += os.read(self._ours, 65536).decode("utf-8", "replace")
        return match[0]

    def type(self, text: str) -> None:
        os.write(self._ours, f"{text}\n".encode())

    def close(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(timeout=SECONDS)
        os.close(self._ours)


@contextmanager
def deciding(project: Project) -> Iterator[tuple[Terminal, Visitor]]:
    terminal = Terminal(project)
    try:
        visitor = Visitor(terminal.read_until(r"http://\S+/enter#[\w-]+(?=\s)"))
        visitor.enter()
        yield terminal, visitor
    finally:
        terminal.close()


def offer(visitor: Visitor, about: str = "q-1", /, **changes: Any) -> dict[str, Any]:
    word = visitor.get(f"/api/v1/decisions/{about}").data["word"]
    shown = {name: word[name] for name in ("decision", "position", "sha256")}
    return {**shown, "word": "approve", "reason": "It is cheap.", **changes}


def wait_for_end(visitor: Visitor, listener: Listener) -> str:
    """How the word ended that waits in the terminal."""
    while (state := visitor.get("/api/v1/words").data["state"]) == "waiting":
        listener.changed()
    return str(state)
