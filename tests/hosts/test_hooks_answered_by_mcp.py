"""On a machine that joined, the `moot mcp` of a coding tool answers that tool's hooks: as the hook
would, to nobody who could not have run it, and for as long as the tool wants it."""

from __future__ import annotations

import json
import os
import re
import stat
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from moot.coding_tools.hook_command import hook_words
from moot.keys.agent_folder import NOTES_FOLDER
from moot.surfaces.hooks import hook_server, thin
from moot.system import process_tree
from tests.hooks.test_thin_client import OttersProcess, directly, thinly
from tests.hooks.tool_calls import call
from tests.hosts.kept_ledger import KeptLedger
from tests.hosts.test_hooks_on_joined_host import laptop_repository
from tests.project import CRANE, MOOT, OTTER, Project

__all__ = ["laptop_repository"]

LIMIT = 60
WENT_DIRECTLY = 77
linux_only = pytest.mark.skipif(sys.platform != "linux", reason="processes are told by /proc")
pytestmark = linux_only


def notes(keys: Path) -> list[Path]:
    folder = keys / NOTES_FOLDER
    return sorted(folder.iterdir()) if folder.is_dir() else []


@contextmanager
def serving(project: Project, **settings: str) -> Iterator[subprocess.Popen[bytes]]:
    """A server that this process, the tool, has started, and that listens if it ever will."""
    words = [*MOOT, "mcp"]
    pipe = subprocess.PIPE
    env = {**project.env, **settings}
    with subprocess.Popen(words, cwd=project.root, env=env, stdin=pipe, stdout=pipe) as server:
        try:
            _greet(server)
            yield server
        finally:
            server.communicate(timeout=LIMIT)


def _greet(server: subprocess.Popen[bytes]) -> None:
    """It listens before it reads what its client says."""
    hello = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        },
    }
    assert server.stdin is not None
    assert server.stdout is not None
    server.stdin.write(json.dumps(hello).encode() + b"\n")
    server.stdin.flush()
    assert b"serverInfo" in server.stdout.readline()


def ask_only(
    project: Project,
    said: dict[str, Any],
    above: Sequence[str] = (),
    first: str = "",
    **settings: str,
) -> tuple[bytes, bytes, int]:
    """The same client, which says so instead of answering itself, and waits as long as it takes on
    a busy machine."""
    folder = str(Path(hook_words("claude")[3]).parent)
    code = (
        f"import os, sys; sys.path.insert(0, {folder!r}); import thin; {first}"
        f" thin.ACK_SECONDS = thin.SECONDS = {LIMIT};"
        f" thin.answer_here = lambda tool: os._exit({WENT_DIRECTLY}); thin.main('claude')"
    )
    done = subprocess.run(
        [*above, sys.executable, "-I", "-S", "-c", code],
        cwd=project.root,
        env={**project.env, **settings},
        input=json.dumps(said).encode(),
        capture_output=True,
        timeout=LIMIT,
        check=False,
    )
    return done.stdout, done.stderr, done.returncode


def test_the_server_answers_over_its_line(
    kept: KeptLedger, laptop_repository: Project, desktop: Project
) -> None:
    desktop.ok("reserve", "b.txt", "c.txt", MOOT_AGENT=CRANE)
    own = {"MOOT_AGENT": OTTER, "MOOT_EPOCH": "1"}
    with serving(laptop_repository, **own):
        free = ask_only(laptop_repository, call("claude-edit", laptop_repository.root), **own)
        assert free == (b"", b"", 0)
        held = call("claude-edit", laptop_repository.root, "b.txt")
        refused = ask_only(laptop_repository, held, **own)
        kept.keeping.close()
        cut_off = ask_only(
            laptop_repository, call("claude-edit", laptop_repository.root, "d.txt"), **own
        )
    assert (b"deny" in cut_off[0], b"keeper" in cut_off[0], cut_off[2]) == (True, True, 0)
    assert (CRANE.encode() in refused[0], refused[1:]) == (True, (b"", 0))
    rows = kept.project.ok("scope", "list")["reservations"]
    assert ("a.txt", OTTER) in {(row["scope"], row["owner"]) for row in rows}


