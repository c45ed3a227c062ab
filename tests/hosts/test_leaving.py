"""A machine leaves by itself: its agents end, the keeper takes it off, its copy stays."""

from __future__ import annotations

from pathlib import Path

import pytest

from moot.hosts import messages as wire
from moot.hosts.connection import ConnectionLost
from moot.hosts.replica import KeeperConnection
from tests.hosts.kept_ledger import KeptLedger
from tests.hosts.older_keeper import OLDER
from tests.hosts.test_people_on_hosts import answer_to
from tests.hosts.test_several_hosts import CRANE, OTTER, events_of, held_paths, reserve
from tests.project import Project


def secrets_of(project: Project) -> list[Path]:
    return list(project.keys.glob("*/machine.json"))


def rows_of(project: Project) -> dict[str, dict[str, object]]:
    return {row["name"]: row for row in project.ok("machine", "list")["machines"]}


@pytest.mark.requirement("HST-011")
def test_its_agents_end_and_what_they_held_is_free(
    kept: KeptLedger, laptop: Project, desktop: Project
) -> None:
    laptop.ok("agent", "register", "coral-finch")
    assert reserve(laptop, OTTER, "src/a.py") == ""
    assert reserve(laptop, "coral-finch", "src/b.py") == ""
    left = laptop.ok("machine", "leave")
    assert (left["machine"], left["keeper"]) == ("laptop", f"127.0.0.1:{kept.port}")
    assert left["retired"] == [OTTER, "coral-finch"]
    assert held_paths(kept.project) == []
    assert reserve(desktop, CRANE, "src/a.py") == ""
    agents = {row["agent"]: row for row in kept.project.ok("agent", "list", "--all")["agents"]}
    assert agents[OTTER]["status"] == agents["coral-finch"]["status"] == "retired"
    assert agents[CRANE]["status"] == "active"
    row = rows_of(kept.project)["laptop"]
    assert (row["is_revoked"], row["has_left"], row["agents"]) == (True, True, 0)
    assert "left" in kept.project.run("machine", "list").out
    assert rows_of(kept.project)["desktop"]["is_revoked"] is False


def test_its_secret_is_gone_and_its_copy_is_read_exported_and_verified(
    kept: KeptLedger, laptop: Project
) -> None:
    assert reserve(laptop, OTTER, "src/a.py") == ""
    laptop.ok("machine", "leave")
    assert secrets_of(laptop) == []
    kept.close()
    assert events_of(laptop) == events_of(kept.project)
    for words in (("status",), ("log",), ("agent", "list", "--all"), ("scope", "list")):
        assert laptop.json(*words).code == 0, words
    assert laptop.json("verify").data["verdict"] == "valid"
    exported = laptop.ok("ledger", "export", "-o", "record.moot")
    assert exported["file"]
    assert laptop.json("verify", "record.moot").data["verdict"] == "valid"
    shared = laptop.ok("status")["shared"]
    assert "has left" in shared["why_old"]
    assert (
        "this machine has left"
        in laptop.run(
            "log",
        ).err
    )
    assert "keeper_silent" not in {row["code"] for row in laptop.json("doctor").data["findings"]}


@pytest.mark.parametrize(
    "words",
    [
        ("agent", "register", "coral-finch"),
        ("reserve", "src/b.py", "--agent", OTTER),
        ("machine", "leave"),
        ("invite",),
        ("machine", "revoke", "laptop"),
        ("keep", "--listen", "127.0.0.1:0"),
        ("tick",),
        ("mail", "tick"),
        ("agent", "rotate", OTTER),
        ("agent", "retire", OTTER),
        ("send", CRANE, "INFO: done"),
        ("--as", OTTER, "send", CRANE, "INFO: done"),
        ("ledger", "checkpoint", "-o", "note"),
        ("ask", "Ship it?", "--with", "rules:approve,rules:approve"),
    ],
)
def test_whatever_writes_says_that_it_has_left(
    kept: KeptLedger, laptop: Project, words: tuple[str, ...]
) -> None:
    laptop.ok("machine", "leave")
    before = events_of(kept.project)
    done = laptop.json(*words)
    assert (done.error["code"], done.code) == ("machine_left", 1), done
    assert "`moot init --join INVITATION`" in done.error["hint"]
    assert events_of(kept.project) == events_of(laptop) == before


