"""What a program of `moot run` finds: one agent's key, and a run that does the rest for it."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.project import MOOT, Project, make_project

LIMIT = 60
# Prints, as JSON, what stands in the key folder that the program was given.
LOOK = """
import json, os, pathlib, stat
keys = pathlib.Path(os.environ["MOOT_KEYS"])
files = sorted(str(p.relative_to(keys)) for p in keys.rglob("*") if p.is_file())
mode = lambda p: oct(stat.S_IMODE(os.stat(p).st_mode))
print(json.dumps({
    "files": files, "agent": os.environ["MOOT_AGENT"], "keys": str(keys),
    "socket": os.environ["MOOT_SOCKET"],
    "folder": mode(keys), "door": mode(os.environ["MOOT_SOCKET"]),
}))
"""


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A workspace in which nobody is registered yet."""
    return make_project(tmp_path)


def run_in(project: Project, *words: str, name: str = "amber-otter", **settings: str) -> Any:
    """What `moot run -- WORDS` printed."""
    done = subprocess.run(
        [*MOOT, "run", "--name", name, "--", *words],
        cwd=project.root,
        env={**project.env, **settings},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=LIMIT,
        check=False,
    )
    assert done.returncode == 0, done
    return done.stdout


def moot_in(project: Project, *lines: tuple[str, ...], **settings: str) -> list[dict[str, Any]]:
    """The envelopes of these commands, run one after another by a program of `moot run`."""
    code = (
        "import json, subprocess, sys\n"
        "for words in json.loads(sys.argv[1]):\n"
        f"    subprocess.run([*{list(MOOT)!r}, '--json', *words], timeout={LIMIT})\n"
    )
    said = run_in(project, sys.executable, "-c", code, json.dumps(lines), **settings)
    return [json.loads(line) for line in said.splitlines()]


def codes(answers: list[dict[str, Any]]) -> list[str]:
    return [answer["error"]["code"] if answer["error"] else "ok" for answer in answers]


def test_the_folder_holds_the_agents_own_key_and_nobody_elses(project: Project) -> None:
    project.ok("agent", "register", "teal-crane")
    found = json.loads(run_in(project, sys.executable, "-c", LOOK))
    ledger = project.pinned.parent.name
    keys = [name for name in found["files"] if name.endswith(".key")]
    assert [name.rsplit(".", 2)[0] for name in keys] == [f"{ledger}/amber-otter"]
    assert set(found["files"]) - set(keys) == {
        *("folder.json", "lent.json", "held", f"{ledger}/trust.json")
    }
    assert (found["folder"], found["door"]) == ("0o700", "0o600")
    assert not Path(found["keys"]).exists()
    assert not Path(found["socket"]).exists()


def test_on_record_the_custodian_stays_the_users_folder(project: Project) -> None:
    (told,) = moot_in(project, ("agent", "show", "amber-otter"))
    project.ok("agent", "register", "teal-crane")
    assert told["data"]["custodian"] == project.ok("agent", "show", "teal-crane")["custodian"]


def test_a_program_acts_under_no_other_name(project: Project) -> None:
    project.ok("agent", "register", "teal-crane")
    other = ("--as", "teal-crane", "reserve", "src/a")
    named = ("reserve", "src/a", "--agent", "teal-crane")
    assert codes(moot_in(project, other, named)) == ["not_you", "not_you"]
    unnamed = "import os, subprocess, sys; os.environ.pop('MOOT_AGENT')\n"
    unnamed += f"subprocess.run([*{list(MOOT)!r}, '--json', *sys.argv[1:]], timeout={LIMIT})"
    said = run_in(project, sys.executable, "-c", unnamed, *other, name="ochre-heron")
    assert json.loads(said)["error"]["code"] == "key_missing"
    said = run_in(
        project, sys.executable, "-c", unnamed, "--as", "operator", "tick", name="slate-wren"
    )
    assert json.loads(said)["error"]["code"] == "not_you"
    with project.workspace() as workspace, workspace.store.read() as view:
        authors = {
            record.body.actor.id for stream, _ in view.streams() for record in view.records(stream)
        }
    assert authors == {"system", "amber-otter", "ochre-heron", "slate-wren"}


