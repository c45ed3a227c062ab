"""More than one history: an older copy put back, a loss accepted, a copy that went its own way."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from moot.keys.seen_checkpoints import SeenCheckpoints
from moot.protocols.example.model import Ask
from tests.cli.damage import edit
from tests.project import LIST, Project

ACCEPT = ("ledger", "accept-loss", "--reason", "the disk died")


@pytest.fixture
def old(project: Project) -> bytes:
    """The ledger file as it was before the newest events; those are in the ledger now."""
    project.execute("amber-otter", Ask(title="first", of="teal-crane"))
    before = project.ledger.read_bytes()
    project.execute("amber-otter", Ask(title="second", of="teal-crane"))
    return before


@pytest.fixture
def rolled(project: Project, old: bytes) -> Project:
    project.ledger.write_bytes(old)
    return project


# Rolled back.


def test_an_older_copy_is_read_but_not_written(rolled: Project) -> None:
    status = rolled.ok("status")
    assert status["record"]["rolled_back"] is True
    assert "rolled back" in rolled.run("status").out
    assert len(rolled.ok("agenda")["due"]) == 1
    for words in (
        ("agent", "register", "coral-finch"),
        ("agent", "heartbeat", "--agent", "amber-otter"),
        ("ledger", "checkpoint"),
        ("ledger", "rebuild"),
        ("tick", LIST),
    ):
        code, exit_code = rolled.refused(*words)
        assert (code, exit_code) == ("rolled_back", 1), words
    assert not list(rolled.keys.glob("*/coral-finch.*"))


def test_verify_and_doctor_show_it(rolled: Project) -> None:
    done = rolled.json("verify")
    assert (done.code, done.data["verdict"]) == (1, "rolled-back")
    assert rolled.json("verify", LIST).data["verdict"] == "rolled-back"
    assert rolled.json("ledger", "doctor").code == 1


def test_evidence_can_still_be_exported(rolled: Project) -> None:
    rolled.ok("ledger", "export", "-o", "evidence.moot")
    assert rolled.json("verify", "evidence.moot").data["verdict"] == "valid"


def test_an_export_of_it_says_that_it_proves_only_what_is_left(rolled: Project) -> None:
    assert rolled.ok("ledger", "export", "-o", "left.moot")["rolled_back"] is True
    assert "proves only what is left" in rolled.run("ledger", "export", "-o", "left.moot").out
    words = ("trust", "export", "-o", "trust.json", "--minimum")
    assert rolled.refused(*words) == ("rolled_back", 1)
    assert not (rolled.root / "trust.json").exists()


def test_a_damaged_checkpoint_is_no_checkpoint(project: Project, old: bytes) -> None:
    del old
    edit(project.ledger, "UPDATE notes SET note = replace(note, 'moot ', 'Moot ')")
    status = project.ok("status")["record"]
    assert (status["rolled_back"], status["checkpoint"]) == (True, None)
    assert project.refused("agent", "register", "coral-finch") == ("rolled_back", 1)
    project.ok("ledger", "export", "-o", "evidence.moot")
    assert project.json("verify", "evidence.moot").data["verdict"] == "tampered"
    assert "rolled_back" in [
        found["code"] for found in project.json("ledger", "doctor").data["findings"]
    ]
    project.ok(*ACCEPT)  # the key folder knows which one it was
    after = project.ok("status")["record"]
    assert (after["rolled_back"], after["events"]) == (False, status["events"] + 1)
    assert project.ok("verify")["verdict"] == "valid"
    project.ok("agent", "register", "coral-finch")


def test_putting_the_newest_back_ends_it(project: Project, old: bytes) -> None:
    newest = project.ledger.read_bytes()
    project.ledger.write_bytes(old)
    assert project.refused("ledger", "checkpoint") == ("rolled_back", 1)
    project.ledger.write_bytes(newest)
    project.ok("ledger", "checkpoint")
    assert project.ok("verify")["verdict"] == "valid"


# Accepting a loss.


def test_a_loss_is_accepted_on_record_and_work_goes_on(rolled: Project) -> None:
    accepted = rolled.ok(*ACCEPT)
    assert accepted["by"] is None
    (event,) = rolled.ok("ledger", "log", "registry", "--type", "registry.history_accepted")[
        "events"
    ]
    assert event["data"]["reason"] == "the disk died"
    assert "moot 5 " in event["data"]["lost"]
    assert accepted["checkpoint"] == 6
    rolled.ok("agent", "register", "coral-finch")
    verdict = rolled.ok("verify")
    assert verdict["verdict"] == "valid"
    assert rolled.ok("ledger", "doctor")["healthy"]


def test_nothing_lost_nothing_accepted(project: Project) -> None:
    assert project.refused(*ACCEPT) == ("nothing_lost", 1)


def test_a_reason_is_required(rolled: Project) -> None:
    assert rolled.refused("ledger", "accept-loss", "--reason", " ") == ("reason_required", 1)
    assert rolled.refused("ledger", "accept-loss") == ("usage", 2)
    assert rolled.ok("status")["record"]["rolled_back"] is True


def test_an_agent_may_not_accept_it(rolled: Project) -> None:
    assert rolled.refused(*ACCEPT, MOOT_AGENT="amber-otter") == ("human_key_required", 1)


def test_where_people_are_known_one_must_sign(project: Project, passphrase: str) -> None:
    settings = {"MOOT_PASSPHRASE_FILE": passphrase}
    project.ok("agent", "register", "operator", "--human", **settings)
    before = project.ledger.read_bytes()
    project.ok("agent", "register", "coral-finch")
    project.ledger.write_bytes(before)
    assert project.refused(*ACCEPT) == ("human_key_required", 1)
    assert project.refused(*ACCEPT, MOOT_AGENT="amber-otter", **settings)[0] == "human_key_required"
    by = project.ok("agent", "show", "operator")["kid"]
    assert project.ok(*ACCEPT, **settings)["by"] == by
    assert project.ok("verify")["verdict"] == "valid"


def test_an_interrupted_acceptance_can_be_finished(
    rolled: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Died after the checkpoint, before the key folder forgot what was lost."""

    def dies(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(SeenCheckpoints, "replace_all", dies)
        assert rolled.run(*ACCEPT).code == 130
    assert rolled.json("verify").data["verdict"] == "rolled-back"
    rolled.ok(*ACCEPT)
    assert rolled.ok("verify")["verdict"] == "valid"


# A copy that went its own way.


@pytest.fixture
def copy(project: Project, tmp_path: Path) -> Project:
    """The same workspace and keys on another machine, as it were."""
    project.execute("amber-otter", Ask(title="together", of="teal-crane"))
    shutil.copytree(project.root, tmp_path / "there")
    shutil.copytree(project.keys, tmp_path / "their keys")
    return Project(tmp_path / "there", tmp_path / "their keys")


def theirs(copy: Project) -> str:
    copy.ok("ledger", "export", "-o", "theirs.moot")
    return str(copy.root / "theirs.moot")


def test_copies_that_agree(project: Project, copy: Project) -> None:
    done = project.ok("ledger", "witness", theirs(copy))
    assert (done["verdict"], done["same"], done["differing"]) == ("agrees", 4, 0)


def test_a_copy_that_is_only_ahead_or_behind_agrees(project: Project, copy: Project) -> None:
    copy.execute("amber-otter", Ask(title="further", of="teal-crane"))
    done = project.ok("ledger", "witness", theirs(copy))
    assert (done["verdict"], done["only_there"]) == ("agrees", 1)
    project.ok("ledger", "export", "-o", "ours.moot")
    behind = copy.ok("ledger", "witness", str(project.root / "ours.moot"))
    assert (behind["verdict"], behind["same"]) == ("agrees", 4)


def test_a_copy_that_diverged_is_proved_for_ever(project: Project, copy: Project) -> None:
    project.execute("amber-otter", Ask(title="here", of="teal-crane"))
    titles = ("there", "and on")
    copy.execute("amber-otter", *(Ask(title=title, of="teal-crane") for title in titles))
    done = project.json("ledger", "witness", theirs(copy))
    assert done.code == 1
    assert (done.data["verdict"], done.data["differing"]) == ("forked", 1)
    (fork,) = done.data["forks"]
    assert (fork["id"], fork["seq"]) == (LIST, 1)
    assert project.json("verify").data["verdict"] == "forked"
    assert project.run("verify").out.startswith("FORKED · 5 events")
    project.ok("ledger", "export", "-o", "proof.moot")
    assert project.json("verify", "proof.moot").data["verdict"] == "forked"
    again = project.json("ledger", "witness", theirs(copy))
    assert again.data["forks"] == done.data["forks"]
    assert "forked" in [
        found["code"] for found in project.json("ledger", "doctor").data["findings"]
    ]


def test_a_second_history_of_keys_is_found_too(project: Project, copy: Project) -> None:
    project.ok("agent", "register", "coral-finch")
    copy.ok("agent", "register", "ivory-heron")
    copy.execute("ivory-heron", Ask(title="who am I", of="teal-crane"))
    done = project.json("ledger", "witness", theirs(copy))
    assert [fork["id"] for fork in done.data["forks"]] == ["registry"]
    assert project.json("verify").data["verdict"] == "forked"


def test_a_contradiction_by_a_key_unknown_here_is_kept_as_nothing(
    project: Project, copy: Project
) -> None:
    """Keeping it would make our own export look tampered with."""
    copy.ok("agent", "register", "ivory-heron")
    project.execute("amber-otter", Ask(title="here", of="teal-crane"))
    copy.execute("ivory-heron", Ask(title="there", of="teal-crane"))
    done = project.json("ledger", "witness", theirs(copy))
    assert (done.data["differing"], done.data["forks"]) == (1, [])
    assert done.code == 1
    assert project.ok("verify")["verdict"] == "valid"


def test_a_damaged_copy_proves_nothing(project: Project, copy: Project) -> None:
    project.execute("amber-otter", Ask(title="here", of="teal-crane"))
    copy.execute("amber-otter", Ask(title="there", of="teal-crane"))
    file = Path(theirs(copy))
    file.write_bytes(file.read_bytes().replace(b'"lines":', b'"lines": '))
    assert project.refused("ledger", "witness", str(file)) == ("tampered", 1)
    assert project.ok("verify")["verdict"] == "valid"


def test_another_ledger_is_not_compared(project: Project, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    other = Project(tmp_path / "other", tmp_path / "other keys")
    other.ok("init")
    refused = project.refused("ledger", "witness", theirs(other))
    assert refused == ("another_ledger", 4)
