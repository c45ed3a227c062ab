"""The programs in examples/ run as they are, and print what their headers promise."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.test_console_blocks import ROOT, environment

EXAMPLES = ROOT / "examples"
PARTICIPANTS = f"fern-hare=cmd:{sys.executable} {EXAMPLES / 'participant.py'}"
PARTICIPANTS += ",moss-lynx=rules:approve,pine-vole=rules:reject"
OPTIONS = ("--option", "Postgres", "--option", "Kafka")


def run(folder: Path, *words: str | Path, **more: str) -> str:
    """Run a program in `folder` and return what it printed; fail after a minute or on an error."""
    done = subprocess.run(
        words,
        cwd=folder,
        env=environment(folder) | more,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A folder with a workspace."""
    root = tmp_path / "shop"
    root.mkdir()
    run(root, "moot", "init")
    return root


def test_each_has_a_header_of_three_lines_and_a_row_in_the_table() -> None:
    page = (EXAMPLES / "README.md").read_text("utf-8")
    programs = sorted(EXAMPLES.glob("*.py"))
    assert len(programs) == 4
    for program in programs:
        header = program.read_text("utf-8").split('"""')[1]
        assert len(header.splitlines()) == 3, program.name
        assert f"]({program.name})" in page


def test_two_agents_and_a_conflict(tmp_path: Path) -> None:
    assert run(tmp_path, sys.executable, EXAMPLES / "two_agents.py").splitlines() == [
        "amber-otter holds src/auth",
        "teal-crane is refused: reservation_conflict",
        "teal-crane holds src/auth/cache.py",
        "the record is valid",
    ]


def test_a_participant_answers_and_its_receipt_is_verified_without_moot(shop: Path) -> None:
    asked = run(shop, "moot", "ask", "Queue?", *OPTIONS, "--with", PARTICIPANTS, "--json")
    assert json.loads(asked)["data"]["outcome"].startswith("2 approve, 1 reject: agreed")
    (shop.parent / "passphrase").write_text("correct horse battery staple")
    (shop.parent / "passphrase").chmod(0o600)
    person = {"MOOT_PASSPHRASE_FILE": "../passphrase"}
    run(shop, "moot", "agent", "register", "operator", "--human", **person)
    run(shop, "moot", "decide", "q-1", "approve", "--reason", "Yes.", **person)
    run(shop, "moot", "receipt", "q-1", "-o", "decision.md")
    run(shop, "moot", "trust", "export", "-o", "trust.json")

    without_moot = ("import sys; sys.modules['moot'] = None; import runpy; del sys.argv[0];"
                    "runpy.run_path(sys.argv[0], run_name='__main__')")  # fmt: skip
    words = (EXAMPLES / "verify_receipt.py", "decision.json", "trust.json")
    assert run(shop, sys.executable, "-c", without_moot, *words).splitlines() == [
        "verdict: valid",
        "question: Queue?",
        "motion: Postgres",
        "ruling: approved by operator",
        "disagrees: pine-vole",
    ]


def test_the_record_is_read(shop: Path) -> None:
    run(shop, "moot", "agent", "register", "amber-otter")
    run(shop, "moot", "--as", "amber-otter", "reserve", "src/auth")
    printed = run(shop, sys.executable, EXAMPLES / "read_record.py").splitlines()
    assert printed[0].startswith("registry: ")
    assert printed[-2].endswith(" amber-otter reserved src/auth")
    assert printed[-1] == "verdict: valid"