def test_the_run_registers_and_ends_for_its_program(project: Project) -> None:
    answers = moot_in(
        project,
        ("agent", "register", "teal-crane"),
        ("agent", "retire", "teal-crane"),
        ("agent", "rotate", "amber-otter"),
        ("reserve", "src/a"),
        ("ledger", "checkpoint"),
    )
    assert codes(answers) == ["ok", "not_you", "ok", "ok", "ok"]
    assert project.ok("agent", "show", "teal-crane")["status"] == "active"
    assert project.ok("verify")["verdict"] == "valid"


def test_new_keys_and_ledgers_are_not_made_in_a_folder_that_is_lent(
    project: Project, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    code = f"import os, subprocess; os.environ.pop('MOOT_HOME'); subprocess.run([*{list(MOOT)!r},"
    code += f" '--json', 'init'], cwd={str(other)!r}, timeout={LIMIT})"
    said = json.loads(run_in(project, sys.executable, "-c", code))
    assert said["error"]["code"] == "key_folder_lent"
    assert list(other.iterdir()) == []


def test_with_nobody_listening_the_command_says_so(project: Project) -> None:
    code = "import os; os.unlink(os.environ['MOOT_SOCKET'])\nimport subprocess, sys\n"
    code += f"subprocess.run([*{list(MOOT)!r}, '--json', *sys.argv[1:]], timeout={LIMIT})"
    said = json.loads(
        run_in(project, sys.executable, "-c", code, "agent", "register", "teal-crane")
    )
    assert said["error"]["code"] == "runner_away"
    with project.workspace() as workspace:
        assert set(workspace.engine.registry().agents) == {"amber-otter"}


def test_what_a_killed_run_left_is_swept_by_the_next(project: Project) -> None:
    code = LOOK + "\nimport sys; sys.stdout.flush(); sys.stdin.read()"
    killed = subprocess.Popen(
        [*MOOT, "run", "--name", "amber-otter", "--", sys.executable, "-c", code],
        cwd=project.root,
        env=project.env,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert killed.stdout is not None
    left = Path(json.loads(killed.stdout.readline())["keys"])
    killed.send_signal(signal.SIGKILL)
    killed.wait(LIMIT)
    assert left.is_dir()
    first = json.loads(run_in(project, sys.executable, "-c", LOOK, name="teal-crane"))
    assert not left.exists()
    assert os.listdir(Path(first["keys"]).parent) == ["sweeping"]
    killed.communicate(timeout=LIMIT)


def test_a_run_started_by_a_program_brings_an_agent_with_a_folder_of_its_own(
    project: Project,
) -> None:
    inner = [*MOOT, "run", "--name", "teal-crane", "--", sys.executable, "-c", LOOK]
    outer = f"import subprocess; {LOOK}\nimport sys; sys.stdout.flush()\n"
    outer += f"subprocess.run({inner!r}, timeout={LIMIT}, check=True)"
    first, second = map(json.loads, run_in(project, sys.executable, "-c", outer).splitlines())
    assert (first["agent"], second["agent"]) == ("amber-otter", "teal-crane")
    assert first["keys"] != second["keys"]
    keys = [name for name in second["files"] if name.endswith(".key")]
    assert [name.rsplit(".", 2)[0].rpartition("/")[2] for name in keys] == ["teal-crane"]
    assert not Path(second["keys"]).exists()
    for name in ("amber-otter", "teal-crane"):
        assert project.ok("agent", "show", name)["status"] == "retired"


def test_the_run_signs_a_checkpoint_over_what_its_program_wrote(project: Project) -> None:
    lines = [("reserve", f"src/{number}") for number in range(3)]
    assert codes(moot_in(project, *lines)) == ["ok"] * 3
    assert project.ok("verify")["verdict"] == "valid"
    with project.workspace() as workspace, workspace.store.read() as view:
        assert not view.moved_heads()


def test_files_outside_of_the_project_are_not_written_for_a_program(
    project: Project, tmp_path: Path
) -> None:
    place = tmp_path / "elsewhere" / "session"
    words = ("parliament", "new", str(place), "--problem", "Which?", "--issue", "speed")
    seats = ("--rep", "Rep. One:speed", "--rep", "Rep. Two:speed")
    (refused,) = moot_in(project, (*words, *seats))
    assert refused["error"]["code"] == "outside_project"
    assert not place.exists()


def test_modes_of_the_area_are_private(project: Project) -> None:
    run_in(project, sys.executable, "-c", "pass")
    assert stat.S_IMODE((project.keys / "lent").stat().st_mode) == 0o700