def test_joining_again_in_the_same_folder_goes_on_with_the_copy(
    kept: KeptLedger, laptop: Project, desktop: Project
) -> None:
    laptop.ok("machine", "leave")
    assert reserve(desktop, CRANE, "src/a.py") == ""
    joined = laptop.ok("init", "--join", kept.invite().text, "--name", "laptop")
    assert (joined["created"], joined["joined"]["machine"]) == (True, "laptop")
    assert held_paths(laptop) == ["src/a.py"]
    laptop.ok("agent", "register", "coral-finch")
    assert reserve(laptop, "coral-finch", "src/b.py") == ""
    assert laptop.json("verify").data["verdict"] == "valid"
    machines = kept.project.ok("machine", "list")["machines"]
    assert [(row["name"], row["is_revoked"]) for row in machines] == [
        ("laptop", True),
        ("desktop", False),
        ("laptop", False),
    ]
    again = laptop.ok("init", "--join", kept.invite().text, "--name", "laptop")
    assert again["created"] is False, "a repeat changes nothing"


def test_joining_again_in_another_folder_works_as_well(
    kept: KeptLedger, laptop: Project, tmp_path: Path
) -> None:
    laptop.ok("machine", "leave")
    other = Project(tmp_path / "second", laptop.keys)
    other.root.mkdir()
    assert other.ok("init", "--join", kept.invite().text, "--name", "laptop")["created"]
    other.ok("agent", "register", "coral-finch")


def test_a_machine_that_was_taken_off_joins_again_in_its_folder(
    kept: KeptLedger, laptop: Project
) -> None:
    kept.project.ok("machine", "revoke", "laptop")
    done = laptop.json("reserve", "src/a.py", MOOT_AGENT=OTTER)
    assert done.error["code"] == "machine_revoked"
    assert "`moot init --join INVITATION`" in done.error["hint"]
    joined = laptop.ok("init", "--join", kept.invite().text, "--name", "laptop")
    assert joined["created"] is True
    assert reserve(laptop, OTTER, "src/a.py") == "", "its agents are as they were"


def test_a_machine_whose_secret_is_lost_joins_again_once_it_was_taken_off(
    kept: KeptLedger, laptop: Project
) -> None:
    for file in secrets_of(laptop):
        file.unlink()
    done = laptop.json("reserve", "src/a.py", MOOT_AGENT=OTTER)
    assert done.error["code"] == "not_joined"
    words = ("init", "--join", kept.invite().text, "--name", "laptop")
    assert laptop.refused(*words)[0] == "custodian_taken"
    kept.project.ok("machine", "revoke", "laptop")
    assert laptop.ok(*words)["created"] is True
    assert reserve(laptop, OTTER, "src/a.py") == ""


def test_a_copy_of_one_ledger_does_not_join_another(
    kept: KeptLedger, laptop: Project, tmp_path: Path
) -> None:
    del kept
    laptop.ok("machine", "leave")
    root = tmp_path / "other" / "project"
    root.mkdir(parents=True)
    second = Project(root, tmp_path / "other" / "keys")
    second.ok("init")
    other = KeptLedger(second)
    try:
        words = ("init", "--join", other.invite().text, "--name", "laptop")
        assert laptop.refused(*words)[0] == "another_ledger"
        assert laptop.refused("tick")[0] == "machine_left"
        assert laptop.json("verify").data["verdict"] == "valid"
        assert rows_of(second)["laptop"]["is_revoked"] is True, "nothing is left behind there"
    finally:
        other.close()


