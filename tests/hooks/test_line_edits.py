"""Several agents in one file, if settings say `protect.files = "lines"`."""

from __future__ import annotations

from itertools import count
from pathlib import Path
from typing import Any

import pytest

from moot.api.guard.copies import Copies
from moot.api.guard.line_state import LineFile, load_lines
from moot.lines.segments import list_line_authors
from moot.surfaces.hooks.entry import Reply
from moot.workspace.file_versions import FileVersions
from tests.hooks.tool_calls import call, reason, told
from tests.project import CRANE, OTTER, Project

NUMBERS = count(1)
FILE = "src/core.py"
BODY = [
    "class Option:",
    "    def first(self):",
    "        a = 1",
    "        b = 2",
    "        return a",
    "",
    "    def second(self):",
    "        c = 3",
    "        d = 4",
    "        return c",
    "",
    "x = 1",
]


@pytest.fixture
def lines(project: Project) -> Project:
    """A project that holds lines, with a committed file."""
    return prepare(project)


def prepare(project: Project) -> Project:
    (project.root / "moot.toml").write_text('[protect]\nfiles = "lines"\n')
    (project.root / "src").mkdir(exist_ok=True)
    (project.root / FILE).write_text("\n".join([*BODY, ""]))
    project.git("add", ".")
    project.git("commit", "-qm", "start")
    for agent in (OTTER, CRANE):
        project.hook("claude", start(project, agent), agent)
    return project


def start(project: Project, agent: str) -> dict[str, Any]:
    return call("claude-start", project.root, session_id=f"session-{agent}")


def begin(project: Project, agent: str, **edit: Any) -> tuple[dict[str, Any], Reply]:
    """Ask before an edit; the tool has not written yet."""
    path = str(project.root / edit.pop("file", FILE))
    tool = "Write" if "content" in edit else "Edit"
    asked = call(
        "claude-edit",
        project.root,
        session_id=f"session-{agent}",
        tool_use_id=f"call-{next(NUMBERS)}",
        tool_name=tool,
        tool_input={"file_path": path, **edit},
    )
    return asked, project.hook("claude", asked, agent)


def finish(project: Project, agent: str, asked: dict[str, Any], after: str = "") -> None:
    """Write what the tool writes, and report the end. `after` is what a formatter makes of it."""
    sent = asked["tool_input"]
    file = Path(sent["file_path"])
    if "content" in sent:
        file.write_text(sent["content"])
    else:
        text = file.read_text()
        assert text.count(sent["old_string"]) == 1
        file.write_text(text.replace(sent["old_string"], sent["new_string"]))
    if after:
        file.write_text(after)
    done = {**asked, "hook_event_name": "PostToolUse", "tool_response": {"success": True}}
    project.hook("claude", done, agent)


def edit(project: Project, agent: str, old: str, new: str) -> None:
    asked, reply = begin(project, agent, old_string=old, new_string=new)
    assert reply == Reply(), reply.out
    finish(project, agent, asked)


def refuse(project: Project, agent: str, old: str, new: str) -> str:
    before = (project.root / FILE).read_bytes()
    _, reply = begin(project, agent, old_string=old, new_string=new)
    assert (project.root / FILE).read_bytes() == before
    return reason(reply)


def load(project: Project) -> LineFile:
    with Copies(project.root / ".moot", project.root) as copies:
        found = load_lines(copies, FILE, project.presence)
    assert found is not None
    return found


def authors(project: Project) -> dict[str, str | None]:
    """Who wrote the lines that are not committed, by the text of the line."""
    loaded = load(project)
    lines = loaded.content.decode().split("\n")
    every = zip(lines, list_line_authors(loaded.state.segments), strict=False)
    return {line.strip(): agent for line, (kind, agent) in every if kind.name == "INSERTED"}


def test_two_agents_edit_different_lines_of_one_file(lines: Project) -> None:
    edit(lines, OTTER, "        a = 1\n", "        a = 10\n")
    edit(lines, CRANE, "        c = 3\n", "        c = 30\n        e = 5\n")
    edit(lines, OTTER, "        b = 2\n", "        b = 20\n")
    assert authors(lines) == {"a = 10": OTTER, "b = 20": OTTER, "c = 30": CRANE, "e = 5": CRANE}
    assert lines.owners() == {f"{FILE}/@{OTTER}": OTTER, f"{FILE}/@{CRANE}": CRANE}


