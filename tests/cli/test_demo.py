"""`moot demo`: nothing faked, nothing of the user's touched, everything kept to look at.

It is played once for most tests; what they damage is a copy.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tools.make_demo_picture import FILE, picture
from tools.make_demo_picture import played as report_in

from moot.surfaces.cli.demo import select
from moot.surfaces.demo.stage import Line
from moot.surfaces.terminal.progress import StatusLine
from moot.verify import standalone
from tests.cli import damage
from tests.cli.terminal import on_a_terminal
from tests.project import Project

pytestmark = pytest.mark.requirement("DEC-026")


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any]:
    """The whole of it, once: where it played, and what it answered."""
    place = tmp_path_factory.mktemp("demo")
    done = Project(place, place / "my keys").spawn(
        *("demo", "--json", "--full", "--out", "stage"), MOOT_AGENT="somebody", MOOT_HOME="/none"
    )
    assert (done.code, done.err) == (0, "")
    assert sorted(path.name for path in place.iterdir()) == ["stage"]
    return place / "stage", done.data


@pytest.fixture
def copy(played: tuple[Path, Any], tmp_path: Path) -> Path:
    """A copy of all that it left, to be damaged."""
    sockets = shutil.ignore_patterns("socket")  # of runs that were killed on the way
    shutil.copytree(played[0], tmp_path / "stage", symlinks=True, ignore=sockets)
    return tmp_path / "stage"


def left_in(stage: Path, repository: str = "repository") -> Project:
    return Project(stage / repository, stage / "keys", BB_AGENT_STALE_MINUTES="0.05")


def test_both_checkers_named_every_damage(played: tuple[Path, Any]) -> None:
    verdicts = [(one["file"], one["verdict"]) for one in played[1]["verdicts"]]
    assert verdicts == [
        ("record.moot", "valid"),
        ("decision.json", "valid"),
        ("changed.moot", "tampered"),
        ("shortened.moot", "truncated"),
        ("changed-receipt.json", "tampered"),
        ("record.moot", "valid"),
    ]


def test_nothing_waits_where_the_whole_path_was_walked(copy: Path) -> None:
    """The bill was approved once, in the session and in its decision."""
    left = left_in(copy, "payments")
    assert left.ok("agenda")["due"] == []
    session = json.loads((left.root / "bill/session.json").read_text("utf-8"))["parliament_id"]
    assert left.ok("receipt", session, "-o", "bill.json")["stage"] == "approved"


def test_the_gone_holder_was_ended_and_the_forger_got_nowhere(played: tuple[Path, Any]) -> None:
    left = left_in(played[0])
    types = [one["type"] for one in left.ok("ledger", "log", "presence")["events"]]
    assert "presence.incursion_noted" in types
    assert types.count("presence.scope_reserved") == 2
    (held,) = left.ok("scope", "list")["reservations"]
    assert (held["owner"], held["fencing"]) == ("teal-crane", 2)
    assert left.ok("mail", "inbox", "--agent", "teal-crane")["messages"] == []
    assert (left.root / "src/auth/cache.py").read_text("utf-8") == "LIMIT = 5\n"


def test_the_veto_the_second_version_and_every_dissent_are_kept(played: tuple[Path, Any]) -> None:
    said = json.loads(Path(played[1]["receipt"]).read_bytes())["says"]
    assert (said["decision"], said["stage"]) == ("q-2", "approved")
    assert said["earlier"][0]["word"] == "vetoed"
    assert [voice["agent"] for voice in said["argument"]["dissent"]] == ["slate-wren"]
    assert all(one["scripted"] for one in said["participants"])
    record = played[0] / "repository/docs/decisions/0001-sessions.md"
    assert "A crash empties an unlogged table" in record.read_text("utf-8")
    first = left_in(played[0]).ok("report", "q-1")["report"]
    (changed,) = [one for one in first["blocks"] if one.get("title", "").startswith("Who changed")]
    ((who, *_rest),) = changed["rows"]
    assert who == "slate-wren"
    assert first["verdict"]["label"] == "VETOED"


def test_what_it_leaves_can_be_looked_at(played: tuple[Path, Any]) -> None:
    stage, data = played
    for repository in ("repository", "payments"):
        left = left_in(stage, repository)
        assert left.ok("verify")["verdict"] == "valid"
        assert left.ok("ledger", "doctor")["healthy"]
    assert left_in(stage).ok("verify", data["record"])["verdict"] == "valid"
    assert left_in(stage, "payments").ok("verify", data["path"])["verdict"] == "valid"
    for page in ("decision.html", "first-version.html", "path.html"):
        text = (stage / page).read_text("utf-8")
        assert "<script" not in text
        assert "http" not in text.replace("http-equiv", "")


def test_the_whole_path_ends_in_verified_claims(played: tuple[Path, Any]) -> None:
    left = left_in(played[0], "payments")
    story = left.ok("story", "t1")
    assert [step["stage"] for step in story["steps"]] == ["done"] * 4
    assert left.ok("trace", "verify", "t1")["verdict"] == "valid"
    assert left.ok("debate", "verify", "payments.md")["verdict"] == "valid"
    assert left.ok("parliament", "check", "bill")["valid"]


def test_the_published_picture_is_drawn_from_it(played: tuple[Path, Any]) -> None:
    assert FILE.read_text(encoding="utf-8") == picture(report_in(played[0]))


# What it prints can be typed ---------------------------------------------------------------------

BARE = {"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"}


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What it says where `moot` is not found by its name, as after `make demo`."""
    place = tmp_path_factory.mktemp("a stage")
    done = Project(place, place / "my keys").spawn(
        "demo", "--commands", "--out", "the stage", **BARE
    )
    assert (done.code, done.err) == (0, "")
    return done.out


