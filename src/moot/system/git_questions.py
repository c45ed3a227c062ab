"""Questions to git that are asked at the same time, each a process of its own, within one deadline.

What git does not answer in time, or answers with an error, is None: whoever asks goes on without.
"""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from moot.system.git import git_environment


class GitQuestion(NamedTuple):
    """Arguments for git in a folder, and what it is to read."""

    folder: Path
    words: tuple[str, ...]
    input: bytes = b""


def ask_git(questions: Sequence[GitQuestion], seconds: float) -> list[bytes | None]:
    """The answers, in the order of the questions."""
    until = time.monotonic() + seconds
    started = [_start(question) for question in questions]
    return [
        None if process is None else _read_answer(process, question.input, until)
        for process, question in zip(started, questions, strict=True)
    ]


def find_root_commit(folder: Path, seconds: float = 5.0) -> str | None:
    """The first commit of the repository around `folder`, the same in every full clone; None
    without one, and in a shallow clone, which does not have it."""
    words = ("rev-list", "--max-parents=0", "--reverse", "HEAD")
    (answer,) = ask_git([GitQuestion(folder, words, b"")], seconds)
    lines = (answer or b"").decode("ascii", "replace").split()
    return lines[0] if lines and not is_shallow(folder, seconds) else None


def is_shallow(folder: Path, seconds: float = 5.0) -> bool:
    """True in a clone that has only the newest commits."""
    words = ("rev-parse", "--is-shallow-repository")
    (answer,) = ask_git([GitQuestion(folder, words, b"")], seconds)
    return (answer or b"").strip() == b"true"


def find_blobs(root: Path, names: Iterable[str], seconds: float) -> dict[str, str | None] | None:
    """The ids of files that are named as `COMMIT:PATH`; None for one that is not there.

    One process for all of them. None altogether if git does not answer.
    """
    asked = list(dict.fromkeys(names))
    lines = "".join(f"{name}\n" for name in asked).encode("utf-8", "surrogateescape")
    words = ("cat-file", "--batch-check=%(objecttype) %(objectname)")
    (answer,) = ask_git([GitQuestion(root, words, lines)], seconds)
    found = [] if answer is None else answer.decode("utf-8", "replace").splitlines()
    if len(found) != len(asked):
        return None
    return {
        name: line.removeprefix("blob ") if line.startswith("blob ") else None
        for name, line in zip(asked, found, strict=True)
    }


def _start(question: GitQuestion) -> subprocess.Popen[bytes] | None:
    # Nothing is fetched from elsewhere, and no lock is taken, just to answer us.
    env = {**git_environment(), "GIT_NO_LAZY_FETCH": "1", "GIT_OPTIONAL_LOCKS": "0"}
    try:
        return subprocess.Popen(
            ["git", *question.words],
            cwd=question.folder,
            env=env,
            stdin=subprocess.PIPE if question.input else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
    except OSError:
        return None


def _read_answer(process: subprocess.Popen[bytes], text: bytes, until: float) -> bytes | None:
    with process:
        try:
            out, _ = process.communicate(text or None, max(0.0, until - time.monotonic()))
        except (subprocess.TimeoutExpired, OSError):
            with suppress(OSError):
                process.kill()
            return None
    return out if process.returncode == 0 else None