def test_an_edit_of_anothers_line_is_refused_and_on_record_once(lines: Project) -> None:
    edit(lines, OTTER, "        a = 1\n", "        a = 10\n")
    for _ in range(2):
        said = refuse(lines, CRANE, "        a = 10\n", "        a = 11\n")
        assert f"{FILE} lines 3-3 (Option.first) belong to amber-otter" in said
        assert "Your edit would change line 3, which amber-otter wrote" in said
        assert "a = 10" in said
    (event,) = lines.events("INCURSION")
    assert f"{FILE}/@{OTTER}" in str(event)
    assert authors(lines) == {"a = 10": OTTER}


def test_the_lines_of_the_other_cannot_be_deleted_or_split(lines: Project) -> None:
    edit(lines, OTTER, "        a = 1\n", "        a = 10\n        a2 = 1\n")
    refuse(lines, CRANE, "        a = 10\n        a2 = 1\n", "")
    refuse(lines, CRANE, "a = 10\n", "a = 10\n        between = 1\n")
    edit(lines, CRANE, "        b = 2\n", "        b = 20\n")


def test_text_that_another_agent_replaced_is_explained(lines: Project) -> None:
    edit(lines, OTTER, "        a = 1\n", "        a = 10\n")
    said = refuse(lines, CRANE, "        a = 1\n        b = 2\n", "        z = 1\n")
    assert "Your edit looks for lines that amber-otter changed" in said


def test_of_two_edits_at_the_same_time_the_second_sees_the_first(lines: Project) -> None:
    first, reply = begin(lines, OTTER, old_string="a = 1\n", new_string="a = 10\n")
    assert reply == Reply()
    said = refuse(lines, CRANE, "        a = 1\n", "        a = 11\n")
    assert "amber-otter" in said
    second, reply = begin(lines, CRANE, old_string="c = 3\n", new_string="c = 30\n")
    assert reply == Reply()
    finish(lines, CRANE, second)
    finish(lines, OTTER, first)
    assert authors(lines) == {"a = 10": OTTER, "c = 30": CRANE}


def test_an_edit_that_was_written_but_not_reported_is_still_its_agents(lines: Project) -> None:
    begin(lines, OTTER, old_string="a = 1\n", new_string="a = 10\n")
    file = lines.root / FILE
    file.write_text(file.read_text().replace("a = 1\n", "a = 10\n"))
    edit(lines, CRANE, "c = 3\n", "c = 30\n")
    assert authors(lines) == {"a = 10": OTTER, "c = 30": CRANE}
    assert "amber-otter" in refuse(lines, CRANE, "a = 10\n", "a = 11\n")


def test_a_persons_lines_are_nobodys_and_free(lines: Project) -> None:
    edit(lines, OTTER, "a = 1\n", "a = 10\n")
    file = lines.root / FILE
    file.write_text(file.read_text().replace("x = 1", "x = 2\ny = 3"))
    edit(lines, CRANE, "y = 3\n", "y = 4\n")
    assert authors(lines) == {"a = 10": OTTER, "x = 2": None, "y = 4": CRANE}


def test_a_formatter_after_an_edit_leaves_the_author(lines: Project) -> None:
    asked, _ = begin(lines, OTTER, old_string="a = 1\n", new_string="a=10\n")
    text = (lines.root / FILE).read_text()
    after = text.replace("a = 1\n", "a = 10\n").replace("x = 1", "x  =  1")
    finish(lines, OTTER, asked, after)
    assert authors(lines) == {"a = 10": OTTER, "x  =  1": None}


def test_a_whole_file_write_may_not_drop_the_lines_of_another(lines: Project) -> None:
    edit(lines, OTTER, "a = 1\n", "a = 10\n")
    old = "\n".join([*BODY, ""])
    for _ in range(2):
        _, reply = begin(lines, CRANE, content=old.replace("c = 3", "c = 30"))
        assert "which amber-otter wrote" in reason(reply)
    now = (lines.root / FILE).read_text()
    _, reply = begin(lines, CRANE, content=now.replace("c = 3", "c = 30"))
    assert "after you last saw it" in reason(reply)
    asked, reply = begin(lines, CRANE, content=now.replace("c = 3", "c = 30"))
    assert reply == Reply(), reply.out
    finish(lines, CRANE, asked)
    assert authors(lines) == {"a = 10": OTTER, "c = 30": CRANE}