def in_a_shell(*lines: str) -> list[str]:
    """What each line prints in a shell that knows nothing of ours."""
    script = "\n".join(f"{{ {line}\n}} 2>&1; echo ={number}=" for number, line in enumerate(lines))
    done = subprocess.run(
        ["bash", "-c", script], env=BARE, capture_output=True, encoding="utf-8", check=False
    )
    assert done.stderr == ""
    return [one.removeprefix("\n") for one in re.split(r"(?m)^=\d+=$", done.stdout)[:-1]]


def commands(text: str) -> list[tuple[str, str]]:
    """Each line that is shown as a command, and what is shown as printed by it."""
    found = []
    for part in re.split(r"(?m)^\$ ", text)[1:]:
        line, *printed = part.splitlines()
        shown = [one for one in printed if one and not one.startswith(("# ", "── "))]
        found.append((line, "".join(f"{one}\n" for one in shown)))
    return found


@pytest.mark.thorough
def test_the_last_act_can_be_typed_as_it_is_shown(told: str) -> None:
    first, third, end = (
        told.index(f"── {name}") for name in ("Act 1", "Act 3", "Files to look at")
    )
    begin, act = commands(told[:first]), commands(told[third:end])
    assert len(act) > 15
    printed = in_a_shell(*(line for line, _ in [*begin, *act]))
    assert [*zip([line for line, _ in act], printed[len(begin) :], strict=True)] == act


@pytest.mark.thorough
def test_what_it_leaves_to_look_at_is_there_and_the_last_commands_run(told: str) -> None:
    left = dict(re.findall(r"(?m)^(the \w+|who changed) +(.*)$", told[told.index("── Files") :]))
    workspace = left.pop("the workspace")
    assert all(Path(file).is_file() for file in left.values())
    assert {"the decision", "the record", "the verdicts"} <= set(left)
    (status,) = in_a_shell(workspace)
    assert "teal-crane" in status
    turn = told.rstrip().rpartition("your turn, in your own repository: ")[2]
    program, _, rest = turn.partition(" init && ")
    assert rest == f"{program} run -- claude"
    assert in_a_shell(f"{program} --version")[0].startswith("moot")