def test_with_the_keeper_away_nothing_changes(kept: KeptLedger, laptop: Project) -> None:
    assert reserve(laptop, OTTER, "src/a.py") == ""
    kept.close()
    before = events_of(kept.project)
    assert laptop.refused("machine", "leave")[0] == "keeper_away"
    assert events_of(kept.project) == before
    assert len(secrets_of(laptop)) == 1
    again = KeptLedger(kept.project, kept.port)
    try:
        assert held_paths(laptop) == ["src/a.py"]
        assert laptop.ok("machine", "leave")["retired"] == [OTTER]
    finally:
        again.close()


def test_an_older_keeper_does_not_know_it_and_nothing_changes(
    kept: KeptLedger, laptop: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It cannot even read the question."""
    assert reserve(laptop, OTTER, "src/a.py") == ""
    before = events_of(kept.project)
    monkeypatch.setattr(wire, "_question_decoder", lambda: OLDER)
    done = laptop.json("machine", "leave")
    assert done.error["code"] == "another_version"
    assert "`moot machine revoke laptop`" in done.error["hint"]
    assert events_of(kept.project) == before
    assert len(secrets_of(laptop)) == 1
    assert held_paths(laptop) == ["src/a.py"]


def test_an_agent_does_not_leave_for_its_machine(kept: KeptLedger, laptop: Project) -> None:
    before = events_of(kept.project)
    assert laptop.refused("machine", "leave", MOOT_AGENT=OTTER)[0] == "human_key_required"
    assert kept.project.refused("machine", "leave")[0] == "kept_here"
    assert events_of(kept.project) == before
    assert reserve(laptop, OTTER, "src/a.py") == ""


def test_a_machine_that_was_taken_off_leaves_as_well(kept: KeptLedger, laptop: Project) -> None:
    kept.project.ok("machine", "revoke", "laptop")
    left = laptop.ok("machine", "leave")
    assert left["retired"] == []
    assert secrets_of(laptop) == []
    assert laptop.refused("tick")[0] == "machine_left"
    assert rows_of(kept.project)["laptop"]["has_left"] is False, "it was taken off"


def test_a_lost_last_answer_is_no_reason_to_stay(
    kept: KeptLedger, laptop: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The keeper has taken it off, and the machine did not hear it."""
    asked: list[bool] = []
    ask_line = KeeperConnection._ask

    def lose_last(
        line: KeeperConnection, question: wire.Question, *kinds: type[wire.Answer]
    ) -> wire.Answer:
        answer: wire.Answer = ask_line(line, question, *kinds)
        if isinstance(question, wire.Leave) and question.now and not asked:
            asked.append(True)
            line.close()
            raise ConnectionLost("the connection broke")
        return answer

    monkeypatch.setattr(KeeperConnection, "_ask", lose_last)
    assert laptop.ok("machine", "leave")["retired"] == [OTTER]
    assert asked
    assert secrets_of(laptop) == []
    assert rows_of(kept.project)["laptop"]["has_left"] is True


def test_a_line_that_is_open_asks_nothing_after_its_machine_has_left(laptop: Project) -> None:
    with laptop.workspace() as workspace:
        assert workspace.joined is not None
        workspace.joined.sync()
        laptop.ok("machine", "leave")
        with pytest.raises(Exception, match="has left") as refused:
            workspace.joined.connection.ask(wire.ListMembers(), wire.MemberList)
        assert refused.value.code == "machine_left"  # type: ignore[attr-defined]


def test_only_asking_takes_nobody_off(kept: KeptLedger, laptop: Project) -> None:
    assert isinstance(answer_to(kept, laptop, wire.Leave(now=False)), wire.Done)
    assert reserve(laptop, OTTER, "src/a.py") == ""
    assert isinstance(answer_to(kept, laptop, wire.Leave(now=True)), wire.Done)
    assert reserve(laptop, OTTER, "src/b.py") == "machine_left"


def test_what_began_there_is_there_again_after_joining_again(
    kept: KeptLedger, laptop: Project
) -> None:
    asked = ("ask", "Ship it?", "--with", "rules:approve,rules:approve")
    decision = laptop.ok(*asked)["decision"]["id"]
    laptop.ok("machine", "leave")
    laptop.ok("init", "--join", kept.invite().text, "--name", "laptop")
    laptop.ok("receipt", decision, "-o", "receipt.md")
