"""Run several git commands at the same time, each in its own process, within one deadline.

The result is None if git fails or does not answer in time: the caller continues without it.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    import subprocess


class GitQuestion(NamedTuple):
    """Arguments for git in a folder, and what it is to read."""

    folder: Path
    words: tuple[str, ...]
    input: bytes = b""


def ask_git(questions: Sequence[GitQuestion], seconds: float) -> list[bytes | None]:
    """Return the answers, in the order of the questions."""
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
    import subprocess

    from moot.system.git_status import git_environment

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
    import subprocess

    with process:
        try:
            out, _ = process.communicate(text or None, max(0.0, until - time.monotonic()))
        except (subprocess.TimeoutExpired, OSError):
            with suppress(OSError):
                process.kill()
            return None
    return out if process.returncode == 0 else None


# What git tracks is in its index, which is searched as it is: starting git costs a hook more than
# all the rest of its answer. Git is asked only for what is not found there.

INDEX_SECONDS: Final = 5.0
_LENGTH: Final = 0x0FFF  # of the two bytes before a name in the index, those that tell its length


def find_ignored(root: Path, paths: Iterable[str]) -> frozenset[str]:
    """Those of `paths` (relative to `root`) that git ignores; tracked files never are.

    If git gives no answer, none are: a copy too many is better than one that is missing.
    """
    index = _read_index(root)
    unknown = [path for path in paths if not _is_listed(index, path)]
    return _ask_git(root, unknown) if unknown else frozenset()


def _is_listed(index: bytes, path: str) -> bool:
    """Return whether the index lists this name; False if git wrote it prefix-compressed."""
    name = os.fsencode(path)
    at = index.find(name + b"\0")
    while at > 1:
        before = int.from_bytes(index[at - 2 : at], "big")
        if before & _LENGTH == min(len(name), _LENGTH):
            return True
        at = index.find(name + b"\0", at + 1)
    return False


def _read_index(root: Path) -> bytes:
    """The index of the worktree; empty if there is none to be read."""
    marker = root / ".git"
    try:
        if marker.is_file():
            pointer = marker.read_text("utf-8", "surrogateescape").strip()
            marker = root / pointer.removeprefix("gitdir: ")
        return (marker / "index").read_bytes()
    except OSError:
        return b""


def _ask_git(root: Path, paths: Sequence[str]) -> frozenset[str]:
    import subprocess  # most files are tracked, and a hook has no time for more

    from moot.system.git_status import git_environment

    try:
        done = subprocess.run(
            ["git", "check-ignore", "-z", "--stdin"],
            cwd=root,
            env=git_environment(),
            input=b"".join(os.fsencode(path) + b"\0" for path in paths),
            capture_output=True,
            timeout=INDEX_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return frozenset()
    return frozenset(os.fsdecode(name) for name in done.stdout.split(b"\0") if name)


# Removes a worktree or a branch as git does, never by force. A branch goes only if it is still at
# the commit that was looked at. None means done; else a sentence says why not.

REMOVAL_SECONDS: Final = 60.0


def remove_worktree(repository: Path, root: Path) -> str | None:
    """Remove a linked worktree. Git refuses if files in it are changed, untracked or locked."""
    return _act(repository, "worktree", "remove", "--", str(root))


def delete_branch(repository: Path, branch: str, commit: str) -> str | None:
    """Delete a branch if it is still at `commit`, and its section in git's settings."""
    refused = _act(repository, "update-ref", "-d", f"refs/heads/{branch}", commit)
    if refused is None:
        _act(repository, "config", "--local", "--remove-section", f"branch.{branch}")
    return refused


def _act(repository: Path, *words: str) -> str | None:
    import subprocess

    from moot.system.git_status import git_environment

    try:
        done = subprocess.run(
            ["git", *words],
            cwd=repository,
            env=git_environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=REMOVAL_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"git could not be asked: {error}"
    if done.returncode == 0:
        return None
    lines = done.stderr.decode("utf-8", "backslashreplace").strip().splitlines()
    return lines[0] if lines else f"git ended with {done.returncode}"
