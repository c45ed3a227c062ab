"""Starting a session: bad input costs nothing, and nobody takes on a name that is not theirs."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterable
from typing import Any

import pytest

from moot.protocols.presence import agent_names
from tests.cli.founding import found
from tests.cli.project import MOOT, Project
from tests.cli.test_presence import as_, dirty_otter, git, held, labels


@pytest.fixture
def shop(bare: Project) -> Project:
    """A repository with two agents who have joined."""
    git(bare.root, "init", "-q", "-b", "main")
    git(bare.root, "commit", "-q", "--allow-empty", "-m", "first")
    found(bare)
    bare.ok("join", "--register", "amber-otter")
    bare.ok("join", "--register", "teal-crane")
    return bare


def names(shop: Project) -> list[str]:
    return [one["agent"] for one in shop.ok("agent", "list")["agents"]]


def keys(shop: Project) -> list[str]:
    return sorted(path.name for path in shop.keys.glob("*/*.key"))


BAD = [
    (("--work", "two words"), "bad_work"),
    (("--scope", "src/**/x"), "unsupported_glob"),
    (("--scope", "ok", "--scope", "../out"), "scope_outside"),
    (("--scope", ""), "scope_empty"),
]


@pytest.mark.parametrize(("words", "code"), BAD)
def test_bad_input_uses_up_no_name(shop: Project, words: tuple[str, ...], code: str) -> None:
    before = names(shop), keys(shop), shop.ok("status")["record"]["events"]
    assert shop.refused("join", "--register", "jade-heron", *words) == (code, 1)
    run = [word.replace("--scope", "--reserve") for word in words]
    code_of_run = shop.refused("run", "--name", "jade-heron", *run, "--", *MOOT, "--version")
    assert code_of_run == (code, 1)
    assert (names(shop), keys(shop), shop.ok("status")["record"]["events"]) == before


@pytest.mark.parametrize(("words", "code"), BAD)
def test_bad_input_turns_no_key(shop: Project, words: tuple[str, ...], code: str) -> None:
    """An adoption is a new key and a RESUME: one without the other would be neither."""
    dirty_otter(shop)
    before = shop.ok("agent", "show", "amber-otter")["kid"], keys(shop)
    assert shop.refused("join", "--adopt", "amber-otter", *words) == (code, 1)
    assert (shop.ok("agent", "show", "amber-otter")["kid"], keys(shop)) == before
    assert shop.ok("join", "--adopt", "amber-otter")["adopted"] is True


def test_an_overlap_at_the_start_is_on_record_and_says_who_one_is(shop: Project) -> None:
    shop.ok(*as_("amber-otter", "reserve", "src"))
    done = shop.json("join", "--register", "jade-heron", "--scope", "src/a.py")
    assert (done.code, done.error["code"]) == (1, "reservation_conflict")
    assert "MOOT_AGENT=jade-heron" in done.error["hint"]
    assert labels(shop) == ["Held back"]
    assert shop.ok("join", "--scope", "docs", MOOT_AGENT="jade-heron")["reserved"] == ["docs"]


@pytest.mark.parametrize("name", ["", "../../evil", "a/b", "x" * 300, "A B", "operator"])
def test_what_is_no_name_is_refused_and_leaves_no_file(shop: Project, name: str) -> None:
    before = keys(shop)
    ways = (
        ("join", "--register", name),
        ("agent", "register", name),
        ("run", "--name", name, "--", *MOOT, "--version"),
    )
    for words in ways:
        code, status = shop.refused(*words)
        assert code in ("bad_name", "name_reserved"), words
        assert status == 1
    assert keys(shop) == before
    assert not list(shop.keys.parent.rglob("evil*"))


def test_an_empty_name_is_no_bare_start(shop: Project) -> None:
    before = names(shop)
    assert shop.refused("join", "--adopt", "") == ("agent_not_found", 1)
    assert names(shop) == before


def test_whoever_has_a_name_takes_no_other(shop: Project) -> None:
    dirty_otter(shop)
    before = names(shop)
    for words in (("--register", "jade-heron"), ("--adopt", "amber-otter")):
        assert shop.refused("join", *words, MOOT_AGENT="teal-crane") == ("not_you", 1)
    assert names(shop) == before
    assert held(shop) == [("src/*", "amber-otter")]


def test_a_person_is_no_session_to_go_on_with(shop: Project, passphrase: str) -> None:
    """A new key for a person would lie open in the key folder."""
    shop.env["MOOT_PASSPHRASE_FILE"] = passphrase
    shop.ok("agent", "register", "operator", "--human")
    shop.ok(*as_("operator", "reserve", "src/*"))
    (shop.root / "src").mkdir()
    (shop.root / "src" / "a.py").write_text("a person's own work")
    assert shop.refused("join", "--adopt", "operator") == ("not_allowed", 1)
    data = shop.ok("join", "--non-interactive")
    assert data["recommendation"]["reason"] == "no_adoptable_identity"


def test_who_has_retired_is_not_recommended(shop: Project) -> None:
    (shop.root / ".beads").mkdir()
    line = {"id": "bb-9", "status": "in_progress", "assignee": "amber-otter"}
    (shop.root / ".beads" / "issues.jsonl").write_text(json.dumps(line) + "\n")
    assert shop.refused("join", "--non-interactive") == ("decision_required", 1)
    shop.ok("agent", "retire", "amber-otter")
    assert shop.refused("join", "--adopt", "amber-otter") == ("agent_retired", 1)
    assert shop.ok("join", "--non-interactive")["adopted"] is False


def test_a_ledger_that_cannot_be_written_keeps_no_new_key(shop: Project) -> None:
    dirty_otter(shop)
    old = shop.ledger.read_bytes()
    shop.ok(*as_("teal-crane", "reserve", "docs"))
    shop.ledger.write_bytes(old)
    before = keys(shop)
    for words in (("--adopt", "amber-otter"), ("--register", "jade-heron")):
        assert shop.refused("join", *words) == ("rolled_back", 1)
    assert keys(shop) == before


def said(**more: str) -> list[str]:
    words = {"subject": "s", "summary": "half done", "next-action": "test it", **more}
    return [word for key, value in words.items() for word in (f"--{key}", value)]


def test_nothing_is_passed_on_to_who_has_ended(shop: Project) -> None:
    shop.ok("agent", "retire", "teal-crane")
    words = as_("amber-otter", "handoff", "teal-crane", *said())
    assert shop.refused(*words) == ("agent_retired", 1)
    assert labels(shop) == []


def test_warnings_reach_those_who_read_json(shop: Project) -> None:
    def codes(data: Any) -> list[str]:
        return [finding["code"] for finding in data["findings"]]

    assert codes(shop.ok("join", "--register", "agent-007")) == ["name_style"]
    words = as_("amber-otter", "handoff", "teal-crane", *said(scope="not/held"))
    sent = shop.ok(*words)
    assert codes(sent) == ["nothing_to_move"]
    accepted = shop.ok(*as_("teal-crane", "event", "accept", sent["event"]["id"]))
    assert codes(accepted) == ["nothing_moved"]


def test_many_who_start_at_once_all_get_a_name(shop: Project) -> None:
    """They see the same record, so they are offered the same name; each gets its own."""
    ways = (("join", "--non-interactive", "--json"), ("run", "--json", "--", *MOOT, "--version"))
    running = [
        subprocess.Popen(
            [*MOOT, *words],
            cwd=shop.root,
            env=shop.env,
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
    shop: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Twenty times in a row another session is first."""
    offered = agent_names.make_fresh_name
    tries = iter(range(20))

    def beaten(project: str, taken: Iterable[str]) -> str:
        return "amber-otter" if next(tries, None) is not None else offered(project, taken)

    monkeypatch.setattr(agent_names, "make_fresh_name", beaten)
    assert shop.ok("join")["agent"] not in ("amber-otter", "teal-crane")