def test_committed_lines_are_free_and_hold_nothing(lines: Project) -> None:
    edit(lines, OTTER, "a = 1\n", "a = 10\n")
    lines.git("commit", "-qam", "otter")
    edit(lines, CRANE, "a = 10\n", "a = 11\n")
    assert authors(lines) == {"a = 11": CRANE}
    check = lines.ok_as(CRANE, "guard", "check", f":/{FILE}")
    assert check["allowed"]


def test_a_commit_that_would_take_the_lines_of_another_is_refused(lines: Project) -> None:
    edit(lines, OTTER, "a = 1\n", "a = 10\n")
    edit(lines, CRANE, "c = 3\n", "c = 30\n")
    asked = call(
        "claude-bash",
        lines.root,
        session_id=f"session-{OTTER}",
        tool_input={"command": "git commit -am x"},
    )
    assert CRANE in reason(lines.hook("claude", asked, OTTER))


def test_a_destructive_command_finds_the_lines_of_another(lines: Project) -> None:
    edit(lines, CRANE, "c = 3\n", "c = 30\n")
    for command in (
        f"git checkout -- {FILE}",
        f"rm {FILE}",
        f"echo x > {FILE}",
        "git reset --hard",
    ):
        asked = call(
            "claude-bash",
            lines.root,
            session_id=f"session-{OTTER}",
            tool_input={"command": command},
        )
        assert CRANE in reason(lines.hook("claude", asked, OTTER)), command


def test_released_lines_are_nobodys(lines: Project) -> None:
    edit(lines, OTTER, "a = 1\n", "a = 10\n")
    lines.ok_as(OTTER, "release", f":/{FILE}/@{OTTER}")
    edit(lines, CRANE, "a = 10\n", "a = 11\n")


def test_a_whole_file_that_another_holds_stays_refused(lines: Project) -> None:
    lines.reserve(CRANE, FILE)
    assert "is held by teal-crane" in refuse(lines, OTTER, "a = 1\n", "a = 10\n")


def test_lines_keep_others_from_reserving_the_whole_file(lines: Project) -> None:
    edit(lines, OTTER, "a = 1\n", "a = 10\n")
    refused = lines.refused("--as", CRANE, "reserve", f":/{FILE}")
    assert refused[0] == "reservation_conflict"


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.bin", b"a\0b\n"),
        ("package-lock.json", b"{}\n"),
        ("book.ipynb", b"{}\n"),
        ("latin.txt", b"\xe9\n"),
        ("new.py", b""),
    ],
)
def test_files_without_lines_are_held_whole(lines: Project, name: str, data: bytes) -> None:
    if data:
        (lines.root / name).write_bytes(data)
        lines.git("add", name)
        lines.git("commit", "-qm", "more")
    asked, reply = begin(lines, OTTER, file=name, content="x\n")
    assert reply == Reply(), reply.out
    finish(lines, OTTER, asked)
    assert lines.owners() == {name: OTTER}


def test_files_with_a_filter_are_held_whole(lines: Project) -> None:
    (lines.root / ".gitattributes").write_text("*.py filter=secret\n")
    edit(lines, OTTER, "a = 1\n", "a = 10\n")
    assert lines.owners() == {FILE: OTTER}


def test_a_damaged_state_gives_no_line_an_author(lines: Project) -> None:
    edit(lines, OTTER, "a = 1\n", "a = 10\n")
    with FileVersions(lines.root / ".moot") as versions, versions.transaction() as db:
        db.execute("UPDATE file_lines SET state = x'00'")
    assert authors(lines) == {"a = 10": None}


def test_without_the_setting_files_are_held(project: Project) -> None:
    (project.root / "a.txt").write_text("one\n")
    project.git("add", ".")
    project.git("commit", "-qm", "a")
    assert project.hook("claude", call("claude-edit", project.root)) == Reply()
    assert project.owners() == {"a.txt": OTTER}


def test_a_command_that_cannot_be_read_still_finds_the_file_it_names(lines: Project) -> None:
    edit(lines, CRANE, "c = 3\n", "c = 30\n")
    command = f"python -c \"open('{FILE}', 'w')\""
    asked = call(
        "claude-bash",
        lines.root,
        session_id=f"session-{OTTER}",
        tool_input={"command": command},
    )
    assert CRANE in reason(lines.hook("claude", asked, OTTER))


