"""What `git checkout -- .` waits for in a repository of 10,000 files, one of which is changed.

Measured is `moot hook claude` as a whole, which opens the ledger to ask whose the change is, and
git's look alone; then how long the text of a command is read that was made to be slow to read.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from tests.hooks.hostile_commands import HONEST, HOSTILE, of_size

from bench.figure import Figure, at_most, ratio, value
from bench.ground import AGENT, Ground, keys_of
from bench.rounds import Measure, millis, take_turns

_MOOT = "from moot.surfaces.cli.entry import main; main()"
FILES = 10_000
_IN_A_FOLDER = 100
# A hook that opens the ledger has a target of its own (`hook.py`); the look comes on top.
LOOK_MILLIS = at_most(30)
READ_MILLIS = at_most(50)


def measure(ground: Ground) -> Iterator[Figure]:
    place = ground.new("destructive")
    _make_repository(place)
    sent = {"command": "git checkout -- ."}
    rounds = take_turns(
        _process([sys.executable, "-c", _MOOT, "hook", "claude"], place, sent),
        _process([sys.executable, "-c", "pass"], place, sent),
        ground.pick(25, 15),
    )
    name = "hook, `git checkout -- .` among 10,000 files"
    yield ratio(name, "ms", rounds.ours, rounds.raw, against="python -c pass")
    yield value("the look at what is changed, 10,000 files", "ms", _look(place), target=LOOK_MILLIS)
    yield from _reading()


def _reading() -> Iterator[Figure]:
    """How long the text of a shell command is read: the slowest of each kind."""
    for kind, texts in (
        ("honest", dict(HONEST)),
        ("hostile", {name: of_size(make, 1 << 16) for name, make in HOSTILE.items()}),
    ):
        times = {name: _read(text) for name, text in texts.items()}
        slowest = max(times, key=lambda name: times[name])
        name = f"reading a shell command of 64 KB, {kind}"
        note = f"the slowest of {len(times)}: {slowest}"
        yield value(name, "ms", times[slowest], target=READ_MILLIS, note=note)


def _read(text: str) -> float:
    from moot.api.guard.shell.acts import destructive_acts
    from moot.api.guard.shell.script import Surroundings

    read = millis(lambda: destructive_acts(text, Surroundings("/r/here", "/r", {})))
    return median(read() for _ in range(5))


def _look(place: Path) -> float:
    from moot.api.guard.git_changes import changed_files

    look = millis(lambda: changed_files(str(place), (".",)))
    return median(look() for _ in range(15))


def _make_repository(place: Path) -> None:
    """All is committed but one file, which the agent holds and has changed."""
    for number in range(FILES):
        folder = place / f"d{number // _IN_A_FOLDER}"
        folder.mkdir(exist_ok=True)
        (folder / f"f{number}.txt").write_text(f"{number}\n", encoding="utf-8")
    identity = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    (place / ".gitignore").write_text("keys\n.moot\n", encoding="utf-8")
    for words in (("init", "--quiet"), ("add", "-A"), ("commit", "--quiet", "--message=all")):
        subprocess.run(["git", *identity, *words], cwd=place, check=True, timeout=600)
    changed = place / "d0" / "f0.txt"
    _process([sys.executable, "-c", _MOOT, "hook", "claude"], place, {"file_path": str(changed)})()
    changed.write_text("changed\n", encoding="utf-8")


def _process(command: list[str], place: Path, sent: dict[str, str]) -> Measure:
    env = {**os.environ, "MOOT_KEYS": str(keys_of(place)), "MOOT_AGENT": AGENT}
    said = {
        "session_id": "bench",
        "cwd": str(place),
        "hook_event_name": "PreToolUse",
        "tool_name": "Bash" if "command" in sent else "Write",
        "tool_input": sent,
    }
    data = json.dumps(said).encode()

    def once() -> None:
        done = subprocess.run(
            command, input=data, cwd=place, env=env, capture_output=True, check=True, timeout=60
        )
        assert not done.stdout, done.stdout

    return millis(once)
