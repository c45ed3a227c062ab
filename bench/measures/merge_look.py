"""What the look for unmerged changes adds to a hook, in a repository of 10,000 files.

The same hook is measured in two repositories: in one of them nothing else exists, in the other a
branch and a worktree have other versions of the file that is edited.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from bench.figure import Figure, at_most, value
from bench.ground import AGENT, Ground, keys_of
from bench.rounds import Measure, millis, take_turns

FILES = 10_000
EDITED = "d50/f5000.txt"
LIMIT = at_most(30)
_MOOT = "from moot.surfaces.cli.entry import main; main()"
_GIT = ("git", "-c", "user.name=bench", "-c", "user.email=bench@example.org")


def measure(ground: Ground) -> Iterator[Figure]:
    alone, among = _repository(ground, "alone"), _repository(ground, "among")
    other = among.parent / "among-second"
    _git(among, "worktree", "add", "--quiet", "-b", "second", str(other))
    (other / EDITED).write_text("committed there\n", encoding="utf-8")
    _git(other, "commit", "--quiet", "--all", "--message=changed")
    (other / EDITED).write_text("and not committed\n", encoding="utf-8")
    rounds = take_turns(_hook(among), _hook(alone), ground.pick(25, 15))
    added = median(ours - raw for ours, raw in zip(rounds.ours, rounds.raw, strict=True))
    name = f"hook, the look for unmerged changes ({FILES:,} files)"
    yield value(name, "ms more", added, target=LIMIT)


def _repository(ground: Ground, name: str) -> Path:
    place = ground.new(name)
    for number in range(FILES):
        file = place / f"d{number // 100}" / f"f{number}.txt"
        file.parent.mkdir(exist_ok=True)
        file.write_text(f"{number}\n", encoding="utf-8")
    _git(place, "init", "--quiet", "--initial-branch=main")
    (place / ".git" / "info" / "exclude").write_text("keys\n.moot\n", encoding="utf-8")
    _git(place, "add", ".")
    _git(place, "commit", "--quiet", "--message=first")
    return place


def _git(folder: Path, *words: str) -> None:
    subprocess.run([*_GIT, *words], cwd=folder, check=True, capture_output=True, timeout=120)


def _hook(place: Path) -> Measure:
    """Each call is of another session, so that each of them is told."""
    env = {**os.environ, "MOOT_KEYS": str(keys_of(place)), "MOOT_AGENT": AGENT}
    sessions = iter(range(10**9))

    def once() -> None:
        said = {
            "session_id": f"bench-{next(sessions)}",
            "cwd": str(place),
            "hook_event_name": "PreToolUse",
            "tool_name": "Write",
            "tool_input": {"file_path": str(place / EDITED), "content": "x"},
        }
        done = subprocess.run(
            [sys.executable, "-c", _MOOT, "hook", "claude"],
            input=json.dumps(said).encode(),
            cwd=place,
            env=env,
            capture_output=True,
            check=True,
            timeout=60,
        )
        assert (b"not in main" in done.stdout) == (place.name == "among"), done

    return millis(once)