def test_an_edit_in_the_same_function_is_told_once(lines: Project) -> None:
    edit(lines, OTTER, "a = 1\n", "a = 10\n")
    replies = []
    for number in range(2):
        asked, reply = begin(lines, CRANE, old_string=f"b = {2 + number}\n", new_string="b = 3\n")
        assert reply == Reply()
        file = lines.root / FILE
        file.write_text(file.read_text().replace(f"b = {2 + number}\n", "b = 3\n"))
        done = {**asked, "hook_event_name": "PostToolUse", "tool_response": {"success": True}}
        replies.append(lines.hook("claude", done, CRANE))
    assert "amber-otter has uncommitted changes in the same function (Option.first)" in told(
        replies[0]
    )
    assert "at lines 3-3" in told(replies[0])
    assert replies[1] == Reply()


def test_who_reads_a_file_is_told_whose_lines_are_not_committed(lines: Project) -> None:
    edit(lines, OTTER, "a = 1\n", "a = 10\n")
    edit(lines, OTTER, "d = 4\n", "d = 40\n")
    read = call("claude-read-done", lines.root, FILE, session_id=f"session-{CRANE}")
    said = told(lines.hook("claude", read, CRANE))
    assert "amber-otter has not committed its changes at lines 3-3, 9-9." in said
    assert "is held by" not in said
    assert lines.hook("claude", read, CRANE) == Reply()


def test_after_a_commit_the_lines_are_released(lines: Project) -> None:
    edit(lines, OTTER, "a = 1\n", "a = 10\n")
    asked = call(
        "claude-bash",
        lines.root,
        session_id=f"session-{OTTER}",
        tool_input={"command": "git commit -qam mine"},
    )
    assert lines.hook("claude", asked, OTTER) == Reply()
    lines.git("commit", "-qam", "mine")
    done = {**asked, "hook_event_name": "PostToolUse", "tool_response": {"stdout": ""}}
    lines.hook("claude", done, OTTER)
    assert lines.owners() == {}


def test_what_a_sub_agent_edits_is_held_whole(lines: Project) -> None:
    asked = call(
        "claude-subagent",
        lines.root,
        session_id=f"session-{OTTER}",
        tool_name="Edit",
        tool_input={
            "file_path": str(lines.root / FILE),
            "old_string": "a = 1\n",
            "new_string": "a = 10\n",
        },
    )
    assert lines.hook("claude", asked, OTTER) == Reply()
    finish(lines, OTTER, asked)
    assert set(lines.owners()) == {FILE}
    assert "is held by amber-otter" in refuse(lines, CRANE, "a = 10\n", "a = 11\n")
    assert "is held by amber-otter" in refuse(lines, CRANE, "c = 3\n", "c = 30\n")


@pytest.mark.parametrize(("minutes", "word"), [(16, "stale"), (31, "evicted")])
def test_the_lines_of_a_quiet_agent_stay_its_own_until_they_are_taken_over(
    tmp_path: Path, minutes: int, word: str
) -> None:
    root = tmp_path / "project"
    root.mkdir()
    lines = Project(root, tmp_path / "keys", MOOT_CLOCK="2026-02-18T16:00:00Z")
    lines.git("init", "--quiet")
    lines.ok("init")
    for agent in (OTTER, CRANE):
        lines.ok("agent", "register", agent)
    prepare(lines)
    edit(lines, OTTER, "a = 1\n", "a = 10\n")
    lines.env["MOOT_CLOCK"] = f"2026-02-18T16:{minutes}:00Z"
    said = refuse(lines, CRANE, "a = 10\n", "a = 11\n")
    assert f"amber-otter is {word}" in said
    assert f"reserve :/{FILE} --takeover-stale" in said
    lines.ok_as(CRANE, "reserve", f":/{FILE}", "--takeover-stale")
    edit(lines, CRANE, "a = 10\n", "a = 11\n")
    assert authors(lines) == {"a = 11": CRANE}


def test_of_two_processes_that_want_one_line_exactly_one_gets_it(lines: Project) -> None:
    for number in range(3):
        old = BODY[2 + number]
        asked = {
            agent: call(
                "claude-edit",
                lines.root,
                session_id=f"session-{agent}",
                tool_use_id=f"race-{number}-{agent}",
                tool_input={
                    "file_path": str(lines.root / FILE),
                    "old_string": f"{old}\n",
                    "new_string": f"{old} + {number}\n",
                },
            )
            for agent in (OTTER, CRANE)
        }
        started = {agent: lines.start_hook("claude", asked[agent], agent) for agent in asked}
        answers = {agent: child.communicate(timeout=60)[0] for agent, child in started.items()}
        (winner,) = [agent for agent, out in answers.items() if not out]
        finish(lines, winner, asked[winner])
        assert authors(lines)[f"{old} + {number}".strip()] == winner