def test_where_there_is_no_program_called_moot_the_python_that_has_it_is_named(
    tmp_path: Path,
) -> None:
    """As after `python -m moot demo` from a folder of libraries."""
    python = tmp_path / "python-of-mine"
    python.symlink_to(Path(sys.executable).resolve())
    libraries = {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    ask = (
        "from moot.surfaces.demo import stage as p; print(p.moot(), *p.path_commands(), sep='\\n')"
    )
    told = subprocess.run(
        [python, "-P", "-c", ask],
        env={**BARE, **libraries},
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    program, *lines = told.stdout.splitlines()
    assert program == f"{python} -m moot"
    let = f"export PYTHONPATH={libraries['PYTHONPATH']}"
    *_, version, again = in_a_shell(let, *lines, "moot --version", f"{program} --version")
    assert version == again
    assert version.startswith("moot")


def test_both_checkers_verdicts_are_kept(played: tuple[Path, Any]) -> None:
    stage, data = played
    assert json.loads((stage / "verdicts.json").read_bytes()) == data["verdicts"]
    pairs = [(one["verdict"], one["standalone"]["verdict"]) for one in data["verdicts"]]
    assert [ours for ours, _ in pairs] == [theirs for _, theirs in pairs]
    checker = Path(standalone.__file__).read_bytes()
    assert (stage / "standalone.py").read_bytes() == checker


@pytest.mark.parametrize(
    ("commands", "expected"),
    [(False, ["b", "Act", "go"]), (True, ["why", "moot", "a", "b", "Act", "go"])],
)
def test_only_what_came_of_it_is_shown_unless_commands_are_asked_for(
    commands: bool, expected: list[str]
) -> None:
    lines = [
        Line("say", "why"),
        Line("run", "moot"),
        Line("wait", "soon"),
        Line("out", "a"),
        Line("out", "b", point=True),
        Line("act", "Act"),
        Line("end", "go"),
    ]
    shown = select(iter(lines), commands, StatusLine())
    assert [line.text for line in shown] == expected


# Damage to anything it left is named -------------------------------------------------------------


def flip(place: int) -> Callable[[bytes], bytes]:
    """One bit of one byte, counted from the end if below zero."""

    def edit(data: bytes) -> bytes:
        changed = bytearray(data)
        changed[place] ^= 1
        return bytes(changed)

    return edit


@pytest.mark.parametrize("file", ["record.moot", "decision.json", "path.moot"])
def test_a_byte_anywhere_in_a_record_is_named(copy: Path, file: str) -> None:
    repository = "payments" if file == "path.moot" else "repository"
    left, original = left_in(copy, repository), (copy / file).read_bytes()
    for place in (0, 40, 1_000, len(original) // 2, len(original) - 200, len(original) - 3):
        (copy / file).write_bytes(flip(place)(original))
        done = left.json("verify", str(copy / file))
        assert done.code == 1, place
        assert done.data["first_bad"] or done.data["verdict"] == "truncated", place


def test_a_line_taken_out_of_a_record_is_named(copy: Path) -> None:
    lines = (copy / "record.moot").read_bytes().splitlines(keepends=True)
    for place in (1, len(lines) // 2, len(lines) - 1):
        (copy / "record.moot").write_bytes(b"".join([*lines[:place], *lines[place + 1 :]]))
        done = left_in(copy).json("verify", str(copy / "record.moot"))
        assert (done.code, done.data["verdict"] in ("tampered", "truncated")) == (1, True), place


@pytest.mark.parametrize(
    ("repository", "file", "words"),
    [
        ("repository", ".moot/decisions/q-1.md", ("debate", "verify", ".moot/decisions/q-1.md")),
        ("payments", "payments.md", ("debate", "verify", "payments.md")),
        ("payments", "bill/ledger.json", ("parliament", "check", "bill")),
        ("payments", "bill/session.json", ("parliament", "check", "bill")),
    ],
)
def test_a_changed_file_of_a_protocol_is_named(
    copy: Path, repository: str, file: str, words: tuple[str, ...]
) -> None:
    left = left_in(copy, repository)
    data = (left.root / file).read_bytes()
    at = data.index(b"confidence: 0.") + 14 if file.endswith(".md") else data.index(b'"round')
    (left.root / file).write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
    done = left.json(*words)
    assert done.code == 1, done
    assert done.data["findings"]


def test_a_changed_or_missing_event_of_the_workspace_is_named(copy: Path) -> None:
    left = left_in(copy)
    whole = left.ledger.read_bytes()
    mine = damage.of("decision/q-1")
    damage.edit(left.ledger, f"UPDATE events SET body = x'00' WHERE {mine} AND seq = 3")
    done = left.json("verify")
    assert (done.code, done.data["first_bad"]["stream"]) == (1, "decision/q-1")
    left.ledger.write_bytes(whole)
    damage.edit(left.ledger, f"DELETE FROM events WHERE {mine} AND seq = 3")
    done = left.json("verify")
    assert (done.code, done.data["first_bad"]["stream"]) == (1, "decision/q-1")


def test_a_changed_stored_file_is_named(copy: Path) -> None:
    left = left_in(copy)
    for stored in [path for path in (left.root / ".moot/artifacts").rglob("*") if path.is_file()]:
        data = stored.read_bytes()
        stored.chmod(0o644)
        stored.write_bytes(flip(0)(data))
        done = left.json("verify")
        assert (done.code, done.data["verdict"]) == (1, "tampered"), stored
        stored.write_bytes(data)
    assert left.ok("verify")["verdict"] == "valid"


# How it is played --------------------------------------------------------------------------------


@pytest.mark.thorough
def test_at_a_terminal_the_person_is_asked_and_nothing_else_is_needed(bare: Project) -> None:
    """Without git, without a home; above the stage nothing is touched."""
    (bare.root / ".git").mkdir()
    shown = on_a_terminal(
        bare,
        *("demo", "--fast", "--commands", "--out", "stage"),
        typed=["approve", "Fine by me."],
        PATH=str(bare.root / "no programs"),
        HOME="",
    )
    plain = shown.replace("\r\n", "\n")
    assert "git is not installed" in plain
    assert "you decide on q-1: veto or approve" in plain
    assert "q-1: approved by operator" in plain
    assert "Fine by me." in plain
    assert "q-2" not in plain
    assert "\x1b[32mINTACT\x1b[0m" in plain
    assert "\x1b[31mDAMAGED\x1b[0m at event" in plain
    assert plain.rstrip().removesuffix("\x1b[0m").endswith("moot run -- claude")
    assert not (bare.root / ".moot").exists()
    assert not bare.keys.exists()


@pytest.mark.thorough
def test_at_a_terminal_it_says_what_it_does_and_offers_the_page(bare: Project) -> None:
    """A browser that can be started is started, once, with the page that was written."""
    browser = bare.root / "browser"
    browser.write_text(
        f"#!{sys.executable}\nimport sys\nopen('opened', 'a').write(sys.argv[1] + '\\n')\n",
        encoding="utf-8",
    )
    browser.chmod(0o755)
    shown = on_a_terminal(
        bare,
        *("demo", "--fast", "--out", "stage"),
        typed=["veto", "", "y"],
        BROWSER=f"{browser} %s",
    )
    assert "\r\x1b[2K\x1b[2m… waiting until Moot sees that amber-otter has exited" in shown
    assert "$ moot" not in shown
    assert "open the decision in your browser? [Y/n]: y" in shown
    page = (bare.root / "stage" / "decision.html").as_uri()
    assert (bare.root / "opened").read_text("utf-8").splitlines() == [page]


def test_short_and_with_every_command_is_a_contradiction(bare: Project) -> None:
    """Short is the default; docs/start/demo.md shows every line of it."""
    assert bare.refused("demo", "--short", "--commands") == ("usage", 2)
    assert not (bare.root / "stage").exists()


def test_a_step_that_fails_is_named(bare: Project) -> None:
    programs = bare.root / "programs"
    programs.mkdir()
    git = programs / "git"
    git.write_text(f"#!{sys.executable}\nraise SystemExit(3)\n", encoding="utf-8")
    git.chmod(0o755)
    done = bare.spawn("demo", "--json", "--out", "stage", PATH=str(programs))
    assert (done.code != 0, done.error["code"]) == (True, "demo_failed")
    assert "Act 1: `git init --quiet` ended with 3" in done.error["message"]
    assert done.error["hint"]


def test_a_folder_that_holds_one_is_left_alone(played: tuple[Path, Any], bare: Project) -> None:
    before = sorted(path.name for path in played[0].iterdir())
    assert bare.refused("demo", "--out", str(played[0])) == ("demo_exists", 1)
    assert sorted(path.name for path in played[0].iterdir()) == before


def test_make_demo_calls_it() -> None:
    makefile = Path(__file__).parents[2] / "Makefile"
    assert "moot demo" in makefile.read_text()
    assert os.access(Path(sys.executable).with_name("moot"), os.X_OK)