@pytest.mark.parametrize("name", ["claude-edit", "codex-patch", "gemini-write", "opencode-edit"])
def test_the_answer_is_that_of_the_hook_itself(
    laptop_repository: Project, desktop: Project, name: str
) -> None:
    desktop.ok("reserve", "1.txt", "2.txt", MOOT_AGENT=CRANE)
    tool = name.partition("-")[0]
    whole = directly(laptop_repository, tool, call(name, laptop_repository.root, "1.txt"))
    own = {"MOOT_AGENT": OTTER, "MOOT_EPOCH": "1"}
    with serving(laptop_repository, **own):
        short = thinly(laptop_repository, tool, call(name, laptop_repository.root, "2.txt"), **own)
    assert short[1:] == whole[1:]
    texts = [re.sub(rb"[0-9]+", b"N", answer[0]) for answer in (whole, short)]
    assert CRANE.encode() in texts[0]
    assert texts[0] == texts[1]


def test_anyone_who_calls_acts_and_not_the_server(laptop_repository: Project) -> None:
    """Two sessions of a tool without a name are two agents, no matter which server answers."""
    with serving(laptop_repository):
        for session, file in (("one", "1.txt"), ("two", "2.txt")):
            begins = call("claude-start", laptop_repository.root, session_id=session)
            assert ask_only(laptop_repository, begins)[1:] == (b"", 0)
            said = call("claude-edit", laptop_repository.root, file, session_id=session)
            assert ask_only(laptop_repository, said) == (b"", b"", 0)
        owners = laptop_repository.owners()
        again = call("claude-edit", laptop_repository.root, "3.txt", session_id="one")
        assert laptop_repository.hook("claude", again, agent=None).out == ""
    assert len({owners["1.txt"], owners["2.txt"], OTTER}) == 3
    assert laptop_repository.owners()["3.txt"] == owners["1.txt"]


def test_nobody_is_answered_who_goes_by_something_else(laptop_repository: Project) -> None:
    own = {"MOOT_AGENT": OTTER, "MOOT_EPOCH": "1"}
    said = call("claude-edit", laptop_repository.root)
    with serving(laptop_repository, **own):
        for settings in (
            {"MOOT_AGENT": CRANE, "MOOT_EPOCH": "1"},
            {"MOOT_AGENT": OTTER, "MOOT_EPOCH": "2"},
            {"MOOT_AGENT": ""},
            {"MOOT_HOME": "/elsewhere"},
            {"MOOT_PASSPHRASE_FILE": "/elsewhere"},
            {"HOME": "/elsewhere"},
            {"PATH": "/elsewhere"},
            {"GIT_INDEX_FILE": "/elsewhere"},
            {"XDG_CONFIG_HOME": "/elsewhere"},
            {"MOOT_DEBUG": "1"},
        ):
            answer = ask_only(laptop_repository, said, **{**own, **settings})
            assert answer[2] == WENT_DIRECTLY, settings
            assert ask_only(laptop_repository, said, **own)[2] == 0, settings


def test_nobody_is_answered_who_cannot_read_the_key_folder(laptop_repository: Project) -> None:
    said, own = (
        call("claude-edit", laptop_repository.root),
        {"MOOT_AGENT": OTTER, "MOOT_EPOCH": "1"},
    )
    with serving(laptop_repository, **own):
        (note,) = notes(laptop_repository.keys)
        place, word = note.read_bytes().splitlines()
        assert stat.S_IMODE(note.stat().st_mode) == 0o600
        assert stat.S_IMODE(note.parent.stat().st_mode) == 0o700
        assert stat.S_IMODE(Path(os.fsdecode(place)).stat().st_mode) == 0o600
        for wrong in (b"", b"0" * len(word), word[:-1]):
            note.write_bytes(b"%b\n%b\n" % (place, wrong))
            assert ask_only(laptop_repository, said, **own)[2] == WENT_DIRECTLY
        assert laptop_repository.owners() == {}
        note.write_bytes(b"%b\n%b\n" % (place, word))
        assert ask_only(laptop_repository, said, **own) == (b"", b"", 0)


@pytest.mark.parametrize(("between", "code"), [("sh", 0), ("python", WENT_DIRECTLY)])
def test_nor_who_was_started_by_something_else_than_the_tool(
    laptop_repository: Project, between: str, code: int
) -> None:
    """A program in between that is no shell may be a sandbox: it has the note, and gets nothing."""
    said, own = (
        call("claude-edit", laptop_repository.root),
        {"MOOT_AGENT": OTTER, "MOOT_EPOCH": "1"},
    )
    start = "import subprocess, sys; sys.exit(subprocess.call(sys.argv[1:]))"
    above = {"sh": ["sh", "-c", '"$@"; exit $?', "sh"], "python": [sys.executable, "-Ic", start]}
    with serving(laptop_repository, **own):
        (note,) = notes(laptop_repository.keys)
        found = f"thin.find_tool = lambda: {note.name!r};"
        answer = ask_only(laptop_repository, said, above[between], found, **own)
        assert answer[2] == code
        assert (laptop_repository.owners() == {}) == bool(code)


