"""`moot artifact show|erase`: found by a few digits, checked by their hash, erased on record."""

from __future__ import annotations

from typing import Any

import pytest

from moot.core.machine import Command, Context, Decision, Draft
from moot.core.record import ArtifactRef
from moot.protocols.example.machine import MACHINE
from moot.protocols.example.model import Ask
from moot.store.artifacts import FileArtifacts
from tests.project import LIST, Project

SECRET = "the token is hunter2 ☃\n"


@pytest.fixture
def cited(project: Project, monkeypatch: pytest.MonkeyPatch) -> tuple[Project, str]:
    """An errand that cites a stored text: the smallest event that has an artifact."""
    with project.workspace() as space:
        ref = space.artifacts.put(SECRET.encode(), "text/plain")
    decide = MACHINE.decide

    def citing(state: Any, command: Command, context: Context) -> Decision:
        decision = decide(state, command, context)
        return Decision(tuple(_with(draft, ref) for draft in decision.drafts), decision.findings)

    with monkeypatch.context() as patch:
        patch.setattr(MACHINE, "decide", citing)
        project.execute("amber-otter", Ask(title="look at this", of="teal-crane"))
    return project, ref.sha256


def _with(draft: Draft, ref: ArtifactRef) -> Draft:
    return Draft(draft.event, (ref,))


def test_show_prints_text_and_writes_bytes(cited: tuple[Project, str]) -> None:
    project, sha = cited
    data = project.ok("artifact", "show", sha)
    assert (data["sha256"], data["text"]) == (sha, SECRET)
    assert project.run("artifact", "show", sha[:8]).out == SECRET
    project.ok("artifact", "show", sha[:10], "-o", "out.txt")
    assert (project.root / "out.txt").read_text() == SECRET


def test_bytes_that_are_no_text_are_not_poured_onto_the_terminal(project: Project) -> None:
    with project.workspace() as space:
        ref = space.artifacts.put(b"\x00\xff\x1b[2J" * 10, "application/octet-stream")
        escape = space.artifacts.put(b"\x1b[2Jboo", "text/plain")
    assert project.ok("artifact", "show", ref.sha256)["text"] is None
    assert "`-o FILE` writes them" in project.run("artifact", "show", ref.sha256).out
    assert project.run("artifact", "show", escape.sha256).out == "\\x1b[2Jboo\n"


@pytest.mark.parametrize("prefix", ["", "abc", "ABCDEF01", "../../..", "zzzzzzzz", "0" * 65])
def test_only_hex_digits_name_a_file(project: Project, prefix: str) -> None:
    assert project.refused("artifact", "show", prefix) == ("bad_hash", 1)


def test_digits_that_fit_two_files_are_refused(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    twins = [f"{'ab' * 8}{number:048x}" for number in range(2)]
    monkeypatch.setattr(FileArtifacts, "all_hashes", lambda _self: iter(twins))
    assert project.refused("artifact", "show", "abababab") == ("ambiguous_hash", 1)


def test_a_file_changed_on_disk_is_not_shown(cited: tuple[Project, str]) -> None:
    project, sha = cited
    place = project.root / ".moot" / "artifacts" / sha[:2] / sha[2:]
    place.write_text("another text")
    assert project.refused("artifact", "show", sha)[0] == "artifact_damaged"
    assert project.refused("artifact", "show", sha, "-o", "out.txt")[0] == "artifact_damaged"
    assert not (project.root / "out.txt").exists()


def test_erasing_leaves_hash_and_reason_and_the_verdict_says_so(cited: tuple[Project, str]) -> None:
    project, sha = cited
    erased = project.ok("artifact", "erase", sha[:8], "--reason", "held a token")
    assert (erased["sha256"], erased["recorded"]) == (sha, True)
    verdict = project.ok("verify")
    assert verdict["verdict"] == "valid"
    assert verdict["artifacts"] == "1 cited: 0 present, 1 erased, 0 missing"
    assert "artifact_erased" in [finding["code"] for finding in verdict["findings"]]
    assert "1 erased" in project.run("verify").out
    project.ok("ledger", "export", "-o", "record.moot")
    raw = (project.root / "record.moot").read_bytes()
    assert project.ok("verify", "record.moot")["artifacts"] == verdict["artifacts"]
    assert b"hunter2" not in raw
    assert project.refused("artifact", "show", sha) == ("artifact_erased", 1)
    assert project.ok("ledger", "doctor")["findings"] == []


def test_erasing_again_changes_nothing(cited: tuple[Project, str]) -> None:
    project, sha = cited
    project.ok("artifact", "erase", sha, "--reason", "first")
    events = project.ok("status")["record"]["events"]
    again = project.ok("artifact", "erase", sha, "--reason", "second")
    assert (again["recorded"], again["reason"]) == (False, "first")
    assert project.ok("status")["record"]["events"] == events


def test_a_crash_between_event_and_removal_is_finished_by_erasing_again(
    cited: tuple[Project, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    project, sha = cited

    def dies(*_: object) -> bool:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(FileArtifacts, "erase", dies)
        assert project.run("artifact", "erase", sha, "--reason", "token").code == 130
    place = project.root / ".moot" / "artifacts" / sha[:2] / sha[2:]
    assert place.exists()
    assert project.ok("artifact", "erase", sha, "--reason", "token")["recorded"] is False
    assert not place.exists()
    words = ("ledger", "log", "registry", "--type", "registry.artifact_erased")
    assert len(project.ok(*words)["events"]) == 1


def test_a_reason_is_required_and_without_it_nothing_goes(cited: tuple[Project, str]) -> None:
    project, sha = cited
    assert project.refused("artifact", "erase", sha, "--reason", "") == ("reason_required", 1)
    assert project.ok("artifact", "show", sha)["text"] == SECRET


def test_an_agent_may_not_erase(cited: tuple[Project, str]) -> None:
    project, sha = cited
    words = ("artifact", "erase", sha, "--reason", "cover up")
    assert project.refused(*words, MOOT_AGENT="amber-otter") == ("not_allowed", 1)
    assert project.ok("artifact", "show", sha)["text"] == SECRET


def test_what_a_revocation_rests_on_is_never_erased(project: Project) -> None:
    project.execute("amber-otter", Ask(title="x", of="teal-crane"))
    project.ok("agent", "revoke", "amber-otter", "--reason", "lost")
    (event,) = project.ok("ledger", "log", "registry", "--type", "registry.key_revoked")["events"]
    words = ("artifact", "erase", event["data"]["heads"], "--reason", "x")
    assert project.refused(*words) == ("artifact_needed", 1)
    assert project.ok("verify")["verdict"] == "valid"


def test_the_log_shows_what_is_cited(cited: tuple[Project, str]) -> None:
    project, sha = cited
    (event,) = project.ok("ledger", "log", LIST)["events"]
    assert event["artifacts"] == [
        {"sha256": sha, "size": len(SECRET.encode()), "media_type": "text/plain"}
    ]


@pytest.mark.parametrize("words", [("ledger", "export", "-o", "record.moot"), ("verify",)])
def test_an_artifact_that_goes_while_it_is_read_is_no_damage(
    cited: tuple[Project, str], words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """An export reads twice; in between another process may erase."""
    project, _ = cited
    sizes = iter([FileArtifacts.size])

    def size_once(self: FileArtifacts, sha256: str) -> int | None:
        real = next(sizes, None)
        return None if real is None else real(self, sha256)

    monkeypatch.setattr(FileArtifacts, "size", size_once)
    assert project.refused(*words) == ("changed_meanwhile", 1)
    assert not (project.root / "record.moot").exists()
