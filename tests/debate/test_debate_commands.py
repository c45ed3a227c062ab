"""`moot debate` on a bare file: envelopes, exit codes, and what happens to the bytes."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from moot.protocols.debate.checker import check_session
from tests.debate.sessions import EARLY, INVALID, TWO_ROUNDS, VALID, entry, session
from tests.project import MOOT, Project

CLOCK = "2026-03-01T09:01:00Z"
SAID = ("--stance", "approve", "--confidence", "0.8", "--summary", "Yes.")


@pytest.fixture
def place(tmp_path: Path) -> Project:
    """A folder without a workspace, where the clock stands still."""
    root = tmp_path / "project"
    root.mkdir()
    return Project(root, tmp_path / "keys", MOOT_CLOCK=CLOCK)


def write(place: Project, text: str, name: str = "s.md") -> Path:
    file = place.root / name
    file.write_bytes(text.encode())
    return file


def new(place: Project, *more: str) -> dict[str, Any]:
    data: dict[str, Any] = place.ok(
        *("debate", "new", "s.md", "--title", "Which queue?", "--agents", "red-fox,blue-hen"), *more
    )
    return data


@pytest.mark.requirement("BNC-171")
@pytest.mark.parametrize("name", VALID)
def test_a_valid_file_ends_with_0(place: Project, name: str) -> None:
    write(place, VALID[name])
    done = place.json("debate", "check", "s.md")
    assert (done.code, done.data["valid"]) == (0, True)
    assert done.data["entries"] == VALID[name].count("<!-- entry")
    assert set(done.data) == {"valid", "entries", "session_id", "findings"}


def test_a_summary_without_end_is_shortened_for_people_and_whole_for_programs(
    place: Project,
) -> None:
    long = "word " * 14_000 + "end"
    write(place, session(entry(1, "red-fox", summary=long)))
    shown = place.run("debate", "status", "s.md").out
    assert max(map(len, shown.splitlines())) < 4_100
    assert "…" in shown
    (whole,) = place.ok("debate", "status", "s.md")["entries"]
    assert whole["summary"] == long
    heard = place.run("debate", "watch", "s.md", "--seconds", "0").out
    assert max(map(len, heard.splitlines())) < 250


@pytest.mark.requirement("BNC-140")
def test_one_agent_alone_is_a_session_and_is_told_what_that_means(place: Project) -> None:
    words = ("debate", "new", "s.md", "--title", "An audit", "--agents", "red-fox")
    done = place.run(*words)
    assert done.code == 0, done
    assert "  note: a single agent can only agree with itself" in done.out
    assert place.ok("debate", "check", "s.md")["valid"]


@pytest.mark.requirement("BNC-171")
@pytest.mark.parametrize("name", INVALID)
def test_an_invalid_file_ends_with_1_and_names_the_rule(place: Project, name: str) -> None:
    text, rule, code = INVALID[name]
    write(place, text)
    done = place.json("debate", "check", "s.md")
    assert (done.code, done.envelope["ok"], done.data["valid"]) == (1, True, False)
    named = [one for one in done.data["findings"] if one["severity"] == "error"]
    assert [(one["rule"], one["code"]) for one in named] == [(rule, code)]
    assert set(named[0]) == {"rule", "code", "severity", "message", "line", "where", "hint"}
    assert rule in place.run("debate", "check", "s.md").out


def test_ids_of_another_version_can_be_refused(place: Project) -> None:
    write(place, session(entry(1, "red-fox", id_="aaaa1111-bbbb-2222-cccc-dddd3333eeee")))
    assert place.json("debate", "check", "s.md").code == 0
    assert place.json("debate", "check", "s.md", "--strict-uuid").code == 1


def test_a_file_that_is_not_there_cannot_be_checked(place: Project) -> None:
    for words in (("check", "no.md"), ("status", "no.md"), ("compare", "no.md", "no.md")):
        assert place.refused("debate", *words) == ("unreadable_file", 4)
    assert place.refused("debate", "add", "no.md", "--author", "red-fox", *SAID) == (
        "unreadable_file",
        4,
    )
    assert list(place.root.iterdir()) == []


@pytest.mark.requirement("BNC-002")
@pytest.mark.requirement("BNC-164")
def test_a_new_session_is_a_valid_file_named_md(place: Project) -> None:
    data = place.ok("debate", "new", "plan", "--title", "T", "--agents", "red-fox,blue-hen")
    assert data["file"] == "plan.md"
    checked = check_session((place.root / "plan.md").read_bytes(), strict_uuid=True)
    assert checked.findings == ()
    assert place.refused("debate", "new", "plan", "--title", "T", "--agents", "ab") == (
        "file_exists",
        1,
    )


def test_settings_that_are_not_allowed_leave_no_file(place: Project) -> None:
    words = ("debate", "new", "s.md", "--title", "T", "--agents", "red-fox")
    assert place.refused(*words, "--max-rounds", "0") == ("invalid_session", 1)
    assert place.refused(*words, "--consensus-threshold", "1.5") == ("usage", 2)
    assert list(place.root.iterdir()) == []


@pytest.mark.requirement("BNC-005")
def test_a_debate_from_new_to_consensus(place: Project) -> None:
    new(place)
    file = place.root / "s.md"
    before = file.read_bytes()
    said = place.ok("debate", "add", "s.md", "--author", "red-fox", *SAID)
    assert (said["round"], said["turn"], said["next"]) == (1, 1, "blue-hen")
    assert file.read_bytes().startswith(before)
    last = place.ok("--as", "blue-hen", "debate", "add", "s.md", *SAID, "--body", "So be it.")
    assert (last["state"], last["findings"]) == ("ended:consensus", [])
    status = place.ok("debate", "status", "s.md")
    assert (status["state"], status["ended_at_round"], status["next"]) == (
        "ended:consensus",
        1,
        None,
    )
    assert place.ok("debate", "consensus", "s.md")["score"] == 0.8
    assert place.ok("debate", "check", "s.md", "--strict-uuid")["findings"] == []
    assert place.refused("debate", "add", "s.md", "--author", "red-fox", *SAID) == (
        "session_ended",
        1,
    )


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("--author", "blue-hen", *SAID), "wrong_speaker"),
        (("--author", "grey-owl", *SAID), "unknown_agent"),
        (("--author", "red-fox", *SAID[:-1], "a\n<!-- yield -->"), "invalid_entry"),
        (("--author", "red-fox", *SAID, "--body", "# Big"), "injected_structure"),
        (("--author", "red-fox", "--summary", "x"), "invalid_entry"),
        (SAID, "actor_required"),
    ],
)
def test_a_refused_entry_leaves_the_file_as_it_was(
    place: Project, words: tuple[str, ...], code: str
) -> None:
    new(place)
    before = (place.root / "s.md").read_bytes()
    assert place.refused("debate", "add", "s.md", *words) == (code, 1)
    assert (place.root / "s.md").read_bytes() == before


def test_a_name_that_is_not_mine_is_refused(place: Project) -> None:
    new(place)
    words = ("--as", "blue-hen", "debate", "add", "s.md", "--author", "red-fox", *SAID)
    assert place.refused(*words) == ("not_you", 1)


def test_the_next_speaker_stands_first_in_what_is_asked(place: Project) -> None:
    place.ok(
        *("debate", "new", "s.md", "--title", "T", "--agents", "lead,ops,dev"),
        *("--turn-order", "supervised"),
    )
    words = ("--next", "dev", "--action-requested", "look at ops")
    data = place.ok("debate", "add", "s.md", "--author", "lead", *SAID, *words)
    assert data["next"] == "dev"
    assert b"action_requested: dev: look at ops\n" in (place.root / "s.md").read_bytes()


def test_a_file_may_be_judged_by_another_rule(place: Project) -> None:
    write(place, TWO_ROUNDS)
    one = place.ok("debate", "consensus", "s.md", "--round", "1", "--mode", "weighted")
    assert (one["mode"], one["score"], one["reached"]) == ("weighted", 0.35, False)
    assert place.ok("debate", "consensus", "s.md", "--threshold", "0.9")["reached"] is False
    assert place.refused("debate", "consensus", "s.md", "--round", "7") == ("round_not_found", 1)


def test_a_file_that_is_no_session_has_no_status(place: Project) -> None:
    write(place, "# Notes\n")
    assert place.refused("debate", "status", "s.md") == ("invalid_session", 1)


@pytest.mark.requirement("BNC-172")
def test_two_versions_are_compared(place: Project) -> None:
    write(place, TWO_ROUNDS, "old.md")
    write(place, TWO_ROUNDS + entry(5, "red-fox", 3), "new.md")
    assert place.ok("debate", "compare", "old.md", "new.md")["append_only"] is True
    write(place, TWO_ROUNDS.replace("0.85", "0.95"), "new.md")
    done = place.json("debate", "compare", "old.md", "new.md")
    assert (done.code, done.data["findings"][0]["code"]) == (1, "entry_modified")


@pytest.mark.parametrize("name", VALID)
def test_people_can_read_every_answer(place: Project, name: str) -> None:
    write(place, VALID[name])
    for words in (("status",), ("consensus",), ("summary",), ("check",)):
        done = place.run("debate", words[0], "s.md", *words[1:])
        assert (done.code, done.err) == (0, "")
        assert done.out.strip()


def test_a_summary_shows_positions_and_obeys_no_ones_markdown(place: Project) -> None:
    write(place, EARLY.replace("A point was made.", "<b>A | point</b>"))
    text = place.ok("debate", "summary", "s.md")["markdown"]
    assert "ended:consensus" in text
    assert "\\<b\\>A \\| point" in text


@pytest.mark.requirement("BNC-101")
@pytest.mark.requirement("BNC-104")
def test_many_writers_at_once_lose_nothing(place: Project) -> None:
    names = [f"agent-{number}" for number in range(4)]
    place.ok(
        *("debate", "new", "s.md", "--title", "T", "--agents", ",".join(names)),
        *("--turn-order", "free-form", "--max-turns-per-round", "3"),
    )
    said = ("--stance", "neutral", "--confidence", "0.1", "--summary", "Hm.")
    running = [
        subprocess.Popen(
            [*MOOT, "--json", "debate", "add", "s.md", "--author", name, *said],
            cwd=place.root,
            env=place.env,
            stdout=subprocess.PIPE,
        )
        for name in names
    ]
    done = [process.communicate(timeout=120)[0] for process in running]
    assert [process.returncode for process in running] == [0] * len(names), done
    checked = check_session((place.root / "s.md").read_bytes())
    assert checked.valid
    assert sorted(one.author for one in checked.document.entries) == names


@pytest.mark.requirement("BNC-102")
@pytest.mark.requirement("BNC-005")
def test_a_write_that_fails_halfway_leaves_the_old_bytes(
    place: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    new(place)
    file = place.root / "s.md"
    before = file.read_bytes()
    real = os.write

    def short(descriptor: int, data: bytes) -> int:
        if b"<!-- entry" in data:
            return real(descriptor, data[:40])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("moot.api.debates.session_file.os.write", short)
    words = ("debate", "add", "s.md", "--author", "red-fox", *SAID)
    assert place.refused(*words) == ("append_failed", 4)
    monkeypatch.undo()
    assert file.read_bytes() == before
    assert place.ok(*words)["turn"] == 1


@pytest.mark.parametrize("form", ["html", "md", "json"])
def test_a_report_is_written_in_each_form(place: Project, form: str) -> None:
    write(place, TWO_ROUNDS)
    data = place.ok("debate", "report", "s.md", "-o", f"page.{form}")
    assert data["file"] == f"page.{form}"
    assert b"CONSENSUS" in (place.root / f"page.{form}").read_bytes()
    assert "CONSENSUS" in place.run("debate", "report", "s.md").out


LATE = "2026-03-01T10:00:00Z"


@pytest.mark.requirement("BNC-051")
@pytest.mark.requirement("BNC-168")
def test_a_session_that_waits_for_a_person_goes_on_when_they_say_so(place: Project) -> None:
    new(place)
    words = ("debate", "add", "s.md", "--author", "red-fox", *SAID)
    assert place.json(*words, MOOT_CLOCK=LATE).error["code"] == "waiting_human"
    ticked = place.ok("debate", "tick", "s.md", MOOT_CLOCK=LATE)
    assert (ticked["state"], ticked["entries"]) == ("waiting-human", [])
    late = place.ok("debate", "resume", "s.md", "--late", MOOT_CLOCK=LATE)
    assert (late["state"], late["next"], late["entries"]) == ("not-started", "red-fox", [])
    assert place.ok(*words, MOOT_CLOCK=LATE)["turn"] == 1
    assert place.json("debate", "resume", "s.md", "--late", MOOT_CLOCK=LATE).error["code"] == (
        "nothing_to_resume"
    )
    assert place.ok("debate", "check", "s.md")["findings"] == []


def test_an_operator_may_pass_over_the_silent(place: Project) -> None:
    new(place)
    skipped = place.ok("debate", "resume", "s.md", "--skip", MOOT_CLOCK=LATE)
    assert (skipped["next"], len(skipped["entries"])) == ("blue-hen", 1)
    assert place.refused("debate", "resume", "s.md") == ("usage", 2)


@pytest.mark.requirement("BNC-052")
@pytest.mark.requirement("BNC-053")
@pytest.mark.requirement("BNC-168")
@pytest.mark.parametrize(
    ("policy", "stance"), [("timeout-skip", "defer"), ("default-action", "neutral")]
)
def test_a_timeout_is_applied_once_when_asked(place: Project, policy: str, stance: str) -> None:
    new(place, "--escalation", policy)
    assert place.ok("debate", "tick", "s.md")["entries"] == []
    done = place.ok("debate", "tick", "s.md", MOOT_CLOCK=LATE)
    assert (len(done["entries"]), done["next"]) == (1, "blue-hen")
    assert place.ok("debate", "tick", "s.md", MOOT_CLOCK=LATE)["entries"] == []
    (said,) = place.ok("debate", "status", "s.md", MOOT_CLOCK=LATE)["entries"]
    assert (said["stance"], said["confidence"], said["placeholder"]) == (stance, 0.0, True)


def test_in_free_form_all_who_are_silent_are_passed_over(place: Project) -> None:
    place.ok(
        *("debate", "new", "s.md", "--title", "T", "--agents", "ant,bee,cow"),
        *("--escalation", "timeout-skip", "--turn-order", "free-form"),
    )
    place.ok("debate", "add", "s.md", "--author", "bee", *SAID)
    assert len(place.ok("debate", "tick", "s.md", MOOT_CLOCK=LATE)["entries"]) == 2
    status = place.ok("debate", "status", "s.md", MOOT_CLOCK=LATE)
    assert [one["author"] for one in status["entries"]] == ["bee", "ant", "cow"]


@pytest.mark.requirement("BNC-036")
def test_names_in_capitals_work_from_beginning_to_end_with_a_warning(place: Project) -> None:
    made = place.ok("debate", "new", "s.md", "--title", "T", "--agents", "Alice,Bob")
    assert [one["code"] for one in made["findings"]] == ["odd_agent_name", "odd_agent_name"]
    for author in ("Alice", "Bob"):
        done = place.ok("debate", "add", "s.md", "--author", author, *SAID)
    assert done["state"] == "ended:consensus"
    assert place.ok("debate", "check", "s.md")["valid"] is True
    assert place.ok("debate", "consensus", "s.md")["approvers"] == ["Alice", "Bob"]
    assert "Alice" in place.ok("debate", "summary", "s.md")["markdown"]


@pytest.mark.requirement("BNC-037")
@pytest.mark.parametrize("name", ["Ann Lee", "[x]", "", "-x", "x" * 99 + "_", "a:", "#b", "'c'"])
def test_a_name_that_cannot_be_used_is_refused_with_the_limit(place: Project, name: str) -> None:
    words = ("debate", "new", "s.md", "--title", "T", "--agents", f"{name},bob")
    done = place.json(*words)
    assert (done.error["code"], done.code) == ("invalid_session", 1)
    assert "1 to 99 letters" in done.error["hint"]
    assert not (place.root / "s.md").exists()


LED = ("--agents", "lead,dev,ops", "--turn-order", "supervised", "--max-rounds", "2")


def speak(author: str, *more: str) -> tuple[str, ...]:
    said = ("--stance", "neutral", "--confidence", "0.5", "--summary", "Hm.")
    return ("debate", "add", "s.md", "--author", author, *said, *more)


@pytest.mark.requirement("BNC-117")
def test_a_supervisor_learns_that_the_named_agent_is_through_and_begins_the_next_round(
    place: Project,
) -> None:
    place.ok("debate", "new", "s.md", "--title", "T", *LED)
    place.ok(*speak("lead", "--next", "dev"))
    assert place.ok(*speak("dev"))["findings"] == []
    again = place.ok(*speak("lead", "--next", "dev"))
    (finding,) = again["findings"]
    assert (again["next"], finding["rule"], finding["code"]) == ("lead", "R14", "no_turn_left")
    assert "dev has spoken in round 1; lead continues" in finding["message"]
    assert "--round" in finding["hint"]
    assert place.ok("debate", "status", "s.md")["findings"] == [finding]
    before = (place.root / "s.md").read_bytes()
    for number in ("3", "7"):
        assert place.refused(*speak("lead", "--round", number)) == ("wrong_round", 1)
    assert place.refused(*speak("dev", "--round", "2")) == ("wrong_speaker", 1)
    assert (place.root / "s.md").read_bytes() == before
    begun = place.ok(*speak("lead", "--next", "dev", "--round", "2"))
    assert (begun["round"], begun["turn"], begun["next"]) == (2, 1, "dev")
    assert place.ok("debate", "status", "s.md")["findings"] == []
    assert place.ok(*speak("dev", "--round", "2"))["round"] == 2
    before = (place.root / "s.md").read_bytes()
    assert place.refused(*speak("lead", "--round", "3")) == ("wrong_round", 1)
    assert place.refused(*speak("lead", "--round", "1")) == ("wrong_round", 1)
    assert (place.root / "s.md").read_bytes() == before
    place.ok(*speak("lead", "--next", "ops"))
    assert place.ok(*speak("ops"))["state"] == "ended:max-rounds"
    codes = [one["code"] for one in place.ok("debate", "check", "s.md")["findings"]]
    assert codes == ["no_turn_left"]


def test_nobody_begins_a_round_early_where_no_supervisor_leads(place: Project) -> None:
    new(place)
    before = (place.root / "s.md").read_bytes()
    assert place.refused(*speak("red-fox", "--round", "2")) == ("wrong_round", 1)
    assert (place.root / "s.md").read_bytes() == before
    assert place.ok(*speak("red-fox", "--round", "1"))["round"] == 1


@pytest.mark.requirement("BNC-044")
@pytest.mark.parametrize(
    ("agents", "more", "seconds"),
    [
        ("red-fox,blue-hen", (), 300),
        ("red-fox,human-ann", (), 86_400),
        ("ann,bob", ("--people", "ann,bob"), 86_400),
        ("ann,bob", ("--people", "ann", "--escalation", "timeout-skip"), 300),
        ("red-fox,human-ann", ("--turn-timeout", "20"), 20),
    ],
)
def test_people_are_not_locked_out_of_their_own_session_after_five_minutes(
    place: Project, agents: str, more: tuple[str, ...], seconds: int
) -> None:
    words = ("debate", "new", "s.md", "--title", "T", "--agents", agents, *more)
    done = place.run(*words)
    assert done.code == 0
    told = f"after {'a day' if seconds == 86_400 else '5 minutes'} without an entry"
    is_told = "timeout-skip" not in more and seconds != 20
    assert (told in done.out) is is_told
    assert f"turn-timeout: {seconds}\n" in (place.root / "s.md").read_text("utf-8")
    standing = place.ok("debate", "status", "s.md", MOOT_CLOCK=LATE)
    locked = "waiting-human" if seconds <= 300 and "timeout-skip" not in more else "not-started"
    assert standing["state"] == locked


def test_only_agents_can_be_people(place: Project) -> None:
    words = ("debate", "new", "s.md", "--title", "T", "--agents", "ann,bob", "--people", "eve")
    assert place.refused(*words) == ("unknown_agent", 1)
    assert not (place.root / "s.md").exists()


@pytest.mark.requirement("BNC-169")
@pytest.mark.requirement("BNC-122")
def test_an_operator_closes_a_session_for_good(place: Project) -> None:
    new(place)
    done = place.ok("debate", "close", "s.md", "--reason", "Decided elsewhere.")
    assert done["state"] == "ended:closed-by-operator"
    assert place.ok("debate", "check", "s.md")["findings"] == []
    words = ("debate", "add", "s.md", "--author", "red-fox", *SAID)
    assert place.refused(*words) == ("session_ended", 1)
    assert place.refused("debate", "close", "s.md", "--reason", "x") == ("session_ended", 1)


@pytest.mark.requirement("BNC-062")
@pytest.mark.requirement("BNC-061")
def test_more_context_leaves_every_old_byte_in_its_order(place: Project) -> None:
    file = write(place, TWO_ROUNDS)
    place.ok("debate", "add-context", "s.md", "--title", "Added later", "It also loses order.")
    text = file.read_text("utf-8")
    more = "### Added later\n\nIt also loses order.\n\n"
    assert text.replace(more, "", 1) == TWO_ROUNDS
    write(place, TWO_ROUNDS, "old.md")
    assert place.ok("debate", "compare", "old.md", "s.md")["append_only"] is True


@pytest.mark.parametrize(
    ("title", "text"),
    [
        ("a", "x\n\n## Dialogue"),
        ("a", "```\nnever closed"),
        ("a", "<!-- entry: x -->"),
        ("a\n\n## Dialogue", "x"),
        ("", "x"),
    ],
)
def test_more_context_can_forge_nothing(place: Project, title: str, text: str) -> None:
    file = write(place, TWO_ROUNDS)
    words = ("debate", "add-context", "s.md", "--title", title, text)
    assert place.refused(*words) == ("injected_structure", 1)
    assert file.read_text("utf-8") == TWO_ROUNDS
