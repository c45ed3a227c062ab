"""Joining from the wrong place, with a wrong word, or over an address that is none: what is said
must be what failed, and what is to be typed next must work."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from moot.api.hosts import machines
from moot.api.session import Session
from moot.core.errors import MootError
from moot.hosts.connection import connect
from moot.keys.folder import KeyFolder
from tests.cli.typeable import commands_in
from tests.hosts.keeper_process import KeeperProcess
from tests.project import Project

FINGERPRINT = "0" * 32


@pytest.mark.parametrize(
    "address",
    [
        "localhost",
        "localhost:",
        ":7417",
        "localhost:99999",
        "localhost:²",
        "b\u00fccher..example:7417",
        "\u00fc" * 80 + ".example:7417",
        "two words:7417",
        "host\n:7417",
    ],
)
def test_what_is_no_address_is_said_to_be_none(address: str) -> None:
    with pytest.raises(MootError) as refused:
        connect(address, FINGERPRINT)
    assert refused.value.code == "bad_address"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    root = tmp_path / "build" / "project"
    root.mkdir(parents=True)
    made = Project(root, tmp_path / "build" / "keys")
    for number in range(2):
        _git(root, "init", "--quiet")
        _git(root, "commit", "--quiet", "--allow-empty", f"--message={number}")
    made.ok("init")
    return made


def _git(folder: Path, *words: str) -> None:
    names = ("-c", "user.name=x", "-c", "user.email=x@example")
    subprocess.run(["git", *names, *words], cwd=folder, check=True, timeout=60)


def _said(project: Project, *words: str) -> tuple[str, str]:
    """The code of a refusal, and what is said."""
    error = project.json(*words).error
    return error["code"], f"{error['message']}; {error['hint']}"


def _clone(source: Project, place: Path, *options: str) -> Project:
    place.mkdir(parents=True)
    _git(place, "clone", "--quiet", *options, f"file://{source.root}", "project")
    return Project(place / "project", place / "keys")


@pytest.mark.parametrize("address", ["nonsense", "a b:7417", "build.example:70000"])
def test_no_invitation_names_an_address_that_is_none(project: Project, address: str) -> None:
    KeeperProcess(project)
    assert project.refused("invite", "--address", address)[0] == "bad_address"
    assert project.refused("keep", "--address", address)[0] == "bad_address"


@pytest.mark.parametrize("host", ["0.0.0.0", "::"])
def test_an_invitation_names_an_address_that_others_can_reach(project: Project, host: str) -> None:
    """Listening everywhere says nothing about what this machine is called elsewhere."""
    session = Session(project.root, keys=KeyFolder(project.keys), env=project.env)
    with session, machines.keep(session, host, 0) as kept:
        port = kept.address.rpartition(":")[2]
        code, said = _said(project, "invite")
        assert (code, "--address" in said) == ("no_address", True)
        made = project.ok("invite", "--address", f"localhost:{port}")
        assert made["address"] == f"localhost:{port}"


def test_an_invitation_that_only_this_machine_can_use_says_so(project: Project) -> None:
    KeeperProcess(project)
    for address in ((), ("--address", "localhost:7417"), ("--address", "[::1]:7417")):
        told = project.run("invite", *address).out
        assert "is reachable from this machine only" in told
        assert "on the other machine" not in told
        assert list(commands_in(told))[-1:] == ["moot keep --listen HOST:7417"]
    told = project.run("invite", "--address", "build.example:7417").out
    assert told.startswith("on the other machine, in a clone of this repository:")
    assert "only" not in told


def test_a_shallow_clone_is_told_what_it_lacks(project: Project, tmp_path: Path) -> None:
    KeeperProcess(project)
    word = project.ok("invite")["invitation"]
    shallow = _clone(project, tmp_path / "shallow", "--depth", "1")
    code, said = _said(shallow, "init", "--join", word, "--name", "shallow")
    assert code == "another_repository"
    assert "git fetch --unshallow" in said
    _git(shallow.root, "fetch", "--quiet", "--unshallow")
    shallow.ok("init", "--join", word, "--name", "shallow")


def test_a_keeper_in_a_shallow_clone_lets_full_ones_join(project: Project, tmp_path: Path) -> None:
    keeper = _clone(project, tmp_path / "keeper", "--depth", "1")
    keeper.ok("init")
    KeeperProcess(keeper)
    full = _clone(project, tmp_path / "full")
    full.ok("init", "--join", keeper.ok("invite")["invitation"], "--name", "full")


def test_a_folder_that_is_no_clone_does_not_use_up_the_invitation(
    project: Project, tmp_path: Path
) -> None:
    KeeperProcess(project)
    word = project.ok("invite")["invitation"]
    (tmp_path / "home").mkdir()
    home = Project(tmp_path / "home", tmp_path / "home-keys")
    assert home.refused("init", "--join", word, "--name", "home")[0] == "another_repository"
    assert not (home.root / ".moot").exists()
    _clone(project, tmp_path / "laptop").ok("init", "--join", word, "--name", "laptop")


def test_anyone_who_joins_and_finds_nobody_is_told_what_to_look_at(
    project: Project, tmp_path: Path
) -> None:
    keeper = KeeperProcess(project)
    word = project.ok("invite")["invitation"]
    keeper.end()
    laptop = _clone(project, tmp_path / "laptop")
    code, said = _said(laptop, "init", "--join", word, "--name", "laptop")
    assert code == "keeper_away"
    assert "copy can be read" not in said, "nothing is"
    assert "moot keep" in said


def test_a_machine_whose_host_has_a_long_name_can_join(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("platform.node", lambda: f"{'long-' * 15}x.example")
    name = machines._machine_name()
    assert 3 <= len(name) <= 48
    assert not name.endswith("-")
    KeeperProcess(project)
    word = project.ok("invite")["invitation"]
    _clone(project, tmp_path / "laptop").ok("init", "--join", word, "--name", name)


# Joining again ------------------------------------------------------------------------------------


def _join(project: Project, machine: Project, name: str) -> dict[str, object]:
    done: dict[str, object] = machine.ok(
        "init", "--join", project.ok("invite")["invitation"], "--name", name
    )
    return done


def test_a_machine_that_was_taken_off_joins_again_and_keeps_its_copy(
    project: Project, tmp_path: Path
) -> None:
    KeeperProcess(project)
    laptop = _clone(project, tmp_path / "laptop")
    assert _join(project, laptop, "laptop")["created"] is True
    laptop.ok("agent", "register", "amber-otter")
    project.ok("machine", "revoke", "laptop")
    code, said = _said(laptop, "agent", "register", "teal-crane")
    assert (code, "moot init --join" in said) == ("machine_revoked", True)
    assert _join(project, laptop, "laptop")["created"] is True
    laptop.ok("--as", "amber-otter", "reserve", "src/a.py")
    assert laptop.ok("verify")["verdict"] == "valid"


def test_a_machine_joins_again_where_the_keepers_certificate_was_lost(
    project: Project, tmp_path: Path
) -> None:
    keeper = KeeperProcess(project)
    laptop = _clone(project, tmp_path / "laptop")
    _join(project, laptop, "laptop")
    keeper.end()
    (project.root / ".moot" / "keeper" / "keeper.pem").unlink()
    KeeperProcess(project, keeper.port)
    assert laptop.refused("agent", "register", "teal-crane")[0] == "another_keeper"
    project.ok("machine", "revoke", "laptop")
    _join(project, laptop, "laptop")
    laptop.ok("agent", "register", "amber-otter")


def test_nobody_joins_another_ledger_over_a_copy_of_the_first(
    project: Project, tmp_path: Path
) -> None:
    KeeperProcess(project)
    laptop = _clone(project, tmp_path / "laptop")
    _join(project, laptop, "laptop")
    project.ok("machine", "revoke", "laptop")
    other = _clone(project, tmp_path / "other")
    other.ok("init")
    KeeperProcess(other)
    word = other.ok("invite")["invitation"]
    assert laptop.refused("init", "--join", word, "--name", "laptop")[0] == "another_ledger"
    assert laptop.refused("agent", "register", "teal-crane")[0] == "machine_revoked"


@pytest.mark.parametrize("name", ["m0", "My Laptop", "laptop_2"])
def test_a_name_that_no_machine_can_have_is_told_from_an_agents(
    project: Project, tmp_path: Path, name: str
) -> None:
    """Before anybody is asked: the invitation is as good as it was."""
    KeeperProcess(project)
    laptop = _clone(project, tmp_path / "laptop")
    invitation = project.ok("invite")["invitation"]
    code, said = _said(laptop, "init", "--join", invitation, "--name", name)
    assert (code, "agent" in said, "--name" in said) == ("bad_name", False, True)
    assert f"'{name}' is not a machine name" in said
    assert laptop.ok("init", "--join", invitation, "--name", "build-2")["created"] is True


@pytest.mark.parametrize("cut", [1, 31, 32, 33, 60])
def test_an_invitation_that_was_cut_short_is_told_from_a_wrong_one(cut: int) -> None:
    from moot.hosts.joining import read_invitation

    whole = f"build.example:7417#{FINGERPRINT}#01234567#{'ab' * 16}"
    assert read_invitation(whole).text == whole
    with pytest.raises(MootError) as refused:
        read_invitation(whole[:-cut])
    assert refused.value.code == "bad_invitation"
