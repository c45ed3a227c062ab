"""A real terminal around a real process: what a person sees and types."""

from __future__ import annotations

import fcntl
import os
import pty
import struct
import termios
from collections.abc import Sequence

from tests.project import MOOT, Project


def on_a_terminal(
    project: Project,
    *words: str,
    typed: Sequence[str] = (),
    through: Sequence[str] = (),
    columns: int = 0,
    **settings: str,
) -> str:
    """All that appeared; each text in `typed` is entered when a prompt (`...: `) is waiting.

    `through` is a program that is given the command and runs it; `columns` is how wide the terminal
    says it is, 0: it does not say.
    """
    command = [*through, *MOOT, *words]
    pid, master = pty.fork()
    if pid == 0:  # the child
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
        os.chdir(project.root)
        os.execvpe(command[0], command, {**project.env, "TERM": "xterm", **settings})
    seen, answers = b"", list(typed)
    try:
        while piece := os.read(master, 65_536):
            seen += piece
            if answers and seen.endswith(b": "):
                os.write(master, answers.pop(0).encode() + b"\n")
    except OSError:  # Linux says so when the child has closed its end
        pass
    os.close(master)
    os.waitpid(pid, 0)
    return seen.decode()
