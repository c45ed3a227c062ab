"""The commands of docs/how-to/share-a-ledger.md, typed as they stand there."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import click

from moot.surfaces.cli.main import cli
from tests.hosts.keeper_process import KeeperProcess
from tests.project import Project

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "share-a-ledger.md"
_BLOCK = re.compile(r"^```sh\n# on (\w+)\n(.*?)^```$", re.M | re.S)


def test_every_command_of_the_page_works_in_its_order(tmp_path: Path) -> None:
    file = tmp_path / "passphrase"
    file.write_text("correct horse battery staple")
    file.chmod(0o600)
    projects: dict[str, Project] = {}
    printed = ""  # by the command before
    keeper: KeeperProcess | None = None
    for machine, text in _BLOCK.findall(PAGE.read_text("utf-8")):
        place = tmp_path / machine
        if machine not in projects:
            (place / "project").mkdir(parents=True)
            typed = {"MOOT_PASSPHRASE_FILE": str(file)}
            projects[machine] = Project(place / "project", place / "keys", **typed)
        for line in text.splitlines():
            words = shlex.split(line)[1:]
            if words[0] == "keep":
                _require_options("keep", words[1:])
                keeper = KeeperProcess(projects[machine])
                continue
            if "INVITATION" in words:
                assert keeper is not None
                word = projects["build"].ok("invite")["invitation"]
                words[words.index("INVITATION")] = word
            if "WORD" in words:
                found = re.search(r"moot admit (\S+)", printed)
                assert found is not None
                words[words.index("WORD")] = found[1]
            done = projects[machine].run(*words)
            assert done.code == 0, (line, done)
            printed = done.out
    assert projects.keys() == {"build", "laptop"}
    assert projects["laptop"].refused("tick")[0] == "machine_revoked"


def _require_options(name: str, words: list[str]) -> None:
    command = cli.get_command(click.Context(cli), name)
    assert command is not None
    command.make_context(name, words, resilient_parsing=False)
