"""Starting a session: bad input costs nothing, and nobody takes on a name that is not theirs."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterable
from typing import Any

import pytest

from moot.protocols.presence import agent_names
from tests.cli.test_presence import as_, dirty_otter, held, labels
from tests.project import MOOT, Project


@pytest.fixture
def project(bare: Project) -> Project:
    """A repository with two agents who have joined."""
    bare.init_git()
    bare.init()
    bare.ok("join", "--register", "amber-otter")
    bare.ok("join", "--register", "teal-crane")
    return bare


def names(project: Project) -> list[str]:
    return [one["agent"] for one in project.ok("agent", "list")["agents"]]


def keys(project: Project) -> list[str]:
    return sorted(path.name for path in project.keys.glob("*/*.key"))


BAD = [
    (("--work", "two words"), "bad_work"),
    (("--scope", "src/**/x"), "unsupported_glob"),
    (("--scope", "ok", "--scope", "../out"), "scope_outside"),
    (("--scope", ""), "scope_empty"),
]


@pytest.mark.parametrize(("words", "code"), BAD)
def test_bad_input_uses_up_no_name(project: Project, words: tuple[str, ...], code: str) -> None:
    before = names(project), keys(project), project.ok("status")["record"]["events"]
    assert project.refused("join", "--register", "jade-heron", *words) == (code, 1)
    run = [word.replace("--scope", "--reserve") for word in words]
    code_of_run = project.refused("run", "--name", "jade-heron", *run, "--", *MOOT, "--version")
    assert code_of_run == (code, 1)
    assert (names(project), keys(project), project.ok("status")["record"]["events"]) == before


@pytest.mark.parametrize(("words", "code"), BAD)
def test_bad_input_turns_no_key(project: Project, words: tuple[str, ...], code: str) -> None:
    """An adoption is a new key and a RESUME: one without the other would be neither."""
    dirty_otter(project)
    before = project.ok("agent", "show", "amber-otter")["kid"], keys(project)
    assert project.refused("join", "--adopt", "amber-otter", *words) == (code, 1)
    assert (project.ok("agent", "show", "amber-otter")["kid"], keys(project)) == before
    assert project.ok("join", "--adopt", "amber-otter")["adopted"] is True


def test_an_overlap_at_the_start_is_on_record_and_says_who_one_is(project: Project) -> None:
    project.ok(*as_("amber-otter", "reserve", "src"))
    done = project.json("join", "--register", "jade-heron", "--scope", "src/a.py")
    assert (done.code, done.error["code"]) == (1, "reservation_conflict")
    assert "MOOT_AGENT=jade-heron" in done.error["hint"]
    assert labels(project) == ["Refused"]
    assert project.ok("join", "--scope", "docs", MOOT_AGENT="jade-heron")["reserved"] == ["docs"]


@pytest.mark.parametrize("name", ["", "../../evil", "a/b", "x" * 300, "A B", "operator"])
def test_what_is_no_name_is_refused_and_leaves_no_file(project: Project, name: str) -> None:
    before = keys(project)
    ways = (
        ("join", "--register", name),
        ("agent", "register", name),
        ("run", "--name", name, "--", *MOOT, "--version"),
    )
    for words in ways:
        code, status = project.refused(*words)
        assert code in ("bad_name", "name_reserved"), words
        assert status == 1
    assert keys(project) == before
    assert not list(project.keys.parent.rglob("evil*"))


def test_an_empty_name_is_no_bare_start(project: Project) -> None:
    before = names(project)
    assert project.refused("join", "--adopt", "") == ("agent_not_found", 1)
    assert names(project) == before


def test_anyone_who_has_a_name_takes_no_other(project: Project) -> None:
    dirty_otter(project)
    before = names(project)
    for words in (("--register", "jade-heron"), ("--adopt", "amber-otter")):
        assert project.refused("join", *words, MOOT_AGENT="teal-crane") == ("not_you", 1)
    assert names(project) == before
    assert held(project) == [("src/*", "amber-otter")]


def test_a_person_is_no_session_to_go_on_with(project: Project, passphrase: str) -> None:
    """A new key for a person would lie open in the key folder."""
    project.env["MOOT_PASSPHRASE_FILE"] = passphrase
    project.ok("agent", "register", "operator", "--human")
    project.ok(*as_("operator", "reserve", "src/*"))
    (project.root / "src").mkdir()
    (project.root / "src" / "a.py").write_text("a person's own work")
    assert project.refused("join", "--adopt", "operator") == ("not_allowed", 1)
    data = project.ok("join", "--non-interactive")
    assert data["recommendation"]["reason"] == "no_adoptable_identity"


def test_who_has_retired_is_not_recommended(project: Project) -> None:
    (project.root / ".beads").mkdir()
    line = {"id": "bb-9", "status": "in_progress", "assignee": "amber-otter"}
    (project.root / ".beads" / "issues.jsonl").write_text(json.dumps(line) + "\n")
    assert project.refused("join", "--non-interactive") == ("decision_required", 1)
    project.ok("agent", "retire", "amber-otter")
    assert project.refused("join", "--adopt", "amber-otter") == ("agent_retired", 1)
    assert project.ok("join", "--non-interactive")["adopted"] is False


def test_a_ledger_that_cannot_be_written_keeps_no_new_key(project: Project) -> None:
    dirty_otter(project)
    old = project.ledger.read_bytes()
    project.ok(*as_("teal-crane", "reserve", "docs"))
    project.ledger.write_bytes(old)
    before = keys(project)
    for words in (("--adopt", "amber-otter"), ("--register", "jade-heron")):
        assert project.refused("join", *words) == ("rolled_back", 1)
    assert keys(project) == before


def said(**more: str) -> list[str]:
    words = {"subject": "s", "summary": "half done", "next-action": "test it", **more}
    return [word for key, value in words.items() for word in (f"--{key}", value)]


def test_nothing_is_passed_on_to_who_has_ended(project: Project) -> None:
    project.ok("agent", "retire", "teal-crane")
    words = as_("amber-otter", "handoff", "teal-crane", *said())
    assert project.refused(*words) == ("agent_retired", 1)
    assert labels(project) == []


def test_warnings_reach_those_who_read_json(project: Project) -> None:
    def codes(data: Any) -> list[str]:
        return [finding["code"] for finding in data["findings"]]

    assert codes(project.ok("join", "--register", "agent-007")) == ["name_style"]
    words = as_("amber-otter", "handoff", "teal-crane", *said(scope="not/held"))
    sent = project.ok(*words)
    assert codes(sent) == ["nothing_to_move"]
    accepted = project.ok(*as_("teal-crane", "event", "accept", sent["event"]["id"]))
    assert codes(accepted) == ["nothing_moved"]


def test_many_who_start_at_once_all_get_a_name(project: Project) -> None:
    """They see the same record, so they are offered the same name; each gets its own."""
    ways = (("join", "--non-interactive", "--json"), ("run", "--json", "--", *MOOT, "--version"))
    running = [
        subprocess.Popen(
            [*MOOT, *words],
            cwd=project.root,
            env=project.env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        for words in ways * 6
    ]
    told = [json.loads(one.communicate(timeout=120)[0]) for one in running]
    assert [one["error"] for one in told] == [None] * 12
    assert len({one["data"]["agent"] for one in told}) == 12


def test_a_name_lost_to_another_is_not_the_end(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Twenty times in a row another session is first."""
    offered = agent_names.make_fresh_name
    tries = iter(range(20))

    def beaten(project: str, taken: Iterable[str]) -> str:
        return "amber-otter" if next(tries, None) is not None else offered(project, taken)

    monkeypatch.setattr(agent_names, "make_fresh_name", beaten)
    assert project.ok("join")["agent"] not in ("amber-otter", "teal-crane")
