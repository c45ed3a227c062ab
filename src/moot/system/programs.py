"""Which file a command's first word is, by the folder and the variables it will run with.

The same name may be another file tomorrow, or under another PATH. So the file is looked for once,
recorded, and run by that very path.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, NamedTuple

# A larger file is known by its path only: reading it would take longer than most commands.
MOST_BYTES: Final = 32 * 1024 * 1024


class Program(NamedTuple):
    """Where it was found, and the hash of its bytes; both empty if it was not, or cannot be."""

    path: str = ""
    sha256: str = ""


def find_program(word: str, folder: Path, env: Mapping[str, str]) -> Program:
    for path in find_places(word, folder, env):
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return Program(path, _digest(path))
    return Program()


def find_places(word: str, folder: Path, env: Mapping[str, str]) -> Iterator[str]:
    """As the system itself looks: a word with a folder in it is a path, another is searched."""
    if sys.platform == "win32":
        yield shutil.which(word, path=env.get("PATH")) or ""
    elif os.path.dirname(word):
        yield os.path.join(folder, word)
    else:
        for place in os.get_exec_path(env):
            yield os.path.join(folder, place, word)


def _digest(path: str) -> str:
    try:
        with open(path, "rb") as file:
            if os.fstat(file.fileno()).st_size > MOST_BYTES:
                return ""
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""


# Waiting for a program's end, and hearing signals meanwhile.

# Python acts on a signal in its main thread alone. One that the system gave to another thread, as
# it may after a stop, does not wake the main one.
LOOK_EVERY_SECONDS: Final = 1.0


def wait_for_end(program: subprocess.Popen[bytes]) -> None:
    """Wait until it has ended but do not reap it, where the system can do that: until then no other
    process can get its number, and a signal to it or its group cannot hit another's."""
    ended = threading.Event()

    def wait() -> None:
        with suppress(ChildProcessError):  # another thread has ended and reaped it
            if hasattr(os, "waitid"):
                os.waitid(os.P_PID, program.pid, os.WEXITED | os.WNOWAIT)
            else:
                program.wait()
        ended.set()

    threading.Thread(target=wait, name="moot-program-end", daemon=True).start()
    while not ended.wait(LOOK_EVERY_SECONDS):
        pass


# A program that is started and left to itself: nobody waits for it or reads what it prints.


def start_detached(words: Sequence[str], more_env: Mapping[str, str]) -> bool:
    """Start a program in a session of its own, so that it outlives us; False if it cannot start."""
    try:
        process = subprocess.Popen(
            list(words),
            env={**os.environ, **more_env},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except (OSError, ValueError):
        return False
    process.returncode = 0  # it is nobody's child to be waited for
    return True


# Talks to a program that takes and gives one JSON object a line, and ends it after the last answer.


def converse(
    command: Sequence[str],
    lines: Sequence[Mapping[str, Any]],
    *,
    env: Mapping[str, str],
    last: int,
    seconds: float,
    folder: Path | None = None,
) -> dict[int, dict[str, Any]]:
    """Answers by id, read until that of `last`; fewer if the program ended or time was over.

    OSError if it cannot be started, ValueError if it says something that is no JSON.
    """
    replies: dict[int, dict[str, Any]] = {}
    with subprocess.Popen(
        list(command),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=dict(env),
        cwd=folder,
        text=True,
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        limit = threading.Timer(seconds, server.kill)
        limit.start()
        try:
            server.stdin.write("".join(json.dumps(line) + "\n" for line in lines))
            server.stdin.flush()
            for text in server.stdout:
                answer = json.loads(text)
                if isinstance(answer.get("id"), int) and "method" not in answer:
                    replies[answer["id"]] = answer
                if last in replies:
                    break
        finally:
            limit.cancel()
            server.kill()
    return replies
