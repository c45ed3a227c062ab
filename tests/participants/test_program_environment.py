"""A program behind `cmd:` gets what it is known to need, what its user adds, and nothing else."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path

import pytest

from moot.agents.command import (
    COMMON,
    KNOWN_PROGRAMS,
    WITHHELD,
    CommandParticipant,
    environment_for,
)
from moot.agents.participant import read_spec
from moot.core.errors import Malformed
from tests.participants.scripted_participants import brief
from tests.project import Project

PRINTS_ITS_NAMES = "import json, os; print(json.dumps({'names': sorted(os.environ)}))"
OURS = {
    "HOME": "/h",
    "PATH": "/usr/bin:/bin",
    "LC_ALL": "C.UTF-8",
    "https_proxy": "proxy",
    "XDG_CONFIG_HOME": "/c",
}
OTHERS = {
    "AWS_SECRET_ACCESS_KEY": "s",
    "DATABASE_URL": "s",
    "GITHUB_TOKEN": "s",
    "ANTHROPIC_API_KEY": "s",
    "OPENAI_API_KEY": "s",
    "GEMINI_API_KEY": "s",
    "MOOT_PASSPHRASE_FILE": "s",
    "MOOT_KEYS": "s",
    "MY_API_KEY": "s",
}


def names_seen(folder: Path, program: str, *added: str) -> list[str]:
    """The variables that a program of this name finds; it prints them."""
    file = folder / program
    file.write_text(f"#!{sys.executable} -IS\n{PRINTS_ITS_NAMES}\n", encoding="utf-8")
    file.chmod(0o700)
    spec = read_spec(f"cmd:{shlex.quote(str(file))}")
    speaker = CommandParticipant(spec, "amber-otter", folder, OURS | OTHERS, added)
    seen = speaker.reply(brief(), 30).reply["names"]
    assert isinstance(seen, list)
    return [name for name in seen if name in OURS | OTHERS]


@pytest.mark.parametrize(
    ("program", "more"),
    [
        ("anything", set()),
        ("claude", {"ANTHROPIC_API_KEY", "AWS_SECRET_ACCESS_KEY", "GEMINI_API_KEY"}),
        ("codex", {"OPENAI_API_KEY"}),
        ("gemini", {"GEMINI_API_KEY"}),
        ("copilot", {"GITHUB_TOKEN"}),
    ],
)
def test_a_program_finds_what_it_needs_and_no_more(
    tmp_path: Path, program: str, more: set[str]
) -> None:
    assert set(names_seen(tmp_path, program)) == OURS.keys() | more


def test_a_variable_that_was_added_is_there(tmp_path: Path) -> None:
    assert "MY_API_KEY" not in names_seen(tmp_path, "anything")
    assert "MY_API_KEY" in names_seen(tmp_path, "anything", "MY_API_KEY")


@pytest.mark.parametrize("program", [*KNOWN_PROGRAMS, "anything"])
def test_no_program_gets_a_passphrase_or_somebody_elses_name(program: str) -> None:
    env = dict.fromkeys([*WITHHELD, "HOME"], "x")
    assert environment_for(program, env) == {"HOME": "x"}


@pytest.mark.parametrize("name", ["MOOT_PASSPHRASE_FILE", "A=B", "", "1X", "A*"])
def test_only_plain_names_can_be_added(name: str) -> None:
    with pytest.raises(Malformed) as caught:
        environment_for("claude", {"HOME": "x"}, [name])
    assert caught.value.code == "bad_variable"


def test_the_tables_hold_plain_names_or_beginnings() -> None:
    for row in (*COMMON, *(row for rows in KNOWN_PROGRAMS.values() for row in rows)):
        plain = row.removesuffix("*")
        assert plain.replace("_", "").isalnum(), row
        assert len(plain) >= 2, row
        assert not plain.startswith("MOOT"), row


def test_a_name_is_added_on_the_command_line(bare: Project) -> None:
    bare.ok("init")
    seen, script = bare.root / "seen.json", bare.root / "voice.py"
    script.write_text(
        "import json, os\n"
        f"open({str(seen)!r}, 'w').write(json.dumps(sorted(os.environ)))\n"
        "print(json.dumps({'answer': 'yes'}))\n"
    )
    voice = f"cmd:{shlex.quote(sys.executable)} {shlex.quote(str(script))}"
    exported = {name: value for name, value in OTHERS.items() if not name.startswith("MOOT")}
    words = ("ask", "Ship it?", "--with", f"{voice},rules:approve", "--env", "MY_API_KEY")
    bare.run(*words, "--max-seconds", "60", **exported)
    names = json.loads(seen.read_text("utf-8"))
    assert names.count("MY_API_KEY") == 1
    assert not {"DATABASE_URL", "ANTHROPIC_API_KEY"} & set(names)