def test_the_note_goes_with_the_server(laptop_repository: Project) -> None:
    with serving(laptop_repository):
        (note,) = notes(laptop_repository.keys)
        place = Path(os.fsdecode(note.read_bytes().splitlines()[0]))
        assert place.is_socket()
    assert notes(laptop_repository.keys) == []
    assert not place.parent.exists()


def test_without_the_server_the_hook_does_its_work_itself(laptop_repository: Project) -> None:
    own = {"MOOT_AGENT": OTTER, "MOOT_EPOCH": "1"}
    with serving(laptop_repository, **own) as server:
        server.kill()
        server.wait(LIMIT)
        assert notes(laptop_repository.keys)
        said = call("claude-edit", laptop_repository.root)
        assert thinly(laptop_repository, "claude", said, **own) == (b"", b"", 0)
    assert laptop_repository.owners() == {"a.txt": OTTER}


def test_what_a_tool_that_is_gone_left_is_swept(laptop_repository: Project, tmp_path: Path) -> None:
    left = tmp_path / "left"
    left.mkdir()
    (left / "socket").touch()
    folder = laptop_repository.keys / NOTES_FOLDER
    folder.mkdir(mode=0o700)
    (folder / f"{os.getpid()}-1").write_bytes(b"%b\nword\n" % os.fsencode(left / "socket"))
    with serving(laptop_repository):
        (note,) = notes(laptop_repository.keys)
        assert not note.name.endswith("-1")
    assert not left.exists()


def test_the_last_server_of_a_tool_answers(laptop_repository: Project) -> None:
    said = call("claude-edit", laptop_repository.root)
    with serving(laptop_repository):
        with serving(laptop_repository):
            (second,) = notes(laptop_repository.keys)
            text = second.read_bytes()
        assert notes(laptop_repository.keys) == []
        assert ask_only(laptop_repository, said)[2] == WENT_DIRECTLY
        with serving(laptop_repository):
            (third,) = notes(laptop_repository.keys)
            assert (third.name, third.read_bytes() == text) == (second.name, False)
            assert ask_only(laptop_repository, said)[2] == 0


def test_on_one_machine_alone_nobody_listens(kept: KeptLedger) -> None:
    with serving(kept.project):
        assert notes(kept.project.keys) == []


def test_beside_a_run_the_run_answers(laptop_repository: Project) -> None:
    run = OttersProcess(laptop_repository)
    try:
        with serving(laptop_repository, **run.env):
            assert notes(laptop_repository.keys) == []
            assert notes(Path(run.settings["MOOT_KEYS"])) == []
    finally:
        run.end()


def test_where_hooks_are_exported_each_does_its_own_work(laptop_repository: Project) -> None:
    with serving(laptop_repository, MOOT_OTEL="1"):
        assert notes(laptop_repository.keys) == []


def test_both_ends_know_the_same() -> None:
    assert frozenset(thin.STARTERS) == {name.encode() for name in process_tree.STARTERS}
    assert thin.MOST_STEPS == process_tree.MOST_STEPS
    assert thin.NOTES_FOLDER == NOTES_FOLDER
    assert tuple(start.decode() for start in thin.TO_SERVER) == hook_server.RELEVANT_SETTINGS
    found = process_tree.find_tool()
    assert thin.find_tool() == (f"{found.number}-{found.started}" if found else None)


def test_a_hook_that_is_started_as_moot_asks_as_well(laptop_repository: Project) -> None:
    own = {"MOOT_AGENT": OTTER, "MOOT_EPOCH": "1"}
    start = (
        f"from moot.surfaces.hooks import thin; thin.ACK_SECONDS = {LIMIT};"
        " from moot.surfaces.cli.entry import main; main()"
    )
    with serving(laptop_repository, **own):
        done = subprocess.run(
            [sys.executable, "-P", "-v", "-c", start, "hook", "claude"],
            cwd=laptop_repository.root,
            env={**laptop_repository.env, **own},
            input=json.dumps(call("claude-edit", laptop_repository.root)).encode(),
            capture_output=True,
            timeout=LIMIT,
            check=False,
        )
    assert (done.stdout, done.returncode) == (b"", 0)
    assert b"import 'moot.surfaces.hooks.thin'" in done.stderr
    assert b"import 'msgspec'" not in done.stderr
    assert laptop_repository.owners() == {"a.txt": OTTER}
